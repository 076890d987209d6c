"""What has to be computed: the plan of a run, and pieces of work that any process can do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from scoring.base import INPUTS, Family, Metric
from scoring.errors import MissingInput, NotReady, ScoringError, SkippedMetricWarning
from scoring.models.threads import single_blas
from scoring.texts import Document, Text

if TYPE_CHECKING:
    from scoring.models.encoder import TextToEncode

Item = TypeVar("Item")

Results = list[list[list[list[float]]]]
"""Per piece, per step, per summary: a row of columns."""

ENCODE_AT_ONCE = 200_000
"""Characters that are encoded together: enough to fill threads and GPUs, few enough to keep memory flat."""


@dataclass(frozen=True)
class Step:
    """One family of a run with the scores that are asked of it."""

    family: Family
    metrics: tuple[Metric, ...]
    for_others: tuple[Metric, ...] = ()
    """Scores that nobody asked for but that scores of other families are made of."""

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        return (*self.metrics, *self.for_others)

    @property
    def columns(self) -> tuple[str, ...]:
        """What to compute, hidden columns included."""
        names = dict.fromkeys(metric.base for metric in self.all_metrics)
        return self.family.columns(list(names))

    @property
    def combines(self) -> bool:
        """Whether its columns come from those of other steps, which stand before it."""
        return bool(self.family.ingredients())

    @property
    def per_summary(self) -> tuple[tuple[int, str], ...]:
        """Index into `columns` and canonical name of every score that exists per summary."""
        names = self.family.per_summary([metric.base for metric in self.metrics])
        at = {column: i for i, column in enumerate(self.columns)}
        return tuple((at[metric.base], metric.name) for metric in self.metrics if metric.base in names)


@dataclass(frozen=True)
class Task:
    """One document with its summaries, systems in order."""

    document: Document
    systems: tuple[str, ...]
    summaries: tuple[Text, ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class MissingScores:
    """Columns of one step to be computed for some summaries of a document."""

    step: int
    columns: tuple[str, ...]
    rows: tuple[int, ...]
    """Indices into the piece's summaries."""


@dataclass(frozen=True)
class Piece:
    """The work on one document that is still to be done."""

    document: Document
    summaries: tuple[Text, ...]
    missing: tuple[MissingScores, ...]


def make_plan(metrics: Sequence[Metric], skip_missing: bool = False) -> tuple[Step, ...]:
    """Bring the scores of one family and one set of options together.

    Refuse all that can't run, at once; with `skip_missing` leave them out with a warning, unless nothing would be left.
    """
    missing: dict[str, list[str]] = {}
    for metric in metrics:
        state = metric.ready()
        if not state.ok:
            missing.setdefault(state.missing, []).append(metric.name)
    if missing:
        sentence = " ".join(f"{', '.join(names)} cannot run here: {why}" for why, names in missing.items())
        skipped = {name for names in missing.values() for name in names}
        metrics = [metric for metric in metrics if metric.name not in skipped]
        if not skip_missing or not metrics:
            raise NotReady(sentence)
        warnings.warn(f"Left out: {sentence}", SkippedMetricWarning, stacklevel=3)
    requested: dict[int, list[Metric]] = {}
    for_others: dict[int, list[Metric]] = {}
    families: dict[int, Family] = {}

    def add(metric: Metric, members: dict[int, list[Metric]]) -> None:
        for ingredient in metric.family.ingredients():
            add(ingredient, for_others)
        families.setdefault(id(metric.family), metric.family)
        members.setdefault(id(metric.family), []).append(metric)

    for metric in metrics:
        add(metric, requested)
    return tuple(
        Step(family, tuple(requested.get(key, ())), tuple(for_others.get(key, ()))) for key, family in families.items()
    )


class _Reiterable(Generic[Item]):
    """What a function gives, as often as it is asked for."""

    def __init__(self, make: Callable[[], Iterable[Item]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Item]:
        return iter(self._make())


def fit(
    plan: Sequence[Step],
    documents: Callable[[], Iterable[Document]],
    summaries: Callable[[], Iterable[Text]] = tuple,
    cache: Path | None = None,
) -> tuple[Step, ...]:
    """Show all documents (and summaries) to the families that must see them before they score one.

    What they find is kept in the cache folder, where they keep anything.
    """
    fitted = []
    fitted_families: dict[str, Family] = {}
    for step in plan:
        family = step.family if cache is None else step.family.with_cache(Path(cache).resolve())
        family = family.fit_corpus(_Reiterable(documents)) if family.needs_corpus else family
        family = family.fit_summaries(_Reiterable(summaries)) if family.needs_summaries else family
        family = family.with_ingredients(fitted_families) if step.combines else family
        fitted_families |= {metric.name: family for metric in step.all_metrics}
        fitted.append(replace(step, family=family))
    return tuple(fitted)


def needed_inputs(plan: Sequence[Step]) -> dict[str, str]:
    """Which columns of the documents are needed, each with the name of a metric that needs it."""
    inputs: dict[str, str] = {}
    for step in plan:
        for input_name in step.family.description.needs:
            if input_name in INPUTS:
                inputs.setdefault(input_name, step.all_metrics[0].name)
    return inputs


def check_document(document: Document, needs: dict[str, str]) -> None:
    """Refuse a document that lacks what a metric compares with."""
    if document.doc_id == "*":
        raise ScoringError("A document has the id *, which stands for a whole system's score; give it another id.")
    if "references" in needs and not document.references:
        raise MissingInput(
            f"Document {document.doc_id} has no reference, which {needs['references']} compares with; add one."
        )
    if "source" in needs and not document.source:
        raise MissingInput(
            f"Document {document.doc_id} has no source text, which {needs['source']} compares with; add it."
        )


def compute_batch(plan: Sequence[Step], batch: Sequence[Piece]) -> Results:
    """The results of several pieces; texts that families want encoded are encoded together beforehand."""
    results: Results = []
    pieces: list[Piece] = []
    texts: list[TextToEncode] = []
    for piece in batch:
        pieces.append(piece)
        texts += _texts_to_encode(plan, piece)
        if sum(len(text.request.text) for text in texts) >= ENCODE_AT_ONCE:
            results += _compute_encoded(plan, pieces, texts)
            pieces, texts = [], []
    return results + _compute_encoded(plan, pieces, texts)


def _texts_to_encode(plan: Sequence[Step], piece: Piece) -> list[TextToEncode]:
    texts: list[TextToEncode] = []
    for missing in piece.missing:
        summaries = [piece.summaries[row] for row in missing.rows]
        texts += plan[missing.step].family.texts_to_encode(piece.document, summaries)
    return texts


def _compute_encoded(plan: Sequence[Step], pieces: Sequence[Piece], texts: Sequence[TextToEncode]) -> Results:
    if not texts:
        return [compute(plan, piece) for piece in pieces]
    from scoring.models.encoder import encode_all

    encode_all(texts)
    with single_blas():
        return [compute(plan, piece) for piece in pieces]


def compute(plan: Sequence[Step], piece: Piece) -> list[list[list[float]]]:
    """For each step that a piece lacks scores of, one row of columns per summary."""
    results = []
    for missing in piece.missing:
        summaries = [piece.summaries[row] for row in missing.rows]
        results.append(plan[missing.step].family.score(piece.document, summaries, missing.columns))
    return results
