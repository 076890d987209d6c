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

from scoring.errors import EmptyTextWarning, LongTextWarning, OwnReferenceWarning, ScoringError, UndefinedWarning
from scoring.run.engines import open_engine
from scoring.run.own_references import REFERENCE_SETS, LeaveOneOut, own_references
from scoring.run.plan import MissingScores, Piece, Step, Task, check_document, needed_inputs
from scoring.run.score_cache import Cache, Keys, SignatureCache
from scoring.texts import is_empty

Progress = Callable[[int, int], None]

BATCH = 200
"""Summaries per batch: enough to make the way to another process cheap, few enough to keep memory flat."""


@dataclass(frozen=True)
class DocumentScores:
    """The scores of one document's summaries; columns are the run's metrics in order of their names."""

    doc_id: str
    systems: tuple[str, ...]
    groups: tuple[str, ...]
    values: npt.NDArray[np.float64]
    is_reference: tuple[bool, ...] = ()
    """Which summaries are one of their document's references, and so are scored against themselves; empty: none."""


@dataclass(frozen=True)
class _OpenTask:
    """A task whose missing scores are being computed: one block of values per step."""

    task: Task
    blocks: tuple[npt.NDArray[np.float64], ...]
    keys: tuple[list[bytes], ...]
    piece: Piece


@dataclass(frozen=True)
class _StepScores:
    """What is known of one document's summaries in one step."""

    keys: list[bytes]
    values: npt.NDArray[np.float64]
    is_known: npt.NDArray[np.bool_]


