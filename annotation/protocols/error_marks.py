"""Marks of errors as pages send them and as judgments keep them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from annotation.common.errors import BadAnswers

from .base import Item, answer_value, missing_sentence

MINOR, MAJOR = "minor", "major"
SEVERITIES = (MINOR, MAJOR)
SPAN, NO_ERROR = "span:", "no-error"  # in drafts: a field for each mark by its id, and whether there is none
MOST_MARKS = 50  # on one summary
MOST_POINTS = 100
MOST_EVIDENCE = 10  # places in the source for one mark


@dataclass(frozen=True)
class Category:
    """A kind of error. One that has no place, such as an omission, is reported without words of the summary."""

    name: str
    title: str
    definition: str = ""
    placed: bool = True


@dataclass(frozen=True)
class Mark:
    """One error that somebody marked; characters [start, end) of the summary as shown, None without a place."""

    category: str
    severity: str
    start: int | None = None
    end: int | None = None
    evidence: tuple[tuple[int, int], ...] = ()

    def stored(self) -> dict[str, Any]:
        """As it stands in the judgments table's column `spans`; the category is the row's unit."""
        place = {} if self.start is None else {"start": self.start, "end": self.end}
        evidence = {"evidence": [list(span) for span in self.evidence]} if self.evidence else {}
        return {**place, "severity": self.severity, **evidence}


def span_fields(form: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The marks among a draft's fields, in the order of their ids; those that were taken back have no value."""
    names = sorted(name for name in form if name.startswith(SPAN))
    return [form[name] for name in names if isinstance(form[name], Mapping) and form[name].get("value") is not None]


def read_marks(form: Mapping[str, Any], kinds: Mapping[str, Category], characters: int, source: int) -> list[Mark]:
    """The marks in a form, by place; BadAnswers for one that can't be stored, and then nothing is."""
    fields = span_fields(form)
    if len(fields) > MOST_MARKS:
        raise BadAnswers(
            gettext("There are %(n)d marks, and at most %(most)d are kept. Remove some; nothing was submitted.")
            % {"n": len(fields), "most": MOST_MARKS}
        )
    marks = [_mark(content, kinds, characters, source) for content in fields]
    return sorted(marks, key=lambda mark: (mark.start is None, mark.start or 0, mark.end or 0))


def _mark(content: Mapping[str, Any], kinds: Mapping[str, Category], characters: int, source: int) -> Mark:
    name, severity = answer_value(content), content.get("severity")
    kind = kinds.get(name)
    if kind is None:
        raise BadAnswers(
            gettext(
                "The list of errors has no “%(name)s” (any more). Choose another kind for that mark; nothing was "
                "submitted, and your marks are kept."
            )
            % {"name": name[:60]}
        )
    if severity not in SEVERITIES:
        raise BadAnswers(
            gettext("Say of every mark whether it is minor or major. Nothing was submitted; your marks are kept.")
        )
    evidence = tuple(_span(span, source) for span in _list(content.get("evidence"))[:MOST_EVIDENCE])
    if not kind.placed:
        return Mark(name, str(severity), evidence=evidence)
    start, end = _span([content.get("start"), content.get("end")], characters)
    return Mark(name, str(severity), start, end, evidence)


def _span(span: Any, length: int) -> tuple[int, int]:
    is_pair = isinstance(span, list | tuple) and len(span) == 2 and all(type(place) is int for place in span)
    if not is_pair or not 0 <= span[0] < span[1] <= length:
        raise BadAnswers(
            gettext(
                "A mark lies outside its text. Remove it and mark the words again; nothing was submitted, and your "
                "other marks are kept."
            )
        )
    return span[0], span[1]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def with_plain_answers(marks: list[Mark], items: list[Item], form: Mapping[str, Any]) -> list[Mark]:
    """The marks, with what a page without script answers kind by kind: how bad the worst one is, and no places."""
    answers = {item.unit: answer_value(form.get(item.field)) for item in items}
    missing = [item for item in items if not answers[item.unit]]
    if not marks and answer_value(form.get(NO_ERROR)) != "1" and missing:
        if len(missing) < len(items):
            raise BadAnswers(missing_sentence(missing, items))
        raise BadAnswers(gettext("Nothing is marked. Mark an error, or say that there is none; nothing was submitted."))
    worst = {"0": None, "1": MINOR, "2": MAJOR}
    for item in items:
        answer = answers[item.unit]
        if not answer:
            continue
        if answer not in worst:
            raise BadAnswers(
                gettext("The answer to “%(item)s” can’t be read. Nothing was submitted; your other answers are kept.")
                % {"item": item.text}
            )
        own = [mark for mark in marks if mark.category == item.unit]
        if max((SEVERITIES.index(mark.severity) + 1 for mark in own), default=0) != int(answer):
            severity = worst[answer]
            marks = [mark for mark in marks if mark.category != item.unit]
            marks += [Mark(item.unit, severity)] if severity else []
    return marks


def worst_severities(answers: Mapping[str, Any]) -> dict[str, str]:
    """For a page without script: by category the worst severity among the marks of a draft."""
    worst: dict[str, str] = {}
    for content in span_fields(answers):
        name, severity = answer_value(content), content.get("severity")
        if severity in SEVERITIES:
            worst[name] = max(worst.get(name, "0"), str(SEVERITIES.index(severity) + 1))
    return worst


def read_overall(form: Mapping[str, Any], item: Item) -> float:
    text = answer_value(form.get(item.field))
    if not text:
        raise BadAnswers(gettext("Give the whole summary 0 to 100. Nothing was submitted; your marks are kept."))
    if not text.isascii() or not text.isdecimal() or int(text) > MOST_POINTS:
        raise BadAnswers(
            gettext("The score for the whole is “%(text)s”, but must be a number from 0 to 100. Nothing was submitted.")
            % {"text": text[:40]}
        )
    return float(text)


def span_list(extra: Any) -> list[dict[str, Any]]:
    """The marks stored with a judgment; an imported file may hold them as text. What can't be read is left out."""
    marks = (extra or {}).get("spans", [])
    if isinstance(marks, str):
        try:
            marks = json.loads(marks)
        except ValueError:
            return []
    return [mark for mark in _list(marks) if isinstance(mark, dict) and mark.get("severity") in SEVERITIES]
