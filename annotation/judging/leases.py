"""Taking, holding, giving back and losing a task.

A lease locks one task row, so that workers who come at once get different tasks (`SKIP LOCKED` on PostgreSQL;
SQLite lets one writer in at a time). The quota itself is kept by the database (annotation/models/triggers.py).
Locks are always taken in the order worker, assignment, task: so nobody waits in a circle.
"""

import hashlib
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, BatchNotOpen, NoTaskLeft, NotYours
from annotation.common.prepared_queries import PreparedObjects, PreparedQuery
from annotation.models import Assignment, Batch, Task, User, Worker
from annotation.models.work import MODEL_ROLE, AssignmentQuerySet, TaskQuerySet

State = Assignment.State
DONE = (State.SUBMITTED, State.SURPLUS)
AHEAD_MINUTES = 2  # how long a task is held for who works on another one


def lease_task(batch: Batch, worker: Worker, *, while_paused: bool = False) -> Assignment:
    """The worker's open assignment in this batch, or a new one on a free task.

    A lease of theirs that ended is taken up again, draft and all, while its place is free. `while_paused`: who is in
    the middle of a sitting may finish it. Raises BatchNotOpen or NoTaskLeft.
    """
    check_open(batch, while_paused=while_paused)
    check_for_people(batch)
    assignment = _lease(batch, worker)
    if assignment is None and expire_leases(batch):  # places that others have lost are handed out last
        assignment = _lease(batch, worker)
    if assignment is None:  # and then those that others hold ahead
        assignment = _take_over(batch, worker)
    if assignment is None:
        raise NoTaskLeft(_why_none_is_left(batch, worker))
    return assignment


def check_open(batch: Batch, *, while_paused: bool = False) -> None:
    """BatchNotOpen, with the reason, unless the batch is open."""
    if batch.state == Batch.State.PAUSED and while_paused:
        return
    if batch.state == Batch.State.PAUSED:
        raise BatchNotOpen(_("This batch is paused. Everything you saved is kept; look in again later."))
    if batch.state == Batch.State.CLOSED:
        raise BatchNotOpen(_("This batch is closed: no more answers are needed. Thank you; what you gave is kept."))
    if batch.state != Batch.State.OPEN:
        raise BatchNotOpen


def check_for_people(batch: Batch) -> None:
    """BatchNotOpen for a batch that a model judges: nobody else takes its tasks, or learns why."""
    if batch.role == MODEL_ROLE:
        raise BatchNotOpen


def _lease(batch: Batch, worker: Worker) -> Assignment | None:
    with transaction.atomic():
        # One lease at a time per worker: two tabs wait for each other here and then share the assignment.
        LOCK_WORKER(worker=worker.pk)
        if _RESUMABLE(worker=worker.pk, batch=batch.pk):
            for assignment in lock_resumable(batch, worker):
                if hold(assignment):
                    return assignment
        if task := free_task(batch, worker):
            return take_place(task, batch, worker)
    return _lease_last(batch, worker)


def _lease_last(batch: Batch, worker: Worker) -> Assignment | None:
    """Wait for tasks that others look at just now, in a transaction of its own: the one before may have locked tasks
    that turned out full, and who holds a task while waiting for another could wait in a circle."""
    with transaction.atomic():
        LOCK_WORKER(worker=worker.pk)
        live = Assignment.objects.filter(worker=worker, task__batch=batch, state=State.LEASED)
        if (assignment := live.select_for_update(of=("self",)).first()) and hold(assignment):  # another tab was quicker
            return assignment
        task = free_task(batch, worker, wait=True)
        return None if task is None else take_place(task, batch, worker)


def _take_over(batch: Batch, worker: Worker) -> Assignment | None:
    """A place that somebody else holds ahead: who has no task goes before who has one."""
    if not _HELD_AHEAD(worker=worker.pk, batch=batch.pk):
        return None
    with transaction.atomic():
        LOCK_WORKER(worker=worker.pk)
        takeable = _held_ahead(worker.pk, batch.pk).order_by("lease_until")
        assignment = takeable.select_for_update(skip_locked=True, of=("self",)).first()
        if assignment is None:
            return None
        assignment.state = State.EXPIRED
        assignment.save(update_fields=["state"])
        # The task is locked now (its count was kept): who waited for a second one could wait in a circle.
        lost = Assignment.objects.filter(worker=worker, task=assignment.task_id).first()
        if lost is not None:
            return lost if hold(lost) else None
        return take_place(Task.objects.select_related("batch").get(pk=assignment.task_id), batch, worker)


