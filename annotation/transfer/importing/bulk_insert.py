"""Many rows at once: one prepared statement run many times, where `bulk_create` would build SQL for every row."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connection, models

CHUNK = 2000
Progress = Callable[[str, int, int], None]


def insert_rows(
    model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]], total: int, progress: Progress
) -> None:
    """Insert rows given as values of the named fields; other fields get their defaults.

    For plain values: the caller passes keys for foreign keys, and times and JSON as Django objects.
    """
    by_name = {name: field for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    fields = [by_name[name] for name in names]
    default_fields = [
        f for f in model._meta.concrete_fields if f.attname not in names and f.name not in names and not f.primary_key
    ]
    defaults = tuple(_prepared(field, field.get_default()) for field in default_fields)
    prepare = [
        (place, field)
        for place, field in enumerate(fields)
        if isinstance(field, models.DateTimeField | models.JSONField)
    ]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in (*fields, *default_fields))
    marks = ", ".join(["%s"] * (len(fields) + len(default_fields)))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608  our own names
    n_done, stream = 0, iter(rows)
    with connection.cursor() as cursor:
        while chunk := [_row(values, prepare, defaults) for values in islice(stream, CHUNK)]:
            cursor.executemany(statement, chunk)
            n_done += len(chunk)
            progress(str(model._meta.verbose_name_plural), n_done, total)


def _row(values: Sequence[Any], prepare: list[tuple[int, Any]], defaults: tuple[Any, ...]) -> tuple[Any, ...]:
    row = list(values)
    for place, field in prepare:
        if row[place] is not None:
            row[place] = _prepared(field, row[place])
    return (*row, *defaults)


def _prepared(field: Any, value: Any) -> Any:
    return field.get_db_prep_save(value, connection)
