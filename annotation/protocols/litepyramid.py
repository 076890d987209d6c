"""LitePyramid: is each SCU of the reference present in the summary? (Shapira et al. 2019; Bhandari et al. 2020)

Check units, whose answers are known, stand among the real ones at places drawn from the assignment's seed, and
nothing in the page tells them apart. docs/protocols/litepyramid.md states the rules.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import Refused
from annotation.common.prepared_queries import PreparedQuery
from annotation.models import Assignment, Batch, ContentUnit, Judgment, Task

from .base import Item, Protocol, answer_value, named
from .descriptions import Choice, ContestedRule, Criterion, Highlight, OptionField
from .model_question import ModelItem, ModelQuestion, ModelText

if TYPE_CHECKING:
    import pandas as pd

WORD = re.compile(r"\S+")
ORDERS = ("natural", "random")
MOST_SPANS = 20
_UNITS = PreparedQuery(
    lambda document: (
        ContentUnit.objects.filter(document=document)
        .order_by("order", "scu_id")
        .values_list("pk", "scu_id", "text", "is_check", "retired_in", "by_batch")
    ),
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
    work = _("Find statements in summaries")
    template = "annotation/judging/litepyramid.html"
    scale_min = 0
    scale_max = 1
    level = "nominal"
    judges_scus = True
    rates_dimensions = False
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
    usual_minutes = 2
    shows = "one summary and the list of SCUs; not the source, the reference or the system's name"

    def items(self, assignment: Assignment) -> list[Item]:
        task = assignment.task
        assert task.summary_id is not None  # LitePyramid tasks always have one summary
        units = asked_units(_UNITS(document=task.document_id), task)
        items = [Item(task.summary_id, scu_id, text, bool(is_check)) for _pk, scu_id, text, is_check, *_rest in units]
        return named(assignment, mix_in_checks(items, assignment.seed, task.batch.options.get("order", "natural")))

    def option_fields(self) -> dict[str, Any]:
        return {"order": "natural", "evidence": False, "word_match": False, "seed": 0, "checks": {}}

    def option_form(self) -> list[OptionField]:
        orders = (("natural", _("as in the list")), ("random", _("drawn for each person")))
        checks = (("blank", _("the word BLANK")), ("foreign", _("an SCU of another document")))
        return [
            OptionField("order", _("Order of statements"), "choice", choices=orders),
            OptionField("evidence", _("Ask for evidence"), "flag", _("People mark the words that show it.")),
            OptionField("word_match", _("Light the words that a statement shares with the summary"), "flag"),
            OptionField(
                "checks",
                _("Check statements per task"),
                "numbers",
                _("Their answer is known: not present. Nobody sees which they are."),
                checks,
            ),
            OptionField("seed", _("Seed"), "number", _("What is drawn by chance follows from it.")),
        ]

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
        rows = self.summaries(batch)
        documents = {document for document, _summary in rows}
        _check_units(batch, documents)
        checks = add_checks(batch, documents)
        return [
            Task(batch=batch, document_id=document, summary_id=summary, quota=quota, pinned=checks.get(document))
            for document, summary in rows
        ]

    def pin(self, batch: Batch) -> None:
        tasks = {task.document_id: task for task in batch.tasks.all()}  # those of a document ask the same
        for document, task in tasks.items():
            if "units" not in (task.pinned or {}) or batch.state == Batch.State.DRAFT:
                ids = [unit[0] for unit in in_force(_UNITS(document=document), task)]
                batch.tasks.filter(document=document).update(pinned={**(task.pinned or {}), "units": ids})

    def page(self, assignment: Assignment, answers: Mapping[str, Any]) -> dict[str, Any]:
        context = super().page(assignment, answers)
        evidence = bool(assignment.task.batch.options.get("evidence"))
        assert assignment.task.summary is not None
        text = assignment.task.summary.text_shown
        return {
            **context,
            "evidence": evidence,
            "text": text,
            "words": words_of(text) if evidence else [],
            "word_match": bool(assignment.task.batch.options.get("word_match")),
            "choices": self.choices(),
        }

    def model_question(self, assignment: Assignment) -> ModelQuestion:
        assert assignment.task.summary is not None
        text, items = assignment.task.summary.text_shown, self.items(assignment)
        return ModelQuestion(
            texts=[ModelText("Summary", text)],
            items=[ModelItem(f"s{item.position}", item.field, item.text, claim=item.text) for item in items],
            values={1: "Present", 0: "Not present"},
            premise=text,
        )

    def extra_of(self, assignment: Assignment, item: Item, answer: Any) -> dict[str, Any]:
        """The evidence: character spans of the summary as shown (the page speaks of words, first and last). And
        whether shared words were lit when the answer was given, where the batch offers that."""
        options, content = assignment.task.batch.options, answer if isinstance(answer, Mapping) else {}
        evidence = _evidence(assignment, content) if options.get("evidence") else []
        matched = {"word_match": content.get("word_match") is True} if options.get("word_match") else {}
        return {"evidence": evidence, **matched} if evidence else matched

    def draft_of(self, assignment: Assignment, judgment: Judgment) -> dict[str, Any]:
        extra = judgment.extra or {}
        matched = {"word_match": extra["word_match"]} if "word_match" in extra else {}
        spans = extra.get("evidence")
        if not spans or assignment.task.summary is None:
            return matched
        words = words_of(assignment.task.summary.text_shown)
        first, last = {word.start: n for n, word in enumerate(words)}, {word.end: n for n, word in enumerate(words)}
        marks = [[first[start], last[end]] for start, end in spans if start in first and end in last]
        return {"evidence": marks, **matched}

    def highlights(self, unit: str, text: str, extra: Any) -> list[Highlight]:
        return [Highlight(start, end, text) for start, end in (extra or {}).get("evidence", [])]

    def choices(self, batch: Batch | None = None) -> list[Choice]:
        return [
            Choice("1", gettext("Present"), pgettext("key for Present", "p"), "yes"),
            Choice("0", gettext("Not present"), pgettext("key for Not present", "n"), "no"),
        ]

    def rehearsal_options(self) -> dict[str, Any]:
        return {"checks": {"blank": 2, "foreign": 1}}

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


def asked_units(units: Iterable[tuple[Any, ...]], task: Task) -> list[tuple[Any, ...]]:
    """The rows of `_UNITS` that a task asks about: as pinned when its batch opened, before that those in force."""
    pinned_ids = (task.pinned or {}).get("units")
    if pinned_ids is None or task.batch.state == Batch.State.DRAFT:
        return in_force(units, task)
    by_id = {unit[0]: unit for unit in units}
    return [by_id[pk] for pk in pinned_ids]


def in_force(units: Iterable[tuple[Any, ...]], task: Task) -> list[tuple[Any, ...]]:
    """Of these rows, the newest list with the checks that this task asks."""
    checks = (task.pinned or {}).get("checks", ())
    return [unit for unit in units if unit[4] is None and (not unit[5] or unit[0] in checks)]


def _check_units(batch: Batch, documents: Collection[int]) -> None:
    """Refused, with the first of them, when there are documents that nothing can be asked about."""
    units = ContentUnit.objects.in_force().filter(document__study=batch.study, is_check=False)
    bare_ids = set(documents) - set(units.values_list("document_id", flat=True))
    if number := len(bare_ids):
        names = batch.study.documents.order_by("doc_id").values_list("pk", "doc_id")
        first = next(name for pk, name in names if pk in bare_ids)
        raise Refused(
            ngettext(
                "%(n)d document has no SCUs yet (“%(first)s”). No batch was made: freeze its list first.",
                "%(n)d documents have no SCUs yet (the first is “%(first)s”). No batch was made: "
                "freeze their lists first.",
                number,
            )
            % {"n": number, "first": first}
        )


def _evidence(assignment: Assignment, content: Mapping[str, Any]) -> list[Any]:
    marks = content.get("evidence")
    if answer_value(content) != "1" or not isinstance(marks, list) or assignment.task.summary is None:
        return []
    words = words_of(assignment.task.summary.text_shown)
    spans = [_span(words, pair) for pair in marks[:MOST_SPANS]]
    return sorted(span for span in spans if span)


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


def add_checks(batch: Batch, documents: Collection[int]) -> dict[int, dict[str, list[int]]]:
    """The check units that the batch asks for, made where they are missing; by document, as its tasks pin them.

    `blank`: the word BLANK, as in REALSumm's forms. `foreign`: an SCU of another document. Both are not present.
    """
    numbers = batch.options.get("checks", {})
    if not any(numbers.values()):
        return {}
    draw = Random(f"{batch.options.get('seed', 0)}:checks")
    real = list(
        ContentUnit.objects.filter(document__study=batch.study, is_check=False)
        .in_force()
        .order_by("document_id", "order", "scu_id")
    )
    present: dict[int, list[ContentUnit]] = {}
    for unit in ContentUnit.objects.filter(document__study=batch.study, is_check=True).in_force():
        present.setdefault(unit.document_id, []).append(unit)
    checks: dict[int, list[ContentUnit]] = {}
    for document in batch.study.documents.order_by("doc_id").values_list("pk", flat=True):
        foreign_units = [unit for unit in real if unit.document_id != document]
        drawn_units = draw.sample(foreign_units, min(numbers.get("foreign", 0), len(foreign_units)))
        texts: list[tuple[str, dict[str, str]]] = [("BLANK", {})] * numbers.get("blank", 0)
        texts += [(unit.text, {"check_from": f"{unit.document_id}/{unit.scu_id}"}) for unit in drawn_units]
        if document in documents:
            checks[document] = _checks_of(document, texts, present.get(document, []))
    ContentUnit.objects.bulk_create(unit for units in checks.values() for unit in units if unit.pk is None)
    return {document: {"checks": [unit.pk for unit in units]} for document, units in checks.items()}


def _checks_of(document: int, texts: list[tuple[str, dict[str, str]]], present: list[ContentUnit]) -> list[ContentUnit]:
    """A document's check units with these texts: those that are there, and new ones, not saved yet."""
    names, free_units = {unit.scu_id for unit in present}, list(present)
    new_names = (name for n in count(1) if (name := f"check{n:02}") not in names)
    units = []
    for text, extra in texts:
        unit = next((unit for unit in free_units if unit.text == text), None)
        if unit:
            free_units.remove(unit)
        else:
            name = next(new_names)
            unit = ContentUnit(document_id=document, scu_id=name, text=text, is_check=True, expected=0, by_batch=True)
            unit.extra = extra
        units.append(unit)
    return units
