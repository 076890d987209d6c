"""A market worker's room in a task: taken when they come, confirmed or given up when the market says so.

The market decides who may work and whose work counts. We only follow: the newest comer gets the place (the market let
them in, so an older hold that it has not confirmed must be stale), and what was saved is never thrown away.
Locks are taken as in annotation/judging/leases.py, with the posting in between: worker, posting, assignment, task.
"""

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common import clock
from annotation.common.errors import Blocked, NoTaskLeft, Refused
from annotation.judging.ahead import lease_ahead
from annotation.judging.leases import DONE, check_open, draw_seed, lease_task, lease_time
from annotation.models import Assignment, Batch, Posting, Submission, Task, Worker
from annotation.models.work import AssignmentQuerySet, counted

State = Assignment.State


class DoneAlready(Refused):
    sentence = gettext_lazy(
        "You have judged this text before, in another HIT of this study. Your answers are kept; please return this "
        "one, and take another."
    )


class BlockedOnMarket(Blocked):
    sentence = gettext_lazy(
        "You can't take part in this study any more. What you gave is kept, and what was approved is paid. "
        "Please return this task on the market."
    )


def worker_of(posting: Posting, external_id: str) -> Worker:
    """The worker behind a market's own id, made when they come for the first time."""
    study, crowd = posting.batch.study, posting.batch.crowd
    worker, _made = Worker.objects.get_or_create(
        study=study,
        crowd=crowd,
        external_id=external_id,
        defaults={"pseudonym": study.pseudonym(crowd, external_id)},
    )
    return worker


def open_submission(posting: Posting, market_id: str, worker: Worker) -> Submission:
    """The worker's submission to a posting. Until the market confirms one, the last worker it sent holds it.

    Raises Blocked, or Refused when the market has it from another worker already.

    Markets hand a returned assignment, id and all, to the next worker: so a second worker under one id is no error.
    """
    if worker.blocked_at:
        raise BlockedOnMarket
    with transaction.atomic():
        submission, is_new = Submission.objects.select_for_update().get_or_create(
            posting=posting, market_id=market_id, defaults={"worker": worker, "started_at": clock.now()}
        )
        if submission.state == Submission.State.RETURNED:  # given back, and taken again
            submission.state = Submission.State.STARTED
            submission.save(update_fields=["state"])
        if is_new or submission.worker_id == worker.pk:
            return submission
        if submission.state != Submission.State.STARTED:
            raise Refused(_("Another worker has handed in this assignment. Nothing was changed."))
        leases = submission.assignments.select_for_update(of=("self",)).filter(state=State.LEASED)
        leases.update(state=State.EXPIRED)
        submission.worker, submission.saved_at, submission.receipt = worker, None, ""
        submission.save(update_fields=["worker", "saved_at", "receipt"])
        return submission


def hold_place(submission: Submission, task: Task) -> Assignment:
    """The place of this market worker in a task; asked again, the same one, with its draft.

    When all places are held, the oldest hold that its market has not confirmed is given up: first one that is only
    leased (its draft stays), then one whose answers are saved (they become surplus). Raises DoneAlready or NoTaskLeft.
    """
    with transaction.atomic():
        Worker.objects.select_for_update().get(pk=submission.worker_id)
        _one_at_a_time(submission.posting)
        assignment = (
            Assignment.objects.select_for_update(of=("self",))
            .filter(task=task, worker_id=submission.worker_id)
            .select_related("submission")
            .first()
        )
        if assignment is None:
            check_open(task.batch)
            _make_room(task, None)
            return _take(submission, task)
        _check_same_submission(assignment, submission)
        assignment.submission = submission
        if assignment.state not in DONE and assignment.state != State.LEASED:
            check_open(task.batch)
            _make_room(task, assignment)
            assignment.state = State.LEASED
        if assignment.state == State.LEASED:
            assignment.lease_until, assignment.is_ahead = clock.now() + lease_time(), False
        assignment.save(update_fields=["submission", "state", "is_ahead", "lease_until"])
        return assignment


def _check_same_submission(assignment: Assignment, submission: Submission) -> None:
    """What another submission of theirs has brought to the market stays with it."""
    earlier = assignment.submission
    if earlier is None and assignment.state in DONE:
        raise DoneAlready
    if earlier is not None and earlier.pk != submission.pk and earlier.state in Submission.CONFIRMED:
        raise DoneAlready


def _take(submission: Submission, task: Task) -> Assignment:
    now = clock.now()
    return Assignment.objects.create(
        task=task,
        worker_id=submission.worker_id,
        submission=submission,
        leased_at=now,
        lease_until=now + lease_time(),
        seed=draw_seed(task, task.batch, submission.worker),
    )


