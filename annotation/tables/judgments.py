"""A study's judgments as a stream: the current ones that count, sorted by document, system, worker and unit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, BooleanField, DateTimeField, F, Field, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, ContentUnit, Flag, Judgment, Study, Summary
from annotation.models.attention import Totals, totals
from annotation.models.work import counted

from .pseudonyms import without_ids
from .stream import (
    Changes,
    Column,
    Row,
    Table,
    by_path,
    documents_in_order,
    extra_cell,
    extra_columns,
    has_groups,
    in_portions,
    names_of,
    paths_of,
    rows_of,
    survey,
    with_raw_ids,
)

ORDER = ("doc_id", "system", "worker_id", "assignment_id", "unit")


def _decimals(name: str) -> Q:
    return Q(**{f"{name}__isnull": False}) & ~Q(**{name: Cast(F(name), BigIntegerField())})


def _judgments(study: Study) -> "QuerySet[Judgment]":
    return Judgment.objects.filter(counted("assignment__"), summary__document__study=study, is_current=True)


def _checks(study: Study) -> "QuerySet[ContentUnit]":
    return ContentUnit.objects.filter(document__study=study, is_check=True, expected__isnull=False)


def _with_expected(study: Study) -> bool:
    return _checks(study).exists() or _judgments(study).filter(is_check=True, extra__has_key="expected").exists()


def _expected(
    is_check: bool, is_check_unit: bool | None, expected: float | None, extra: dict[str, Any] | None
) -> float | None:
    """What the check SCU says; other checks hold it themselves."""
    if not is_check or is_check_unit:
        return expected if is_check else None
    return (extra or {}).get("expected")


def _with_signals(study: Study) -> bool:
    """Whether a page recorded signals, or an imported file held some."""
    work = Assignment.objects.filter(counted(), task__batch__study=study).exclude(signals={})
    imported = Q(extra__has_key="pastes") | Q(extra__has_key="focus_losses")
    return work.exists() or _judgments(study).filter(imported).exists()


def _pastes(signals: Totals | None, extra: dict[str, Any] | None) -> Any:
    return signals.pastes if signals else extra_cell("pastes", extra)


def _focus_losses(signals: Totals | None, extra: dict[str, Any] | None) -> Any:
    return signals.focus_lost if signals else extra_cell("focus_losses", extra)


def _with_flags(name: str) -> Callable[[Study], bool]:
    """Whether annotators flagged anything, or an imported file held such a column."""
    return lambda study: (
        Flag.objects.filter(assignment__task__batch__study=study).exists()
        or _judgments(study).filter(extra__has_key=name).exists()
    )


def _flagged(field: str | None, extra: dict[str, Any] | None) -> bool:
    return field is not None or str(extra_cell("flagged", extra)).lower() in ("1", "1.0", "true")


def _note(name: str) -> Callable[..., Any]:
    return lambda note, extra: extra_cell(name, extra) if note is None else note


# Paths are a judgment's; `content_unit__` leads to the SCU that it is about, if it is about one, `flag__` to what the
# annotator told of this item, `task_flag__` to what they told of the task as a whole.
COLUMNS = (
    Column("doc_id", paths=("summary__document__doc_id",)),
    Column("system", paths=("summary__system__name",), hidden_from_annotators=True),
    Column("group", paths=("summary__system__group",), filled=has_groups, hidden_from_annotators=True),
    Column("unit", paths=("unit",), description="An scu_id, or a dimension such as coherence"),
    Column(
        "worker_id",
        paths=("assignment__worker__pseudonym",),
        raw="assignment__worker__external_id",
        description="A pseudonym",
    ),
    Column("value", "number", ("value",), broken=_decimals("value")),
    Column("assignment_id", paths=("assignment__key",)),
    Column("batch", paths=("assignment__task__batch__name",), description="The name of the batch"),
    Column("protocol", paths=("assignment__task__batch__protocol",)),
    Column("role", paths=("assignment__task__batch__role",)),
    Column("round", "integer", ("assignment__task__batch__round",)),
    Column(
        "seconds",
        "number",
        ("seconds",),
        filled=Q(seconds__isnull=False),
        # As analysis.tables writes them: a column with an empty or a broken number has decimal points throughout.
        broken=Q(seconds__isnull=True) | _decimals("seconds"),
    ),
    Column("position", "integer", ("position",), filled=Q(position__isnull=False)),
    Column("is_check", "flag", ("is_check",), hidden_from_annotators=True),
    Column("submitted_at", "time", ("submitted_at",), filled=Q(submitted_at__isnull=False)),
    Column("revision", "integer", ("revision",), in_files=False),
    Column(
        "state", paths=("assignment__state",), in_files=False, description="submitted, or surplus: it came too late"
    ),
    # Worked out from other rows; they stand behind the study's own columns.
    Column(
        "expected",
        "number",
        ("is_check", "content_unit__is_check", "content_unit__expected", "extra"),
        _expected,
        filled=_with_expected,
        broken=lambda study: _checks(study).filter(_decimals("expected")).exists(),
        derived=True,
    ),
    Column(
        "retired",
        "integer",
        ("content_unit__retired_in",),
        lambda version: int(version is not None),
        filled=lambda study: ContentUnit.objects.filter(document__study=study, retired_in__isnull=False).exists(),
        derived=True,
    ),
    # What the filter rule `signals` reads; imported judgments keep theirs among the study's own columns.
    Column("pastes", "integer", ("assignment__signals", "extra"), _pastes, filled=_with_signals, derived=True),
    Column(
        "focus_losses", "integer", ("assignment__signals", "extra"), _focus_losses, filled=_with_signals, derived=True
    ),
    Column("flagged", "flag", ("flag__field", "extra"), _flagged, filled=_with_flags("flagged"), derived=True),
    Column(
        "flag_note",
        paths=("flag__note", "extra"),
        cell=_note("flag_note"),
        filled=_with_flags("flag_note"),
        may_hold_ids=True,
        derived=True,
    ),
    Column(
        "task_note",
        paths=("task_flag__note", "extra"),
        cell=_note("task_note"),
        filled=_with_flags("task_note"),
        may_hold_ids=True,
        derived=True,
    ),
)
# Worked out once for an assignment, and not for each of its judgments.
ELSEWHERE = ("summary__", "assignment__", "content_unit__", "flag__", "task_flag__")
PREPARED: Changes = {"assignment__signals": lambda signals: totals(signals) if signals else None}


def judgments_table(study: Study, *, raw_workers: bool = False, name: str = "judgments") -> Table:
    """The table, with the optional columns that hold anything. Workers by pseudonym unless `raw_workers`."""
    judgments = _judgments(study)
    sizes, columns = survey(study, judgments, COLUMNS, "summary__document")
    known_names = [column.name for column in COLUMNS if column.in_files and column.name != "batch"]
    columns, extras = _with_imported_batches(columns, extra_columns(judgments, known_names))
    if raw_workers:
        columns = with_raw_ids(columns)
    else:
        extras = without_ids(study, judgments, extras, "assignment__worker__external_id")
        columns = without_ids(study, judgments, columns, "assignment__worker__external_id")
    columns = sorted([*columns, *extras], key=lambda column: column.derived)
    paths = paths_of(columns)

    def chunks() -> Iterator[list[Row]]:
        for portion in in_portions(documents_in_order(study), sizes):
            yield rows_of(columns, _values(portion, paths), ORDER)

    return Table(name, tuple(columns), sum(sizes.values()), chunks)


def _with_imported_batches(columns: list[Column], extras: list[Column]) -> tuple[list[Column], list[Column]]:
    """Studies imported before batches were read from files have the file's own column `batch` among their extras."""
    if "batch" not in names_of(extras):
        return columns, extras
    merged = [column.then(_imported_batch, "extra") if column.name == "batch" else column for column in columns]
    return merged, [column for column in extras if column.name != "batch"]


