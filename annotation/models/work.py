"""The work: batches of tasks, the assignments that workers hold, and the judgments they give.

A task's `live` counts the assignments that hold a place in its quota. A trigger keeps it
(annotation/models/triggers.py), and `task_quota_kept` refuses one too many, whoever writes.
"""

import json
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models
from django.db.models import F, Q

from annotation.common.prepared_queries import ask

from .study import Study, Worker
from .texts import Document, Summary

MODEL_ROLE = "model"
"""The role of a batch that models judged: its answers are left out of what people say unless somebody asks."""


class Batch(models.Model):
    """Tasks of one protocol that are opened and closed together."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="batches")
    name = models.CharField(max_length=200)
    protocol = models.CharField(max_length=30)
    role = models.CharField(max_length=20, default="crowd")
    round = models.PositiveSmallIntegerField(default=1)
    crowd = models.CharField(max_length=20, default=Worker.DIRECT)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    scale_min = models.FloatField(default=0)
    scale_max = models.FloatField(default=1)
    options = models.JSONField(default=dict, blank=True)
    terms: Any = models.JSONField(default=dict, blank=True)  # what a crowd is offered (annotation/crowds/terms)
    # The instructions that its people are shown, from the day it opens; empty before: the newest.
    instructions = models.ForeignKey(
        "GuidanceText", on_delete=models.RESTRICT, null=True, blank=True, related_name="batches"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    is_chosen = models.BooleanField(default=False)  # whether it counts where the study's batch rule is "chosen"
    close_asked_at = models.DateTimeField(null=True, blank=True)  # until it is closed, the background tries again

    class Meta:
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="batch_name_once_per_study"),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "open", "paused", "closed"]), name="batch_state_known"
            ),
            models.CheckConstraint(condition=Q(scale_min__lt=F("scale_max")), name="batch_scale_in_order"),
        ]

    chosen: frozenset[int] | None = None
    """While a batch is made: the summaries that it is to judge, where not all (studies/selection.py)."""

    def __str__(self) -> str:
        return self.name

    @property
    def is_direct(self) -> bool:
        """One's own people do it: by accounts and personal links, on no market."""
        return self.crowd == Worker.DIRECT


class TaskQuerySet(models.QuerySet["Task"]):
    def free_for(self, worker: Worker | int) -> "TaskQuerySet":
        """Tasks with a place left that this worker has never held; a reserved one is for its worker alone."""
        assignments = Assignment.objects.filter(task=models.OuterRef("pk"), worker=worker)
        open_to_worker = Q(reserved_for__isnull=True) | Q(reserved_for=worker)
        return self.filter(open_to_worker, live__lt=F("quota")).exclude(models.Exists(assignments))


