"""What a batch offers a crowd: reward, texts, times, who may take it. Checked once, here, and stored in Batch.terms.

The limits are those of the MTurk API, the strictest of the markets; money is whole cents.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.middleware import strip_unreadable
from annotation.models import Batch

from .presets import PRESETS
from .requirements import MOST_REQUIREMENTS, read_requirements

DAY = 24 * 3600
QUESTIONS = ("external", "html")
DEVICES = ("desktop", "tablet", "mobile")
YOUNGER = ("devices", "prescreeners")
RANGES = {
    "reward_cents": (0, 10_000_00),
    "duration_seconds": (30, 365 * DAY),
    "lifetime_seconds": (30, 365 * DAY),
    "auto_approve_seconds": (0, 30 * DAY),
    "tasks_per_participant": (1, 500),
}
LENGTHS = {"title": 128, "description": 2000, "keywords": 1000}


class BadTerms(Refused):
    """Terms that no market would take; the sentences name each wrong field."""

    status = 422


@dataclass(frozen=True)
class Terms:
    reward_cents: int
    """Per place: a task on MTurk, a sitting of `tasks_per_participant` tasks on Prolific."""
    title: str = ""
    description: str = ""
    keywords: str = ""
    reward_by_group: dict[str, int] = field(default_factory=dict)
    """Another reward for tasks on summaries of a system group, in cents: {"abs": 20, "ext": 15}."""
    duration_seconds: int = 5400
    lifetime_seconds: int = 7 * DAY
    auto_approve_seconds: int = 3 * DAY
    question: str = "external"
    requirements: list[dict[str, Any]] = field(default_factory=list)
    """Who may take it, as QualificationRequirements of the MTurk API."""
    preset: str = ""
    exclude_batches: list[int] = field(default_factory=list)
    """Batches of the study whose workers may not take this one."""
    tasks_per_participant: int = 1
    minutes: float | None = None
    """What a task takes, by estimate; the pilot's active time goes before it."""
    groups_allow: list[str] = field(default_factory=list)
    groups_block: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    """On which devices Prolific offers it; empty: on all."""
    prescreeners: list[str] = field(default_factory=list)
    """Who may take part, by Prolific's filters, a line each: “age: 18-65”, “current-country-of-residence: Ireland”."""
    codes: dict[str, str] = field(default_factory=dict)
    """Completion codes of one's own: done, screened_out, failed_checks."""

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> "Terms":
        """Terms from a form, a command or JSON, completed by the preset. BadTerms names every wrong field."""
        terms: dict[str, Any] = {}
        problems = []
        for name, value in _completed(values).items():
            try:
                terms[name] = _READERS.get(name, _unknown)(name, value)
            except ValueError as problem:
                problems.append(str(problem))
        problems = problems or _missing(terms)
        if problems:
            raise BadTerms(" ".join([*problems, _("Nothing was changed.")]))
        return cls(**terms)

    def as_json(self) -> dict[str, Any]:
        """Without what younger versions know and nobody uses here, so that terms on a market stay as they were."""
        return {name: value for name, value in asdict(self).items() if value or name not in YOUNGER}

    def reward_for(self, group: str) -> int:
        """Cents for a task on a summary of this system group."""
        return self.reward_by_group.get(group, self.reward_cents)


def set_terms(batch: Batch, terms: Terms, crowd: str | None = None) -> None:
    """Write the terms down; refused once something stands on the market, because people work by them."""
    with transaction.atomic():
        locked = Batch.objects.select_for_update().get(pk=batch.pk)
        has_changed = locked.terms != terms.as_json() or (crowd or locked.crowd) != locked.crowd
        if has_changed and locked.postings.exists():
            raise Refused(
                _("“%(batch)s” is on the market by the terms it has. Nothing was changed: top up, or expire it.")
                % {"batch": batch}
            )
        batch.terms, batch.crowd = terms.as_json(), crowd or locked.crowd
        batch.save(update_fields=["terms", "crowd"])


def terms_of(batch: Batch) -> Terms:
    """The terms that a batch has; Refused while it has none."""
    if not batch.terms:
        raise Refused(_("“%(batch)s” has no terms yet: say first what it offers. Nothing was done.") % {"batch": batch})
    return Terms.parse(batch.terms)


def _completed(values: Mapping[str, Any]) -> dict[str, Any]:
    name = str(values.get("preset") or "")
    if name and name not in PRESETS:
        raise BadTerms(
            _("There is no preset “%(name)s”. Known: %(known)s. Nothing was changed.")
            % {"name": name[:40], "known": ", ".join(PRESETS)}
        )
    stated = {key: value for key, value in values.items() if not _is_empty(value)}
    return {**(PRESETS[name]["terms"] if name else {}), **stated}


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _missing(read: Mapping[str, Any]) -> list[str]:
    problems = []
    if "reward_cents" not in read:
        problems.append(_("The reward is missing: say what a worker gets."))
    if len(read.get("requirements", [])) + bool(read.get("exclude_batches")) > MOST_REQUIREMENTS:
        problems.append(_("Excluding earlier workers takes one requirement, so at most 9 others are possible."))
    return problems


