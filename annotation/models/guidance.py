"""What workers read, agree to and practise before they judge."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from .study import Study, User, Worker
from .texts import Summary


class GuidanceText(models.Model):
    """Instructions or consent, in Markdown. A change is a new version; the newest one is shown."""

    class Kind(models.TextChoices):
        INSTRUCTIONS = "instructions", "instructions"
        CONSENT = "consent", "consent"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="guidance")
    kind = models.CharField(max_length=12, choices=Kind)
    protocol = models.CharField(max_length=30, blank=True)  # empty: for every protocol of the study
    version = models.PositiveSmallIntegerField(default=1)
    body = models.TextField()
    written_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        ordering = ["study", "kind", "protocol", "version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "protocol", "version"], name="guidance_version_once"),
            models.CheckConstraint(condition=Q(kind__in=["instructions", "consent"]), name="guidance_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}, version {self.version}"


class Consent(models.Model):
    """A worker agreed to one version of the consent text."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="consents")
    text = models.ForeignKey(GuidanceText, on_delete=models.RESTRICT, related_name="consents")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "text"], name="consent_once_per_version")]

    def __str__(self) -> str:
        return f"{self.worker} agreed to {self.text}"


class PracticePlan(models.Model):
    """How a study prepares workers for one protocol: a tutorial, and a test with a pass mark."""

    class Tutorial(models.TextChoices):
        OPTIONAL = "optional", "optional"
        REQUIRED = "required", "required"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="practice_plans")
    protocol = models.CharField(max_length=30)
    tutorial = models.CharField(max_length=10, choices=Tutorial, default=Tutorial.OPTIONAL)
    test_required = models.BooleanField(default=False)
    pass_mark = models.FloatField(default=0.8)  # share of the test's items
    tries = models.PositiveSmallIntegerField(default=2)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "protocol"], name="practice_plan_once_per_protocol"),
            models.CheckConstraint(condition=Q(tutorial__in=["optional", "required"]), name="practice_tutorial_known"),
            models.CheckConstraint(condition=Q(pass_mark__gt=0, pass_mark__lte=1), name="practice_pass_mark_is_share"),
            models.CheckConstraint(condition=Q(tries__gte=1), name="practice_tries_at_least_one"),
        ]

    def __str__(self) -> str:
        return f"practice for {self.protocol}"


class PracticeItem(models.Model):
    """A real item whose answer is known, with the reason: one step of the tutorial, or one question of the test."""

    class Kind(models.TextChoices):
        TUTORIAL = "tutorial", "tutorial"
        TEST = "test", "test"

    plan = models.ForeignKey(PracticePlan, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind)
    order = models.PositiveSmallIntegerField()
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="+")
    question = models.TextField()  # a statement (LitePyramid) or a dimension (Likert)
    expected = models.FloatField()
    tolerance = models.FloatField(default=0)  # how far off is still right: 1 on a five-point scale
    reason = models.TextField(blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["plan", "kind", "order", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["tutorial", "test"]), name="practice_kind_known"),
            models.CheckConstraint(condition=Q(tolerance__gte=0), name="practice_tolerance_not_negative"),
        ]

    def __str__(self) -> str:
        return self.question


class PracticeDraft(models.Model):
    """What is ticked so far in a test that isn't handed in; `number` is the try it belongs to."""

    plan = models.ForeignKey(PracticePlan, on_delete=models.CASCADE, related_name="drafts")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="practice_drafts")
    number = models.PositiveSmallIntegerField()
    draft: Any = models.JSONField(default=dict)  # as annotation/common/drafts.py has them

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "worker"], name="practice_draft_once")]

    def __str__(self) -> str:
        return f"draft of try {self.number}"


class PracticeRun(models.Model):
    """One try: what a worker answered, and how much of it was right. Never overwritten."""

    plan = models.ForeignKey(PracticePlan, on_delete=models.CASCADE, related_name="runs")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="practice_runs")
    kind = models.CharField(max_length=10, choices=PracticeItem.Kind)
    number = models.PositiveSmallIntegerField()
    answers: Any = models.JSONField(default=list)  # [{"item": id, "value": given, "right": true}]
    right = models.PositiveSmallIntegerField()
    of = models.PositiveSmallIntegerField()
    passed = models.BooleanField()
    finished_at = models.DateTimeField()

    class Meta:
        ordering = ["plan", "worker", "kind", "number"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "worker", "kind", "number"], name="practice_try_once"),
            models.CheckConstraint(condition=Q(right__lte=F("of")), name="practice_right_of_all"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} try {self.number}: {self.right} of {self.of}"
