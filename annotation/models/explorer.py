"""What the Explorer has worked out beforehand, so that no page goes through all rows. A job refreshes it."""

from typing import Any

from django.db import models

from annotation.common.translation import from_column

from .study import Study, Worker
from .texts import Document, System


class Exploration(models.Model):
    """When a study was last gone through, and under which filter; with a metric: its disagreement with a measure.

    `facts` holds the study's measures and metrics, or the means and deviations that the disagreement is counted in.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="explorations")
    measure = models.CharField(max_length=100, blank=True)
    metric = models.CharField(max_length=200, blank=True)
    decision = models.BigIntegerField(default=0)  # the filter decision then in force; 0: none
    facts: Any = models.JSONField(default=dict)
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "measure", "metric"], name="exploration_once_per_pair")]

    def __str__(self) -> str:
        return f"{self.measure} against {self.metric}"


class HumanScore(models.Model):
    """What the kept judgments gave a summary, as it was when the study was last gone through."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="human_scores", db_index=False)
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="+", db_index=False)
    measure = models.CharField(max_length=100)
    value = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "system", "measure"], name="human_score_once_per_summary")
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.value}"


class Dropped(models.Model):
    """A worker whom the filter in force leaves out: everywhere, or on one summary, or (as a rater) in one batch."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="dropped")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    system = models.CharField(max_length=200, blank=True)
    batch = models.ForeignKey("annotation.Batch", on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    rule = models.CharField(max_length=100)
    reason = models.TextField()  # a sentence as annotation/common/translation.py writes it in a column

    class Meta:
        indexes = [models.Index(fields=["worker", "document"], name="dropped_by_worker")]

    def __str__(self) -> str:
        return from_column(self.reason)


class Disagreement(models.Model):
    """How far a metric and the humans are apart on a document (results/explorer/lists.py says how it is counted)."""

    exploration = models.ForeignKey(Exploration, on_delete=models.CASCADE, related_name="disagreements", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()
    summaries = models.PositiveIntegerField()  # that have both scores

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["exploration", "document"], name="disagreement_once_per_document")
        ]
        indexes = [models.Index(fields=["exploration", "-value", "document"], name="disagreement_in_order")]

    def __str__(self) -> str:
        return f"{self.value:.2f}"
