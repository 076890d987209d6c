"""Who may take a task, in the MTurk API's words: qualification requirements, checked by its limits before launch."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

MOST_REQUIREMENTS = 10
MOST_INTEGERS, MOST_LOCALES = 15, 30
PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")  # the second one: sandbox
ENGLISH_SPEAKING = ("US", "GB", "CA", "AU", "NZ", "IE")
NO_VALUE = ("Exists", "DoesNotExist")
SETS = ("In", "NotIn")
ORDERED = ("LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo")
COMPARATORS = (*ORDERED, "EqualTo", "NotEqualTo", *SETS, *NO_VALUE)
GUARDED = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
KEYS = {"QualificationTypeId", "Comparator", "IntegerValues", "LocaleValues", "ActionsGuarded"}


def approval_at_least(percent: int) -> dict[str, Any]:
    return _integer(PERCENT_APPROVED, "GreaterThanOrEqualTo", percent)


def approved_more_than(number: int) -> dict[str, Any]:
    return _integer(NUMBER_APPROVED, "GreaterThan", number)


def approved_at_least(number: int) -> dict[str, Any]:
    return _integer(NUMBER_APPROVED, "GreaterThanOrEqualTo", number)


def located_in(countries: Sequence[str]) -> dict[str, Any]:
    places = [{"Country": country} for country in countries]
    return {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": places}


def relaxed(requirements: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what only an old market's workers can meet: a number of approved HITs, Masters."""
    return [rule for rule in requirements if rule.get("QualificationTypeId") not in (NUMBER_APPROVED, *MASTERS)]


def asks_for_masters(requirements: Sequence[dict[str, Any]]) -> bool:
    """Masters cost an additional fee."""
    comparators = [rule.get("Comparator") for rule in requirements if rule.get("QualificationTypeId") in MASTERS]
    return "Exists" in comparators


def read_requirements(requirements: Sequence[Any]) -> list[dict[str, Any]]:
    """The requirements as the API takes them; ValueError says which one is wrong, and why."""
    if len(requirements) > MOST_REQUIREMENTS:
        raise ValueError(
            _("There are %(n)d requirements, but at most %(most)d are possible.")
            % {"n": len(requirements), "most": MOST_REQUIREMENTS}
        )
    return [_checked(place, requirement) for place, requirement in enumerate(requirements, start=1)]


def _checked(place: int, requirement: Any) -> dict[str, Any]:
    problem = _problem(requirement)
    if problem:
        raise ValueError(_("Requirement %(n)d: %(problem)s") % {"n": place, "problem": problem})
    return {key: value for key, value in requirement.items() if value not in (None, "", [])}


def _problem(requirement: Any) -> str:
    if not isinstance(requirement, dict) or not _is_word(requirement.get("QualificationTypeId")):
        return _("it needs a QualificationTypeId.")
    if unknown := set(requirement) - KEYS:
        return _("it has the unknown word %(word)s.") % {"word": ", ".join(sorted(unknown))}
    if requirement.get("Comparator") not in COMPARATORS:
        return _("the Comparator must be one of %(known)s.") % {"known": ", ".join(COMPARATORS)}
    if requirement.get("ActionsGuarded", "Accept") not in GUARDED:
        return _("ActionsGuarded must be one of %(known)s.") % {"known": ", ".join(GUARDED)}
    return _problem_of_values(requirement)


def _problem_of_values(requirement: dict[str, Any]) -> str:
    integers, locales = requirement.get("IntegerValues") or [], requirement.get("LocaleValues") or []
    comparator, is_locale = requirement["Comparator"], requirement["QualificationTypeId"] == LOCALE
    if comparator in NO_VALUE:
        return _("%(comparator)s takes no values.") % {"comparator": comparator} if integers or locales else ""
    if is_locale and comparator in ORDERED:
        return _("places can't be compared by %(comparator)s.") % {"comparator": comparator}
    values, limit = (locales, MOST_LOCALES) if is_locale else (integers, MOST_INTEGERS)
    limit = limit if comparator in SETS else 1
    if not isinstance(values, list) or not 1 <= len(values) <= limit:
        return _("%(comparator)s needs 1 to %(most)d values.") % {"comparator": comparator, "most": limit}
    if not is_locale and not all(type(value) is int for value in values):
        return _("its values must be whole numbers.")
    if requirement["QualificationTypeId"] == PERCENT_APPROVED and not all(0 <= value <= 100 for value in values):
        return _("approved work is a percentage: from 0 to 100.")
    if is_locale and not all(isinstance(value, dict) and _is_word(value.get("Country")) for value in values):
        return _('a place is written {"Country": "US"}.')
    return ""


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _integer(type_id: str, comparator: str, value: int) -> dict[str, Any]:
    return {"QualificationTypeId": type_id, "Comparator": comparator, "IntegerValues": [value]}
