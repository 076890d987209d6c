"""The launch form: what an admin types, as terms, and terms as the form shows them. Amounts are typed like 0.15."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.common.parsing import parse_int
from annotation.crowds.lookup import MARKETS
from annotation.crowds.terms import BadTerms, Terms
from annotation.crowds.terms.presets import PRESETS
from annotation.crowds.terms.requirements import (
    LOCALE,
    MASTERS,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    approval_at_least,
    approved_at_least,
    located_in,
)
from annotation.models import REFERENCE_GROUP, Batch, System

from .fields import TEXTS, TIMES, read_minutes, read_reward, read_text, read_time, read_whole

PLAIN = ("title", "description", "keywords", "minutes", "question", "tasks_per_participant")
LISTS = ("groups_allow", "groups_block")
TYPED = ("reward", "approval", "approved", "countries", "custom")
"""Fields that are no term by themselves, but a part of one."""
DEFAULT_REWARD = 20
COUNTRY = re.compile(r"[A-Z]{2}")
_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    **{name: (name, partial(read_text, name)) for name in TEXTS},
    **{name: (time.term, partial(read_time, name)) for name, time in TIMES.items()},
    "reward": ("reward_cents", lambda text: read_reward(_("Reward"), text)),
    "minutes": ("minutes", read_minutes),
    "tasks_per_participant": ("tasks_per_participant", partial(read_whole, "tasks_per_participant")),
}
"""Which term each field gives, and how it is read."""


def read_terms(given: QueryDict) -> Terms:
    """The terms that the form describes. BadTerms names every wrong field; nothing is changed."""
    values: dict[str, Any] = {name: given[name] for name in ("question", *LISTS) if given.get(name, "").strip()}
    problems: list[str] = []
    for name, (term, read) in _READERS.items():
        if text := given.get(name, "").strip():
            _try(problems, values, term, partial(read, text))
    _try(problems, values, "reward_by_group", lambda: _rewards(given))
    parts: dict[str, list[dict[str, Any]]] = {}
    for name, part in _REQUIREMENTS.items():
        _try(problems, parts, name, partial(part, given))
    values["requirements"] = [one for part in parts.values() for one in part]
    if problems:
        raise BadTerms(" ".join([*problems, _("Nothing was changed.")]))
    values["exclude_batches"] = _excluded(given)
    values["preset"] = _preset(given)
    # What the form shows is all there is: a preset has filled it in before, and must not add what was deleted.
    parsed = Terms.parse({**values, "preset": ""})
    return Terms(**{**parsed.as_json(), "preset": values["preset"]})


def _try(problems: list[str], values: dict[str, Any], name: str, make: Any) -> None:
    try:
        value = make()
    except (ValueError, Refused) as problem:
        problems.append(str(problem))
    else:
        values[name] = value


def _rewards(given: QueryDict) -> dict[str, int]:
    typed = _group_rewards(given)
    return {
        group: read_reward(_("For group %(group)s") % {"group": group}, text)
        for group, text in typed.items()
        if text.strip()
    }


def _approval(given: QueryDict) -> list[dict[str, Any]]:
    text = given.get("approval", "")
    return [approval_at_least(read_whole("approval", text))] if text.strip() else []


def _approved(given: QueryDict) -> list[dict[str, Any]]:
    text = given.get("approved", "")
    return [approved_at_least(read_whole("approved", text))] if text.strip() else []


def _countries(given: QueryDict) -> list[dict[str, Any]]:
    countries = [word for word in re.split(r"[\s,;]+", given.get("countries", "").upper()) if word]
    if wrong := [word for word in countries if not COUNTRY.fullmatch(word)]:
        raise ValueError(_("“%(word)s” is not a country: write two letters, such as US.") % {"word": wrong[0][:20]})
    return [located_in(countries)] if countries else []


def _masters(given: QueryDict) -> list[dict[str, Any]]:
    return [{"QualificationTypeId": MASTERS[0], "Comparator": "Exists"}] if given.get("masters") else []


def _custom(given: QueryDict) -> list[dict[str, Any]]:
    text = given.get("custom", "")
    if not text.strip():
        return []
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ValueError(_("The qualifications of your own must be a list in JSON, as the MTurk API has them."))
    return found


_REQUIREMENTS: dict[str, Callable[[QueryDict], list[dict[str, Any]]]] = {
    "approval": _approval,
    "approved": _approved,
    "countries": _countries,
    "masters": _masters,
    "custom": _custom,
}
"""What each field about the people asks of them."""


def form_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """What the form's fields show for these terms."""
    usual = Terms(reward_cents=DEFAULT_REWARD, title="", description="").as_json()
    values = {**usual, **terms}
    shown = {name: "" if values[name] is None else values[name] for name in PLAIN}
    shown |= {name: _plain(values[time.term] / time.seconds) for name, time in TIMES.items()}
    shown |= {name: ", ".join(values[name]) for name in LISTS}
    shown |= {"reward": money(values["reward_cents"]), "preset": values["preset"], "exclude": values["exclude_batches"]}
    shown["rewards"] = {group: money(cents) for group, cents in values["reward_by_group"].items()}
    return shown | _people(values["requirements"])


