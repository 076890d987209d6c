"""What has to be computed: the plan of a run, and pieces of work that any process can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from scoring.base import INPUTS, Family, Metric
from scoring.errors import MissingInput, NotReady, ScoringError
from scoring.models.threads import single_blas
from scoring.texts import Document, Text

if TYPE_CHECKING:
    from scoring.models.encoder import Ask

Item = TypeVar("Item")

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
    def columns(self) -> tuple[str, ...]:
        """What to compute, hidden columns included."""
        names = dict.fromkeys(one.base for one in (*self.metrics, *self.for_others))
        return self.family.columns(list(names))

    @property
    def combines(self) -> bool:
        """Whether its columns come from those of other steps, which stand before it."""
        return bool(self.family.ingredients())

    @property
    def shown(self) -> tuple[tuple[int, str], ...]:
        """Index into `columns` and canonical name of every score that exists per summary."""
        names = self.family.shown([one.base for one in self.metrics])
        at = {column: i for i, column in enumerate(self.columns)}
        return tuple((at[one.base], one.name) for one in self.metrics if one.base in names)


@dataclass(frozen=True)
class Task:
    """One document with its summaries, systems in order."""

    document: Document
    systems: tuple[str, ...]
    summaries: tuple[Text, ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
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
    parts: tuple[Part, ...]


def make_plan(metrics: Sequence[Metric]) -> tuple[Step, ...]:
    """Bring the scores of one family and one set of options together; refuse all that can't run, at once."""
    missing: dict[str, list[str]] = {}
    for one in metrics:
        state = one.ready()
        if not state.ok:
            missing.setdefault(state.missing, []).append(one.name)
    if missing:
        raise NotReady(" ".join(f"{', '.join(names)} cannot run here: {why}" for why, names in missing.items()))
    asked: dict[int, list[Metric]] = {}
    for_others: dict[int, list[Metric]] = {}
    families: dict[int, Family] = {}

    def add(one: Metric, members: dict[int, list[Metric]]) -> None:
        for part in one.family.ingredients():
            add(part, for_others)
        families.setdefault(id(one.family), one.family)
        members.setdefault(id(one.family), []).append(one)

    for one in metrics:
        add(one, asked)
    return tuple(
        Step(family, tuple(asked.get(key, ())), tuple(for_others.get(key, ()))) for key, family in families.items()
    )


class _Each(Generic[Item]):
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
    known: dict[str, Family] = {}
    for step in plan:
        family = step.family if cache is None else step.family.with_cache(Path(cache).resolve())
        family = family.fit_corpus(_Each(documents)) if family.needs_corpus else family
        family = family.fit_summaries(_Each(summaries)) if family.needs_summaries else family
        family = family.with_ingredients(known) if step.combines else family
        known |= {one.name: family for one in (*step.metrics, *step.for_others)}
        fitted.append(replace(step, family=family))
    return tuple(fitted)


def needed_inputs(plan: Sequence[Step]) -> dict[str, str]:
    """Which columns of the documents are needed, each with the name of a metric that needs it."""
    found: dict[str, str] = {}
    for step in plan:
        for need in step.family.description.needs:
            if need in INPUTS:
                found.setdefault(need, (*step.metrics, *step.for_others)[0].name)
    return found


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


def compute_batch(plan: Sequence[Step], batch: Sequence[Piece]) -> list[list[list[list[float]]]]:
    """The results of several pieces; texts that families want encoded are encoded together beforehand."""
    found: list[list[list[list[float]]]] = []
    waiting: list[Piece] = []
    asked: list[Ask] = []
    for piece in batch:
        waiting.append(piece)
        asked += _asks(plan, piece)
        if sum(len(ask.want.text) for ask in asked) >= ENCODE_AT_ONCE:
            found += _encoded(plan, waiting, asked)
            waiting, asked = [], []
    return found + _encoded(plan, waiting, asked)


def _asks(plan: Sequence[Step], piece: Piece) -> list[Ask]:
    found: list[Ask] = []
    for part in piece.parts:
        found += plan[part.step].family.texts_to_encode(piece.document, [piece.summaries[row] for row in part.rows])
    return found


def _encoded(plan: Sequence[Step], pieces: Sequence[Piece], asked: Sequence[Ask]) -> list[list[list[list[float]]]]:
    if not asked:
        return [compute(plan, piece) for piece in pieces]
    from scoring.models.encoder import encode_all

    encode_all(asked)
    with single_blas():
        return [compute(plan, piece) for piece in pieces]


def compute(plan: Sequence[Step], piece: Piece) -> list[list[list[float]]]:
    """For each part of a piece, one row of columns per summary."""
    found = []
    for part in piece.parts:
        summaries = [piece.summaries[row] for row in part.rows]
        found.append(plan[part.step].family.score(piece.document, summaries, part.columns))
    return found
