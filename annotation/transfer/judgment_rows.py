"""A study's judgments as a stream: the current ones that count, sorted by document, system, worker and unit."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Count, F, Q, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, ContentUnit, Judgment, Study, Summary
from annotation.models.attention import totals
from annotation.models.work import counted

from .hiding import Hiding
from .streaming import Column, Row, Table, documents_in_order, extra_cells, extra_columns, in_portions

FIXED = (
    *("doc_id", "system", "group", "unit", "worker_id", "value", "assignment_id", "protocol", "role", "round"),
    *("seconds", "position", "is_check", "submitted_at"),
)
# Worked out from other rows; `pastes` and `focus_losses` are what the filter rule `signals` reads.
DERIVED = ("expected", "retired", "pastes", "focus_losses")
ORDER = itemgetter(*map(FIXED.index, ("doc_id", "system", "worker_id", "assignment_id", "unit")))
FETCHED = ("summary_id", "assignment_id", "unit", "value", "seconds", "position")
TYPES = {
    **dict.fromkeys(("value", "seconds"), "number"),
    **dict.fromkeys(("round", "position", "retired", "pastes", "focus_losses"), "integer"),
    "expected": "number",
    "is_check": "flag",
}


def judgments_table(study: Study, *, raw_workers: bool = False, name: str = "judgments") -> Table:
    """The table, with the optional columns that hold anything. Workers by pseudonym unless `raw_workers`."""
    facts = _Facts.of(study)
    extras = extra_columns(_counted(study), known=(*FIXED, *DERIVED))
    optional: dict[str, Any] = {"group": facts.groups, "seconds": facts.seconds, "position": facts.positions}
    optional |= {"submitted_at": facts.times, "expected": facts.expected, "retired": facts.retired}
    optional |= {"pastes": facts.signals, "focus_losses": facts.signals}
    fixed, derived = (
        [Column(one, facts.type_of(one)) for one in names if optional.get(one, True)] for names in (FIXED, DERIVED)
    )
    stream = _Stream(study, facts, [*fixed, *extras, *derived], extras, raw_workers)
    return Table(name, tuple(stream.columns), sum(facts.sizes.values()), stream.chunks)


def _counted(study: Study) -> Any:
    return Judgment.objects.filter(counted("assignment__"), summary__document__study=study, is_current=True)


@dataclass(frozen=True)
class _Facts:
    """What must be known of all rows before the first one is written."""

    sizes: dict[int, int]  # judgments of each document
    groups: bool
    seconds: int
    positions: int
    times: int
    signals: bool
    broken: set[str]  # columns of numbers that are not all whole
    expected: dict[tuple[str, str], float]
    retired: set[tuple[str, str]]

    @classmethod
    def of(cls, study: Study) -> "_Facts":
        counts = ("seconds", "position", "submitted_at")
        broken = {f"broken_{name}": Count("pk", filter=_is_broken(name)) for name in ("value", "seconds")}
        rows = list(
            _counted(study)
            .values_list("summary__document")
            .annotate(n=Count("pk"), **{f"n_{name}": Count(name) for name in counts}, **broken)
        )
        total, seconds, positions, times, odd_values, odd_seconds = (sum(row[n] for row in rows) for n in range(1, 7))
        work = Assignment.objects.filter(counted(), task__batch__study=study)
        units = ContentUnit.objects.filter(document__study=study)
        known = units.filter(is_check=True, expected__isnull=False).values_list(
            "document__doc_id", "scu_id", "expected"
        )
        gone = units.filter(retired_in__isnull=False).values_list("document__doc_id", "scu_id")
        told = _counted(study).filter(Q(extra__has_key="pastes") | Q(extra__has_key="focus_losses"))
        return cls(
            sizes={row[0]: row[1] for row in rows},
            groups=study.systems.exclude(group="").exists(),
            seconds=seconds,
            positions=positions,
            times=times,
            signals=total > 0 and (work.exclude(signals={}).exists() or told.exists()),
            # As analysis.tables writes them: a column with an empty or a broken number has decimal points throughout.
            broken={name for name, odd in (("value", odd_values), ("seconds", odd_seconds or seconds < total)) if odd},
            expected={(doc, unit): float(value or 0) for doc, unit, value in known} if total else {},
            retired=set(gone) if total else set(),
        )

    def type_of(self, name: str) -> str:
        kind = TYPES.get(name, "string")
        whole = name in ("value", "seconds") and name not in self.broken
        if name == "expected":
            whole = all(float(value).is_integer() for value in self.expected.values())
        return "integer" if kind == "number" and whole else kind


def _is_broken(name: str) -> Q:
    return Q(**{f"{name}__isnull": False}) & ~Q(**{name: Cast(F(name), BigIntegerField())})


@dataclass(frozen=True)
class _Held:
    """What an assignment says about each of its judgments."""

    worker: str
    own: str  # the crowd's own id of the worker
    key: str
    protocol: str
    role: str
    round: int
    pastes: int | None
    losses: int | None


class _Stream:
    """The rows, a portion of documents at a time."""

    def __init__(
        self, study: Study, facts: _Facts, columns: list[Column], extras: list[Column], raw_workers: bool
    ) -> None:
        self.study, self.facts, self.columns, self.extras = study, facts, columns, extras
        self.worker = "worker__external_id" if raw_workers else "worker__pseudonym"
        self.hide = None if raw_workers else Hiding(study)
        self.open = self.hide.measures(_counted(study), extras) if self.hide else set()
        every = [*FIXED, *(column.name for column in extras), *DERIVED]
        self.chosen = itemgetter(*(every.index(column.name) for column in columns))
        types = {column.name: column.type for column in columns}
        whole = {name: int if types.get(name) == "integer" else float for name in ("value", "seconds", "expected")}
        self.value, self.seconds, self.expected = whole["value"], whole["seconds"], whole["expected"]
        self.reads_extra = bool(extras) or "pastes" in types
        self.times: dict[Any, str] = {None: ""}

    def chunks(self) -> Iterator[list[Row]]:
        for portion in in_portions(documents_in_order(self.study), self.facts.sizes):
            rows = self._portion(portion)
            rows.sort(key=ORDER)
            yield list(map(self.chosen, rows))

    def _portion(self, documents: list[int]) -> list[list[Any]]:
        summaries = {
            row[0]: row[1:]
            for row in Summary.objects.filter(document__in=documents).values_list(
                "pk", "document__doc_id", "system__name", "system__group"
            )
        }
        held = dict(self._held(documents))
        found = Judgment.objects.filter(summary__document__in=documents, is_current=True)
        rows = found.values_list(*FETCHED, *self._costly()).iterator(chunk_size=5000)
        return [self._row(summaries[row[0]], held[row[1]], row) for row in rows if row[1] in held]

    def _costly(self) -> list[Any]:
        """Columns that Django converts cell by cell: fetched as the database has them, or not at all."""
        as_stored = Cast("submitted_at", TextField()) if connection.vendor == "sqlite" else F("submitted_at")
        return [Cast("is_check", TextField()), as_stored, *(["extra"] if self.reads_extra else [])]

    def _time(self, given: Any) -> str:
        """A time in ISO 8601. The answers of an assignment share theirs, so that few are worked out."""
        if len(self.times) > 100_000:
            self.times = {None: ""}
        moment = datetime.fromisoformat(given).replace(tzinfo=UTC) if isinstance(given, str) else given
        self.times[given] = moment.isoformat()
        return self.times[given]

    def _held(self, documents: list[int]) -> Iterable[tuple[int, _Held]]:
        batch, own_id = "task__batch__", "worker__external_id"
        fields = ("pk", self.worker, own_id, "key", f"{batch}protocol", f"{batch}role", f"{batch}round", "signals")
        work = Assignment.objects.filter(counted(), task__document__in=documents)
        for key, worker, own, assignment, protocol, role, number, signals in work.values_list(*fields):
            found = totals(signals) if signals else None
            counts = (found.pastes, found.focus_lost) if found else (None, None)
            yield key, _Held(worker, own, assignment, protocol, role, number, *counts)

    def _row(self, summary: Row, held: _Held, row: Row) -> list[Any]:
        _, _, unit, value, seconds, position, flag, submitted, *more = row
        is_check = flag in ("1", "true")
        pair, told = (summary[0], unit), (more[0] if more else None) or {}
        expected = self.facts.expected.get(pair) if is_check else None
        return [
            *(*summary, unit, held.worker, self.value(value), held.key, held.protocol, held.role, held.round),
            *(None if seconds is None else self.seconds(seconds), position, is_check),
            self.times.get(submitted) or (self._time(submitted) if submitted else ""),
            *(self._own_columns(told, held.own) if self.extras else ()),
            None if expected is None else self.expected(expected),
            int(pair in self.facts.retired) if self.facts.retired else None,
            told.get("pastes") if held.pastes is None else held.pastes,
            told.get("focus_losses") if held.losses is None else held.losses,
        ]

    def _own_columns(self, told: dict[str, Any], own: str) -> list[Any]:
        cells, hide = extra_cells(told, self.extras), self.hide
        if hide is None:
            return cells
        pairs = zip(cells, self.extras, strict=True)
        return [cell if column.name in self.open else hide(cell, own) for cell, column in pairs]
