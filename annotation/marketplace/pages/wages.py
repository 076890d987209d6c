"""What a HIT pays by the hour, from the time that people really took."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from ..models import Assignment, HITType

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
    times = defaultdict(list)
    for key, start, end in done.order_by("-submitted_at").values_list("hit__hit_type", "accepted_at", "submitted_at")[
        :RECENT
    ]:
        times[key].append((end - start).total_seconds())
    return {
        key: _wage(types[key].reward_cents, median(seconds), len(seconds))
        for key, seconds in times.items()
        if len(seconds) >= LEAST
    }


def _wage(reward_cents: int, seconds: float, count: int) -> Wage:
    whole = max(1, round(seconds))
    return Wage(whole, count, round(reward_cents * 3600 / whole))
