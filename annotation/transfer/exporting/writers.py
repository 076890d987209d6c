"""Streams into files: CSV, JSON lines and Parquet, a chunk at a time."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from analysis.tables.cells import encode_cell
from analysis.tables.csv_formulas import STARTS, defuse
from annotation.tables.stream import SCHEMA, Column, Row, Table

FORMS = ("csv", "jsonl", "parquet")
ROW_GROUP = 20_000
Step = Callable[[int], None]


def write_table(table: Table, path: Path, step: Step) -> int:
    """Write a table in the form that the suffix names; returns the number of rows."""
    write = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}[path.suffix]
    n_rows = 0

    def counted_chunks() -> Iterator[list[Row]]:
        nonlocal n_rows
        for rows in table.chunks():
            yield rows
            n_rows += len(rows)
            step(len(rows))

    write(table, path, counted_chunks())
    return n_rows


# CSV


def _write_csv(table: Table, path: Path, chunks: Iterator[list[Row]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_csv_lines([tuple(map(defuse, table.names))]))
        for rows in chunks:
            for portion in _parts(rows):
                columns = zip(*portion, strict=True)
                cells = [_csv_cells(v, c) for v, c in zip(columns, table.columns, strict=True)]
                file.write(_csv_lines(list(zip(*cells, strict=True))))


def _parts(rows: list[Row], size: int = 5000) -> Iterator[list[Row]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _csv_lines(rows: list[Row]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    if "\r" in text.getvalue():  # the writer quotes what holds a line feed by itself, but not a carriage return
        text = io.StringIO()
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return text.getvalue()


def _csv_cells(values: Any, column: Column) -> list[Any]:
    if column.type == "flag":
        return ["" if value is None else int(value) for value in values]
    if column.type in ("number", "integer"):
        return list(values)
    if column.type != "string":
        values = [_as_text(value, column.type) for value in values]
    return [value if not value or value[0] not in STARTS else defuse(value) for value in values]


def _as_text(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind == "text":
        return encode_cell(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# JSON lines


def _write_jsonl(table: Table, path: Path, chunks: Iterator[list[Row]]) -> None:
    names, encode = table.names, json.JSONEncoder(ensure_ascii=False).encode
    with path.open("w", encoding="utf-8", newline="") as file:
        for rows in chunks:
            file.writelines(f"{encode(dict(zip(names, row, strict=True)))}\n" for row in rows)


# Parquet


def _write_parquet(table: Table, path: Path, chunks: Iterator[list[Row]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_()}
    types = [kinds.get(column.type, pa.string()) for column in table.columns]
    facts = {"pyramidion.table": table.name, "pyramidion.schema": str(SCHEMA)}
    fields = [pa.field(column.name, kind) for column, kind in zip(table.columns, types, strict=True)]
    schema = pa.schema(fields, metadata=facts)
    rows = (row for chunk in chunks for row in chunk)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, ROW_GROUP)):
            columns = list(zip(*group, strict=True))
            arrays = [_arrow(v, c, t) for v, c, t in zip(columns, table.columns, types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _arrow(values: Any, column: Column, kind: Any) -> Any:
    import pyarrow as pa

    if column.type not in ("string", "number", "integer", "flag"):
        values = [None if value is None else _as_text(value, column.type) for value in values]
    return pa.array(values, type=kind)
