"""SCUs on their way: what annotators extracted, and the lists that were frozen from it."""

from typing import Any

from django.db import models
from django.db.models import Q

from .study import User
from .texts import Document
from .work import Assignment


class ExtractedUnit(models.Model):
    """One SCU as an annotator wrote it, with the words of the reference it stands on.

    A revision is a new set of rows; the old ones stay. `spans` are character positions in the reference, its
    sentences joined by one space.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="extracted", db_index=False)
    revision = models.PositiveSmallIntegerField(default=1)
    order = models.PositiveSmallIntegerField()
    text = models.TextField()
    spans: Any = models.JSONField(default=list)
    is_current = models.BooleanField(default=True)
    submitted_at = models.DateTimeField()

    class Meta:
        ordering = ["assignment", "revision", "order"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision", "order"], name="extracted_unit_once"),
            models.CheckConstraint(condition=~Q(text=""), name="extracted_unit_has_text"),
        ]

    def __str__(self) -> str:
        return self.text


class UnitList(models.Model):
    """A document's SCU list, frozen. Once judged it never changes: a new version follows it."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="unit_lists")
    version = models.PositiveSmallIntegerField()
    reference_index = models.PositiveSmallIntegerField(default=0)  # whose SCUs this freeze replaced
    size = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=400, blank=True)
    frozen_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    frozen_at = models.DateTimeField()

    class Meta:
        ordering = ["document", "version"]
        constraints = [models.UniqueConstraint(fields=["document", "version"], name="unit_list_version_once")]

    def __str__(self) -> str:
        return f"version {self.version}"


class SecondLook(models.Model):
    """A contested answer that its worker is asked to look at again, beside the others' answers of that moment."""

    task = models.ForeignKey("annotation.Task", on_delete=models.CASCADE, related_name="looks")
    judgment = models.ForeignKey("annotation.Judgment", on_delete=models.CASCADE, related_name="looks")
    order = models.PositiveSmallIntegerField()
    others: Any = models.JSONField()  # the others' values, in an order that says nothing about who gave them

    class Meta:
        ordering = ["task", "order"]
        constraints = [
            models.UniqueConstraint(fields=["task", "judgment"], name="second_look_once"),
            models.UniqueConstraint(fields=["task", "order"], name="second_look_order_once"),
        ]

    def __str__(self) -> str:
        return f"second look at judgment {self.judgment_id}"
