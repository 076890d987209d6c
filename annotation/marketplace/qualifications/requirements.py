"""Qualification requirements as requesters write them: checked by the documented limits, and put in one shape."""

from collections.abc import Sequence
from typing import Any

from annotation.marketplace.errors import BadParameter, QualificationTypeDoesNotExist
from annotation.marketplace.models import QualificationType

from .eligibility import LOCALE, SYSTEM_NAMES

MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30
NO_VALUE = ("Exists", "DoesNotExist")
SETS = ("In", "NotIn")
FOR_LOCALES = ("EqualTo", "NotEqualTo", *SETS)


def normalize_requirements(requirements: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requirements in one shape, so that equal ones compare equal. Raises BadParameter."""
    if len(requirements) > MOST_REQUIREMENTS:
        raise BadParameter(f"QualificationRequirements has {len(requirements)} entries; at most {MOST_REQUIREMENTS}.")
    shaped = [_normalize(requirement) for requirement in requirements]
    check_types_exist(shaped)
    return shaped


def check_types_exist(requirements: Sequence[dict[str, Any]]) -> None:
    """Every type is a system one, or there and active. Raises QualificationTypeDoesNotExist."""
    type_ids = {requirement["QualificationTypeId"] for requirement in requirements} - SYSTEM_NAMES.keys()
    if not type_ids:
        return
    usable = QualificationType.objects.requestable().filter(qualification_type_id__in=type_ids)
    for missing in sorted(type_ids - set(usable.values_list("qualification_type_id", flat=True))):
        raise QualificationTypeDoesNotExist(f"Qualification type {missing} does not exist, or is not active.")


def _normalize(requirement: dict[str, Any]) -> dict[str, Any]:
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    integers, locales = requirement.get("IntegerValues") or [], requirement.get("LocaleValues") or []
    if requirement.get("RequiredToPreview") is not None and requirement.get("ActionsGuarded"):
        raise BadParameter("RequiredToPreview and ActionsGuarded can't be used together; use ActionsGuarded.")
    if comparator in NO_VALUE:
        if integers or locales:
            raise BadParameter(f"The comparator {comparator} takes no values.")
    elif type_id == LOCALE:
        _check_locales(comparator, integers, locales)
    else:
        _check_integers(comparator, integers, locales)
    shaped: dict[str, Any] = {"QualificationTypeId": type_id, "Comparator": comparator}
    if integers:
        shaped["IntegerValues"] = list(integers)
    if locales:
        shaped["LocaleValues"] = [
            {name: place[name] for name in ("Country", "Subdivision") if place.get(name)} for place in locales
        ]
    if requirement.get("RequiredToPreview") is not None:
        shaped["RequiredToPreview"] = requirement["RequiredToPreview"]
    shaped["ActionsGuarded"] = requirement.get("ActionsGuarded") or (
        "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    )
    return shaped


def _check_locales(comparator: str, integers: Sequence[int], locales: Sequence[dict[str, str]]) -> None:
    if integers or not locales:
        raise BadParameter("A requirement on the locale needs LocaleValues, and no IntegerValues.")
    if comparator not in FOR_LOCALES:
        raise BadParameter(f"A locale can't be compared by {comparator}; use one of {', '.join(FOR_LOCALES)}.")
    _check_count("LocaleValues", len(locales), MOST_LOCALES if comparator in SETS else 1)
    for place in locales:
        country = place["Country"]
        if not (country.isascii() and country.isalpha() and country.isupper()):
            raise BadParameter(f"Country {country!r} is not an ISO 3166 code of two capitals, such as US.")


def _check_integers(comparator: str, integers: Sequence[int], locales: Sequence[dict[str, str]]) -> None:
    if locales:
        raise BadParameter(f"LocaleValues can be used with the locale qualification ({LOCALE}) only.")
    if not integers:
        raise BadParameter(f"The comparator {comparator} needs IntegerValues.")
    _check_count("IntegerValues", len(integers), MOST_INTEGERS if comparator in SETS else 1)


def _check_count(name: str, count: int, maximum: int) -> None:
    if count > maximum:
        raise BadParameter(f"{name} has {count} entries; with this comparator at most {maximum}.")
