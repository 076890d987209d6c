"""Qualification types, who has them, who asks for them; and whom a requester has blocked."""

from django.db import models
from django.db.models import Q

from annotation.marketplace import ids

from .people import Requester, Worker


class QualificationTypeQuerySet(models.QuerySet["QualificationType"]):
    def existing(self) -> "QualificationTypeQuerySet":
        return self.filter(deleted_at__isnull=True)

    def requestable(self) -> "QualificationTypeQuerySet":
        return self.existing().filter(status="Active")


class QualificationType(models.Model):
    """Something a requester can ask workers to have."""

    class Status(models.TextChoices):
        ACTIVE = "Active", "active"
        INACTIVE = "Inactive", "inactive"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    retry_seconds = models.PositiveIntegerField(null=True, blank=True)  # empty: a worker may ask once
    test = models.TextField(blank=True)  # QuestionForm XML
    answer_key = models.TextField(blank=True)  # AnswerKey XML
    test_seconds = models.PositiveIntegerField(null=True, blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = QualificationTypeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], condition=Q(deleted_at__isnull=True), name="qualification_type_name_once"
            ),
            models.CheckConstraint(
                condition=Q(test="") | Q(auto_granted=False), name="qualification_test_or_auto_granted"
            ),
            models.CheckConstraint(condition=Q(answer_key="") | ~Q(test=""), name="qualification_key_needs_a_test"),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """That a worker has it, or had it."""

    class Status(models.TextChoices):
        GRANTED = "Granted", "granted"
        REVOKED = "Revoked", "revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="qualifications")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualifications")
    value = models.IntegerField(default=1)
    status = models.CharField(max_length=8, choices=Status, default=Status.GRANTED)
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="qualification_once_per_worker")
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type}: {self.value}"


class QualificationRequest(models.Model):
    """A worker asks for a qualification: by a test (Started, then Pending or Granted), or just so (Pending)."""

    class State(models.TextChoices):
        STARTED = "Started", "test in work"
        PENDING = "Pending", "waiting for the requester"
        GRANTED = "Granted", "granted"
        REJECTED = "Rejected", "rejected"
        LAPSED = "Lapsed", "out of time"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="requests")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True, default=ids.entity_id)
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    started_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)  # QuestionFormAnswers XML
    reason = models.TextField(blank=True)  # why it was rejected

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=["Started", "Pending"]),
                name="qualification_request_one_open",
            )
        ]

    def __str__(self) -> str:
        return self.request_id


class WorkerBlock(models.Model):
    """A worker whose work a requester doesn't take."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="worker_blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="worker_block_once")]

    def __str__(self) -> str:
        return f"{self.requester} blocks {self.worker}"
