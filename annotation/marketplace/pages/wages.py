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
    types = {one.pk: one for one in hit_types}
    done = Assignment.objects.filter(hit__hit_type__in=types, submitted_at__isnull=False)
    times: dict[int, list[float]] = defaultdict(list)
    recent = done.order_by("-submitted_at").only("hit__hit_type", "accepted_at", "submitted_at").select_related("hit")
    for one in recent[:RECENT]:
        if one.submitted_at is not None:
            times[one.hit.hit_type_id].append((one.submitted_at - one.accepted_at).total_seconds())
    return {
        key: _wage(types[key].reward_cents, median(seconds), len(seconds))
        for key, seconds in times.items()
        if len(seconds) >= LEAST
    }


def _wage(reward_cents: int, seconds: float, count: int) -> Wage:
    whole = max(1, round(seconds))
    return Wage(whole, count, round(reward_cents * 3600 / whole))
