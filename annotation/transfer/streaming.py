"""Tables that are never whole in memory: columns that are known beforehand, and rows that come in chunks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from annotation.models import Study

Row = tuple[Any, ...]
SCHEMA = 1  # of all exported tables: raised when a column changes its name or meaning
CHUNK = 20_000  # rows that are in memory at a time, more or less


@dataclass(frozen=True)
class Column:
    """A column and how its cells are written.

    Types: string; text (a string or a list of sentences); texts (a list of those); number (a float); integer; flag;
    json (whatever the study's own extra columns hold).
    """

    name: str
    type: str = "string"


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


JSON_TYPES = {
    **dict.fromkeys(["text", "string"], "string"),
    **dict.fromkeys(["integer", "real", "number"], "number"),
    **dict.fromkeys(["true", "false", "boolean"], "flag"),
}


def extra_columns(rows: "QuerySet[Any, Any]", known: Sequence[str] = ()) -> list[Column]:
    """The names and types in the rows' `extra`, in alphabetical order. The database looks, not we."""
    inner, params = rows.order_by().values_list("extra").query.sql_with_params()
    each, kind = ("json_each(t.extra)", "e.type")
    if connection.vendor == "postgresql":
        each, kind = "LATERAL jsonb_each(t.extra)", "jsonb_typeof(e.value)"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT e.key, {kind} FROM ({inner}) AS t, {each} AS e", params)  # noqa: S608  our own
        found = cursor.fetchall()
    kinds: dict[str, set[str]] = {}
    for name, given in found:
        if given != "null" and name not in known:
            kinds.setdefault(name, set()).add(JSON_TYPES.get(given, "json"))
    return [Column(name, kinds[name].pop() if len(kinds[name]) == 1 else "json") for name in sorted(kinds)]


def extra_cells(extra: dict[str, Any] | None, columns: Sequence[Column]) -> list[Any]:
    return [None] * len(columns) if not extra else [extra.get(column.name) for column in columns]
