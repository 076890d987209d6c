"""What every protocol can do: lay out a task for one annotator, check the answers, and store them.

A protocol that stores something else than judgments overrides `store`, `revise` and `answers_of`.
"""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.errors import BadAnswers
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import Assignment, Batch, Judgment, Task

from .described import Described

_STORED = PreparedQuery(
    lambda assignment: Judgment.objects.filter(assignment=assignment, is_current=True).values_list("pk"), "assignment"
)


@dataclass(frozen=True)
class Item:
    """One thing to answer: a unit of a summary, as the annotator sees it.

    `field` is its name in forms and drafts. It says nothing about the unit: a check looks like any other.
    """

    summary_id: int
    unit: str
    text: str
    is_check: bool = False
    position: int = 1
    field: str = ""


@dataclass(frozen=True)
class Answer:
    """A checked answer to an item, with the place it was shown at."""

    item: Item
    value: float
    position: int
    extra: dict[str, Any] = field(default_factory=dict)


def opaque(assignment: Assignment, *parts: object) -> str:
    """A name for the browser that stays the same for this assignment and gives nothing away."""
    study = assignment.task.batch.study
    message = ":".join(map(str, (assignment.seed, assignment.task_id, assignment.worker_id, *parts)))
    return "q" + hmac.new(study.salt.encode(), message.encode(), hashlib.sha256).hexdigest()[:12]


def named(assignment: Assignment, items: list[Item]) -> list[Item]:
    """The items with their opaque field names."""
    return [replace(item, field=opaque(assignment, item.summary_id, item.unit)) for item in items]


def given_value(given: Any) -> str:
    """The value of an answer as it comes: from a form (a string) or from a draft ({"value": …})."""
    value = given.get("value") if isinstance(given, Mapping) else given
    return "" if value is None or isinstance(value, (list, dict)) else str(value).strip()


class Protocol(Described, ABC):
    """A way of judging; what it says of itself stands in `Described`."""

    template: str

    @abstractmethod
    def items(self, assignment: Assignment) -> list[Item]:
        """What the holder of this assignment is asked, in the order shown."""

    def values(self, task: Task) -> list[float]:
        """The values that an answer may have: the whole numbers of the batch's scale."""
        return [float(value) for value in range(int(task.batch.scale_min), int(task.batch.scale_max) + 1)]

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """The tasks of a new batch, not saved yet."""
        raise NotImplementedError(f"Batches of {self.name} can't be made this way.")

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """A batch's options, completed by the defaults and checked; ValueError says what is wrong."""
        return {**self.option_fields(), **given}

    def scale(self, options: Mapping[str, Any]) -> tuple[float, float]:
        """The lowest and the highest value."""
        return self.scale_min, self.scale_max

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        """What the template needs beside the assignment; `answers` as drafted or submitted so far."""
        return {"items": [(item, given_value(answers.get(item.field))) for item in self.items(assignment)]}

    def check_answers(self, assignment: Assignment, given: Mapping[str, Any]) -> list[Answer]:
        """Every item answered once, with a value of the scale; otherwise BadAnswers says what is wrong."""
        items, allowed = self.items(assignment), self.values(assignment.task)
        missing = [item for item in items if not given_value(given.get(item.field))]
        if missing:
            raise BadAnswers(_missing_sentence(missing, items))
        return [
            Answer(
                item,
                _value(given_value(given[item.field]), allowed, item),
                item.position,
                self.beside(assignment, item, given[item.field]),
            )
            for item in items
        ]

    def beside(self, assignment: Assignment, item: Item, given: Any) -> dict[str, Any]:
        """What is stored beside the value of one answer."""
        return {}

    def store(self, assignment: Assignment, given: Mapping[str, Any], now: datetime) -> int:
        """Write the answers of a first submit; returns how many. Raises BadAnswers."""
        answers = self.check_answers(assignment, given)
        Judgment.objects.bulk_create(_judgment(assignment, answer, 1, now) for answer in answers)
        return len(answers)

    def revise(self, assignment: Assignment, given: Mapping[str, Any], now: datetime) -> int:
        """Append the answers that changed; the old rows stay, no longer current. Returns how many changed."""
        answers = self.check_answers(assignment, given)
        current = {(row.summary_id, row.unit): row for row in assignment.judgments.filter(is_current=True)}
        changed = [answer for answer in answers if _differs(answer, current.get(_place(answer)))]
        old = {_place(answer): current[_place(answer)] for answer in changed if _place(answer) in current}
        Judgment.objects.filter(pk__in=[row.pk for row in old.values()]).update(is_current=False)
        Judgment.objects.bulk_create(
            _judgment(assignment, answer, old[_place(answer)].revision + 1 if _place(answer) in old else 1, now)
            for answer in changed
        )
        return len(changed)

    def answers_of(self, assignment: Assignment) -> dict[str, Any]:
        """What was submitted, as drafts have it: field -> {"value": …}."""
        rows = {(row.summary_id, row.unit): row for row in assignment.judgments.filter(is_current=True)}
        return {
            item.field: {"value": f"{row.value:g}", **self.draft_of(assignment, row)}
            for item in self.items(assignment)
            if (row := rows.get((item.summary_id, item.unit)))
        }

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        """What a draft holds beside the value, read back from a stored judgment: the inverse of `beside`."""
        return {}

    def answered(self, assignment: Assignment) -> int:
        """How many answers are stored."""
        return len(_STORED(assignment=assignment.pk))


def _missing_sentence(missing: list[Item], items: list[Item]) -> str:
    return ngettext(
        "%(n)d of %(all)d items has no answer yet: “%(first)s”. Nothing was submitted; your other answers are kept.",
        "%(n)d of %(all)d items have no answer yet, the first one is: “%(first)s”. "
        "Nothing was submitted; your other answers are kept.",
        len(missing),
    ) % {"n": len(missing), "all": len(items), "first": missing[0].text}


def _value(text: str, allowed: list[float], item: Item) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value not in allowed:
        raise BadAnswers(
            _(
                "The answer to “%(item)s” is “%(found)s”, but must be one of %(choices)s. "
                "Nothing was submitted; your other answers are kept."
            )
            % {"item": item.text, "found": text[:40], "choices": ", ".join(f"{choice:g}" for choice in allowed)}
        )
    return value


def _place(answer: Answer) -> tuple[int, str]:
    return answer.item.summary_id, answer.item.unit


def _differs(answer: Answer, row: Judgment | None) -> bool:
    return row is None or row.value != answer.value or (row.extra or {}) != answer.extra


def _judgment(assignment: Assignment, answer: Answer, revision: int, now: datetime) -> Judgment:
    batch = assignment.task.batch
    return Judgment(
        assignment=assignment,
        summary_id=answer.item.summary_id,
        unit=answer.item.unit,
        value=answer.value,
        scale_min=batch.scale_min,
        scale_max=batch.scale_max,
        revision=revision,
        is_check=answer.item.is_check,
        seconds=seconds_on(assignment, answer.item.field),
        position=answer.position,
        submitted_at=now,
        extra=answer.extra or None,
    )


def seconds_on(assignment: Assignment, name: str) -> float | None:
    """Active seconds on one item, over all the times the page was open; None without signals."""
    loads = (assignment.signals or {}).get("loads", {}).values()
    spent = [load["items"][name]["seconds"] for load in loads if name in load.get("items", {})]
    return round(sum(spent), 1) if spent else None
