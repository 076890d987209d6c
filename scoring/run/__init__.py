"""Many summaries, many metrics, one call: what is known comes from the cache, the rest is computed once."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoring.errors import EmptyTextWarning, LongTextWarning, UndefinedWarning
from scoring.run.engines import open_engine
from scoring.run.plan import Part, Piece, Step, Task, check_document, needed_inputs
from scoring.run.score_cache import Cache, Keys, SignatureCache
from scoring.texts import is_empty

Progress = Callable[[int, int], None]

BATCH = 200
"""Summaries per batch: enough to make the way to another process cheap, few enough to keep memory flat."""


@dataclass(frozen=True)
class Scored:
    """The scores of one document's summaries; columns are the run's metrics in order of their names."""

    doc_id: str
    systems: tuple[str, ...]
    groups: tuple[str, ...]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Pending:
    """A document whose missing scores are being computed: one block of values per step."""

    task: Task
    blocks: tuple[npt.NDArray[np.float64], ...]
    keys: tuple[list[bytes], ...]
    piece: Piece


@dataclass(frozen=True)
class _Found:
    """What is known of one document's summaries in one step."""

    keys: list[bytes]
    values: npt.NDArray[np.float64]
    known: npt.NDArray[np.bool_]


class Run:
    """One pass over a stream of documents. Iterate over `scores`, then ask `pooled`."""

    def __init__(
        self,
        plan: Sequence[Step],
        *,
        jobs: int = 1,
        cache: Path | None = None,
        engine: str = "local",
        progress: Progress | None = None,
        total: int = 0,
    ) -> None:
        folder = None if cache is None else Path(cache).resolve()  # nodes of a cluster stand in other folders
        self.plan = tuple(plan if folder is None else (replace(s, family=s.family.with_cache(folder)) for s in plan))
        self.names = sorted(name for step in plan for _, name in step.shown)
        self.tally = Tally()
        self._engine = open_engine(engine, self.plan, jobs)
        self._folder, self._progress, self._total = cache, progress, total
        self._columns = [step.columns for step in self.plan]
        self._needs = needed_inputs(plan)
        self._pick = self._picker()
        self._recipes = self._find_recipes()
        self._done = 0

    def _picker(self) -> list[int]:
        """The column of each metric among the columns of all steps, in the order of the names."""
        found: dict[str, int] = {}
        before = 0
        for step, columns in zip(self.plan, self._columns, strict=True):
            found |= {name: before + at for at, name in step.shown}
            before += len(columns)
        return [found[name] for name in self.names]

    def _find_recipes(self) -> dict[int, list[tuple[int, int]]]:
        """For each step that combines others: the step and the column of every ingredient."""
        places = {
            one.name: (number, columns.index(one.base))
            for number, (step, columns) in enumerate(zip(self.plan, self._columns, strict=True))
            for one in (*step.metrics, *step.for_others)
        }
        return {
            number: [places[part.name] for part in step.family.ingredients()]
            for number, step in enumerate(self.plan)
            if step.combines
        }

    def scores(self, tasks: Iterable[Task]) -> Iterator[Scored]:
        """Scores of each document, in the order in which the documents come."""
        pending: deque[list[_Pending]] = deque()
        with ExitStack() as stack:
            cache = stack.enter_context(Cache(self._folder)) if self._folder is not None else None
            caches = [self._signature_cache(cache, step) for step in self.plan] if cache else []

            def batches() -> Iterator[list[Piece]]:
                for batch in _batches(tasks):
                    pending.append(self._prepare(batch, caches))
                    yield [one.piece for one in pending[-1]]

            for results in self._engine.run(batches()):
                batch = pending.popleft()
                for one, found in zip(batch, results, strict=True):
                    _fill(one, found, self._columns)
                    self._combine(one)
                if cache and any(one.piece.parts for one in batch):
                    with cache.writing():
                        _keep(batch, caches, self._columns)
                for one in batch:
                    yield self._finish(one)
                    self._done += len(one.task.systems)
                if self._progress:
                    self._progress(self._done, self._total or self._done)

    def warn(self) -> None:
        """Say which texts were empty or too long, and which scores don't exist."""
        self.tally.warn()
        for name, (first, count) in sorted(self.tally.undefined.items()):
            more = f" and {count - 1} more" if count > 1 else ""
            warnings.warn(f"{name} is undefined for {first}{more}.", UndefinedWarning, stacklevel=3)
        for number, sums in self.tally.hidden.items():
            family = self.plan[number].family
            by_name = dict(zip(self._columns[number], sums.tolist(), strict=True))
            for remark in family.warnings(by_name, self._done):
                warnings.warn(remark, LongTextWarning, stacklevel=3)

    def pooled(self) -> list[tuple[str, str, str, float]]:
        """System-level scores: system, group, metric, value, in order."""
        rows = []
        for system, sums in self.tally.sums.items():
            for step, columns, values in zip(self.plan, self._columns, sums, strict=True):
                if not step.family.pooled:
                    continue
                by_name = dict(zip(columns, values.tolist(), strict=True))
                found = step.family.pool(by_name, [one.base for one in step.metrics])
                names = {one.base: one.name for one in step.metrics}
                group = self.tally.groups.get(system, "")
                rows += [(system, group, names[base], value) for base, value in found.items() if base in names]
        return sorted(rows, key=lambda row: (row[0], row[2]))

    def _signature_cache(self, cache: Cache, step: Step) -> SignatureCache:
        card = step.family.description
        return cache.of_signature(step.family.signature(card.names[0]), [*card.names, *card.hidden])

    def _prepare(self, tasks: Sequence[Task], caches: Sequence[SignatureCache]) -> list[_Pending]:
        """Look up what is known of these documents: one question to the cache per step."""
        for task in tasks:
            check_document(task.document, self._needs)
            self._note_empty(task)
        keys = [Keys(task.document, task.summaries) for task in tasks]
        steps = [self._look_up(number, tasks, keys, caches) for number in range(len(self._columns))]
        return [self._pending(task, [step[at] for step in steps]) for at, task in enumerate(tasks)]

    def _look_up(
        self, number: int, tasks: Sequence[Task], keys: Sequence[Keys], caches: Sequence[SignatureCache]
    ) -> list[_Found]:
        """What is known of one step, by document."""
        columns = self._columns[number]
        if number in self._recipes or not caches:
            empty = [np.empty((len(task.systems), len(columns))) for task in tasks]
            return [_Found([], block, np.full(block.shape, number in self._recipes)) for block in empty]
        mine = [one.of(self.plan[number].family.description.needs) for one in keys]
        block = caches[number].get([key for some in mine for key in some], columns)
        ends = np.cumsum([len(some) for some in mine]).tolist()
        places = [slice(end - len(some), end) for some, end in zip(mine, ends, strict=True)]
        return [_Found(some, block.values[at], block.known[at]) for some, at in zip(mine, places, strict=True)]

    def _pending(self, task: Task, found: Sequence[_Found]) -> _Pending:
        parts: list[Part] = []
        for number, (columns, one) in enumerate(zip(self._columns, found, strict=True)):
            parts += _missing(number, columns, one.known)
        document = task.document if "source" in self._needs else replace(task.document, source=None)
        piece = Piece(document, task.summaries, tuple(parts))
        return _Pending(task, tuple(one.values for one in found), tuple(one.keys for one in found), piece)

    def _combine(self, one: _Pending) -> None:
        """Scores made of other scores, which are known by now."""
        for number, places in self._recipes.items():
            values = np.column_stack([one.blocks[step][:, column] for step, column in places])
            one.blocks[number][:] = self.plan[number].family.combine(values, self._columns[number])

    def _note_empty(self, task: Task) -> None:
        doc_id = task.document.doc_id
        for system, summary in zip(task.systems, task.summaries, strict=True):
            if is_empty(summary):
                self.tally.note_empty("summary", f"document {doc_id}, system {system}")
        if "references" in self._needs and any(map(is_empty, task.document.references)):
            self.tally.note_empty("reference", f"document {doc_id}")

    def _finish(self, one: _Pending) -> Scored:
        task = one.task
        if any(step.family.pooled for step in self.plan):
            self._add_up(one)
        self._note_undefined(one)
        values = np.concatenate(one.blocks, axis=1)[:, self._pick]
        return Scored(task.document.doc_id, task.systems, task.groups, values)

    def _note_undefined(self, one: _Pending) -> None:
        """Undefined scores, and the sums of the families that tell of them."""
        for number, step in enumerate(self.plan):
            block = one.blocks[number]
            if step.family.reports:
                self.tally.hidden[number] = self.tally.hidden.get(number, 0.0) + np.nansum(block, axis=0)
            if not np.isnan(block).any():
                continue
            for at, name in step.shown:
                for row in np.flatnonzero(np.isnan(block[:, at])).tolist():
                    where = f"document {one.task.document.doc_id}, system {one.task.systems[row]}"
                    first, count = self.tally.undefined.get(name, (where, 0))
                    self.tally.undefined[name] = (first, count + 1)

    def _add_up(self, one: _Pending) -> None:
        for row, system in enumerate(one.task.systems):
            if one.task.groups:
                self.tally.groups.setdefault(system, one.task.groups[row])
            if system not in self.tally.sums:
                self.tally.sums[system] = [np.zeros(len(columns)) for columns in self._columns]
            sums = self.tally.sums[system]
            for step, block in enumerate(one.blocks):
                if self.plan[step].family.pooled:
                    sums[step] += block[row]


