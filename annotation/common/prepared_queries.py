"""Queries that are built once and asked often.

Django builds the SQL of a query anew each time, and PostgreSQL plans it anew; both take longer than a small answer.
On the path that every task takes, a query is built once per process with stand-ins for its values, and then asked as
it is. PostgreSQL keeps its plan; PREPARED_STATEMENTS=no is for a pooler that can't.

It halves the processor time of a task (take, page, draft, submit, receipt; this process and PostgreSQL's together,
medians of six rounds of 300 tasks, in turns): 75 ms by Django's own queries, 52 ms built once, 38 ms planned once too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

_FIRST = 2_000_000_011  # stand-ins: whole numbers that no query has of itself
_LARGEST = 2**63 - 1
Object = TypeVar("Object", bound=Model)
Row = tuple[Any, ...]


def ask(sql: str, parameters: Sequence[Any], *, replan: bool = False) -> list[Row]:
    """The rows that a statement gives."""
    with connection.cursor() if replan else _cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[Row] = cursor.fetchall()
        return rows


def _cursor() -> CursorWrapper:
    """Django's cursor; on PostgreSQL one whose statements are prepared, unless somebody reads along."""
    if connection.vendor != "postgresql" or not settings.PREPARED_STATEMENTS or connection.queries_logged:
        return connection.cursor()
    connection.ensure_connection()
    connection.connection.prepare_threshold = 0  # Django turns it off; its own cursors prepare nothing anyway
    return connection.make_cursor(_prepared()(connection.connection))


@cache
def _prepared() -> Any:
    from psycopg import Cursor

    class Prepared(Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **_: Any) -> Any:
            return super().execute(query, params, prepare=True)

    return Prepared


@dataclass(frozen=True)
class _Statement:
    """A query as the database gets it."""

    sql: str
    parameters: list[Any]
    make: Callable[[Row], Any]
    """A row as the caller gets it."""


class PreparedQuery:
    """A query with values to fill in: `PreparedQuery(lambda batch: …, "batch")(batch=7)` gives its rows as tuples.

    `names` stand for whole numbers (ids), `words` for strings. The function must give a `values_list` of plain columns
    (numbers, flags, words): nothing is converted. `replan` is for a query that stops at its first row: the plan for any
    values would be to go through everybody's rows until one comes.
    """

    def __init__(
        self, build: Callable[..., QuerySet[Any, Any]], *names: str, words: Sequence[str] = (), replan: bool = False
    ) -> None:
        self._build, self._replan = build, replan
        self._stand_ins: dict[str, int | str] = {name: _FIRST + place for place, name in enumerate(names)}
        self._stand_ins |= {word: f"stand-in {word}" for word in words}
        self._statements: dict[str, _Statement] = {}

    def __call__(self, **values: int | str) -> list[Any]:
        if any(type(value) is int and value > _LARGEST for value in values.values()):
            return []  # an address may hold any number; no row has this one
        statement = self._statements.get(connection.vendor) or self._prepare()
        actual = {self._stand_ins[name]: value for name, value in values.items()}
        parameters = [actual.get(cell, cell) if type(cell) in (int, str) else cell for cell in statement.parameters]
        return [statement.make(row) for row in ask(statement.sql, parameters, replan=self._replan)]

    def _prepare(self) -> _Statement:
        compiler = self._build(**self._stand_ins).query.get_compiler(connection.alias)
        sql, parameters = compiler.as_sql()
        missing = set(self._stand_ins.values()) - {cell for cell in parameters if type(cell) in (int, str)}
        if missing:
            raise ValueError("A value of this query does not reach its SQL as it is.")
        return self._statements.setdefault(connection.vendor, _Statement(sql, list(parameters), self._maker(compiler)))

    def _maker(self, compiler: Any) -> Callable[[Row], Any]:
        return tuple


class PreparedObjects(PreparedQuery, Generic[Object]):
    """The same for a query of objects, with all that `select_related` and `defer` say."""

    def __init__(self, build: Callable[..., QuerySet[Object, Object]], *names: str, words: Sequence[str] = ()) -> None:
        super().__init__(build, *names, words=words)

    def first(self, **values: int | str) -> Object | None:
        return next(iter(self(**values)), None)

    def _maker(self, compiler: Any) -> Callable[[Row], Any]:
        """As Django makes objects of rows (django.db.models.query.ModelIterable), with its preparations done once."""
        class_info, select, using = compiler.klass_info, compiler.select, connection.alias
        model, fields = class_info["model"], class_info["select_fields"]
        start, end = fields[0], fields[-1] + 1
        names = [column.target.attname for column, *_ in select[start:end]]
        related = get_related_populators(class_info, select, using)  # type: ignore[call-arg]  # the stubs are Django 6's
        converters = [
            (place, convert, expression)
            for place, (several, expression) in compiler.get_converters([column for column, *_ in select]).items()
            for convert in several
        ]

        def make(row: Row) -> Any:
            cells = list(row)
            for place, convert, expression in converters:
                cells[place] = convert(cells[place], expression, connection)
            instance = model.from_db(using, names, cells[start:end])
            for populator in related:
                populator.populate(cells, instance)
            return instance

        return make
