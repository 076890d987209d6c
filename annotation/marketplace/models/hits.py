"""HIT types, HITs and assignments. A HIT counts its places itself; constraints refuse one too many."""

from datetime import datetime

from django.db import models
from django.db.models import F, Q

from annotation.marketplace import ids

from .people import Requester, Worker


class HITType(models.Model):
    """What HITs have in common. The same values give the same type (`fingerprint`)."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    group_id = models.CharField(max_length=64, default=ids.entity_id)
    fingerprint = models.CharField(max_length=64, editable=False)
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward_cents = models.PositiveIntegerField()
    assignment_seconds = models.PositiveIntegerField()
    auto_approve_seconds = models.PositiveIntegerField()
    requirements = models.JSONField(default=list, blank=True)  # QualificationRequirements as clients sent them
    created_at = models.DateTimeField()
    # Where events of its HITs go (UpdateNotificationSettings); empty: nowhere.
    notification = models.JSONField(default=dict, blank=True)
    notification_active = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "fingerprint"], name="hit_type_once_by_value"),
        ]

    def __str__(self) -> str:
        return self.title


class HIT(models.Model):
    """One question, to be answered by up to `max_assignments` different workers."""

    class Status(models.TextChoices):
        ASSIGNABLE = "Assignable", "open"
        UNASSIGNABLE = "Unassignable", "all places taken"
        REVIEWABLE = "Reviewable", "ready for review"
        REVIEWING = "Reviewing", "under review"
        DISPOSED = "Disposed", "deleted"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hits")
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    question = models.TextField()
    annotation = models.CharField(max_length=255, blank=True)  # RequesterAnnotation
    status = models.CharField(max_length=12, choices=Status, default=Status.ASSIGNABLE)
    max_assignments = models.PositiveIntegerField(default=1)
    reward_cents = models.PositiveIntegerField()  # of one assignment
    fee_cents = models.PositiveIntegerField()  # of one assignment
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    is_expired = models.BooleanField(default=False)  # the clock has passed expires_at, and this was acted upon
    reviewable_at = models.DateTimeField(null=True, blank=True)
    layout_id = models.CharField(max_length=64, blank=True)  # of the HITLayout that its question was made from
    review_policies = models.JSONField(default=dict, blank=True)  # by level, as clients sent them
    review_waits = models.BooleanField(default=False)  # it became Reviewable, and its HIT-level policy is not done yet
    # Something is to be done about this HIT at this time or later (lifecycle.py); never later than the first event.
    due_at = models.DateTimeField(null=True, blank=True)

    pending = models.PositiveIntegerField(default=0)  # accepted and not submitted
    submitted = models.PositiveIntegerField(default=0)  # waiting for a judgment
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    taken_cents = models.PositiveBigIntegerField(default=0)  # price of the pending and the submitted
    held_cents = models.PositiveBigIntegerField(default=0)  # taken_cents, and the price of the open places

    class Meta:
        verbose_name = "HIT"
        constraints = [
            models.CheckConstraint(
                condition=Q(max_assignments__gte=F("pending") + F("submitted") + F("approved") + F("rejected")),
                name="hit_places_kept",
            ),
            models.CheckConstraint(condition=Q(held_cents__gte=F("taken_cents")), name="hit_work_is_covered"),
            models.CheckConstraint(
                condition=Q(status__in=["Assignable", "Unassignable", "Reviewable", "Reviewing", "Disposed"]),
                name="hit_status_known",
            ),
        ]
        indexes = [
            models.Index(fields=["requester", "status", "id"], name="hit_by_requester"),
            models.Index(fields=["hit_type", "id"], condition=Q(status="Assignable"), name="hit_open"),
            models.Index(fields=["id"], condition=Q(review_waits=True), name="hit_review_waits"),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="hit_due"),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def places_taken(self) -> int:
        """Places that are gone: accepted, submitted or judged."""
        return self.pending + self.submitted + self.approved + self.rejected

    @property
    def available(self) -> int:
        """Places left, as NumberOfAssignmentsAvailable counts them."""
        return self.max_assignments - self.places_taken

    @property
    def completed(self) -> int:
        return self.approved + self.rejected

    @property
    def price_cents(self) -> int:
        return self.reward_cents + self.fee_cents


class Assignment(models.Model):
    """A worker's hold on a HIT, and what became of it."""

    class State(models.TextChoices):
        ACCEPTED = "Accepted", "in work"
        SUBMITTED = "Submitted", "waiting for approval"
        APPROVED = "Approved", "approved"
        REJECTED = "Rejected", "rejected"
        RETURNED = "Returned", "returned"  # the place is free again
        ABANDONED = "Abandoned", "out of time"  # the place is free again

    PLACED = (State.ACCEPTED, State.SUBMITTED, State.APPROVED, State.REJECTED)
    """These take a place of the HIT."""
    DELIVERED = (State.SUBMITTED, State.APPROVED, State.REJECTED)
    """Requesters see these."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    state = models.CharField(max_length=10, choices=State, default=State.ACCEPTED)
    reward_cents = models.PositiveIntegerField()  # as promised when the worker accepted
    fee_cents = models.PositiveIntegerField()
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)  # when it was returned or ran out of time
    answer = models.TextField(blank=True)  # QuestionFormAnswers XML
    feedback = models.TextField(blank=True)  # RequesterFeedback

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(state__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="assignment_once_per_worker",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["Accepted", "Submitted", "Approved", "Rejected", "Returned", "Abandoned"]),
                name="market_assignment_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["Submitted", "Approved", "Rejected"]) | Q(submitted_at__isnull=False),
                name="assignment_delivered_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["hit", "submitted_at", "id"], name="assignment_delivered"),
            models.Index(fields=["worker", "state"], name="market_assignment_by_worker"),
        ]

    def __str__(self) -> str:
        return self.assignment_id

    @property
    def price_cents(self) -> int:
        return self.reward_cents + self.fee_cents

    def seconds_left(self, now: datetime) -> int:
        return max(0, int((self.deadline - now).total_seconds()))


class RequestToken(models.Model):
    """A UniqueRequestToken that was used; it lives 24 hours."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10)  # "hit", "extend" or "bonus"
    token = models.CharField(max_length=64)
    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="+")
    used_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "kind", "token"], name="request_token_once"),
        ]

    def __str__(self) -> str:
        return self.token


class HITLayout(models.Model):
    """A page with placeholders `${name}`, from which a requester makes HITs (HITLayoutId)."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="layouts")
    layout_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    name = models.CharField(max_length=200)
    html = models.TextField()
    frame_height = models.PositiveIntegerField(default=0)  # 0: as high as the window allows
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name


class ReviewRecord(models.Model):
    """What a review policy found or did: a ReviewResult or ReviewAction of ListReviewPolicyResultsForHIT."""

    class Level(models.TextChoices):
        ASSIGNMENT = "Assignment", "assignment"
        HIT = "HIT", "HIT"

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="review_records")
    level = models.CharField(max_length=10, choices=Level)
    is_action = models.BooleanField()
    record_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    document = models.JSONField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.record_id