def _missing(step: int, columns: tuple[str, ...], known: npt.NDArray[np.bool_]) -> list[Part]:
    """The summaries that lack columns, those that lack the same ones together."""
    if known.all():
        return []
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in np.flatnonzero(~known.all(axis=1)).tolist():
        lacking = tuple(column for column, there in zip(columns, known[row], strict=True) if not there)
        groups.setdefault(lacking, []).append(row)
    return [Part(step, lacking, tuple(rows)) for lacking, rows in groups.items()]


def _fill(one: _Pending, results: list[list[list[float]]], columns: Sequence[tuple[str, ...]]) -> None:
    """Put computed values into their blocks."""
    for part, rows in zip(one.piece.parts, results, strict=True):
        block = one.blocks[part.step]
        if len(part.rows) == len(block) and part.columns == columns[part.step]:
            block[:] = rows
        else:
            places = [columns[part.step].index(column) for column in part.columns]
            block[np.ix_(part.rows, places)] = rows


def _keep(batch: Sequence[_Pending], caches: Sequence[SignatureCache], columns: Sequence[tuple[str, ...]]) -> None:
    """Store what was computed for a batch, the same columns of all its documents together."""
    keys: dict[tuple[int, tuple[str, ...]], list[bytes]] = {}
    values: dict[tuple[int, tuple[str, ...]], list[npt.NDArray[np.float64]]] = {}
    for one in batch:
        for part in one.piece.parts:
            places = [columns[part.step].index(column) for column in part.columns]
            which = (part.step, part.columns)
            keys.setdefault(which, []).extend(one.keys[part.step][row] for row in part.rows)
            values.setdefault(which, []).append(one.blocks[part.step][np.ix_(part.rows, places)])
    for which, some in keys.items():
        caches[which[0]].put(some, which[1], np.concatenate(values[which]))


def _batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += len(task.systems)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass
class Tally:
    """What a run adds up over all documents: sums for system-level scores, and texts that were empty."""

    sums: dict[str, list[npt.NDArray[np.float64]]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    empty: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Summary or reference: where the first empty one is, and how many there are."""
    hidden: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)
    """Sums of all columns of the steps that tell something about a run."""
    undefined: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By metric: the first summary without a score, and how many there are."""

    def note_empty(self, what: str, where: str) -> None:
        first, count = self.empty.get(what, (where, 0))
        self.empty[what] = (first, count + 1)

    def warn(self) -> None:
        """Say which texts were empty: never a crash, never silence."""
        for what, (first, count) in self.empty.items():
            more = f" and {count - 1} more" if count > 1 else ""
            message = f"Empty {what}: {first}{more}; it scores 0 where the metric defines that, else undefined."
            warnings.warn(message, EmptyTextWarning, stacklevel=3)
