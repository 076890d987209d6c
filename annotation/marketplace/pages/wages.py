"""What a HIT pays by the hour, from the time that people really took."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from annotation.marketplace.models import Assignment, HITType

RECENT = 3000
LEAST = 3
"""With fewer finished assignments there is no typical time yet."""


@dataclass(frozen=True)
class Wage:
    """A hint beside the reward."""

    seconds: int
    """Median time from accepting to submitting."""
    count: int
    """Finished assignments it rests on."""
    cents_per_hour: int


def wages(hit_types: Iterable[HITType]) -> dict[int, Wage]:
    """By primary key, for types that enough people have worked on; one query."""
    types = {hit_type.pk: hit_type for hit_type in hit_types}
    submitted = Assignment.objects.filter(hit__hit_type__in=types, submitted_at__isnull=False).select_related("hit")
    times: dict[int, list[float]] = defaultdict(list)
    recent = submitted.order_by("-submitted_at").only("hit__hit_type", "accepted_at", "submitted_at")
    for assignment in recent[:RECENT]:
        if assignment.submitted_at is not None:
            times[assignment.hit.hit_type_id].append((assignment.submitted_at - assignment.accepted_at).total_seconds())
    return {
        key: _wage(types[key].reward_cents, median(seconds), len(seconds))
        for key, seconds in times.items()
        if len(seconds) >= LEAST
    }


def _wage(reward_cents: int, seconds: float, count: int) -> Wage:
    whole_seconds = max(1, round(seconds))
    return Wage(whole_seconds, count, round(reward_cents * 3600 / whole_seconds))
