"""Queries that are built once and asked often.

Django builds the SQL of a query anew each time, which takes longer than PostgreSQL takes to answer a small one. On the
path that every task takes, a query is built once per process with stand-ins for its values, and then asked as it is.
"""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

_FIRST = 2_000_000_011  # stand-ins: whole numbers that no query has of itself


class Frozen:
    """A query with numbers (ids) to fill in: `Frozen(lambda batch: …, "batch")(batch=7)` gives its rows as tuples.

    The function must give a `values_list` of plain columns (numbers, flags, words): nothing is converted.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *names: str) -> None:
        self._build = build
        self._stand_ins = {name: _FIRST + place for place, name in enumerate(names)}
        self._known: dict[str, tuple[str, list[Any]]] = {}

    def __call__(self, **values: int) -> list[tuple[Any, ...]]:
        sql, shape = self._known.get(connection.vendor) or self._freeze()
        by_number = {self._stand_ins[name]: value for name, value in values.items()}
        with connection.cursor() as cursor:
            cursor.execute(sql, [by_number.get(cell, cell) if type(cell) is int else cell for cell in shape])
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def _freeze(self) -> tuple[str, list[Any]]:
        sql, parameters = self._build(**self._stand_ins).query.sql_with_params()
        missing = set(self._stand_ins.values()) - {cell for cell in parameters if type(cell) is int}
        if missing:
            raise ValueError("A value of this query does not reach its SQL as it is.")
        self._known[connection.vendor] = (sql, list(parameters))
        return self._known[connection.vendor]