def _make_room(task: Task, keep: Assignment | None) -> None:
    """Give up the oldest unconfirmed hold if all places are taken. The holds are locked before the task."""
    holds = task.assignments.filter(state__in=Assignment.LIVE).exclude(counted())
    if keep is not None:
        holds = holds.exclude(pk=keep.pk)
    locked = [hold.pk for hold in holds.select_for_update(of=("self",))]
    stale = list(holds.filter(pk__in=locked).order_by("leased_at", "pk"))  # anew: one may be confirmed by now
    row = Task.objects.select_for_update().get(pk=task.pk)
    if row.live < row.quota:
        return
    if not stale:
        raise NoTaskLeft(_("All places of this task are taken. Nothing was changed; please return it on the market."))
    _give_up(next((hold for hold in stale if hold.state == State.LEASED), stale[0]))


def _one_at_a_time(posting: Posting) -> None:
    """Who comes to a task and who is confirmed on it take turns, by a lock on its first posting."""
    postings = Posting.objects.filter(batch_id=posting.batch_id)
    postings = postings.filter(task=posting.task_id) if posting.task_id else postings.filter(task=None)
    postings.order_by("pk").select_for_update(no_key=True).first()


def _give_up(assignment: Assignment) -> None:
    assignment.state = State.EXPIRED if assignment.state == State.LEASED else State.SURPLUS
    assignment.save(update_fields=["state"])


def next_place(submission: Submission, limit: int) -> Assignment | None:
    """The next task of a sitting of up to `limit`; None when all are done, or no other is left for this worker."""
    batch = submission.posting.batch
    assignments = Assignment.objects.filter(worker_id=submission.worker_id, task__batch=batch, submission=submission)
    if assignments.filter(state__in=DONE).count() >= limit:
        return None
    try:
        assignment = lease_task(batch, submission.worker, while_paused=assignments.exists())
    except NoTaskLeft:
        if not assignments.filter(state__in=DONE).exists():
            raise
        return None
    return _put_under(assignment, submission)


def place_ahead(submission: Submission, limit: int, current: str) -> Assignment | None:
    """The task after the one with the key `current`, held for a short time; None without one, or at the end of a
    sitting of `limit` (0: no end is set)."""
    batch = submission.posting.batch
    if limit and _done(submission).count() + 2 > limit:  # with the one in hand, all are there
        return None
    assignment = lease_ahead(batch, submission.worker, current, while_paused=bool(limit))
    return None if assignment is None else _put_under(assignment, submission if limit else None)


def _done(submission: Submission) -> AssignmentQuerySet:
    batch = submission.posting.batch
    done = Assignment.objects.filter(worker_id=submission.worker_id, task__batch=batch, state__in=DONE)
    return done.filter(submission=submission)


def _put_under(assignment: Assignment, submission: Submission | None) -> Assignment:
    if submission is not None and assignment.submission_id != submission.pk:
        assignment.submission = submission
        assignment.save(update_fields=["submission"])
    return assignment


def confirm(submission: Submission) -> int:
    """The market has this submission: what its worker saved counts from now on. Returns how many assignments count.

    Work that came late, or whose place another had got meanwhile, is taken back from surplus as far as places allow.
    """
    with transaction.atomic():
        _one_at_a_time(submission.posting)
        assignments = Assignment.objects.filter(submission=submission).select_related("task")
        return sum([_confirmed(assignment, submission) for assignment in assignments.select_for_update(of=("self",))])


def bring_home(submission: Submission) -> int:
    """Its work hangs on a submission that the market doesn't have, and comes back to this one. How many did.

    Whoever knows a worker's id can come under it with a made-up submission; the market knows who worked.
    """
    astray = Assignment.objects.filter(
        worker_id=submission.worker_id,
        submission__posting__batch=submission.posting.batch_id,
        submission__state=Submission.State.STARTED,
    )
    if submission.posting.task_id:
        astray = astray.filter(task=submission.posting.task_id)
    return astray.update(submission=submission)


def _confirmed(assignment: Assignment, submission: Submission) -> bool:
    """Whether this assignment counts now that the market has named the worker of the submission."""
    if assignment.worker_id != submission.worker_id:
        if assignment.state == State.SUBMITTED:  # another worker had come under the same id
            _give_up(assignment)
        return False
    if assignment.state == State.SURPLUS and assignment.submitted_at is not None:
        try:
            _make_room(assignment.task, assignment)
        except NoTaskLeft:
            return False  # every place has a confirmed answer
        assignment.state = State.SUBMITTED
        assignment.save(update_fields=["state"])
    return assignment.state == State.SUBMITTED


def drop(submission: Submission) -> int:
    """It was returned, ran out of time or was rejected: its place is free, its work is kept but not counted."""
    with transaction.atomic():
        assignments = Assignment.objects.filter(submission=submission)
        assignments.filter(state=State.LEASED).update(state=State.EXPIRED)
        return assignments.filter(state=State.SUBMITTED).update(state=State.SURPLUS)


def leave(submission: Submission) -> None:
    """The worker stops: what is only held goes back, draft and all; what is done stays."""
    leases = Assignment.objects.filter(
        worker_id=submission.worker_id, task__batch=submission.posting.batch, state=State.LEASED
    )
    leases.update(state=State.EXPIRED)  # and not released: who comes back gets the same task


def tasks_of(batch: Batch) -> int:
    """How many tasks one participant is asked to do in a sitting."""
    return max(1, int(batch.terms.get("tasks_per_participant") or 1))
