"""The launch form: what an admin types, as terms, and terms as the form shows them. Amounts are typed like 0.15."""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.errors import Refused
from annotation.models import Batch, System
from annotation.protocols.litepyramid import REFERENCE_GROUP

from . import MARKETS
from .ledger import money
from .presets import PRESETS
from .requirements import (
    LOCALE,
    MASTERS,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    approval_at_least,
    approved_at_least,
    located_in,
)
from .terms import BadTerms, Terms, to_cents

PLAIN = ("title", "description", "keywords", "minutes", "question", "tasks_per_participant")
TIMES = {
    "duration": ("duration_seconds", 60),
    "lifetime": ("lifetime_seconds", 3600),
    "approve": ("auto_approve_seconds", 86400),
}
LISTS = ("groups_allow", "groups_block")
DEFAULT_REWARD = 20
COUNTRY = re.compile(r"[A-Z]{2}")


def read_terms(given: QueryDict) -> Terms:
    """The terms that the form describes. BadTerms names every wrong field; nothing is changed."""
    values: dict[str, Any] = {name: given[name] for name in (*PLAIN, *LISTS) if given.get(name, "").strip()}
    problems: list[str] = []
    for name, (term, unit) in TIMES.items():
        _try(problems, values, term, lambda name=name, unit=unit: _times(name, given.get(name, ""), unit))
    _try(problems, values, "reward_cents", lambda: _cents(given.get("reward", "")))
    groups = {name.removeprefix("reward:"): str(given[name]) for name in given if name.startswith("reward:")}
    _try(problems, values, "reward_by_group", lambda: {name: to_cents(text) for name, text in groups.items() if text})
    _try(problems, values, "requirements", lambda: _requirements(given))
    if problems:
        raise BadTerms(" ".join([*problems, _("Nothing was changed.")]))
    values["exclude_batches"] = [int(one) for one in given.getlist("exclude") if one.isascii() and one.isdigit()]
    values["preset"] = given.get("preset", "") if given.get("preset", "") in PRESETS else ""
    # What the form shows is all there is: a preset has filled it in before, and must not add what was deleted.
    read = Terms.parse({**values, "preset": ""})
    return Terms(**{**read.as_json(), "preset": values["preset"]})


def _try(problems: list[str], values: dict[str, Any], name: str, make: Any) -> None:
    try:
        value = make()
    except (ValueError, Refused) as problem:
        problems.append(str(problem))
    else:
        if value is not None:
            values[name] = value


def _cents(text: str) -> int | None:
    return to_cents(text) if text.strip() else None


def _times(name: str, text: str, unit: int) -> int | None:
    if not text.strip():
        return None
    try:
        return round(float(text.replace(",", ".")) * unit)
    except (ValueError, OverflowError):
        raise ValueError(_("“%(text)s” is not a number.") % {"text": text[:40]}) from None


def _requirements(given: QueryDict) -> list[dict[str, Any]]:
    found = []
    if given.get("approval", "").strip():
        found.append(approval_at_least(_number(given.get("approval", ""))))
    if given.get("approved", "").strip():
        found.append(approved_at_least(_number(given.get("approved", ""))))
    countries = [word for word in re.split(r"[\s,;]+", given.get("countries", "").upper()) if word]
    if wrong := [word for word in countries if not COUNTRY.fullmatch(word)]:
        raise ValueError(_("“%(word)s” is not a country: write two letters, such as US.") % {"word": wrong[0][:20]})
    if countries:
        found.append(located_in(countries))
    if given.get("masters"):
        found.append({"QualificationTypeId": MASTERS[0], "Comparator": "Exists"})
    return found + _custom(given.get("custom", ""))


def _number(text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise ValueError(_("“%(text)s” is not a whole number.") % {"text": text[:40]})
    return int(text)


def _custom(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ValueError(_("The qualifications of your own must be a list in JSON, as the MTurk API has them."))
    return found


def form_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """What the form's fields show for these terms."""
    usual = Terms(reward_cents=DEFAULT_REWARD, title="", description="").as_json()
    values = {**usual, **terms}
    shown = {name: "" if values[name] is None else values[name] for name in PLAIN}
    shown |= {name: _plain(values[term] / unit) for name, (term, unit) in TIMES.items()}
    shown |= {name: ", ".join(values[name]) for name in LISTS}
    shown |= {"reward": money(values["reward_cents"]), "preset": values["preset"], "exclude": values["exclude_batches"]}
    shown["rewards"] = {group: money(cents) for group, cents in values["reward_by_group"].items()}
    return shown | _people(values["requirements"])


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
    groups = System.objects.filter(study=batch.study).exclude(group__in=["", REFERENCE_GROUP])
    return {
        "markets": [(name, kind.title) for name, kind in MARKETS.items()],
        "presets": presets,
        "groups": sorted(set(groups.values_list("group", flat=True))) if batch.protocol == "litepyramid" else [],
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
