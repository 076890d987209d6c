"""What workers do: find, preview, accept, return, submit.

An assignment id is long and random, and known only to the worker's browser and the requester's page in the frame.
So it is enough to submit with: in the frame no cookie of ours arrives.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum

from annotation.common import clock
from annotation.marketplace.errors import (
    AlreadySubmitted,
    AlreadyTaken,
    Blocked,
    GivenBack,
    HITDoesNotExist,
    NoneLeft,
    NotQualified,
    NotYours,
    TimeIsUp,
    TooManyAtOnce,
)
from annotation.marketplace.models import HIT, Assignment, HITType, Worker, WorkerBlock
from annotation.marketplace.people import notices
from annotation.marketplace.qualifications.eligibility import Action, Requirement, profile_of, unmet
from annotation.marketplace.questions.answers import parse_answers
from annotation.marketplace.questions.questions import Question, parse_question

from . import lifecycle, reviews

State = Assignment.State
SORTS = {
    "newest": ("-newest", "-hit_type"),
    "reward": ("-hit_type__reward_cents", "-hit_type"),
    "most": ("-count", "-hit_type"),
    "shortest": ("hit_type__assignment_seconds", "-hit_type"),
}


@dataclass(frozen=True)
class Group:
    """HITs of one type that a worker may see."""

    hit_type: HITType
    available: int
    """HITs of it that this worker could take."""
    newest: datetime
    expires: datetime
    first_hit_id: str
    """A HIT to preview."""
    unmet: list[Requirement]
    """What keeps this worker from accepting; empty: nothing."""


@dataclass(frozen=True)
class Preview:
    """A HIT as a worker may look at it."""

    hit: HIT
    question: Question
    unmet: list[Requirement]
    assignment: Assignment | None
    """The worker's own assignment on it, where there is one."""


def open_hits(worker: Worker | None) -> QuerySet[HIT]:
    """HITs with a free place that this worker has not worked on, of requesters who have not blocked them."""
    hits = HIT.objects.filter(status=HIT.Status.ASSIGNABLE, expires_at__gt=clock.now(), requester__is_active=True)
    if worker is None:
        return hits
    own_assignments = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, state__in=Assignment.PLACED)
    blocked = WorkerBlock.objects.filter(requester=OuterRef("requester"), worker=worker)
    return hits.exclude(Exists(own_assignments)).exclude(Exists(blocked))


