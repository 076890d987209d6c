"""One document in the Explorer: its texts, its SCUs, all systems side by side, and who judged what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext

from analysis.lazy import pandas as pd
from analysis.tables.batches import rater_name
from annotation import protocols
from annotation.common.translation import from_column
from annotation.models import REFERENCE_GROUP, Document, Dropped, HumanScore, Judgment, Score, Study, Summary, User
from annotation.models.work import counted
from annotation.protocols.descriptions import Highlight
from annotation.tables.trusted import choose

from .highlights import MarkedText, marked_text
from .lists import ListQuery, State, beyond, state_of

SET_ASIDE = "batches"  # stands for a filter's rule where the batch or the round decides


@dataclass(frozen=True)
class Answer:
    """One answer, and whether it counts."""

    worker: str
    rater: str  # the worker, with the batch where they judged the document in several
    unit: str
    text: str  # of the unit
    value: float
    yes_no: bool
    seconds: float | None
    is_check: bool
    rule: str  # that dropped it; empty: kept
    reason: str
    highlights: list[Highlight]  # what it points to in the summary


@dataclass(frozen=True)
class Cell:
    """What the kept answers say of one unit of one summary."""

    yes: int
    n: int
    mean: float | None
    yes_no: bool


@dataclass(frozen=True)
class Column:
    """One system's summary with its scores."""

    system: int
    name: str
    group: str
    text: str
    human: float | None
    metric: float | None
    difference: float | None  # positive: the metric likes it better than the humans do
    answers: list[Answer]
    link: str  # the query that shows its judges

    @property
    def n_kept(self) -> int:
        return sum(not answer.rule for answer in self.answers)

    @property
    def n_dropped(self) -> int:
        return len(self.answers) - self.n_kept


@dataclass(frozen=True)
class Unit:
    """A row of the matrix: an SCU or a dimension, across all systems."""

    name: str
    text: str
    is_check: bool
    cells: list[Cell]


@dataclass(frozen=True)
class Judge:
    """A worker who judged the chosen summary, and whether the answers count."""

    worker: str
    rater: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Panel:
    """Who judged one summary: a column per worker, a row per unit with each one's answer (None: not asked)."""

    judges: list[Judge]
    rows: list[tuple[str, bool, list[Answer | None]]]  # the unit's text, whether it is a check, the answers


@dataclass(frozen=True)
class DocumentPage:
    query: ListQuery
    state: State
    document: Document
    source: list[str]
    references: list[list[str]]
    columns: list[Column]
    units: list[Unit]
    selected: Column | None
    panel: Panel | None
    marked: MarkedText | None  # what people marked in the chosen summary
    previous: int
    next: int


def document_page(study: Study, document_id: int, query: ListQuery, user: User) -> DocumentPage:
    """All there is about a document: a fixed number of queries, whatever the study's size."""
    document = Document.objects.filter(study=study, pk=document_id).first()
    if document is None:
        raise Http404(gettext("There is no such document in this study."))
    query, state = state_of(study, query, user)
    scus = {unit.scu_id: unit for unit in document.units.all()}
    columns = _columns(document, query, state, {name: unit.text for name, unit in scus.items()})
    order = {name: n for n, name in enumerate(sorted(scus, key=lambda name: (scus[name].order, name)))}
    units = _units(columns, scus, order)
    selected = next((column for column in columns if column.system == query.system), columns[0] if columns else None)
    return DocumentPage(
        query,
        state,
        document,
        _sentences(document.source),
        [_sentences(reference.text) for reference in document.references.all()],
        columns,
        units,
        selected,
        _panel(selected, units) if selected else None,
        _marked(selected) if selected else None,
        previous=_neighbour(study, query, state, document_id, backwards=True),
        next=_neighbour(study, query, state, document_id, backwards=False),
    )


def _sentences(text: Any) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _neighbour(study: Study, query: ListQuery, state: State, document: int, *, backwards: bool) -> int:
    rows, key = beyond(study, query, state, document, backwards)
    return rows.values_list(key, flat=True).first() or 0


def _columns(document: Document, query: ListQuery, state: State, texts: dict[str, str]) -> list[Column]:
    summaries = (
        Summary.objects.filter(document=document).exclude(system__group=REFERENCE_GROUP).select_related("system")
    )
    human = dict(HumanScore.objects.filter(document=document, measure=query.measure).values_list("system", "value"))
    scores = Score.objects.filter(document=document, metric=query.metric) if query.metric else Score.objects.none()
    metric = dict(scores.values_list("system", "value"))
    answers = _answers(document, texts)
    columns = [
        Column(
            summary.system_id,
            summary.system.name,
            summary.system.group,
            summary.text_shown,
            human.get(summary.system_id),
            metric.get(summary.system_id),
            _difference(state, human.get(summary.system_id), metric.get(summary.system_id)),
            answers.get(summary.pk, []),
            query.link(system=summary.system_id),
        )
        for summary in summaries
    ]
    return sorted(columns, key=lambda column: (-abs(column.difference or 0), column.group, column.name))


def _difference(state: State, human: float | None, metric: float | None) -> float | None:
    if state.pair is None or human is None or metric is None:
        return None
    from analysis.correlate.disagreement import Scale

    scales = {name: Scale(*state.pair.facts[name]) for name in ("human", "metric")}
    return scales["metric"].standardised(metric) - scales["human"].standardised(human)