def _resumable(worker: int, batch: int) -> AssignmentQuerySet:
    states = Q(state__in=[State.LEASED, State.EXPIRED]) | Q(state=State.RELEASED, task__reserved_for=worker)
    return Assignment.objects.filter(states, worker=worker, task__batch=batch)


def _held_ahead(worker: int, batch: int) -> AssignmentQuerySet:
    """What others hold ahead of the tasks that this worker could take."""
    had = Assignment.objects.filter(worker=worker, task=OuterRef("task")).exclude(state=State.EXPIRED)
    ahead = Assignment.objects.filter(task__batch=batch, state=State.LEASED, is_ahead=True, task__reserved_for=None)
    return ahead.exclude(worker=worker).exclude(Exists(had))


def _free(worker: int, batch: int) -> TaskQuerySet:
    return Task.objects.filter(batch=batch).free_for(worker).order_by("pk")


# What every lease asks of the database (common/prepared_queries.py)
LOCK_WORKER = PreparedQuery(
    lambda worker: Worker.objects.filter(pk=worker).select_for_update().values_list("pk"), "worker"
)
_RESUMABLE = PreparedQuery(lambda worker, batch: _resumable(worker, batch).values_list("pk"), "worker", "batch")
_HELD_AHEAD = PreparedQuery(lambda worker, batch: _held_ahead(worker, batch).values_list("pk")[:1], "worker", "batch")


def _lock_free(*, skip_locked: bool) -> PreparedQuery:
    def build(worker: int, batch: int) -> QuerySet[Task, Any]:
        free = _free(worker, batch).select_for_update(skip_locked=skip_locked)
        return free.values_list("pk", "document_id", "summary_id")[:1]

    return PreparedQuery(build, "worker", "batch", replan=True)


_FREE, _FREE_SOON = _lock_free(skip_locked=True), _lock_free(skip_locked=False)


def lock_resumable(batch: Batch, worker: Worker) -> list[Assignment]:
    """What this worker works on, what they hold ahead, then what they lost, the oldest first; a reserved task also
    after it was given back."""
    query = _resumable(worker.pk, batch.pk).select_related("task").select_for_update(of=("self",)).order_by("pk")
    rows = list(query)
    if ended := [assignment.task_id for assignment in rows if assignment.state != State.LEASED]:
        # All at once, in one order for everybody, so that nobody waits in a circle; `hold` then waits for none.
        list(Task.objects.filter(pk__in=ended).select_for_update().order_by("pk").values_list("pk"))
    return sorted(rows, key=lambda assignment: (assignment.state != State.LEASED, assignment.is_ahead))


def hold(assignment: Assignment, *, ahead: bool = False) -> bool:
    """Start the lease anew; False when it had ended and its place is taken. The assignment is locked already."""
    if assignment.state != State.LEASED:
        task = Task.objects.select_for_update().get(pk=assignment.task_id)
        if task.live >= task.quota:
            return False
    assignment.state, assignment.is_ahead = State.LEASED, ahead
    assignment.lease_until = clock.now() + lease_time(ahead)
    assignment.save(update_fields=["state", "is_ahead", "lease_until"])
    return True


def free_task(batch: Batch, worker: Worker, *, wait: bool = False) -> Task | None:
    """A task with a free place for this worker, locked; rows that others hold this instant are passed over.

    `wait`: they are waited for instead, in the order of the tasks.
    """
    if batch.options.get("grouped") and not wait:  # a document's summaries in several groups: finish what one has begun
        begun = Assignment.objects.filter(worker=worker, task__batch=batch).values("task__document")
        free = _free(worker.pk, batch.pk).filter(document__in=begun)
        if task := free.select_for_update(skip_locked=True).first():
            return task
    query = _FREE_SOON if wait else _FREE
    for pk, document, summary in query(worker=worker.pk, batch=batch.pk):
        names = ["id", "batch_id", "document_id", "summary_id"]  # the rest is read where somebody asks for it
        task = Task.from_db(connection.alias, names, [pk, batch.pk, document, summary])
        task.batch = batch
        return task
    return None