def form_as_typed(given: QueryDict) -> dict[str, Any]:
    """What the form's fields show after a refusal: exactly what was sent, right or wrong."""
    shown: dict[str, Any] = {name: given.get(name, "") for name in (*PLAIN, *TIMES, *LISTS, *TYPED)}
    shown["preset"] = _preset(given)
    shown["masters"] = bool(given.get("masters"))
    shown["exclude"] = _excluded(given)
    shown["rewards"] = _group_rewards(given)
    return shown


def _preset(given: QueryDict) -> str:
    return given.get("preset", "") if given.get("preset", "") in PRESETS else ""


def _excluded(given: QueryDict) -> list[int]:
    return [key for one in given.getlist("exclude") if (key := parse_int(one))]


def _group_rewards(given: QueryDict) -> dict[str, str]:
    return {name.removeprefix("reward:"): str(given[name]) for name in given if name.startswith("reward:")}


def _plain(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _people(requirements: list[dict[str, Any]]) -> dict[str, Any]:
    """The usual requirements in fields of their own, the others as JSON."""
    shown: dict[str, Any] = {"approval": "", "approved": "", "countries": "", "masters": False}
    others = []
    for one in requirements:
        kind, comparator, numbers = one["QualificationTypeId"], one["Comparator"], one.get("IntegerValues") or [0]
        if kind == PERCENT_APPROVED and comparator == "GreaterThanOrEqualTo":
            shown["approval"] = numbers[0]
        elif kind == NUMBER_APPROVED and comparator in ("GreaterThan", "GreaterThanOrEqualTo"):
            shown["approved"] = numbers[0] + (comparator == "GreaterThan")
        elif kind == LOCALE and comparator == "In":
            shown["countries"] = ", ".join(place["Country"] for place in one.get("LocaleValues", []))
        elif kind in MASTERS and comparator == "Exists":
            shown["masters"] = True
        else:
            others.append(one)
    return {**shown, "custom": json.dumps(others, ensure_ascii=False) if others else ""}


def launch_choices(batch: Batch) -> dict[str, Any]:
    """What the form lets one choose from, for this batch."""
    presets = {name: one for name, one in PRESETS.items() if one["protocol"] == batch.protocol}
    has_own_summaries = batch.tasks.filter(summary__isnull=False).exists()  # then a task is of one group
    groups = System.objects.filter(study=batch.study).exclude(group__in=["", REFERENCE_GROUP])
    return {
        "markets": [(name, kind.title) for name, kind in MARKETS.items()],
        "presets": presets,
        "groups": sorted(set(groups.values_list("group", flat=True))) if has_own_summaries else [],
        "earlier": batch.study.batches.exclude(pk=batch.pk).filter(tasks__assignments__isnull=False).distinct(),
    }


def crowd_chosen(given: Mapping[str, Any], batch: Batch) -> str:
    """The market that the form names; the batch's own where it names none."""
    name = str(given.get("crowd") or batch.crowd)
    if name not in MARKETS:
        raise Refused(
            _("There is no crowd “%(name)s”. Known: %(known)s. Nothing was changed.")
            % {"name": name[:40], "known": ", ".join(MARKETS)}
        )
    return name