def _unknown(name: str, value: Any) -> Any:
    raise ValueError(_("There is no term “%(name)s”.") % {"name": name})


def _whole(name: str, value: Any) -> int:
    low, high = RANGES[name]
    try:
        number = int(str(value).strip())
    except ValueError:
        number = None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise ValueError(
            _("%(name)s is “%(value)s”, but must be a whole number from %(low)s to %(high)s.")
            % {"name": name, "value": str(value)[:40], "low": low, "high": high}
        )
    return number


def _as_read(name: str, value: Any) -> Any:
    """The same; ValueError for what JSON and databases don't keep: NUL, half a surrogate pair, a number like NaN."""
    if strip_unreadable(value) != value:
        raise ValueError(_("%(name)s holds a character or number that can't be kept.") % {"name": name})
    return value


def read_text(name: str, value: Any, limit: int = 100) -> str:
    """On one line; ValueError where it is longer than possible."""
    text = " ".join(_as_read(name, str(value)).split())
    if len(text) > limit:
        raise ValueError(
            _("%(name)s has %(n)d characters, but at most %(most)d are possible.")
            % {"name": name, "n": len(text), "most": limit}
        )
    return text


def _question(name: str, value: Any) -> str:
    if value not in QUESTIONS:
        raise ValueError(
            _("question is “%(value)s”, but must be one of %(known)s.")
            % {"value": str(value)[:40], "known": ", ".join(QUESTIONS)}
        )
    return str(value)


def _minutes(name: str, value: Any) -> float:
    try:
        minutes = float(value)
    except (TypeError, ValueError):
        minutes = -1.0
    if not 0 < minutes <= 24 * 60:
        raise ValueError(_("minutes is “%(value)s”, but must be a number above 0.") % {"value": str(value)[:40]})
    return minutes


def _rewards(name: str, value: Any) -> dict[str, int]:
    rewards = _decoded(name, value, dict)
    return {str(group): _whole("reward_cents", cents) for group, cents in rewards.items() if not _is_empty(cents)}


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [word.strip() for word in re.split(r"[,\n]", _as_read(name, value)) if word.strip()]
    return [str(item) for item in _decoded(name, value, list)]


def _devices(name: str, value: Any) -> list[str]:
    devices = _texts(name, value)
    if unknown := [device for device in devices if device not in DEVICES]:
        raise ValueError(
            _("There is no device “%(name)s”. Known: %(known)s.")
            % {"name": unknown[0][:40], "known": ", ".join(DEVICES)}
        )
    return [device for device in DEVICES if device in devices] if len(set(devices)) < len(DEVICES) else []


def _prescreeners(name: str, value: Any) -> list[str]:
    lines = value.splitlines() if isinstance(value, str) and not value.lstrip().startswith("[") else None
    texts = [str(line) for line in (_decoded(name, value, list) if lines is None else _as_read(name, lines))]
    stated = [" ".join(text.split()) for text in texts if text.strip()]
    if wrong := [text for text in stated if not all(part.strip() for part in text.partition(":"))]:
        raise ValueError(
            _("“%(line)s” is no prescreener: write its name, a colon and what is accepted, such as “age: 18-65”.")
            % {"line": wrong[0][:60]}
        )
    return stated


def _batches(name: str, value: Any) -> list[int]:
    try:
        return sorted({int(text) for text in _texts(name, value)})
    except ValueError:
        raise ValueError(_("exclude_batches must be ids of batches, such as 3, 5.")) from None


def _codes(name: str, value: Any) -> dict[str, str]:
    return {str(key): str(code) for key, code in _decoded(name, value, dict).items()}


def _decoded(name: str, value: Any, kind: type) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if isinstance(value, tuple):
        value = list(value)
    if not isinstance(value, kind):
        raise ValueError(_("%(name)s could not be read.") % {"name": name})
    return _as_read(name, value)


_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(RANGES, _whole),
    **{name: partial(read_text, limit=limit) for name, limit in LENGTHS.items()},
    "preset": read_text,
    "question": _question,
    "minutes": _minutes,
    "reward_by_group": _rewards,
    "requirements": lambda name, value: read_requirements(_decoded(name, value, list)),
    "exclude_batches": _batches,
    "groups_allow": _texts,
    "groups_block": _texts,
    "devices": _devices,
    "prescreeners": _prescreeners,
    "codes": _codes,
}

__all__ = ["PRESETS", "BadTerms", "Terms", "set_terms", "terms_of"]
