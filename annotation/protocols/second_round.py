"""A second look at contested answers: the own and the others' first values side by side, to revise or confirm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.text import Text
from annotation.models import Assignment, Judgment, SecondLook, Summary, Task

from .base import Answer, Item, Protocol, given_value, named
from .described import Dimension, title_of

LONGEST = 1000  # characters of a remark
REMARK = ":remark"  # a form without script sends the remark in a field of its own


@dataclass(frozen=True)
class Look:
    """One contested answer on the page."""

    item: Item
    own: str
    own_label: str
    others: list[str]
    value: str
    remark: str
    low: str = ""
    high: str = ""
    definition: str = ""


class SecondRound(Protocol):
    """Asks again by the protocol of the first round, which the batch keeps."""

    name = "second-round"
    title = _("Second round")
    template = "annotation/judging/second_round.html"
    scale_min = 0
    scale_max = 1

    def __init__(self, first: Protocol) -> None:
        self.first = first

    def _looks(self, assignment: Assignment) -> list[SecondLook]:
        looks = assignment.task.looks.select_related("judgment__summary").order_by("order")
        return list(looks)

    def items(self, assignment: Assignment) -> list[Item]:
        return self._items(assignment, self._looks(assignment))

    def _items(self, assignment: Assignment, looks: list[SecondLook]) -> list[Item]:
        task = assignment.task
        titles = self.first.unit_titles(task.batch, task.document_id)
        return named(
            assignment,
            [
                Item(
                    look.judgment.summary_id,
                    look.judgment.unit,
                    title_of(titles, task.document_id, look.judgment.unit) or look.judgment.unit,
                    position=look.order,
                )
                for look in looks
            ],
        )

    def values(self, task: Task) -> list[float]:
        return self.first.values(task)

    def check_answers(self, assignment: Assignment, given: Mapping[str, Any]) -> list[Answer]:
        joined = {
            name: {"value": given_value(content), "remark": _remark(given, name)}
            for name, content in given.items()
            if not name.endswith(REMARK)
        }
        return super().check_answers(assignment, joined)

    def beside(self, assignment: Assignment, item: Item, given: Any) -> dict[str, Any]:
        return {"remark": given["remark"]} if given["remark"] else {}

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        return {"remark": (judgment.extra or {}).get("remark", "")}

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        task, looks = assignment.task, self._looks(assignment)
        pairs = list(zip(self._items(assignment, looks), looks, strict=True))
        summaries: dict[int, Summary] = {look.judgment.summary_id: look.judgment.summary for look in looks}
        choices = self.first.choices(task.batch)
        labels = {choice.value: choice.label for choice in choices}
        dimensions = {dimension.name: dimension for dimension in self.first.dimensions(task.batch.options)}
        return {
            "cards": [
                {
                    "text": summary.text_shown,
                    "looks": [
                        _look(item, look, answers, labels, dimensions.get(item.unit))
                        for item, look in pairs
                        if item.summary_id == key
                    ],
                }
                for key, summary in summaries.items()
            ],
            "choices": choices,
            "shows_source": self.first.shows_source,
            "scale": [f"{value:g}" for value in self.values(task)],
            "article": _paragraphs(task.document.source) if self.first.shows_source else [],
        }


def _look(
    item: Item, look: SecondLook, answers: Mapping[str, Any], labels: Mapping[str, str], dimension: Dimension | None
) -> Look:
    own, others = f"{look.judgment.value:g}", [f"{value:g}" for value in look.others]
    return Look(
        item=item,
        own=own,
        own_label=labels.get(own, own),
        others=[labels.get(value, value) for value in others],
        value=given_value(answers.get(item.field)),
        remark=_remark(answers, item.field),
        low=dimension.low if dimension else "",
        high=dimension.high if dimension else "",
        definition=dimension.definition if dimension else "",
    )


def _paragraphs(source: Text) -> list[str]:
    """An article to read: its lines, or its given sentences in one."""
    return [" ".join(source)] if isinstance(source, list) else [line for line in source.splitlines() if line.strip()]


def _remark(given: Mapping[str, Any], name: str) -> str:
    content = given.get(name)
    inner = content.get("remark", "") if isinstance(content, Mapping) else ""
    text = inner or given.get(name + REMARK, "")
    return " ".join(str(text).split())[:LONGEST]
