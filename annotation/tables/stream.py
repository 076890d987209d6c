"""Tables that are never whole in memory: columns that say how they are read, and rows that come in chunks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from itertools import chain, islice
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet

from annotation.models import Study

Row = tuple[Any, ...]
Values = Mapping[str, Sequence[Any]]  # by path, the values of some rows
Changes = Mapping[str, Callable[[Any], Any]]
NO_CHANGES: Changes = MappingProxyType({})
Test = Q | Callable[[Study], bool]  # whether a row, or the study as a whole, is such
SCHEMA = 1  # of all exported tables: raised when a column changes its name or meaning
CHUNK = 20_000  # rows that are in memory at a time, more or less


@dataclass(frozen=True)
class Column:
    """A column: how its cells are read, and how they are written. A table's list of them is all there is to know.

    Types: string; text (a string or a list of sentences); texts (a list of those); number (a float); integer; flag;
    time (a string in files); json (whatever the study's own extra columns hold).
    """

    name: str
    type: str = "string"
    paths: tuple[str, ...] = ()
    """What a cell is read from, as the query of the table's rows calls it."""
    cell: Callable[..., Any] | None = None
    """Makes the cell of the values at the paths; without it, the one value is the cell."""
    filled: Test | None = None
    """Tells what fills an optional column: it is left out where nothing does. None: always written."""
    broken: Test | None = None
    """Tells where a column of numbers holds others than whole ones. None: numbers are written with decimal points."""
    raw: str = ""
    """The path instead, where an admin asks for the crowd's own worker ids."""
    may_hold_ids: bool = False
    """Whether people write the cells, so that worker ids in them must be hidden."""
    derived: bool = False
    """Whether it is worked out from other rows, and stands behind the study's own columns."""
    in_files: bool = True
    hidden_from_annotators: bool = False
    description: str = ""

    def cells(self, values: Values) -> Sequence[Any]:
        """The column's cells of some rows."""
        read = [values[path] for path in self.paths]
        return read[0] if self.cell is None else list(map(self.cell, *read))

    def then(self, change: Callable[..., Any], *paths: str) -> "Column":
        """The same column with every cell changed; `change` also gets the values at the paths."""
        paths, cell, count = (*self.paths, *paths), self.cell, len(self.paths)
        if cell is None:
            return replace(self, paths=paths, cell=change)
        return replace(self, paths=paths, cell=lambda *values: change(cell(*values[:count]), *values[count:]))


@dataclass(frozen=True)
class Table:
    """A table to be written: `chunks` may be called again and gives the same rows in the same order."""

    name: str
    columns: tuple[Column, ...]
    total: int
    chunks: Callable[[], Iterator[list[Row]]]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def rows(self) -> Iterator[Row]:
        return chain.from_iterable(self.chunks())

    def reader(self, name: str) -> Callable[[Row], Any]:
        """What takes the named column's cell out of a row; None where there is no such column."""
        return itemgetter(self.names.index(name)) if name in self.names else lambda row: None


def has_groups(study: Study) -> bool:
    return study.systems.exclude(group="").exists()


def documents_in_order(study: Study) -> list[tuple[int, str]]:
    """Keys and ids, sorted as the tables are: by code point, whatever the database's collation."""
    return sorted(study.documents.values_list("pk", "doc_id"), key=lambda pair: pair[1])


def in_portions(documents: Sequence[tuple[int, str]], sizes: dict[int, int]) -> Iterator[list[int]]:
    """The documents' keys in portions of about CHUNK rows."""
    portion: list[int] = []
    rows = 0
    for key, _ in documents:
        if not sizes.get(key):
            continue
        portion.append(key)
        rows += sizes[key]
        if rows >= CHUNK or len(portion) >= 5000:
            yield portion
            portion, rows = [], 0
    if portion:
        yield portion


# From columns to rows


def names_of(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns]


def with_raw_ids(columns: Iterable[Column]) -> list[Column]:
    """The columns with the crowd's own worker ids."""
    return [replace(column, paths=(column.raw,)) if column.raw else column for column in columns]


def paths_of(columns: Iterable[Column]) -> list[str]:
    """What a query has to fetch for the columns, each path once."""
    return list(dict.fromkeys(path for column in columns for path in column.paths))


def by_path(paths: Sequence[str], rows: Iterable[Row], changes: Changes = NO_CHANGES) -> dict[str, Sequence[Any]]:
    """The values of a query's rows, by path; some are changed before columns read them."""
    values = dict(zip(paths, list(zip(*rows, strict=True)) or [()] * len(paths), strict=True))
    return values | {path: list(map(change, values[path])) for path, change in changes.items() if path in values}


def rows_of(columns: Sequence[Column], values: Values, order: Sequence[str] = ()) -> list[Row]:
    """The rows that the values give, sorted by the columns that `order` names."""
    rows = list(zip(*(column.cells(values) for column in columns), strict=True))
    if order:
        rows.sort(key=itemgetter(*map(names_of(columns).index, order)))
    return rows


def survey(
    study: Study, rows: "QuerySet[Any, Any]", columns: Iterable[Column], document: str = "document"
) -> tuple[dict[int, int], list[Column]]:
    """How many rows each document has (0: none at all, a whole system's), and the columns that hold anything, as they
    are written. One look at all rows answers the tests."""
    columns = [column for column in columns if column.in_files]
    counts = {
        f"{kind}_{column.name}": Count("pk", filter=test)
        for column in columns
        for kind, test in (("filled", column.filled), ("broken", column.broken))
        if isinstance(test, Q)
    }
    facts = list(rows.order_by().values(document).annotate(n=Count("pk"), **counts))

    ask = cache(lambda test: bool(facts) and test(study))

    def holds(test: Test | None, name: str) -> bool:
        if callable(test):
            return ask(test)
        return test is None or any(row[name] for row in facts)

    return {row[document] or 0: row["n"] for row in facts}, [
        as_written(column, broken=holds(column.broken, f"broken_{column.name}"))
        for column in columns
        if holds(column.filled, f"filled_{column.name}")
    ]


def as_written(column: Column, *, broken: bool = True) -> Column:
    """The column as files have it: times are strings, and numbers that are all whole are integers."""
    if column.type == "time":
        return replace(column.then(iso_time), type="string")
    return column if broken else replace(column.then(_to_int), type="integer")


def _to_int(value: Any) -> int | None:
    return None if value is None else int(value)


@lru_cache(maxsize=100_000)  # answers that were given together share their time
def iso_time(moment: datetime | str | None) -> str:
    """A time in ISO 8601; a string is what SQLite keeps, in UTC."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    return moment.isoformat() if moment else ""


def streamed(name: str, rows: "QuerySet[Any, Any]", columns: Iterable[Column], changes: Changes = NO_CHANGES) -> Table:
    """A query's rows in its own order, all columns always."""
    columns = tuple(map(as_written, columns))
    paths = paths_of(columns)

    def chunks() -> Iterator[list[Row]]:
        fetched = rows.values_list(*paths).iterator(chunk_size=2000)
        while portion := list(islice(fetched, 5000)):
            yield rows_of(columns, by_path(paths, portion, changes))

    return Table(name, columns, rows.count(), chunks)


# The study's own columns


JSON_TYPES = {
    **dict.fromkeys(["text", "string"], "string"),
    **dict.fromkeys(["integer", "real", "number"], "number"),
    **dict.fromkeys(["true", "false", "boolean"], "flag"),
}


def extra_columns(rows: "QuerySet[Any, Any]", known_names: Sequence[str] = ()) -> list[Column]:
    """The names and types in the rows' `extra`, in alphabetical order. The database looks, not we."""
    inner, params = rows.order_by().values_list("extra").query.sql_with_params()
    pairs_of, kind = ("json_each(t.extra)", "e.type")
    if connection.vendor == "postgresql":
        pairs_of, kind = "LATERAL jsonb_each(t.extra)", "jsonb_typeof(e.value)"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT e.key, {kind} FROM ({inner}) AS t, {pairs_of} AS e", params)  # noqa: S608  our own
        pairs = cursor.fetchall()
    kinds: dict[str, set[str]] = {}
    for name, json_type in pairs:
        if json_type != "null" and name not in known_names:
            kinds.setdefault(name, set()).add(JSON_TYPES.get(json_type, "json"))
    return [_extra_column(name, kinds[name].pop() if len(kinds[name]) == 1 else "json") for name in sorted(kinds)]


def _extra_column(name: str, kind: str) -> Column:
    return Column(name, kind, ("extra",), partial(extra_cell, name), may_hold_ids=kind not in ("number", "flag"))


def extra_cell(name: str, extra: dict[str, Any] | None) -> Any:
    return extra.get(name) if extra else None
