"""The texts of a study, the units to look for in them, and the scores they got."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from annotation.common.text import natural_key, plain

from .study import Study

REFERENCE_GROUP = "reference"  # the group of the system that holds references as if they were summaries
WHOLE_SYSTEM = "*"  # stands for the document in a score of a whole system


class SortKeyField(models.CharField[str, str]):
    """The document's id as it sorts; written with every row, also with many at once."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        key = natural_key(model_instance.doc_id)  # type: ignore[attr-defined]  # Document's own
        setattr(model_instance, self.attname, key)
        return key


class Document(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="documents")
    doc_id = models.CharField(max_length=200)
    sort_key = SortKeyField(max_length=700, default="", editable=False)
    source: Any = models.JSONField()
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "doc_id"], name="document_id_once")]
        indexes = [
            models.Index(fields=["study", "id"], name="document_in_order"),
            models.Index(fields=["study", "sort_key"], name="document_by_sort_key"),
        ]

    def __str__(self) -> str:
        return self.doc_id


class Reference(models.Model):
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="references")
    index = models.PositiveSmallIntegerField(default=0)
    text: Any = models.JSONField()

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["document", "index"], name="reference_index_once")]

    def __str__(self) -> str:
        return f"reference {self.index} of {self.document_id}"


class System(models.Model):
    """Who wrote a summary. A name may stand in two groups (abs, ext): then it is two systems."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    group = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "name", "group"], name="system_name_once_per_group")]

    def __str__(self) -> str:
        return self.name


class Summary(models.Model):
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="summaries")
    text: Any = models.JSONField()
    shown: Any = models.JSONField(null=True, blank=True)  # the text as workers see it, where it differs
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [models.UniqueConstraint(fields=["document", "system"], name="summary_once_per_system")]

    def __str__(self) -> str:
        return f"summary {self.pk}"

    @property
    def text_shown(self) -> str:
        return plain(self.text if self.shown is None else self.shown)


class ContentUnitQuerySet(models.QuerySet["ContentUnit"]):
    def in_force(self) -> "ContentUnitQuerySet":
        """The newest frozen list, in its order: what workers are asked about."""
        return self.filter(retired_in__isnull=True).order_by("order", "scu_id")

    def of_version(self, version: int) -> "ContentUnitQuerySet":
        """The list as it was in that version."""
        not_retired = Q(retired_in__isnull=True) | Q(retired_in__gt=version)
        return self.filter(not_retired, version__lte=version).order_by("order", "scu_id")


class ContentUnit(models.Model):
    """An SCU: one fact of a reference. A check unit's answer is known beforehand.

    `version` is the frozen list (UnitList) it came in with, `retired_in` the one that left it out: judgments keep
    pointing at the words that were judged.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="units")
    scu_id = models.CharField(max_length=100)
    text = models.TextField()
    reference_index = models.PositiveSmallIntegerField(null=True, blank=True)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    weight = models.FloatField(null=True, blank=True)
    author = models.CharField(max_length=200, blank=True)
    is_check = models.BooleanField(default=False)
    expected = models.FloatField(null=True, blank=True)
    by_batch = models.BooleanField(default=False)  # a check that only those tasks ask whose `pinned` names it
    order = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveSmallIntegerField(default=1)
    retired_in = models.PositiveSmallIntegerField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    objects = ContentUnitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "scu_id"], name="unit_id_once_per_document"),
            models.CheckConstraint(
                condition=Q(retired_in__isnull=True) | Q(retired_in__gt=F("version")),
                name="unit_retired_after_its_start",
            ),
            models.CheckConstraint(
                condition=Q(weight__isnull=True) | Q(weight__gte=0), name="unit_weight_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True) | Q(end__isnull=True) | Q(start__lte=F("end")),
                name="unit_span_in_order",
            ),
        ]

    def __str__(self) -> str:
        return self.text


class Score(models.Model):
    """What a metric, or the humans, gave a summary; `document` is empty for a whole system's score (`doc_id` *)."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="scores")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="scores")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, blank=True, related_name="scores")
    metric = models.CharField(max_length=200)
    value = models.FloatField(null=True)  # empty: undefined
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "metric", "system", "document"], name="score_once_per_summary"),
            models.UniqueConstraint(
                fields=["study", "metric", "system"], condition=Q(document__isnull=True), name="score_once_per_system"
            ),
        ]
        indexes = [models.Index(fields=["study", "id"], name="score_in_order")]

    def __str__(self) -> str:
        return f"{self.metric} {self.value}"