class Run:
    """One pass over a stream of documents. Iterate over `scores`, then ask `system_scores`."""

    def __init__(
        self,
        plan: Sequence[Step],
        *,
        jobs: int = 1,
        cache: Path | None = None,
        engine: str = "local",
        progress: Progress | None = None,
        total: int = 0,
        references: str = "all",
    ) -> None:
        if references not in REFERENCE_SETS:
            raise ScoringError(f"There is no set of references {references!r}; use one of {', '.join(REFERENCE_SETS)}.")
        self.references = references
        folder = None if cache is None else Path(cache).resolve()  # nodes of a cluster stand in other folders
        self.plan = tuple(plan if folder is None else (replace(s, family=s.family.with_cache(folder)) for s in plan))
        self.names = sorted(name for step in plan for _, name in step.per_summary)
        self.tally = Tally()
        self._engine = open_engine(engine, self.plan, jobs)
        self._folder, self._progress, self._total = cache, progress, total
        self._columns = [step.columns for step in self.plan]
        self._needs = needed_inputs(plan)
        self._places = self._find_columns()
        self._recipes = self._find_recipes()
        self._scored_count = 0

    def _find_columns(self) -> list[int]:
        """The column of each metric among the columns of all steps, in the order of the names."""
        column_by_name: dict[str, int] = {}
        before = 0
        for step, columns in zip(self.plan, self._columns, strict=True):
            column_by_name |= {name: before + at for at, name in step.per_summary}
            before += len(columns)
        return [column_by_name[name] for name in self.names]

    def _find_recipes(self) -> dict[int, list[tuple[int, int]]]:
        """For each step that combines others: the step and the column of every ingredient."""
        places = {
            metric.name: (number, columns.index(metric.base))
            for number, (step, columns) in enumerate(zip(self.plan, self._columns, strict=True))
            for metric in step.all_metrics
        }
        return {
            number: [places[ingredient.name] for ingredient in step.family.ingredients()]
            for number, step in enumerate(self.plan)
            if step.combines
        }

    def scores(self, tasks: Iterable[Task]) -> Iterator[DocumentScores]:
        """Scores of each document, in the order in which the documents come."""
        if self.references == "all":
            yield from self._scores(tasks)
            return
        jackknife, documents = LeaveOneOut(), deque[DocumentScores]()

        def blocks() -> Iterator[npt.NDArray[np.float64]]:
            for document in self._scores(jackknife.tasks(tasks)):
                documents.append(document)
                yield document.values

        for values in jackknife.average(blocks()):
            yield replace(documents[0], values=values, is_reference=())
            documents.clear()

    def _scores(self, tasks: Iterable[Task]) -> Iterator[DocumentScores]:
        pending_batches: deque[list[_OpenTask]] = deque()
        with ExitStack() as stack:
            cache = stack.enter_context(Cache(self._folder)) if self._folder is not None else None
            caches = [self._signature_cache(cache, step) for step in self.plan] if cache else []

            def batches() -> Iterator[list[Piece]]:
                for batch in _batches(tasks):
                    pending_batches.append(self._prepare(batch, caches))
                    yield [pending.piece for pending in pending_batches[-1]]

            for results in self._engine.run(batches()):
                batch = pending_batches.popleft()
                for pending, document_results in zip(batch, results, strict=True):
                    _fill(pending, document_results, self._columns)
                    self._combine(pending)
                if cache and any(pending.piece.missing for pending in batch):
                    with cache.writing():
                        _store(batch, caches, self._columns)
                for pending in batch:
                    yield self._finish(pending)
                    self._scored_count += len(pending.task.systems)
                if self._progress:
                    self._progress(self._scored_count, self._total or self._scored_count)

    def warn(self) -> None:
        """Say which texts were empty or too long, which are references themselves, and which scores don't exist."""
        self.tally.warn()
        if self.tally.own_references:
            warnings.warn(self._own_references(), OwnReferenceWarning, stacklevel=3)
        for name, (first, count) in sorted(self.tally.undefined.items()):
            suffix = f" and {count - 1} more" if count > 1 else ""
            warnings.warn(f"{name} is undefined for {first}{suffix}.", UndefinedWarning, stacklevel=3)
        for number, sums in self.tally.hidden.items():
            family = self.plan[number].family
            by_name = dict(zip(self._columns[number], sums.tolist(), strict=True))
            for remark in family.warnings(by_name, self._scored_count):
                warnings.warn(remark, LongTextWarning, stacklevel=3)

    def _own_references(self) -> str:
        counts = sorted(self.tally.own_references.items(), key=lambda item: (-item[1], item[0]))
        systems = ", ".join(system for system, _ in counts[:5]) + (", …" if len(counts) > 5 else "")
        summaries = sum(self.tally.own_references.values())
        return (
            f"{summaries} summaries are a reference of their own document ({systems}) and are scored against "
            "themselves; they are marked is_reference, correlations leave them out, and --references leave-one-out "
            "scores them against the other references."
        )

    def system_scores(self) -> list[tuple[str, str, str, float]]:
        """System-level scores: system, group, metric, value, in order; none where references are left out in turn."""
        if self.references != "all":
            return []
        rows = []
        for system, sums in self.tally.sums.items():
            for step, columns, values in zip(self.plan, self._columns, sums, strict=True):
                if not step.family.is_pooled:
                    continue
                by_name = dict(zip(columns, values.tolist(), strict=True))
                pooled_scores = step.family.pool(by_name, [metric.base for metric in step.metrics])
                names = {metric.base: metric.name for metric in step.metrics}
                group = self.tally.groups.get(system, "")
                rows += [(system, group, names[base], value) for base, value in pooled_scores.items() if base in names]
        return sorted(rows, key=lambda row: (row[0], row[2]))

    def _signature_cache(self, cache: Cache, step: Step) -> SignatureCache:
        family, description = step.family, step.family.description
        return cache.of_signature(family.signature(description.names[0]), [*description.names, *description.hidden])

    def _prepare(self, tasks: Sequence[Task], caches: Sequence[SignatureCache]) -> list[_OpenTask]:
        """Look up what is known of these documents: one question to the cache per step."""
        for task in tasks:
            check_document(task.document, self._needs)
            self._note_empty(task)
        keys = [Keys(task.document, task.summaries) for task in tasks]
        steps = [self._look_up(number, tasks, keys, caches) for number in range(len(self._columns))]
        return [self._find_missing(task, [step[at] for step in steps]) for at, task in enumerate(tasks)]

    def _look_up(
        self, number: int, tasks: Sequence[Task], keys: Sequence[Keys], caches: Sequence[SignatureCache]
    ) -> list[_StepScores]:
        """What is known of one step, by document."""
        columns = self._columns[number]
        if number in self._recipes or not caches:
            empty = [np.empty((len(task.systems), len(columns))) for task in tasks]
            return [_StepScores([], block, np.full(block.shape, number in self._recipes)) for block in empty]
        keys_by_document = [document_keys.of(self.plan[number].family.description.needs) for document_keys in keys]
        block = caches[number].get([key for summary_keys in keys_by_document for key in summary_keys], columns)
        ends = np.cumsum([len(summary_keys) for summary_keys in keys_by_document]).tolist()
        places = [slice(end - len(summary_keys), end) for summary_keys, end in zip(keys_by_document, ends, strict=True)]
        return [
            _StepScores(summary_keys, block.values[at], block.is_known[at])
            for summary_keys, at in zip(keys_by_document, places, strict=True)
        ]

    def _find_missing(self, task: Task, steps: Sequence[_StepScores]) -> _OpenTask:
        missing: list[MissingScores] = []
        for number, (columns, step) in enumerate(zip(self._columns, steps, strict=True)):
            missing += _missing(number, columns, step.is_known)
        document = task.document if "source" in self._needs else replace(task.document, source=None)
        piece = Piece(document, task.summaries, tuple(missing))
        blocks, keys = tuple(step.values for step in steps), tuple(step.keys for step in steps)
        return _OpenTask(task, blocks, keys, piece)

    def _combine(self, pending: _OpenTask) -> None:
        """Scores made of other scores, which are known by now."""
        for number, places in self._recipes.items():
            values = np.column_stack([pending.blocks[step][:, column] for step, column in places])
            pending.blocks[number][:] = self.plan[number].family.combine(values, self._columns[number])

    def _note_empty(self, task: Task) -> None:
        doc_id = task.document.doc_id
        for system, summary in zip(task.systems, task.summaries, strict=True):
            if is_empty(summary):
                self.tally.note_empty("summary", f"document {doc_id}, system {system}")
        if "references" in self._needs and any(map(is_empty, task.document.references)):
            self.tally.note_empty("reference", f"document {doc_id}")

    def _finish(self, pending: _OpenTask) -> DocumentScores:
        task = pending.task
        if any(step.family.is_pooled for step in self.plan):
            self._add_up(pending)
        self._note_undefined(pending)
        values = np.concatenate(pending.blocks, axis=1)[:, self._places]
        return DocumentScores(task.document.doc_id, task.systems, task.groups, values, self._note_references(task))

    def _note_references(self, task: Task) -> tuple[bool, ...]:
        """Which summaries are compared with themselves; only metrics that read references can do so."""
        if "references" not in self._needs or self.references != "all":
            return ()
        is_reference = tuple(map(bool, own_references(task.document, task.summaries)))
        for system, is_own in zip(task.systems, is_reference, strict=True):
            if is_own:
                self.tally.own_references[system] = self.tally.own_references.get(system, 0) + 1
        return is_reference if any(is_reference) else ()

    def _note_undefined(self, pending: _OpenTask) -> None:
        """Undefined scores, and the sums of the families that tell of them."""
        for number, step in enumerate(self.plan):
            block = pending.blocks[number]
            if step.family.reports:
                self.tally.hidden[number] = self.tally.hidden.get(number, 0.0) + np.nansum(block, axis=0)
            if not np.isnan(block).any():
                continue
            for at, name in step.per_summary:
                for row in np.flatnonzero(np.isnan(block[:, at])).tolist():
                    summary_label = f"document {pending.task.document.doc_id}, system {pending.task.systems[row]}"
                    first, count = self.tally.undefined.get(name, (summary_label, 0))
                    self.tally.undefined[name] = (first, count + 1)

    def _add_up(self, pending: _OpenTask) -> None:
        for row, system in enumerate(pending.task.systems):
            if pending.task.groups:
                self.tally.groups.setdefault(system, pending.task.groups[row])
            if system not in self.tally.sums:
                self.tally.sums[system] = [np.zeros(len(columns)) for columns in self._columns]
            sums = self.tally.sums[system]
            for step, block in enumerate(pending.blocks):
                if self.plan[step].family.is_pooled:
                    sums[step] += block[row]


