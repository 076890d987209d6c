"""Taking, holding, giving back and losing a task.

A lease locks one task row, so that workers who come at once get different tasks (`SKIP LOCKED` on PostgreSQL;
SQLite lets one writer in at a time). The quota itself is kept by the database (annotation/triggers.py).
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from . import clock
from .errors import AlreadySubmitted, BatchNotOpen, LeaseExpired, NoTaskLeft, NotYours
from .models import Assignment, Batch, Task, Worker

State = Assignment.State


def lease_task(batch: Batch, worker: Worker) -> Assignment:
    """The worker's open assignment in this batch, or a new one on a free task.

    Raises BatchNotOpen or NoTaskLeft.
    """
    if batch.state != Batch.State.OPEN:
        raise BatchNotOpen
    expire_leases(batch)
    with transaction.atomic():
        # One lease at a time per worker: two tabs wait for each other here and then share the assignment.
        Worker.objects.select_for_update().get(pk=worker.pk)
        held = _held(batch, worker)
        return held or _take(_free_task(batch, worker), worker)


def _held(batch: Batch, worker: Worker) -> Assignment | None:
    mine = Assignment.objects.filter(worker=worker, task__batch=batch, state=State.LEASED)
    return mine.select_related("task").order_by("pk").first()


def _free_task(batch: Batch, worker: Worker) -> Task:
    free = Task.objects.filter(batch=batch).free_for(worker).order_by("pk")
    # Rows that others hold this instant are passed over; when nothing else is left, wait for them.
    task = free.select_for_update(skip_locked=True).first() or free.select_for_update().first()
    if task is None:
        raise NoTaskLeft
    return task


def _take(task: Task, worker: Worker) -> Assignment:
    now = clock.now()
    return Assignment.objects.create(task=task, worker=worker, leased_at=now, lease_until=now + lease_time())


def lease_time() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def expire_leases(batch: Batch) -> int:
    """Free the places of leases that ended; the drafts stay. Returns how many."""
    ended = Assignment.objects.filter(task__batch=batch, state=State.LEASED, lease_until__lte=clock.now())
    if not ended.exists():
        return 0
    with transaction.atomic():
        # One sweeper at a time (a second would wait for the first on the same tasks); others need not wait.
        if not Batch.objects.select_for_update(skip_locked=True).filter(pk=batch.pk).exists():
            return 0
        keys = list(ended.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True))
        return Assignment.objects.filter(pk__in=keys).update(state=State.EXPIRED)


def own_assignment(worker: Worker | None, key: str, *, lock: bool = False) -> Assignment:
    """The worker's assignment by its key; NotYours for anybody else's."""
    found = Assignment.objects.select_related("task__batch", "task__document", "task__summary")
    if lock:
        found = found.select_for_update(of=("self",))
    try:
        return found.get(key=key, worker=worker)
    except Assignment.DoesNotExist:
        raise NotYours from None


def renew_lease(worker: Worker, key: str) -> Assignment:
    """A sign of life: the lease starts anew. A lease that ended is taken up again while its place is free."""
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True)
        if assignment.state in (State.SUBMITTED, State.SURPLUS):
            raise AlreadySubmitted
        if assignment.state != State.LEASED:
            task = Task.objects.select_for_update().get(pk=assignment.task_id)
            if task.live >= task.quota:
                raise LeaseExpired
        assignment.state = State.LEASED
        assignment.lease_until = clock.now() + lease_time()
        assignment.save(update_fields=["state", "lease_until"])
    return assignment


def release_task(worker: Worker | None, key: str) -> None:
    """Give a task back. The place is free for others, the draft is kept."""
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True)
        if assignment.state in (State.SUBMITTED, State.SURPLUS):
            raise AlreadySubmitted
        assignment.state = State.RELEASED
        assignment.save(update_fields=["state"])
