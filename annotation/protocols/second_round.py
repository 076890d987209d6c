"""A second look at contested answers: the own and the others' first values side by side, to revise or confirm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common.text import Text
from annotation.models import Assignment, Judgment, SecondLook, Summary, Task

from .base import Answer, Item, Protocol, answer_value, named
from .descriptions import Dimension, title_of

LONGEST = 1000  # characters of a remark
REMARK = ":remark"  # a form without script sends the remark in a field of its own


@dataclass(frozen=True)
class Look:
    """One contested answer on the page."""

    item: Item
    own_value: str
    own_label: str
    other_values: list[str]
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
                    row.judgment.summary_id,
                    row.judgment.unit,
                    self._title(title_of(titles, task.document_id, row.judgment.unit) or row.judgment.unit),
                    position=row.order,
                )
                for row in looks
            ],
        )

    def _title(self, title: str) -> str:
        """The unit's own; where two summaries are compared, it is the second of them."""
        return f"{_heading('B')}: {title}" if self.first.compares else title

    def values(self, task: Task) -> list[float]:
        return self.first.values(task)

    def check_answers(self, assignment: Assignment, form: Mapping[str, Any]) -> list[Answer]:
        with_remarks = {
            name: {"value": answer_value(content), "remark": _remark(form, name)}
            for name, content in form.items()
            if not name.endswith(REMARK)
        }
        return super().check_answers(assignment, with_remarks)

    def extra_of(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        return {"remark": answer["remark"]} if answer["remark"] else {}

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        return {"remark": (judgment.extra or {}).get("remark", "")}

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        task, looks = assignment.task, self._looks(assignment)
        pairs = list(zip(self._items(assignment, looks), looks, strict=True))
        summaries: dict[int, Summary] = {row.judgment.summary_id: row.judgment.summary for row in looks}
        choices = self.first.choices(task.batch)
        labels = {choice.value: choice.label for choice in choices}
        dimensions = {dimension.name: dimension for dimension in self.first.dimensions(task.batch.options)}
        return {
            "cards": [
                {
                    "heading": _heading("A" if self.first.compares else place),
                    "text": summary.text_shown,
                    "looks": [
                        _look(item, row, answers, labels, dimensions.get(item.unit))
                        for item, row in pairs
                        if item.summary_id == key
                    ],
                }
                for place, (key, summary) in enumerate(summaries.items(), start=1)
            ],
            "choices": choices,
            "shows_source": self.first.shows_source,
            "scale": [f"{value:g}" for value in self.values(task)],
            "article": _paragraphs(task.document.source) if self.first.shows_source else [],
        }


def _heading(name: object) -> str:
    return gettext("Summary %(n)s") % {"n": name}


def _look(
    item: Item, row: SecondLook, answers: Mapping[str, Any], labels: Mapping[str, str], dimension: Dimension | None
) -> Look:
    own_value, other_values = f"{row.judgment.value:g}", [f"{value:g}" for value in row.others]
    return Look(
        item=item,
        own_value=own_value,
        own_label=labels.get(own_value, own_value),
        other_values=[labels.get(value, value) for value in other_values],
        value=answer_value(answers.get(item.field)),
        remark=_remark(answers, item.field),
        low=dimension.low if dimension else "",
        high=dimension.high if dimension else "",
        definition=dimension.definition if dimension else "",
    )


def _paragraphs(source: Text) -> list[str]:
    """An article to read: its lines, or its given sentences in one."""
    return [" ".join(source)] if isinstance(source, list) else [line for line in source.splitlines() if line.strip()]


def _remark(form: Mapping[str, Any], name: str) -> str:
    content = form.get(name)
    inner = content.get("remark", "") if isinstance(content, Mapping) else ""
    text = inner or form.get(name + REMARK, "")
    return " ".join(str(text).split())[:LONGEST]