def _missing(step: int, columns: tuple[str, ...], is_known: npt.NDArray[np.bool_]) -> list[MissingScores]:
    """The summaries that lack columns, those that lack the same ones together."""
    if is_known.all():
        return []
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in np.flatnonzero(~is_known.all(axis=1)).tolist():
        lacking = tuple(column for column, has_value in zip(columns, is_known[row], strict=True) if not has_value)
        groups.setdefault(lacking, []).append(row)
    return [MissingScores(step, lacking, tuple(rows)) for lacking, rows in groups.items()]


def _fill(pending: _OpenTask, results: list[list[list[float]]], columns: Sequence[tuple[str, ...]]) -> None:
    """Put computed values into their blocks."""
    for missing, rows in zip(pending.piece.missing, results, strict=True):
        block = pending.blocks[missing.step]
        if len(missing.rows) == len(block) and missing.columns == columns[missing.step]:
            block[:] = rows
        else:
            places = [columns[missing.step].index(column) for column in missing.columns]
            block[np.ix_(missing.rows, places)] = rows


def _store(batch: Sequence[_OpenTask], caches: Sequence[SignatureCache], columns: Sequence[tuple[str, ...]]) -> None:
    """Store what was computed for a batch, the same columns of all its documents together."""
    keys: dict[tuple[int, tuple[str, ...]], list[bytes]] = {}
    values: dict[tuple[int, tuple[str, ...]], list[npt.NDArray[np.float64]]] = {}
    for pending in batch:
        for missing in pending.piece.missing:
            places = [columns[missing.step].index(column) for column in missing.columns]
            step_columns = (missing.step, missing.columns)
            keys.setdefault(step_columns, []).extend(pending.keys[missing.step][row] for row in missing.rows)
            values.setdefault(step_columns, []).append(pending.blocks[missing.step][np.ix_(missing.rows, places)])
    for step_columns, step_keys in keys.items():
        caches[step_columns[0]].store(step_keys, step_columns[1], np.concatenate(values[step_columns]))


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
    own_references: dict[str, int] = field(default_factory=dict)
    """By system: its summaries that are a reference of their document."""

    def note_empty(self, text_kind: str, location: str) -> None:
        first, count = self.empty.get(text_kind, (location, 0))
        self.empty[text_kind] = (first, count + 1)

    def warn(self) -> None:
        """Say which texts were empty: never a crash, never silence."""
        for text_kind, (first, count) in self.empty.items():
            suffix = f" and {count - 1} more" if count > 1 else ""
            message = f"Empty {text_kind}: {first}{suffix}; it scores 0 where the metric defines that, else undefined."
            warnings.warn(message, EmptyTextWarning, stacklevel=3)