def take_place(task: Task, batch: Batch, worker: Worker, *, ahead: bool = False) -> Assignment:
    now = clock.now()
    return Assignment.objects.create(
        task=task,
        worker=worker,
        is_ahead=ahead,
        leased_at=now,
        lease_until=now + lease_time(ahead),
        seed=draw_seed(task, batch, worker),
    )


def draw_seed(task: Task, batch: Batch, worker: Worker) -> int:
    """What this worker's grouping and order follow from: the same for all groups of one document."""
    keys = (batch.options.get("seed", 0), worker.pseudonym, task.document_id, task.summary_id or "")
    digest = hashlib.blake2b(":".join(map(str, keys)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1  # a positive BIGINT


def _why_none_is_left(batch: Batch, worker: Worker) -> str:
    tasks = Task.objects.filter(batch=batch)
    if "round_of" in batch.options:
        return _("There is no answer of yours to look at again, or you have looked at all of them. Thank you!")
    if tasks.filter(live__lt=F("quota")).exists():
        return _("You have had every task of this batch that still needs answers. Thank you!")
    if Assignment.objects.filter(task__batch=batch, state=State.LEASED).exists():
        return _(
            "All places of this batch are taken just now. Somebody may give one back: look in again in half an hour."
        )
    return _("This batch is complete: every task has all its answers. Thank you!")


def lease_time(ahead: bool = False) -> timedelta:
    return timedelta(minutes=min(settings.LEASE_MINUTES, AHEAD_MINUTES) if ahead else settings.LEASE_MINUTES)


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


Holder = Worker | User | None
"""Who asks for an assignment: a worker, or the person who signed in."""


def own_assignment(holder: Holder, key: str, *, lock: bool = False, texts: bool = True) -> Assignment:
    """The holder's assignment by its key; NotYours for anybody else's. `texts` brings document and summary along."""
    column = "worker__user" if isinstance(holder, User) else "worker"
    assignment = None if holder is None else _own_query(column, lock, texts).first(holder=holder.pk, key=key)
    if assignment is None:
        raise NotYours
    return assignment


@cache
def _own_query(column: str, lock: bool, texts: bool) -> PreparedObjects[Assignment]:
    assignments = Assignment.objects.select_related("task__batch__study", "worker")
    if texts:
        assignments = assignments.select_related("task__document", "task__summary").defer("task__document__source")
    if lock:
        assignments = assignments.select_for_update(of=("self",))
    return PreparedObjects(lambda holder, key: assignments.filter(key=key, **{column: holder}), "holder", words=["key"])


def assignment_of(user: User, key: str) -> Assignment:
    """The signed-in person's assignment with all that a page needs, in one query; NotYours for anybody else's."""
    assignment = _PAGE.first(user=user.pk, key=key)
    if assignment is None:
        raise NotYours
    return assignment


_PAGE = PreparedObjects(
    lambda user, key: Assignment.objects.select_related(
        "task__batch__study", "task__document", "task__summary", "worker"
    ).filter(key=key, worker__user=user),
    "user",
    words=["key"],
)


def keep_alive(assignment: Assignment) -> bool:
    """Renew inside the caller's transaction, which has locked the assignment; False when the place is lost or done."""
    if assignment.state in DONE or assignment.state == State.RELEASED:
        return False
    return hold(assignment)


def release_task(worker: Worker | None, key: str) -> None:
    """Give a task back, and the one held ahead with it. The places are free for others, the draft is kept."""
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True, texts=False)
        if assignment.state in DONE:
            raise AlreadySubmitted
        assignment.state = State.RELEASED
        assignment.save(update_fields=["state"])
    drop_ahead(assignment.worker_id)


def drop_ahead(worker: int) -> None:
    """Give back what the worker holds ahead: it is not reached."""
    Assignment.objects.filter(worker=worker, state=State.LEASED, is_ahead=True).update(state=State.EXPIRED)
