"""How far a worker is in a batch: which task this is, of how many, and how long the rest takes at their pace."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.common.prepared_queries import PreparedQuery
from annotation.models import Assignment, Batch, Task, Worker
from annotation.models.attention import totals

from .leases import DONE, State

RECENT = 20  # tasks that a pace is taken from
NEWEST = 1000  # answers of a study that tell how long a task takes


@dataclass(frozen=True)
class Place:
    """Task `number` of `of`; `of` is 0 where no end is known."""

    number: int
    of: int
    seconds: float | None = None
    """Active seconds that a task takes this worker; None before the first."""

    @property
    def minutes_left(self) -> int | None:
        """With the task in hand, rounded up; None when nobody can say."""
        return minutes_for(self.of - self.number + 1, self.seconds)


def minutes_for(tasks: int, seconds: float | None) -> int | None:
    """Whole minutes that so many tasks take; None without a pace, or without tasks."""
    return max(1, -int(-tasks * seconds // 60)) if seconds and tasks > 0 else None


def place_of(assignment: Assignment, *, paced: bool = True) -> Place:
    """Where the worker is with this task; every task that they could still take counts. `paced` adds the pace."""
    batch, worker = assignment.task.batch_id, assignment.worker_id
    counts = dict(_OWN(worker=worker, batch=batch))
    done = sum(counts.get(state, 0) for state in DONE)
    free = sum(n for (n,) in _FREE(worker=worker, batch=batch))
    number = done + 1 + assignment.is_ahead
    seconds = median_seconds(batch, worker) if paced and done else None
    return Place(number, max(number, done + counts.get(State.LEASED, 0) + free), seconds)


_OWN = PreparedQuery(
    lambda worker, batch: (
        Assignment.objects.filter(worker=worker, task__batch=batch).values("state").annotate(n=Count("pk"))
    ).values_list("state", "n"),
    "worker",
    "batch",
)
_FREE = PreparedQuery(
    lambda worker, batch: (
        Task.objects.filter(batch=batch).free_for(worker).values("batch").annotate(n=Count("pk")).values_list("n")
    ),
    "worker",
    "batch",
)


def median_seconds(batch: Batch | int, worker: Worker | int) -> float | None:
    """Active seconds a task, over the worker's last ones; None when none was measured."""
    rows = Assignment.objects.filter(worker=worker, task__batch=batch, state__in=DONE).order_by("-submitted_at", "-pk")
    return median_active(rows.values_list("signals", flat=True)[:RECENT])


def usual_seconds(study_id: int, protocol: str) -> tuple[float | None, int]:
    """The median active time on a task of this protocol in this study, and of how many answers."""
    in_this_study = Q(task__batch__study_id=study_id, task__batch__protocol=protocol)
    assignments = Assignment.objects.filter(in_this_study, state=Assignment.State.SUBMITTED).order_by("-pk")
    newest = assignments.values_list("signals", flat=True)[:NEWEST]
    times = [seconds for signals in newest if (seconds := totals(signals).active_seconds) > 0]
    return (statistics.median(times), len(times)) if times else (None, 0)


def median_active(signals: Iterable[dict[str, object]]) -> float | None:
    seconds = [active for entry in signals if (active := totals(entry).active_seconds)]
    return statistics.median(seconds) if seconds else None