class Task(models.Model):
    """One piece of work: a summary to judge (LitePyramid), or a document (Likert groups, SCU extraction)."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="tasks")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="tasks")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, null=True, blank=True, related_name="tasks")
    part = models.PositiveSmallIntegerField(default=0)  # which group of a document's summaries
    # A second look belongs to the worker who gave the first answer.
    reserved_for = models.ForeignKey(Worker, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    quota = models.PositiveSmallIntegerField(default=1)
    live = models.PositiveSmallIntegerField(default=0, editable=False)  # kept by a trigger
    # What it asks, whatever is imported, frozen or checked later: {"summaries": ids} of a group's document and
    # {"checks": ids} from the start, {"units": ids} once its batch is open. Empty: all that the document has in force.
    pinned: Any = models.JSONField(null=True, blank=True)

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "document", "summary", "part"], name="task_once_per_batch"),
            models.UniqueConstraint(
                fields=["batch", "document", "part"],
                condition=Q(summary__isnull=True),
                name="task_once_per_batch_and_document",
            ),
            models.CheckConstraint(condition=Q(live__gte=0, live__lte=F("quota")), name="task_quota_kept"),
        ]
        indexes = [
            models.Index(fields=["batch", "id"], condition=Q(live__lt=F("quota")), name="task_with_free_places"),
            models.Index(fields=["batch", "id"], name="task_in_order"),
        ]

    def __str__(self) -> str:
        return f"task {self.pk}"


def new_key() -> str:
    return secrets.token_hex(12)


def counted(prefix: str = "") -> Q:
    """What counts: submitted work that no market brokered, or that its market confirms (Submission.State).

    The only place that says so: exports, progress, quality and second rounds all ask here.
    """
    confirmed = Q(**{f"{prefix}submission__state__in": ["submitted", "approved"]})
    direct = Q(**{f"{prefix}submission__isnull": True})
    return Q(**{f"{prefix}state": "submitted"}) & (direct | confirmed)


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def counted(self) -> "AssignmentQuerySet":
        """Submitted, and confirmed where a market stands between."""
        return self.filter(counted())

    def reached(self) -> "AssignmentQuerySet":
        """Without what is or was only held ahead: its worker has not seen it."""
        return self.exclude(is_ahead=True, state__in=["leased", "expired"])


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def counted(self) -> "JudgmentQuerySet":
        """The current answers of the assignments that count."""
        return self.filter(counted("assignment__"), is_current=True)

    def insert(self, judgments: Iterable["Judgment"]) -> None:
        """`bulk_create` at a quarter of its processor time: PostgreSQL takes the rows as one value.

        Every submit writes some ten rows, and Django prepares each cell of them.
        """
        if connection.vendor != "postgresql":
            self.bulk_create(judgments)
            return
        names = [field.attname for field in self.model._meta.concrete_fields if not field.primary_key]
        rows = [{name: getattr(judgment, name) for name in names} for judgment in judgments]
        columns = ", ".join(names)
        sql = f"INSERT INTO annotation_judgment ({columns}) SELECT {columns} FROM "  # noqa: S608  # our own names
        sql += "json_populate_recordset(NULL::annotation_judgment, %s::json) RETURNING id"
        ask(sql, [json.dumps(rows, cls=DjangoJSONEncoder)])


class Assignment(models.Model):
    """A worker's hold on a task. `leased` and `submitted` take a place in the quota; the others don't."""

    class State(models.TextChoices):
        LEASED = "leased", "leased"
        SUBMITTED = "submitted", "submitted"
        EXPIRED = "expired", "expired"  # the place is free again, the draft is kept
        RELEASED = "released", "released"
        SURPLUS = "surplus", "surplus"  # came after the lease ended: kept, not counted

    LIVE = (State.LEASED, State.SUBMITTED)

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="assignments")
    # The worker's turn on a market; empty for people who sign in.
    submission = models.ForeignKey(
        "annotation.Submission", on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    key = models.CharField(max_length=200, default=new_key)  # `assignment_id` in tables
    state = models.CharField(max_length=10, choices=State, default=State.LEASED)
    # Of a lease: held for when the worker's task in hand is done; it yields to who has none (judging/ahead.py).
    is_ahead = models.BooleanField(default=False, db_default=False)
    leased_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    submit_key = models.CharField(max_length=64, blank=True)  # idempotency key of the accepted submit
    draft: Any = models.JSONField(default=dict, blank=True)
    revision_keys: Any = models.JSONField(default=list, blank=True)  # idempotency keys of the accepted revisions
    seed = models.BigIntegerField(default=0)  # grouping and order as this worker saw them follow from it
    signals: Any = models.JSONField(default=dict, blank=True)  # time and attention (annotation/judging/attention.py)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "worker"], name="assignment_once_per_task_and_worker"),
            models.UniqueConstraint(
                fields=["worker"], condition=Q(state="leased", is_ahead=True), name="assignment_one_ahead_per_worker"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["leased", "submitted", "expired", "released", "surplus"]),
                name="assignment_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(lease_until__isnull=False), name="assignment_lease_has_an_end"
            ),
        ]
        indexes = [
            models.Index(fields=["lease_until"], condition=Q(state="leased"), name="assignment_leases"),
            models.Index(fields=["worker", "state"], name="assignment_by_worker"),
            models.Index(fields=["key"], name="assignment_by_key"),
        ]

    def __str__(self) -> str:
        return self.key

    def is_expired(self, now: datetime) -> bool:
        return self.state == self.State.LEASED and self.lease_until is not None and self.lease_until <= now


class Judgment(models.Model):
    """One answer of one worker about one unit of one summary. A revision is a new row; the old one stays."""

    assignment = models.ForeignKey(  # judgment_revision_once serves as its index
        Assignment, on_delete=models.CASCADE, related_name="judgments", db_index=False
    )
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="judgments")
    unit = models.CharField(max_length=100)  # an scu_id, or a dimension
    value = models.FloatField()
    scale_min = models.FloatField(default=0)
    scale_max = models.FloatField(default=1)
    revision = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    is_check = models.BooleanField(default=False)
    seconds = models.FloatField(null=True, blank=True)
    position = models.PositiveSmallIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    extra = models.JSONField(null=True, blank=True)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "summary", "unit"], condition=Q(is_current=True), name="judgment_one_current"
            ),
            models.UniqueConstraint(
                fields=["assignment", "summary", "unit", "revision"], name="judgment_revision_once"
            ),
            models.CheckConstraint(
                condition=Q(value__gte=F("scale_min"), value__lte=F("scale_max")), name="judgment_value_in_scale"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit} = {self.value}"


class Flag(models.Model):
    """What an annotator tells the researchers about one item, or about the task as a whole (then without a summary)."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="flags")
    field = models.CharField(max_length=100)  # the item's name on the annotator's page
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, null=True, blank=True, related_name="flags")
    unit = models.CharField(max_length=100, blank=True)
    note = models.TextField(blank=True)
    raised_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "field"], name="flag_once_per_item")]

    def __str__(self) -> str:
        return self.note or self.unit