def _imported_batch(name: str, extra: dict[str, Any] | None) -> str:
    return str(extra_cell("batch", extra) or name)


def _values(documents: list[int], paths: Sequence[str]) -> dict[str, Sequence[Any]]:
    """What stands at the paths, for every judgment of the documents that counts. Joined here and not by the database,
    which would send what is a summary's or an assignment's with each of its many judgments."""
    summaries = _Lookup.of(Summary.objects.filter(document__in=documents), "summary__", [*paths, "summary__document"])
    work = _Lookup.of(Assignment.objects.filter(counted(), task__document__in=documents), "assignment__", paths)
    content_units = ContentUnit.objects.filter(document__in=documents)
    units = _Lookup.of(content_units, "content_unit__", paths, "document", "scu_id")
    flags = Flag.objects.filter(assignment__task__document__in=documents)
    item_flags = _Lookup.of(flags, "flag__", paths, "assignment", "summary", "unit")
    task_flags = _Lookup.of(flags.filter(summary=None), "task_flag__", paths, "assignment")
    own_paths = [path for path in paths if not path.startswith(ELSEWHERE)]
    rows = Judgment.objects.filter(summary__document__in=documents, is_current=True)
    fetched = rows.values_list("summary", "assignment", *map(_as_stored, own_paths)).iterator(chunk_size=5000)
    values = by_path(["summary", "assignment", *own_paths], [row for row in fetched if (row[1],) in work.rows])
    booleans = [path for path in own_paths if _is_a(path, BooleanField)]
    values |= {path: [cell in ("1", "true") for cell in values[path]] for path in booleans}
    values |= summaries.values(zip(values["summary"], strict=True))
    values |= work.values(zip(values["assignment"], strict=True))
    values |= item_flags.values(zip(values["assignment"], values["summary"], values["unit"], strict=True))
    values |= task_flags.values(zip(values["assignment"], strict=True))
    return values | units.values(zip(values["summary__document"], values["unit"], strict=True))


def _as_stored(path: str) -> Any:
    """Flags and times, which Django converts cell by cell, are fetched as the database has them."""
    sqlite_time = connection.vendor == "sqlite" and _is_a(path, DateTimeField)
    return Cast(path, TextField()) if sqlite_time or _is_a(path, BooleanField) else F(path)


def _is_a(path: str, kind: "type[Field[Any, Any]]") -> bool:
    return isinstance(Judgment._meta.get_field(path), kind)


@dataclass(frozen=True)
class _Lookup:
    """What the rows of another table say of judgments: by key, the values at the paths that lead there."""

    paths: list[str]
    rows: dict[Row, Row]

    @classmethod
    def of(cls, rows: "QuerySet[Any, Any]", prefix: str, paths: Sequence[str], *keys: str) -> "_Lookup":
        paths, keys = [path for path in paths if path.startswith(prefix)], keys or ("pk",)
        if not paths:
            return cls([], {})
        fetched = by_path(
            [*keys, *paths], rows.values_list(*keys, *(path.removeprefix(prefix) for path in paths)), PREPARED
        )
        of_key = zip(*(fetched[key] for key in keys), strict=True)
        return cls(paths, dict(zip(of_key, zip(*(fetched[path] for path in paths), strict=True), strict=True)))

    def values(self, keys: Iterable[Row]) -> dict[str, Sequence[Any]]:
        nothing = (None,) * len(self.paths)
        return by_path(self.paths, [self.rows.get(key, nothing) for key in keys])
