"""LitePyramid: is each SCU of the reference present in the summary? (Shapira et al. 2019; Bhandari et al. 2020)

Check units, whose answers are known, stand among the real ones at places drawn from the assignment's seed, and
nothing in the page tells them apart. docs/protocols/litepyramid.md states the rules.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import Refused
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import REFERENCE_GROUP, Assignment, Batch, ContentUnit, Document, Judgment, Summary, Task

from .base import Item, Protocol, answer_value, named
from .descriptions import Choice, ContestedRule, Criterion

if TYPE_CHECKING:
    import pandas as pd

WORD = re.compile(r"\S+")
ORDERS = ("natural", "random")
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
    return [Word(match.group(), match.start(), match.end()) for match in WORD.finditer(text)]


INSTRUCTIONS = """\
## What to do

You see one summary and a list of short statements. For each statement, decide whether the summary **says it**.

- **Present**: the summary states it or makes it certain, in whatever words. Other words for the same thing count.
- **Not present**: the summary doesn't say it, says only part of it, or says something else.

Judge by the summary alone. What you know from elsewhere, or find likely, doesn't count.

## Worked examples

> **Summary:** The town council voted on Tuesday to keep the night ferry for three more years. Parking at the harbour
> will cost more from March.

| Statement | Answer | Why |
|---|---|---|
| The ferry will keep running. | Present | “keep the night ferry” says so. |
| The ferry will run for three more years. | Present | It is stated. |
| The vote was 11 to 4. | Not present | A vote is mentioned, but not how it ended in numbers. |
| Parking will cost 3 crowns. | Not present | It will cost more; how much isn't said. |
| Drivers will pay more at the harbour. | Present | Parking that costs more means that drivers pay more. |

A statement that joins two facts is present only if **both** are there.

## Keys

`j` and `k` or the arrows move, `p` is Present, `n` is Not present, `u` takes back, `?` shows help.
"""


def _contested_units(judgments: "pd.DataFrame", **thresholds: float) -> "pd.DataFrame":
    from analysis.agreement.contested import contested_units

    return contested_units(judgments, **thresholds)


class LitePyramid(Protocol):
    name = "litepyramid"
    title = "LitePyramid"
    template = "annotation/judging/litepyramid.html"
    scale_min = 0
    scale_max = 1
    level = "nominal"
    judges_scus = True
    csv_form = "statements"
    contested_rule = ContestedRule(
        _(
            "An SCU is contested where no answer has more than this share of the voices; then everybody who judged it "
            "looks again."
        ),
        {"majority": 0.5},  # a strict one
        _contested_units,
    )
    instructions = INSTRUCTIONS
    practice_question = _("Does the summary say this?")
    practice_label = _("Statement")
    asks = "LitePyramid (is an SCU of the reference present?)"
    shows = "one summary and the list of SCUs; not the source, the reference or the system's name"

    def items(self, assignment: Assignment) -> list[Item]:
        task = assignment.task
        assert task.summary_id is not None  # LitePyramid tasks always have one summary
        units = _UNITS(document=task.document_id)
        items = [Item(task.summary_id, scu_id, text, bool(is_check)) for scu_id, text, is_check in units]
        return named(assignment, mix_in_checks(items, assignment.seed, task.batch.options.get("order", "natural")))

    def option_fields(self) -> dict[str, Any]:
        return {"order": "natural", "evidence": False, "seed": 0, "checks": {}}

    def options(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        options = super().options(overrides)
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

    def extra_of(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        """The evidence: character spans of the summary as shown. The page speaks of words, first and last."""
        if not assignment.task.batch.options.get("evidence") or not isinstance(answer, Mapping):
            return {}
        marks = answer.get("evidence")
        if answer_value(answer) != "1" or not isinstance(marks, list) or assignment.task.summary is None:
            return {}
        words = words_of(assignment.task.summary.text_shown)
        spans = [_span(words, pair) for pair in marks[:MOST_SPANS]]
        return {"evidence": evidence} if (evidence := sorted(span for span in spans if span)) else {}

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        spans = (judgment.extra or {}).get("evidence")
        if not spans or assignment.task.summary is None:
            return {}
        words = words_of(assignment.task.summary.text_shown)
        first, last = {word.start: n for n, word in enumerate(words)}, {word.end: n for n, word in enumerate(words)}
        return {"evidence": [[first[start], last[end]] for start, end in spans if start in first and end in last]}

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        return [Choice("1", gettext("Present"), "p", "yes"), Choice("0", gettext("Not present"), "n", "no")]

    def unit_titles(self, batch: Batch, document: int | None = None) -> dict[tuple[int, str], str]:
        """The SCUs' words, also of retired ones."""
        place = {"document__study": batch.study_id} if document is None else {"document": document}
        units = ContentUnit.objects.filter(**place)
        return {(key, unit): text for key, unit, text in units.values_list("document_id", "scu_id", "text")}

    def one_judgment(self, scus: int) -> str:
        return f"0 or 1 for one of {scus:,} SCUs in one summary, by one person"

    def criteria(self, batches: Iterable[Batch]) -> Iterator[Criterion]:
        yield Criterion(
            name="coverage of the reference's SCUs",
            definition="A statement is present if the summary states it or makes it certain, in whatever words.",
            values="Present, Not present",
            size=2,
            instrument="Two buttons beside each statement; the summary stays in view.",
            prompt="The statement itself, with the choice Present / Not present.",
            aggregation="An SCU is present if a strict majority of the kept workers says so, a tie is not; the score "
            "is the share of the reference's SCUs that are present.",
            kind=("correctness", "content", "relative to an external frame: the reference"),
        )


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


def mix_in_checks(items: list[Item], seed: int, order: str) -> list[Item]:
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
    numbers = batch.options.get("checks", {})
    if not any(numbers.values()):
        return
    draw = Random(f"{batch.options.get('seed', 0)}:checks")
    real = list(
        ContentUnit.objects.filter(document__study=batch.study, is_check=False)
        .in_force()
        .order_by("document_id", "order", "scu_id")
    )
    rows = []
    for document in batch.study.documents.order_by("doc_id"):
        foreign_units = [unit for unit in real if unit.document_id != document.pk]
        drawn_units = draw.sample(foreign_units, min(numbers.get("foreign", 0), len(foreign_units)))
        texts: list[tuple[str, dict[str, str]]] = [("BLANK", {})] * numbers.get("blank", 0)
        texts += [(unit.text, {"check_from": f"{unit.document_id}/{unit.scu_id}"}) for unit in drawn_units]
        rows += [
            ContentUnit(
                document=document, scu_id=f"check{n:02}", text=text, is_check=True, expected=0, order=0, extra=extra
            )
            for n, (text, extra) in enumerate(texts, start=1)
        ]
    ContentUnit.objects.bulk_create(rows, ignore_conflicts=True)