def search_hits(
    worker: Worker | None,
    query: str = "",
    *,
    least_cents: int = 0,
    only_qualified: bool = False,
    sort: str = "newest",
) -> list[Group]:
    """Groups of HITs this worker may see, in a constant number of queries. Unknown sorts fall back to newest."""
    hits = open_hits(worker).filter(hit_type__reward_cents__gte=least_cents)
    for word in query.split()[:10]:
        hits = hits.filter(
            Q(hit_type__title__icontains=word)
            | Q(hit_type__description__icontains=word)
            | Q(hit_type__keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    by_type = hits.values("hit_type").annotate(
        count=Count("pk"), newest=Max("created_at"), expires=Max("expires_at"), first=Min("pk")
    )
    rows = list(by_type.order_by(*SORTS.get(sort, SORTS["newest"])))
    types = HITType.objects.select_related("requester").in_bulk([row["hit_type"] for row in rows])
    first = dict(HIT.objects.filter(pk__in=[row["first"] for row in rows]).values_list("pk", "hit_id"))
    profile = profile_of(worker)
    groups = []
    for row in rows:
        hit_type = types[row["hit_type"]]
        if unmet(hit_type.requirements, profile, Action.DISCOVER):
            continue
        missing = unmet(hit_type.requirements, profile, Action.ACCEPT)
        if missing and only_qualified:
            continue
        groups.append(Group(hit_type, row["count"], row["newest"], row["expires"], first[row["first"]], missing))
    return groups


def preview_hit(worker: Worker | None, hit_id: str) -> Preview:
    """Look at a HIT without taking it. Raises HITDoesNotExist (also where it is hidden), Blocked or NotQualified."""
    hit = HIT.objects.select_related("hit_type", "requester").filter(hit_id=hit_id).first()
    if hit is None or hit.status == HIT.Status.DISPOSED or not hit.requester.is_active:
        raise HITDoesNotExist(f"There is no HIT {hit_id}.")
    assignment = worker and Assignment.objects.filter(hit=hit, worker=worker, state__in=Assignment.PLACED).first()
    profile, requirements = profile_of(worker), hit.hit_type.requirements
    if not assignment:
        _check_not_blocked(hit, worker)
        if unmet(requirements, profile, Action.DISCOVER):
            raise HITDoesNotExist(f"There is no HIT {hit_id}.")
        if unmet(requirements, profile, Action.PREVIEW):
            raise NotQualified("You don't have the qualifications to preview this HIT.")
    return Preview(hit, parse_question(hit.question), unmet(requirements, profile, Action.ACCEPT), assignment or None)


def _check_not_blocked(hit: HIT, worker: Worker | None) -> None:
    if worker and WorkerBlock.objects.filter(requester=hit.requester_id, worker=worker).exists():
        raise Blocked


def accept_hit(worker: Worker, hit_id: str) -> Assignment:
    """Take a place of this HIT. Accepting again what one holds gives the same assignment."""
    with transaction.atomic():
        return _take(lifecycle.locked_hit(hit_id), worker)


def accept_from_group(worker: Worker, hit_type: HITType) -> Assignment:
    """Take a place of any HIT of this type. Raises NoneLeft."""
    with transaction.atomic():
        free = open_hits(worker).filter(hit_type=hit_type).select_related("hit_type").order_by("pk")
        # HITs that others take this instant are passed over; when nothing else is left, wait for them.
        hit = (
            free.select_for_update(skip_locked=True, of=("self",)).first()
            or free.select_for_update(of=("self",)).first()
        )
        if hit is None:
            raise NoneLeft
        return _take(lifecycle.bring_up_to_date(hit), worker)


def _take(hit: HIT, worker: Worker) -> Assignment:
    """One more place of a locked HIT for this worker."""
    existing = Assignment.objects.filter(hit=hit, worker=worker, state__in=Assignment.PLACED).first()
    if existing is not None:
        if existing.state == State.ACCEPTED:
            return existing
        raise AlreadyTaken
    _check_may_accept(hit, worker)
    if hit.status != HIT.Status.ASSIGNABLE or not hit.requester.is_active:
        raise NoneLeft
    now = clock.now()
    try:
        with transaction.atomic():
            assignment = Assignment.objects.create(
                hit=hit,
                worker=worker,
                reward_cents=hit.reward_cents,
                fee_cents=hit.fee_cents,
                accepted_at=now,
                deadline=now + timedelta(seconds=hit.hit_type.assignment_seconds),
            )
    except IntegrityError:
        raise AlreadyTaken from None
    hit.pending += 1
    hit.taken_cents += assignment.price_cents
    lifecycle.settle(hit)
    notices.announce(hit, "AssignmentAccepted", assignment)
    return assignment


def _check_may_accept(hit: HIT, worker: Worker) -> None:
    if not worker.is_active:
        raise Blocked("The operator has closed this account. Write to them if you think that is wrong.")
    _check_not_blocked(hit, worker)
    profile = profile_of(worker)
    if unmet(hit.hit_type.requirements, profile, Action.DISCOVER):
        raise HITDoesNotExist(f"There is no HIT {hit.hit_id}.")
    if unmet(hit.hit_type.requirements, profile, Action.ACCEPT):
        raise NotQualified
    accepted_count = Assignment.objects.filter(worker=worker, state=State.ACCEPTED, deadline__gt=clock.now()).count()
    if accepted_count >= settings.MARKETPLACE_ACCEPT_LIMIT:
        raise TooManyAtOnce


def return_assignment(worker: Worker, assignment_id: str) -> None:
    """Give a place back. Returning again changes nothing."""
    with transaction.atomic():
        hit, assignment = _locked(assignment_id, worker)
        if assignment.state in Assignment.DELIVERED:
            raise AlreadySubmitted
        if assignment.state == State.ACCEPTED:
            lifecycle.free_place(hit, assignment, State.RETURNED, clock.now())
            lifecycle.settle_by_itself(hit)


def submit_assignment(assignment_id: str, answer_xml: str, worker: Worker | None = None) -> Assignment:
    """Hand in answers (QuestionFormAnswers XML). With a worker, only their own.

    Raises NotYours, AlreadySubmitted, GivenBack, TimeIsUp or BadXML; nothing is changed then.
    """
    parse_answers(answer_xml)
    with transaction.atomic():
        hit, assignment = _locked(assignment_id, worker)
        if assignment.state in Assignment.DELIVERED:
            raise AlreadySubmitted
        if assignment.state == State.RETURNED:
            raise GivenBack
        if assignment.state != State.ACCEPTED:
            raise TimeIsUp
        now = clock.now()
        assignment.state, assignment.submitted_at, assignment.answer = State.SUBMITTED, now, answer_xml
        assignment.auto_approve_at = now + timedelta(seconds=hit.hit_type.auto_approve_seconds)
        assignment.save(update_fields=["state", "submitted_at", "answer", "auto_approve_at"])
        hit.pending -= 1
        hit.submitted += 1
        notices.announce(hit, "AssignmentSubmitted", assignment)
        lifecycle.settle(hit)
        if hit.hit_type.auto_approve_seconds == 0:
            lifecycle.bring_up_to_date(hit)
        reviews.review_assignment(hit, assignment)
        reviews.review_hit(hit)
        assignment.refresh_from_db()
    return assignment


def _locked(assignment_id: str, worker: Worker | None) -> tuple[HIT, Assignment]:
    assignments = Assignment.objects.filter(assignment_id=assignment_id)
    if worker is not None:
        assignments = assignments.filter(worker=worker)
    hit_id = assignments.values_list("hit__hit_id", flat=True).first()
    if hit_id is None:
        raise NotYours
    hit = lifecycle.locked_hit(hit_id)
    return hit, assignments.select_for_update().get()


@dataclass(frozen=True)
class Earnings:
    """A worker's money by state, in cents."""

    approved: int
    submitted: int
    """Submitted and not judged yet."""
    bonuses: int
    paid_out: int

    @property
    def owed(self) -> int:
        return self.approved + self.bonuses - self.paid_out


def earnings_of(worker: Worker) -> Earnings:
    by_state = worker.assignments.aggregate(
        approved=Sum("reward_cents", filter=Q(state=State.APPROVED), default=0),
        submitted=Sum("reward_cents", filter=Q(state=State.SUBMITTED), default=0),
    )
    bonuses = worker.bonus_payments.aggregate(sum=Sum("cents", default=0))["sum"]
    return Earnings(by_state["approved"], by_state["submitted"], bonuses, worker.paid_out_cents)
