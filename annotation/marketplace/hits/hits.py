"""What requesters do with HITs."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from annotation.common import clock
from annotation.marketplace.books import books
from annotation.marketplace.books.money import LARGE, Price, price
from annotation.marketplace.checks import DAY, check_length, check_range
from annotation.marketplace.errors import (
    BadParameter,
    HITTypeDoesNotExist,
    InvalidHITState,
    InvalidMaximumAssignmentsIncrease,
)
from annotation.marketplace.models import HIT, HITType, MarketSettings, Requester
from annotation.marketplace.people import notices
from annotation.marketplace.qualifications.eligibility import asks_for_masters
from annotation.marketplace.qualifications.requirements import check_types_exist, normalize_requirements
from annotation.marketplace.questions.questions import check_question

from . import lifecycle
from .request_tokens import check_token, use_token
from .reviews import check_policies

Status = HIT.Status
MOST_ASSIGNMENTS = 10**9
DURATIONS = (30, 365 * DAY)
LIFETIMES = (30, 365 * DAY)
AUTO_APPROVALS = (0, 30 * DAY)


@dataclass(frozen=True)
class TypeValues:
    """What makes a HIT type: two types with the same values are the same."""

    title: str
    description: str
    reward_cents: int
    assignment_seconds: int
    keywords: str = ""
    auto_approve_seconds: int = 30 * DAY
    requirements: list[dict[str, Any]] = field(default_factory=list)

    def check(self) -> None:
        """The documented limits. Raises BadParameter."""
        check_length("Title", self.title, 128)
        check_length("Description", self.description, 2000)
        check_length("Keywords", self.keywords, 1000, minimum=0)
        check_range("AssignmentDurationInSeconds", self.assignment_seconds, *DURATIONS)
        check_range("AutoApprovalDelayInSeconds", self.auto_approve_seconds, *AUTO_APPROVALS)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(json.dumps(self.__dict__, sort_keys=True).encode()).hexdigest()


def register_hit_type(requester: Requester, values: TypeValues) -> HITType:
    """The requester's HIT type with these values: the one there is, or a new one."""
    values.check()
    values = TypeValues(**{**values.__dict__, "requirements": normalize_requirements(values.requirements)})
    hit_type = HITType.objects.filter(requester=requester, fingerprint=values.fingerprint).first()
    if hit_type is not None:
        return hit_type
    try:
        with transaction.atomic():
            return HITType.objects.create(
                requester=requester, fingerprint=values.fingerprint, created_at=clock.now(), **values.__dict__
            )
    except IntegrityError:  # the same values came in another request meanwhile
        return HITType.objects.get(requester=requester, fingerprint=values.fingerprint)


def own_hit_type(requester: Requester, hit_type_id: str) -> HITType:
    hit_type = HITType.objects.filter(requester=requester, hit_type_id=hit_type_id).first()
    if hit_type is None:
        raise HITTypeDoesNotExist(f"HIT type {hit_type_id} does not exist, or is not yours.")
    return hit_type


def create_hit(
    requester: Requester,
    hit_type: HITType,
    question: str,
    *,
    lifetime_seconds: int,
    max_assignments: int = 1,
    annotation: str = "",
    token: str | None = None,
    layout_id: str = "",
    review_policies: dict[str, Any] | None = None,
) -> HIT:
    """Publish a HIT and hold its money. Raises AlreadyDone, BadXML, BadParameter or InsufficientFunds."""
    check_range("LifetimeInSeconds", lifetime_seconds, *LIFETIMES)
    check_range("MaxAssignments", max_assignments, 1, MOST_ASSIGNMENTS)
    check_length("RequesterAnnotation", annotation, 255, minimum=0)
    check_question(question)
    check_policies(review_policies or {})
    check_types_exist(hit_type.requirements)
    now = clock.now()
    with transaction.atomic():
        cost = _price(hit_type, max_assignments)
        expires_at = now + timedelta(seconds=lifetime_seconds)
        hit = HIT.objects.create(
            requester=requester,
            hit_type=hit_type,
            question=question,
            annotation=annotation,
            layout_id=layout_id,
            review_policies=review_policies or {},
            max_assignments=max_assignments,
            reward_cents=cost.reward_cents,
            fee_cents=cost.fee_cents,
            created_at=now,
            expires_at=expires_at,
            due_at=expires_at,
            held_cents=cost.cents * max_assignments,
        )
        use_token(requester, "hit", token, hit)
        books.hold(requester.pk, hit.held_cents, hit=hit)
        notices.announce(hit, "HITCreated")
    return hit


def _price(hit_type: HITType, max_assignments: int) -> Price:
    masters = asks_for_masters(hit_type.requirements)
    return price(hit_type.reward_cents, max_assignments, masters, MarketSettings.current().rates)


