"""Taking, holding, giving back and losing a task.

A lease locks one task row, so that workers who come at once get different tasks (`SKIP LOCKED` on PostgreSQL;
SQLite lets one writer in at a time). The quota itself is kept by the database (annotation/models/triggers.py).
Locks are always taken in the order worker, assignment, task: so nobody waits in a circle.
"""

import hashlib
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, BatchNotOpen, NoTaskLeft, NotYours
from annotation.common.prepared_queries import PreparedObjects, PreparedQuery
from annotation.models import Assignment, Batch, Task, User, Worker
from annotation.models.work import AssignmentQuerySet, TaskQuerySet

State = Assignment.State
DONE = (State.SUBMITTED, State.SURPLUS)


def lease_task(batch: Batch, worker: Worker, *, while_paused: bool = False) -> Assignment:
    """The worker's open assignment in this batch, or a new one on a free task.

    A lease of theirs that ended is taken up again, draft and all, while its place is free. `while_paused`: who is in
    the middle of a sitting may finish it. Raises BatchNotOpen or NoTaskLeft.
    """
    if not (while_paused and batch.state == Batch.State.PAUSED):
        check_open(batch)
    assignment = _lease(batch, worker)
    if assignment is None and expire_leases(batch):  # places that others have lost are handed out last
        assignment = _lease(batch, worker)
    if assignment is None:
        raise NoTaskLeft(_why_none_is_left(batch, worker))
    return assignment


def check_open(batch: Batch) -> None:
    """BatchNotOpen, with the reason, unless the batch is open."""
    if batch.state == Batch.State.PAUSED:
        raise BatchNotOpen(_("This batch is paused. Everything you saved is kept; look in again later."))
    if batch.state == Batch.State.CLOSED:
        raise BatchNotOpen(_("This batch is closed: no more answers are needed. Thank you; what you gave is kept."))
    if batch.state != Batch.State.OPEN:
        raise BatchNotOpen


def _lease(batch: Batch, worker: Worker) -> Assignment | None:
    with transaction.atomic():
        # One lease at a time per worker: two tabs wait for each other here and then share the assignment.
        _LOCK_WORKER(worker=worker.pk)
        if _RESUMABLE(worker=worker.pk, batch=batch.pk):
            for assignment in _lock_resumable(batch, worker):
                if _hold(assignment):
                    return assignment
        task = _free_task(batch, worker)
        return None if task is None else _take(task, batch, worker)


def _resumable(worker: int, batch: int) -> AssignmentQuerySet:
    states = Q(state__in=[State.LEASED, State.EXPIRED]) | Q(state=State.RELEASED, task__reserved_for=worker)
    return Assignment.objects.filter(states, worker=worker, task__batch=batch)


def _free(worker: int, batch: int) -> TaskQuerySet:
    return Task.objects.filter(batch=batch).free_for(worker).order_by("pk")


# What every lease asks of the database (common/prepared_queries.py)
_LOCK_WORKER = PreparedQuery(
    lambda worker: Worker.objects.filter(pk=worker).select_for_update().values_list("pk"), "worker"
)
_RESUMABLE = PreparedQuery(lambda worker, batch: _resumable(worker, batch).values_list("pk"), "worker", "batch")
_FREE = PreparedQuery(
    lambda worker, batch: (
        _free(worker, batch).select_for_update(skip_locked=True).values_list("pk", "document_id", "summary_id")[:1]
    ),
    "worker",
    "batch",
    replan=True,
)


def _lock_resumable(batch: Batch, worker: Worker) -> list[Assignment]:
    """What this worker holds, then what they lost, the oldest first; a reserved task also after it was given back."""
    rows = _resumable(worker.pk, batch.pk).select_related("task").select_for_update(of=("self",)).order_by("pk")
    return sorted(rows, key=lambda assignment: assignment.state != State.LEASED)


def _hold(assignment: Assignment) -> bool:
    """Start the lease anew; False when it had ended and its place is taken. The assignment is locked already."""
    if assignment.state != State.LEASED:
        task = Task.objects.select_for_update().get(pk=assignment.task_id)
        if task.live >= task.quota:
            return False
    assignment.state = State.LEASED
    assignment.lease_until = clock.now() + lease_time()
    assignment.save(update_fields=["state", "lease_until"])
    return True


def _free_task(batch: Batch, worker: Worker) -> Task | None:
    if batch.options.get("grouped"):  # a document's summaries in several groups: finish what one has begun
        begun = Assignment.objects.filter(worker=worker, task__batch=batch).values("task__document")
        free = _free(worker.pk, batch.pk).filter(document__in=begun)
        if task := free.select_for_update(skip_locked=True).first():
            return task
    # Rows that others hold this instant are passed over; when nothing else is left, wait for them.
    for pk, document, summary in _FREE(worker=worker.pk, batch=batch.pk):
        return Task(pk=pk, batch=batch, document_id=document, summary_id=summary)
    return _free(worker.pk, batch.pk).select_for_update().first()


def _take(task: Task, batch: Batch, worker: Worker) -> Assignment:
    now = clock.now()
    return Assignment.objects.create(
        task=task, worker=worker, leased_at=now, lease_until=now + lease_time(), seed=draw_seed(task, batch, worker)
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


def own_assignment(worker: Worker | None, key: str, *, lock: bool = False, texts: bool = True) -> Assignment:
    """The worker's assignment by its key; NotYours for anybody else's. `texts` brings document and summary along."""
    assignment = None if worker is None else _own_query(lock, texts).first(worker=worker.pk, key=key)
    if assignment is None:
        raise NotYours
    return assignment


@cache
def _own_query(lock: bool, texts: bool) -> PreparedObjects[Assignment]:
    assignments = Assignment.objects.select_related("task__batch__study")
    if texts:
        assignments = assignments.select_related("task__document", "task__summary").defer("task__document__source")
    if lock:
        assignments = assignments.select_for_update(of=("self",))
    return PreparedObjects(lambda worker, key: assignments.filter(key=key, worker=worker), "worker", words=["key"])


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
    return _hold(assignment)


def release_task(worker: Worker | None, key: str) -> None:
    """Give a task back. The place is free for others, the draft is kept."""
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True, texts=False)
        if assignment.state in DONE:
            raise AlreadySubmitted
        assignment.state = State.RELEASED
        assignment.save(update_fields=["state"])
