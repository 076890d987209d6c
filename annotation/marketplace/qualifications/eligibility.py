"""Who may do what: qualification requirements against what a worker has.

System qualifications are computed from the worker's record; the others are granted by requesters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from annotation.marketplace.models import Worker

PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS_SANDBOX = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"  # scripts carry this one over from the sandbox

SYSTEM_NAMES = {
    PERCENT_APPROVED: "Percent of assignments approved",
    NUMBER_APPROVED: "Number of assignments approved",
    LOCALE: "Location",
    ADULT: "Agreed to see adult content",
    MASTERS: "Masters",
    MASTERS_SANDBOX: "Masters",
}

Requirement = Mapping[str, Any]


class Action(IntEnum):
    """From the least to the most that a worker may do with a HIT."""

    DISCOVER = 1
    PREVIEW = 2
    ACCEPT = 3


GUARDS = {
    "DiscoverPreviewAndAccept": Action.DISCOVER,
    "PreviewAndAccept": Action.PREVIEW,
    "Accept": Action.ACCEPT,
}


@dataclass(frozen=True)
class WorkerProfile:
    """All that requirements can ask of one worker."""

    values: Mapping[str, int]
    """Qualification type id to score; what is missing here, the worker doesn't have."""
    country: str = ""
    subdivision: str = ""


NOBODY = WorkerProfile({})
"""A visitor who has not signed in."""


def profile_of(worker: Worker | None) -> WorkerProfile:
    """What requirements can ask of the worker, in one query."""
    if worker is None:
        return NOBODY
    granted = worker.qualifications.filter(status="Granted")
    return _profile(worker, dict(granted.values_list("qualification_type__qualification_type_id", "value")))


def _profile(worker: Worker, granted: Mapping[str, int]) -> WorkerProfile:
    values = {**granted, PERCENT_APPROVED: worker.percent_approved}
    values[NUMBER_APPROVED] = worker.approved_count
    values[ADULT] = int(worker.is_adult)
    if worker.is_master:
        values[MASTERS] = values[MASTERS_SANDBOX] = 1
    return WorkerProfile(values, worker.country, worker.subdivision)


def count_qualified(requirements: Sequence[Requirement]) -> tuple[int, int]:
    """How many active workers the market has, and how many of them meet requirements of the market's own."""
    total = qualified = 0
    for worker in Worker.objects.filter(is_active=True).iterator(chunk_size=2000):
        total += 1
        profile = _profile(worker, {})
        qualified += all(is_met(requirement, profile) for requirement in requirements)
    return total, qualified


def first_guarded(requirement: Requirement) -> Action:
    """The least action that a requirement guards; it guards everything beyond, too."""
    if requirement.get("RequiredToPreview"):
        return Action.PREVIEW
    return GUARDS[requirement.get("ActionsGuarded") or "Accept"]


def unmet(requirements: Sequence[Requirement], profile: WorkerProfile, action: Action) -> list[Requirement]:
    """The requirements that keep this worker from this action."""
    guarding = [requirement for requirement in requirements if first_guarded(requirement) <= action]
    return [requirement for requirement in guarding if not is_met(requirement, profile)]


def is_met(requirement: Requirement, profile: WorkerProfile) -> bool:
    comparator = requirement["Comparator"]
    if requirement["QualificationTypeId"] == LOCALE:
        return _locale_met(comparator, requirement.get("LocaleValues") or [], profile)
    value = profile.values.get(requirement["QualificationTypeId"])
    if comparator == "DoesNotExist":
        return value is None
    # As on MTurk, every comparison with a score that isn't there fails, also NotEqualTo and NotIn.
    return value is not None and _compare(comparator, value, requirement.get("IntegerValues") or [])


def _compare(comparator: str, value: int, required_values: Sequence[int]) -> bool:
    match comparator:
        case "Exists":
            return True
        case "EqualTo" | "In":
            return value in required_values
        case "NotEqualTo" | "NotIn":
            return value not in required_values
        case "LessThan":
            return value < required_values[0]
        case "LessThanOrEqualTo":
            return value <= required_values[0]
        case "GreaterThan":
            return value > required_values[0]
        case _:
            return value >= required_values[0]


def _locale_met(comparator: str, places: Sequence[Mapping[str, str]], profile: WorkerProfile) -> bool:
    if comparator in ("Exists", "DoesNotExist"):
        return bool(profile.country) == (comparator == "Exists")
    if not profile.country:
        return False
    is_in_place = any(
        place["Country"] == profile.country and place.get("Subdivision") in (None, "", profile.subdivision)
        for place in places
    )
    return is_in_place == (comparator in ("EqualTo", "In"))


def asks_for_masters(requirements: Sequence[Requirement]) -> bool:
    """Masters cost an additional fee, unless they are what the HIT avoids."""
    return any(
        requirement["QualificationTypeId"] in (MASTERS, MASTERS_SANDBOX) and requirement["Comparator"] != "DoesNotExist"
        for requirement in requirements
    )


def describe(requirement: Requirement, names: Mapping[str, str]) -> str:
    """A requirement in words, for workers. `names` maps qualification type ids to names."""
    type_id = requirement["QualificationTypeId"]
    name = SYSTEM_NAMES.get(type_id) or names.get(type_id, type_id)
    words = {
        "Exists": "is there",
        "DoesNotExist": "is not there",
        "EqualTo": "is",
        "NotEqualTo": "is not",
        "In": "is one of",
        "NotIn": "is none of",
        "LessThan": "is less than",
        "LessThanOrEqualTo": "is at most",
        "GreaterThan": "is more than",
        "GreaterThanOrEqualTo": "is at least",
    }[requirement["Comparator"]]
    places = [
        "-".join(filter(None, [p["Country"], p.get("Subdivision")])) for p in requirement.get("LocaleValues") or []
    ]
    values = [str(value) for value in requirement.get("IntegerValues") or []] + places
    return " ".join(filter(None, [name, words, ", ".join(values)]))
