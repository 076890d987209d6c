"""How a HIT lives: its status, the money it holds, and what the clock does to it.

Everything that changes a HIT locks its row with `locked_hit`, changes it, and calls `settle`. What is due by the clock
(abandoned, auto-approved, expired, disposed) is done by `tick` in the background, and by `locked_hit` and
`catch_up` just before anybody looks, so that nobody sees a state that the clock has passed.

Locks are always taken in this order: HIT, assignment, requester, worker.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Min, Q

from annotation.common import clock
from annotation.marketplace.books import books
from annotation.marketplace.books.money import Price
from annotation.marketplace.errors import HITDoesNotExist, InsufficientFunds
from annotation.marketplace.models import (
    HIT,
    Assignment,
    Pot,
    QualificationRequest,
    Requester,
    RequestToken,
    Transfer,
    Worker,
)
from annotation.marketplace.people import notices

Status = HIT.Status
State = Assignment.State
DISPOSE_AFTER = timedelta(days=120)
TOKEN_LIFE = timedelta(hours=24)
MUTABLE = [
    *("hit_type", "status", "max_assignments", "reward_cents", "fee_cents", "expires_at", "is_expired"),
    *("reviewable_at", "due_at", "pending", "submitted", "approved", "rejected", "taken_cents", "held_cents"),
    "review_waits",
]


def locked_hit(hit_id: str, requester: Requester | None = None) -> HIT:
    """The HIT, locked and up to date. With a requester, only their own. Raises HITDoesNotExist."""
    hits = HIT.objects.select_related("hit_type").select_for_update(of=("self",)).filter(hit_id=hit_id)
    if requester is not None:
        hits = hits.filter(requester=requester)
    hit = hits.first()
    if hit is None:
        raise HITDoesNotExist(f"HIT {hit_id} does not exist, or is not yours.")
    return bring_up_to_date(hit)


def bring_up_to_date(hit: HIT) -> HIT:
    """Do what is due on a locked HIT."""
    now = clock.now()
    if hit.due_at is not None and hit.due_at <= now:
        _do_due(hit, now)
    return hit


def _do_due(hit: HIT, now: datetime) -> None:
    overdue = hit.assignments.select_for_update().filter(state=State.ACCEPTED, deadline__lte=now)
    for assignment in overdue.order_by("pk"):
        free_place(hit, assignment, State.ABANDONED, assignment.deadline)
    ripe = hit.assignments.select_for_update().filter(state=State.SUBMITTED, auto_approve_at__lte=now)
    for assignment in ripe.order_by("pk"):
        approve_place(hit, assignment, assignment.auto_approve_at or now)
    settle_by_itself(hit)
    if hit.status in (Status.REVIEWABLE, Status.REVIEWING) and not hit.submitted:
        since = hit.reviewable_at or hit.expires_at
        if since + DISPOSE_AFTER <= now:
            dispose(hit)


def dispose(hit: HIT) -> None:
    hit.status = Status.DISPOSED
    settle(hit)
    notices.announce(hit, "HITDisposed")


def settle(hit: HIT) -> None:
    """Bring status, hold and due time in line with places and clock, and save. Raises InsufficientFunds."""
    now = clock.now()
    was_expired, hit.is_expired = hit.is_expired, hit.expires_at <= now
    _set_status(hit, now)
    open_places = hit.available if hit.status == Status.ASSIGNABLE else 0
    target = hit.taken_cents + open_places * hit.price_cents
    if target > hit.held_cents:
        books.hold(hit.requester_id, target - hit.held_cents, hit=hit)
    else:
        books.release(hit.requester_id, hit.held_cents - target, hit=hit)
    hit.held_cents = target
    hit.due_at = _next_due(hit)
    hit.save(update_fields=MUTABLE)
    if hit.is_expired and not was_expired:
        notices.announce(hit, "HITExpired")


def settle_by_itself(hit: HIT) -> None:
    """Settle after a worker's or the clock's doing, which must not fail for want of the requester's money.

    A freed place can cost more than it did when it was taken (UpdateHITTypeOfHIT). If that isn't there, the HIT ends.
    """
    try:
        with transaction.atomic():
            settle(hit)
    except InsufficientFunds:
        hit.expires_at = clock.now()
        settle(hit)


def _set_status(hit: HIT, now: datetime) -> None:
    if hit.status == Status.DISPOSED:
        return
    if hit.available and not hit.is_expired:
        hit.status = Status.ASSIGNABLE
    elif hit.pending:
        hit.status = Status.UNASSIGNABLE
    elif hit.status not in (Status.REVIEWABLE, Status.REVIEWING):
        hit.status, hit.reviewable_at = Status.REVIEWABLE, now
        hit.review_waits = "HIT" in hit.review_policies
        notices.announce(hit, "HITReviewable")


def _next_due(hit: HIT) -> datetime | None:
    """When the clock will next change this HIT."""
    if hit.status == Status.DISPOSED:
        return None
    times = [] if hit.is_expired else [hit.expires_at]
    if hit.pending or hit.submitted:
        earliest = hit.assignments.aggregate(
            deadline=Min("deadline", filter=Q(state=State.ACCEPTED)),
            approval=Min("auto_approve_at", filter=Q(state=State.SUBMITTED)),
        )
        times += [time for time in earliest.values() if time is not None]
    if hit.status in (Status.REVIEWABLE, Status.REVIEWING) and not hit.submitted:
        times.append((hit.reviewable_at or hit.expires_at) + DISPOSE_AFTER)
    return min(times, default=None)


# Places


def free_place(hit: HIT, assignment: Assignment, state: str, at: datetime) -> None:
    """An accepted assignment is returned or abandoned: its place is open again. The caller settles."""
    assignment.state, assignment.ended_at = state, at
    assignment.save(update_fields=["state", "ended_at"])
    hit.pending -= 1
    hit.taken_cents -= assignment.price_cents
    # The place falls back to its HIT; settle() holds or releases what it now costs.
    event = "AssignmentReturned" if state == State.RETURNED else "AssignmentAbandoned"
    notices.announce(hit, event, assignment)


def approve_place(hit: HIT, assignment: Assignment, at: datetime, feedback: str = "") -> None:
    """A submitted assignment is approved and paid from what is held for it. The caller settles."""
    assignment.state, assignment.approved_at = State.APPROVED, at
    assignment.feedback = feedback or assignment.feedback
    assignment.save(update_fields=["state", "approved_at", "feedback"])
    hit.submitted -= 1
    hit.approved += 1
    hit.taken_cents -= assignment.price_cents
    hit.held_cents -= assignment.price_cents
    pay(hit, assignment)
    Worker.objects.filter(pk=assignment.worker_id).update(approved_count=F("approved_count") + 1)
    notices.announce(hit, "AssignmentApproved", assignment)


def reject_place(hit: HIT, assignment: Assignment, at: datetime, feedback: str) -> None:
    """A submitted assignment is rejected. The caller settles, which releases its money."""
    assignment.state, assignment.rejected_at, assignment.feedback = State.REJECTED, at, feedback
    assignment.save(update_fields=["state", "rejected_at", "feedback"])
    hit.submitted -= 1
    hit.rejected += 1
    hit.taken_cents -= assignment.price_cents
    Worker.objects.filter(pk=assignment.worker_id).update(rejected_count=F("rejected_count") + 1)
    notices.announce(hit, "AssignmentRejected", assignment)


def pay(hit: HIT, assignment: Assignment) -> None:
    books.pay_worker(
        hit.requester_id,
        assignment.worker_id,
        Price(assignment.reward_cents, assignment.fee_cents),
        Pot.HELD,
        Transfer.Kind.REWARD,
        hit=hit,
        assignment=assignment,
    )


# The clock


@dataclass(frozen=True)
class TickResult:
    """What one tick did."""

    hits: int
    """HITs whose due work was done."""
    lapsed: int
    """Qualification tests whose time ran out."""
    delivered: int
    """Notices that arrived at their callback."""


def tick() -> TickResult:
    """Do everything that is due. Safe to run anywhere, any number of times, at once."""
    now = clock.now()
    hits = catch_up(limit=10_000)
    overdue_tests = QualificationRequest.objects.filter(state="Started", deadline__lte=now)
    lapsed = overdue_tests.update(state=QualificationRequest.State.LAPSED)
    RequestToken.objects.filter(used_at__lte=now - TOKEN_LIFE).delete()
    return TickResult(hits, lapsed, notices.deliver_due(now))


def catch_up(requester: Requester | None = None, limit: int = 500) -> int:
    """Do what is due on HITs: of one requester, or of all. Returns how many there were."""
    now = clock.now()
    due = HIT.objects.filter(due_at__lte=now)
    if requester is not None:
        due = due.filter(requester=requester)
    keys = list(due.order_by("due_at").values_list("pk", flat=True)[:limit])
    for key in keys:
        with transaction.atomic():
            hit = HIT.objects.select_related("hit_type").select_for_update(of=("self",)).filter(pk=key).first()
            if hit is not None:
                bring_up_to_date(hit)
    return len(keys)
