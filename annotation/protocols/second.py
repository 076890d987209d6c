"""A second look at contested answers: the own and the others' first values side by side, to revise or confirm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, ContentUnit, Judgment, SecondLook, Summary, Task
from annotation.models.texts import Text

from .base import Answer, Item, Protocol, given_value, named
from .likert import dimensions_of

LONGEST = 1000  # characters of a remark
REMARK = ":remark"  # a form without script sends the remark in a field of its own


@dataclass(frozen=True)
class Look:
    """One contested answer on the page."""

    item: Item
    own: str
    others: list[str]
    value: str
    remark: str
    low: str = ""
    high: str = ""
    definition: str = ""


class SecondRound(Protocol):
    """Serves ratings and Present/Not present alike; the batch keeps the protocol of its first round."""

    name = "second-round"
    title = _("Second round")
    template = "annotation/work/second_round.html"
    scale_min = 0
    scale_max = 1

    def _looks(self, assignment: Assignment) -> list[SecondLook]:
        looks = assignment.task.looks.select_related("judgment__summary").order_by("order")
        return list(looks)

    def items(self, assignment: Assignment) -> list[Item]:
        return self._items(assignment, self._looks(assignment))

    def _items(self, assignment: Assignment, looks: list[SecondLook]) -> list[Item]:
        titles = _titles(assignment.task)
        return named(
            assignment,
            [
                Item(
                    look.judgment.summary_id,
                    look.judgment.unit,
                    titles.get(look.judgment.unit, look.judgment.unit),
                    position=look.order,
                )
                for look in looks
            ],
        )

    def values(self, task: Task) -> list[float]:
        low, high = int(task.batch.scale_min), int(task.batch.scale_max)
        return [float(value) for value in range(low, high + 1)]

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
        likert = task.batch.protocol == "likert"
        return {
            "cards": [
                {
                    "text": summary.text_shown,
                    "looks": [self._look(task, item, look, answers) for item, look in pairs if item.summary_id == key],
                }
                for key, summary in summaries.items()
            ],
            "likert": likert,
            "scale": [f"{value:g}" for value in self.values(task)],
            "article": _paragraphs(task.document.source) if likert else [],
        }

    def _look(self, task: Task, item: Item, look: SecondLook, answers: Mapping[str, Any]) -> Look:
        about = {one.name: one for one in dimensions_of(task.batch.options)} if task.batch.protocol == "likert" else {}
        known = about.get(item.unit)
        return Look(
            item=item,
            own=f"{look.judgment.value:g}",
            others=[f"{value:g}" for value in look.others],
            value=given_value(answers.get(item.field)),
            remark=_remark(answers, item.field),
            low=known.low if known else "",
            high=known.high if known else "",
            definition=known.definition if known else "",
        )


def _paragraphs(source: Text) -> list[str]:
    """An article to read: its lines, or its given sentences in one."""
    return [" ".join(source)] if isinstance(source, list) else [line for line in source.splitlines() if line.strip()]


def _titles(task: Task) -> dict[str, str]:
    """What a unit is called on the page: its dimension's title, or the SCU's words, also of a retired one."""
    if task.batch.protocol == "likert":
        return {one.name: one.title for one in dimensions_of(task.batch.options)}
    return dict(ContentUnit.objects.filter(document_id=task.document_id).values_list("scu_id", "text"))


def _remark(given: Mapping[str, Any], name: str) -> str:
    content = given.get(name)
    inner = content.get("remark", "") if isinstance(content, Mapping) else ""
    text = inner or given.get(name + REMARK, "")
    return " ".join(str(text).split())[:LONGEST]