def extend_hit(requester: Requester, hit_id: str, additional: int, token: str | None = None) -> HIT:
    """More places. A HIT made with fewer than ten can't grow to ten or more: its fee was agreed for a small one."""
    check_range("NumberOfAdditionalAssignments", additional, 1, MOST_ASSIGNMENTS)
    with transaction.atomic():
        check_token(requester, "extend", token)
        hit = _open_book(requester, hit_id)
        if hit.max_assignments < LARGE <= hit.max_assignments + additional:
            raise InvalidMaximumAssignmentsIncrease(
                f"HIT {hit_id} was made with fewer than {LARGE} assignments and can't be extended to {LARGE} or more. "
                "Create another HIT for the rest."
            )
        check_range("MaxAssignments", hit.max_assignments + additional, 1, MOST_ASSIGNMENTS)
        use_token(requester, "extend", token, hit)
        hit.max_assignments += additional
        lifecycle.settle(hit)
        notices.announce(hit, "HITExtended")
    return hit


def _open_book(requester: Requester, hit_id: str) -> HIT:
    """The requester's HIT, locked, and not deleted."""
    hit = lifecycle.locked_hit(hit_id, requester)
    if hit.status == Status.DISPOSED:
        raise InvalidHITState(f"HIT {hit_id} is Disposed: it can be looked at, but not changed.")
    return hit


def update_expiration(requester: Requester, hit_id: str, expire_at: datetime) -> HIT:
    """A time in the past ends the HIT now; a later one opens it again as long as places are left."""
    now = clock.now()
    if expire_at > now + timedelta(seconds=LIFETIMES[1]):
        raise BadParameter("ExpireAt is more than 365 days ahead.")
    with transaction.atomic():
        hit = _open_book(requester, hit_id)
        is_later = expire_at > hit.expires_at
        hit.expires_at = expire_at
        lifecycle.settle(hit)
        if is_later:
            notices.announce(hit, "HITExtended")
    return hit


def update_review_status(requester: Requester, hit_id: str, revert: bool) -> HIT:
    """Reviewable to Reviewing, or back."""
    source, target = (Status.REVIEWING, Status.REVIEWABLE) if revert else (Status.REVIEWABLE, Status.REVIEWING)
    with transaction.atomic():
        hit = _open_book(requester, hit_id)
        if hit.status != source:
            raise InvalidHITState(f"HIT {hit_id} is {hit.status}; only a {source.value} one can become {target.value}.")
        hit.status = target
        lifecycle.settle(hit)
    return hit


def update_hit_type(requester: Requester, hit_id: str, hit_type_id: str) -> HIT:
    """The HIT takes on another type's values. Work that is under way keeps the reward it was promised."""
    with transaction.atomic():
        hit_type = own_hit_type(requester, hit_type_id)
        check_types_exist(hit_type.requirements)
        hit = _open_book(requester, hit_id)
        cost = _price(hit_type, hit.max_assignments)
        hit.hit_type, hit.reward_cents, hit.fee_cents = hit_type, cost.reward_cents, cost.fee_cents
        lifecycle.settle(hit)
    return hit


def delete_hit(requester: Requester, hit_id: str) -> None:
    """Dispose of a HIT that is Reviewable and fully judged. Deleting again changes nothing."""
    with transaction.atomic():
        hit = lifecycle.locked_hit(hit_id, requester)
        if hit.status == Status.DISPOSED:
            return
        if hit.status != Status.REVIEWABLE:
            raise InvalidHITState(
                f"HIT {hit_id} is {hit.status}; only a Reviewable one can be deleted. Let it expire first "
                "(UpdateExpirationForHIT)."
            )
        if hit.submitted:
            raise InvalidHITState(
                f"HIT {hit_id} has {hit.submitted} submitted assignments that are neither approved nor rejected."
            )
        lifecycle.dispose(hit)


def set_notification(
    requester: Requester, hit_type_id: str, spec: dict[str, Any] | None, active: bool | None
) -> HITType:
    """Where events of this type's HITs go. A new specification is active unless told otherwise."""
    if spec is None and active is None:
        raise BadParameter("Either Notification or Active is required.")
    hit_type = own_hit_type(requester, hit_type_id)
    if spec is not None:
        notices.check_destination(requester, spec)
        if "Ping" in spec["EventTypes"]:
            raise BadParameter("Ping is an event of SendTestEventNotification only.")
        hit_type.notification = spec
    elif not hit_type.notification:
        raise BadParameter(f"HIT type {hit_type_id} has no notification to switch; give one.")
    hit_type.notification_active = True if active is None else active
    hit_type.save(update_fields=["notification", "notification_active"])
    return hit_type