def _answers(document: Document, texts: dict[str, str]) -> dict[int, list[Answer]]:
    """The answers that count before any filter, by summary, each with what the filter in force says of it."""
    fields = [
        *("summary_id", "unit", "value", "seconds", "is_check", "assignment__worker_id"),
        *("assignment__worker__pseudonym", "assignment__task__batch__protocol", "summary__system__name"),
        *("assignment__task__batch_id", "assignment__task__batch__name", "assignment__task__batch__round"),
        *("summary__system__group", "extra"),
    ]
    rows = list(
        Judgment.objects.filter(counted("assignment__"), summary__document=document, is_current=True)
        .order_by("assignment_id", "position", "pk")
        .values_list(*fields)
    )
    dropped, yes_no = _dropped(document, {row[5] for row in rows}), set(protocols.judging_scus())
    in_batches = _in_batches(document.study, rows)
    answers: dict[int, list[Answer]] = defaultdict(list)
    for place, row in enumerate(rows):
        summary, unit, value, seconds, is_check, worker, pseudonym, protocol, system, batch, *_rest, extra = row
        rater, reason = in_batches.names[place], in_batches.set_aside.get(place, "")
        keys = [(worker, some_batch, some_system) for some_batch in (None, batch) for some_system in ("", system)]
        rule, why = (SET_ASIDE, reason) if reason else next((dropped[key] for key in keys if key in dropped), ("", ""))
        answers[summary].append(
            Answer(
                pseudonym,
                rater,
                unit,
                texts.get(unit, unit),
                value,
                protocol in yes_no,
                seconds,
                is_check,
                rule,
                why,
                _highlights(protocol, unit, texts.get(unit, unit), extra),
            )
        )
    return answers


def _highlights(name: str, unit: str, text: str, extra: Any) -> list[Highlight]:
    protocol = protocols.PROTOCOLS.get(name) if extra else None
    return protocol.highlights(unit, text, extra) if protocol else []


def _marked(column: Column) -> MarkedText | None:
    trusted = [answer for answer in column.answers if not answer.rule]
    return marked_text(column.text, [(answer.rater, mark) for answer in trusted for mark in answer.highlights])


@dataclass(frozen=True)
class _InBatches:
    """How a document's answers stand to each other where somebody gave some in several batches or rounds."""

    names: list[str]
    """What each answer's worker is called: with the batch, where they judged this document in several."""
    set_aside: dict[int, str]
    """The answers that the batch rule sets aside or a later round revised, each with the reason."""


def _in_batches(study: Study, rows: list[tuple[Any, ...]]) -> _InBatches:
    columns = ["summary", "unit", "value", "worker_id", "batch", "round", "group"]
    places = (0, 1, 2, 6, 10, 11, 12)
    frame = pd.DataFrame([[row[place] for place in places] for row in rows], columns=columns)
    frame = frame.assign(doc_id="", system=frame["summary"].astype(str), place=range(len(frame)))
    several = frame.groupby("worker_id")["batch"].transform("nunique") > 1
    names = [
        rater_name(worker, batch) if apart else worker
        for worker, batch, apart in zip(frame["worker_id"], frame["batch"], several, strict=True)
    ]
    if not several.any() and study.batch_rule != Study.BatchRule.CHOSEN:
        return _InBatches(names, {})
    choice = choose(study, frame[frame["group"] != REFERENCE_GROUP])
    set_aside = choice.set_aside
    reasons = zip(set_aside["place"], set_aside["reason"], strict=True) if "reason" in set_aside else ()
    revised = dict.fromkeys(_revised(choice.judgments), gettext("The worker revised this in a later round."))
    return _InBatches(names, revised | {int(place): str(reason) for place, reason in reasons})


def _revised(answers: pd.DataFrame) -> list[int]:
    """The places of answers that the same rater gave anew in a later round."""
    last = answers.groupby(["system", "unit", "worker_id"])["round"].transform("max")
    return [int(place) for place in answers["place"][answers["round"] < last]]


def _dropped(document: Document, workers: Iterable[int]) -> dict[tuple[int, int | None, str], tuple[str, str]]:
    rows = Dropped.objects.filter(Q(document=None) | Q(document=document), worker__in=list(workers))
    return {
        (worker, batch, system): (rule, from_column(reason))
        for worker, batch, system, rule, reason in rows.values_list("worker", "batch", "system", "rule", "reason")
    }


def _units(columns: list[Column], scus: dict[str, Any], order: dict[str, int]) -> list[Unit]:
    """The matrix: SCUs in force and whatever else was judged, in the list's order."""
    judged_units = {answer.unit for column in columns for answer in column.answers}
    names = sorted({name for name, scu in scus.items() if scu.retired_in is None} | judged_units)
    by_column = [_by_unit(column) for column in columns]
    return [
        Unit(
            name,
            scus[name].text if name in scus else name,
            name in scus and scus[name].is_check,
            [_cell(answers.get(name, [])) for answers in by_column],
        )
        for name in sorted(names, key=lambda name: (order.get(name, len(order)), name))
    ]


def _panel(column: Column, units: list[Unit]) -> Panel:
    judges = {a.rater: Judge(a.worker, a.rater, a.rule, a.reason) for a in column.answers}
    answers = {(answer.rater, answer.unit): answer for answer in column.answers}
    rows = [(unit.text, unit.is_check, [answers.get((rater, unit.name)) for rater in judges]) for unit in units]
    return Panel(list(judges.values()), [row for row in rows if any(row[2])])


def _by_unit(column: Column) -> dict[str, list[Answer]]:
    by_unit: dict[str, list[Answer]] = defaultdict(list)
    for answer in column.answers:
        if not answer.rule:
            by_unit[answer.unit].append(answer)
    return by_unit


def _cell(answers: list[Answer]) -> Cell:
    n = len(answers)
    values = [answer.value for answer in answers]
    return Cell(sum(value > 0 for value in values), n, sum(values) / n if n else None, all(a.yes_no for a in answers))
