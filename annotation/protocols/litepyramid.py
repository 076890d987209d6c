"""LitePyramid: is each SCU of the reference present in the summary? (Shapira et al. 2019; Bhandari et al. 2020)

Check units, whose answers are known, stand among the real ones at places drawn from the assignment's seed, and
nothing in the page tells them apart. docs/protocols/litepyramid.md states the rules.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import ngettext

from annotation.common.prepared_queries import PreparedQuery
from annotation.errors import Refused
from annotation.models import Assignment, Batch, ContentUnit, Document, Judgment, Summary, Task

from .base import Item, Protocol, given_value, named

WORD = re.compile(r"\S+")
ORDERS = ("natural", "random")
REFERENCE_GROUP = "reference"  # the group of the system that holds references as if they were summaries
MOST_SPANS = 20
_UNITS = PreparedQuery(
    lambda document: ContentUnit.objects.filter(document=document).in_force().values_list("scu_id", "text", "is_check"),
    "document",
)


@dataclass(frozen=True)
class Word:
    """A word of a text with its place: characters [start, end)."""

    text: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    return [Word(found.group(), found.start(), found.end()) for found in WORD.finditer(text)]


class LitePyramid(Protocol):
    name = "litepyramid"
    title = "LitePyramid"
    template = "annotation/work/litepyramid.html"
    scale_min = 0
    scale_max = 1

    def items(self, assignment: Assignment) -> list[Item]:
        task = assignment.task
        assert task.summary_id is not None  # LitePyramid tasks always have one summary
        units = _UNITS(document=task.document_id)
        items = [Item(task.summary_id, scu_id, text, bool(is_check)) for scu_id, text, is_check in units]
        return named(assignment, mixed(items, assignment.seed, task.batch.options.get("order", "natural")))

    def values(self, task: Task) -> list[float]:
        return [0.0, 1.0]

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        options = {"order": "natural", "evidence": False, "seed": 0, "checks": {}, **given}
        if options["order"] not in ORDERS:
            raise ValueError(f"The order is {options['order']!r}, but must be one of: {', '.join(ORDERS)}.")
        for kind, number in options["checks"].items():
            if kind not in ("blank", "foreign") or not isinstance(number, int) or number < 0:
                raise ValueError(
                    f"The checks are {options['checks']!r}, but must say how many per document: "
                    '{"blank": 1, "foreign": 1}.'
                )
        return options

    def tasks(self, batch: Batch, quota: int) -> list[Task]:
        """One task per summary; the references among the summaries are not judged this way."""
        summaries = Summary.objects.filter(document__study=batch.study).exclude(system__group=REFERENCE_GROUP)
        _check_units(Document.objects.filter(pk__in=summaries.values("document")))
        add_checks(batch)
        rows = summaries.order_by("document__doc_id", "pk").values_list("document_id", "pk")
        return [Task(batch=batch, document_id=document, summary_id=summary, quota=quota) for document, summary in rows]

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        context = super().page(assignment, answers)
        evidence = bool(assignment.task.batch.options.get("evidence"))
        assert assignment.task.summary is not None
        text = assignment.task.summary.text_shown
        return {**context, "evidence": evidence, "text": text, "words": words_of(text) if evidence else []}

    def beside(self, assignment: Assignment, item: Item, given: Any) -> dict[str, Any]:
        """The evidence: character spans of the summary as shown. The page speaks of words, first and last."""
        if not assignment.task.batch.options.get("evidence") or not isinstance(given, Mapping):
            return {}
        marks = given.get("evidence")
        if given_value(given) != "1" or not isinstance(marks, list) or assignment.task.summary is None:
            return {}
        words = words_of(assignment.task.summary.text_shown)
        spans = [_span(words, pair) for pair in marks[:MOST_SPANS]]
        return {"evidence": found} if (found := sorted(span for span in spans if span)) else {}

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        spans = (judgment.extra or {}).get("evidence")
        if not spans or assignment.task.summary is None:
            return {}
        words = words_of(assignment.task.summary.text_shown)
        first, last = {word.start: n for n, word in enumerate(words)}, {word.end: n for n, word in enumerate(words)}
        return {"evidence": [[first[start], last[end]] for start, end in spans if start in first and end in last]}


def _check_units(documents: QuerySet[Document]) -> None:
    """Refused, with the first of them, when there are documents that nothing can be asked about."""
    units = ContentUnit.objects.in_force().filter(document=OuterRef("pk"), is_check=False)
    bare = documents.exclude(Exists(units.order_by()))
    if number := bare.count():
        raise Refused(
            ngettext(
                "%(n)d document has no SCUs yet (“%(first)s”). No batch was made: freeze its list first.",
                "%(n)d documents have no SCUs yet (the first is “%(first)s”). No batch was made: "
                "freeze their lists first.",
                number,
            )
            % {"n": number, "first": bare.order_by("doc_id").values_list("doc_id", flat=True)[0]}
        )


def _span(words: list[Word], pair: Any) -> list[int]:
    """[first word, last word] as characters [start, end); empty when it names no words of the text."""
    if not isinstance(pair, list) or len(pair) != 2 or not all(type(n) is int for n in pair):
        return []
    first, last = min(pair), max(pair)
    return [words[first].start, words[last].end] if first >= 0 and last < len(words) else []


def mixed(items: list[Item], seed: int, order: str) -> list[Item]:
    """Checks among the real items, at places that follow from the seed; `random` shuffles everything."""
    draw = Random(seed)
    placed = [item for item in items if not item.is_check]
    checks = [item for item in items if item.is_check]
    draw.shuffle(checks)
    for check in checks:
        placed.insert(draw.randint(0, len(placed)), check)
    if order == "random":
        draw.shuffle(placed)
    return [replace(item, position=place) for place, item in enumerate(placed, start=1)]


def add_checks(batch: Batch) -> None:
    """Make the check units that the batch asks for, per document; those that are there already are kept.

    `blank`: the word BLANK, as in REALSumm's forms. `foreign`: an SCU of another document. Both are not present.
    """
    wanted = batch.options.get("checks", {})
    if not any(wanted.values()):
        return
    draw = Random(f"{batch.options.get('seed', 0)}:checks")
    real = list(
        ContentUnit.objects.filter(document__study=batch.study, is_check=False)
        .in_force()
        .order_by("document_id", "order", "scu_id")
    )
    rows = []
    for document in batch.study.documents.order_by("doc_id"):
        others = [unit for unit in real if unit.document_id != document.pk]
        taken = draw.sample(others, min(wanted.get("foreign", 0), len(others)))
        texts: list[tuple[str, dict[str, str]]] = [("BLANK", {})] * wanted.get("blank", 0)
        texts += [(unit.text, {"check_from": f"{unit.document_id}/{unit.scu_id}"}) for unit in taken]
        rows += [
            ContentUnit(
                document=document, scu_id=f"check{n:02}", text=text, is_check=True, expected=0, order=0, extra=extra
            )
            for n, (text, extra) in enumerate(texts, start=1)
        ]
    ContentUnit.objects.bulk_create(rows, ignore_conflicts=True)
