"""The task after the one in hand: held for a short time while that is worked on, so that it is there at once.

A worker holds at most one task ahead (the database's rule `assignment_one_ahead_per_worker`). It takes a place like
any lease, but yields: whoever has no task and finds no other gets it (`lease_task`). It is given back with the task in
hand.
"""

from typing import NamedTuple

from django.db import transaction
from django.db.models import Q

from annotation.common import clock
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import Assignment, Batch, Worker

from .leases import LOCK_WORKER, State, check_open, free_task, hold, lease_task, lease_time, lock_resumable, take_place


class Held(NamedTuple):
    """What a worker holds or has lost anywhere in the study."""

    pk: int
    batch: int
    key: str
    state: str
    is_ahead: bool


_HELD = PreparedQuery(
    lambda worker: Assignment.objects.filter(
        Q(state__in=[State.LEASED, State.EXPIRED]) | Q(state=State.RELEASED, task__reserved_for=worker), worker=worker
    ).values_list("pk", "task__batch_id", "key", "state", "is_ahead"),
    "worker",
)


def lease_ahead(batch: Batch, worker: Worker, current: str, *, while_paused: bool = False) -> Assignment | None:
    """What comes after the task with the key `current`: what the worker has begun, or a free task; None without one.

    It waits for nobody, and takes nothing from others. Raises BatchNotOpen.
    """
    check_open(batch, while_paused=while_paused)
    with transaction.atomic():
        LOCK_WORKER(worker=worker.pk)
        rows = [Held(*row) for row in _HELD(worker=worker.pk)]
        if any(row.key != current or row.is_ahead for row in rows):
            _drop_elsewhere(batch, rows)
            if assignment := _held_beside(batch, worker, current):
                return assignment
        task = free_task(batch, worker)
        return None if task is None else take_place(task, batch, worker, ahead=True)


def _drop_elsewhere(batch: Batch, rows: list[Held]) -> None:
    """Who goes on here has left what they held ahead in another batch."""
    for row in rows:
        if row.batch != batch.pk and row.is_ahead and row.state == State.LEASED:
            Assignment.objects.filter(pk=row.pk, is_ahead=True).update(state=State.EXPIRED)


def _held_beside(batch: Batch, worker: Worker, current: str) -> Assignment | None:
    assignments = lock_resumable(batch, worker)
    for assignment in assignments:
        if assignment.key == current and assignment.is_ahead and assignment.state == State.LEASED:
            hold(assignment)  # it is worked on already: the submit before it is still under way
    for assignment in assignments:
        if assignment.key == current:
            continue
        if assignment.state == State.LEASED and not assignment.is_ahead:
            return assignment
        if hold(assignment, ahead=True):
            return assignment
    return None


def take_next(batch: Batch, worker: Worker, *, while_paused: bool = False) -> str:
    """The key of the task that is now in hand: the one held ahead if it still is, otherwise as `lease_task`."""
    check_open(batch, while_paused=while_paused)
    leases = [row for row in map(Held._make, _HELD(worker=worker.pk)) if row.state == State.LEASED]
    in_batch = [row for row in leases if row.batch == batch.pk]
    if len(in_batch) == 1 and in_batch[0].is_ahead and _take_up(in_batch[0].pk):
        return in_batch[0].key
    return lease_task(batch, worker, while_paused=while_paused).key


def _take_up(pk: int) -> bool:
    """One statement: whoever wants the place at the same moment finds it taken, or has it."""
    ahead = Assignment.objects.filter(pk=pk, state=State.LEASED, is_ahead=True)
    return bool(ahead.update(is_ahead=False, lease_until=clock.now() + lease_time()))
