"""What requesters do with assignments: approve, reject, pay a bonus."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F

from annotation.common import clock
from annotation.marketplace.books import books
from annotation.marketplace.books.money import bonus_price
from annotation.marketplace.checks import check_length
from annotation.marketplace.errors import AssignmentDoesNotExist, BadParameter, InvalidAssignmentState, InvalidHITState
from annotation.marketplace.models import (
    HIT,
    Assignment,
    BonusPayment,
    MarketSettings,
    Pot,
    Requester,
    Transfer,
    Worker,
)
from annotation.marketplace.people import notices

from . import lifecycle
from .request_tokens import check_token, use_token

State = Assignment.State
OVERRIDE_WITHIN = timedelta(days=30)
LONGEST_FEEDBACK = 1024


def own_assignment(requester: Requester, assignment_id: str) -> Assignment:
    """An assignment that was submitted to this requester. Raises AssignmentDoesNotExist."""
    matches = Assignment.objects.select_related("hit__hit_type", "worker").filter(
        assignment_id=assignment_id, hit__requester=requester
    )
    assignment = matches.first()
    if assignment is None:
        raise AssignmentDoesNotExist(f"Assignment {assignment_id} does not exist, or is not for a HIT of yours.")
    return assignment


def _locked(requester: Requester, assignment_id: str) -> tuple[HIT, Assignment]:
    hit_id = own_assignment(requester, assignment_id).hit.hit_id
    hit = lifecycle.locked_hit(hit_id, requester)
    return hit, Assignment.objects.select_for_update().get(assignment_id=assignment_id)


def approve_assignment(
    requester: Requester, assignment_id: str, feedback: str = "", override_rejection: bool = False
) -> Assignment:
    """Approve and pay. What is approved is refused, as at Amazon's: whoever retries learns that it is done."""
    check_length("RequesterFeedback", feedback, LONGEST_FEEDBACK, minimum=0)
    with transaction.atomic():
        hit, assignment = _locked(requester, assignment_id)
        if assignment.state == State.REJECTED and override_rejection:
            _override(hit, assignment, feedback)
        elif assignment.state == State.SUBMITTED:
            lifecycle.approve_place(hit, assignment, clock.now(), feedback)
        else:
            raise _wrong_state(assignment, "approved", override=assignment.state == State.REJECTED)
        lifecycle.settle(hit)
    return assignment


def _override(hit: HIT, assignment: Assignment, feedback: str) -> None:
    """Approve after all. The money was released at the rejection, so it is held again first."""
    now = clock.now()
    if hit.status == HIT.Status.DISPOSED:
        raise InvalidHITState(f"HIT {hit.hit_id} is Disposed: its rejected assignments can no longer be approved.")
    if assignment.submitted_at is None or assignment.submitted_at + OVERRIDE_WITHIN < now:
        raise InvalidAssignmentState(
            f"Assignment {assignment.assignment_id} was submitted more than 30 days ago; its rejection stands."
        )
    books.hold(hit.requester_id, assignment.price_cents, hit=hit, assignment=assignment)
    lifecycle.pay(hit, assignment)
    assignment.state, assignment.approved_at, assignment.rejected_at = State.APPROVED, now, None
    assignment.feedback = feedback
    assignment.save(update_fields=["state", "approved_at", "rejected_at", "feedback"])
    hit.rejected -= 1
    hit.approved += 1
    Worker.objects.filter(pk=assignment.worker_id).update(
        approved_count=F("approved_count") + 1, rejected_count=F("rejected_count") - 1
    )
    notices.announce(hit, "AssignmentApproved", assignment)


def reject_assignment(requester: Requester, assignment_id: str, feedback: str) -> Assignment:
    """Reject, with a reason for the worker, which clients may leave empty. What is judged already is refused."""
    check_length("RequesterFeedback", feedback, LONGEST_FEEDBACK, minimum=0)
    with transaction.atomic():
        hit, assignment = _locked(requester, assignment_id)
        if assignment.state != State.SUBMITTED:
            raise _wrong_state(assignment, "rejected")
        lifecycle.reject_place(hit, assignment, clock.now(), feedback)
        lifecycle.settle(hit)
    return assignment


def _wrong_state(assignment: Assignment, verb: str, override: bool = False) -> InvalidAssignmentState:
    hint = " To approve it after all, set OverrideRejection." if override else ""
    return InvalidAssignmentState(
        f"This operation can be called with a status of: Submitted. Assignment {assignment.assignment_id} is "
        f"{assignment.state} and can't be {verb}.{hint}"
    )


def send_bonus(
    requester: Requester,
    worker_id: str,
    assignment_id: str,
    cents: int,
    reason: str,
    token: str | None = None,
) -> BonusPayment:
    """Pay a worker beyond the reward, for an assignment they have submitted. Raises InsufficientFunds."""
    check_length("Reason", reason, 4096)
    if cents < 1:
        raise BadParameter("BonusAmount must be at least 0.01.")
    with transaction.atomic():
        check_token(requester, "bonus", token)
        assignment = own_assignment(requester, assignment_id)
        if assignment.worker.worker_id != worker_id:
            raise AssignmentDoesNotExist(f"Worker {worker_id} has not worked on assignment {assignment_id}.")
        if assignment.state not in Assignment.DELIVERED:
            raise InvalidAssignmentState(
                f"Assignment {assignment_id} is {assignment.state}: a bonus can be paid once it is submitted."
            )
        use_token(requester, "bonus", token, assignment.hit)
        cost = bonus_price(cents, MarketSettings.current().rates)
        columns = {"hit": assignment.hit, "assignment": assignment, "note": reason[:200]}
        books.pay_worker(requester.pk, assignment.worker_id, cost, Pot.AVAILABLE, Transfer.Kind.BONUS, **columns)
        notices.tell_worker(assignment.worker, f"You received a bonus from {requester.name}", reason, requester)
        return BonusPayment.objects.create(
            requester=requester,
            assignment=assignment,
            worker=assignment.worker,
            cents=cost.reward_cents,
            fee_cents=cost.fee_cents,
            reason=reason,
            granted_at=clock.now(),
        )
