"""Background work that people wait for, and what the scores of a study were made with."""

from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q

from annotation.common import clock

from .study import Study, User


class Job(models.Model):
    """A piece of background work with visible progress. What it does is `kind`; jobs.py knows the kinds."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    # None: it is about no study yet, because it makes one
    study: Any = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, blank=True, related_name="jobs")
    kind = models.CharField(max_length=40)
    options = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)  # the sentence a person sees when it has ended
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    seen_at = models.DateTimeField(null=True, blank=True)  # the last sign of life of the worker that does it
    stop_asked = models.BooleanField(default=False)  # somebody wants it to end; it looks when it notes its progress
    request_key = models.CharField(max_length=64, default="", blank=True)  # by which a program may ask for it again

    class Meta:
        ordering = ["-asked_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed"]), name="job_state_known"
            ),
            models.CheckConstraint(condition=Q(done__lte=F("total")), name="job_progress_in_bounds"),
            models.UniqueConstraint(
                fields=["study", "request_key"], condition=~Q(request_key=""), name="job_once_per_request_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)

    @property
    def may_be_repeated(self) -> bool:
        """It failed, and whoever reads the page may ask for it again: it works something out and changes nothing."""
        return self.state == self.State.FAILED and self.kind in ("page", "explore")

    @property
    def waits_long(self) -> bool:
        """No worker has taken it within a minute: all are busy, or none runs."""
        return self.state == self.State.WAITING and clock.now() - self.asked_at > timedelta(minutes=1)


class MetricRun(models.Model):
    """How a metric's scores in a study were made: its signature, and when."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="metric_runs")
    metric = models.CharField(max_length=200)
    signature = models.TextField()
    scored_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "metric"], name="metric_run_once_per_metric")]

    def __str__(self) -> str:
        return self.metric


class StoredResult(models.Model):
    """What a page shows that takes long to work out, kept until something it depends on changes (`mark`)."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="stored_results")
    name = models.CharField(max_length=40)
    mark = models.CharField(max_length=64)
    content = models.JSONField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="stored_result_once_per_page")]

    def __str__(self) -> str:
        return f"{self.name} of {self.study_id}"
