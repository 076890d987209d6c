"""Reading tables from files of five forms. Used through `analysis.tables`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.lazy import has_arrow
from analysis.lazy import pyarrow as pa
from analysis.tables.bytes import SUFFIXES, open_text, read_bytes, suffix_of
from analysis.tables.cells import decode_cells
from analysis.tables.checks import Problems, TableSpec, check_arrow, show
from analysis.tables.csv_formulas import is_defused, undefuse
from analysis.tables.keys import Codes


def read_frame(path: Path, spec: TableSpec, problems: Problems) -> tuple[pd.DataFrame, dict[str, Codes]]:
    """A file's rows, values not yet checked, and codes of id columns where the file already has them."""
    form = _form(path, problems)
    try:
        if form == ".parquet":
            check_arrow(path)
            return _read_parquet(path, spec, problems)
        data = read_bytes(path, problems)
    except OSError as error:
        raise problems.fail(f"a file that can't be read ({error.strerror})", "a readable file") from error
    if not data:
        raise problems.fail("an empty file", f"a {spec.name} table")
    if form == ".csv":
        return _read_csv(data, spec, problems, path), {}
    return _read_jsonl(enumerate(io.BytesIO(data), start=1), spec, problems), {}


def read_frames(path: Path, spec: TableSpec, problems: Problems, size: int) -> Iterator[pd.DataFrame]:
    """The same rows in frames of so many, so that memory doesn't grow with the file."""
    form = _form(path, problems)
    if form == ".parquet":
        check_arrow(path)
    read = {".csv": _csv_frames, ".jsonl": _jsonl_frames, ".parquet": _parquet_frames}[form]
    empty = True
    try:
        for frame in read(path, spec, problems, size):
            yield frame
            empty = False
    except OSError as error:
        raise problems.fail(f"a file that can't be read ({error.strerror})", "a readable file") from error
    if empty:
        raise problems.fail("an empty file", f"a {spec.name} table")


def _form(path: Path, problems: Problems) -> str:
    suffix = suffix_of(path)
    if suffix is None:
        raise problems.fail(f"a name ending in {path.suffix or 'nothing'}", f"one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise problems.fail("a folder" if path.is_dir() else "no such file", "a file that can be read")
    return suffix.removesuffix(".gz")


# CSV


def _read_csv(data: bytearray, spec: TableSpec, problems: Problems, path: Path) -> pd.DataFrame:
    header = _csv_header(data, problems)
    frame = _read_csv_fast(data, header, spec) if has_arrow() else None
    if frame is None:
        rows = (row for row in _csv_rows(data) if row)
        frame = _csv_frame(next(rows), rows, problems)
    return decode_cells(undefuse(frame, path) if is_defused(path) else frame, spec, problems)


def _csv_header(data: bytearray, problems: Problems) -> list[str]:
    header = next(_csv_rows(data[: 2**21], "ignore"), None)
    if not header:
        raise problems.fail("no header line", "a first line with the names of the columns")
    return header


def _csv_rows(data: bytearray, errors: str = "strict") -> Iterator[list[str]]:
    return _csv_reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors=errors, newline=""))


def _csv_reader(lines: Iterable[str]) -> Iterator[list[str]]:
    csv.field_size_limit(2**31 - 1)  # lines are bounded already
    return csv.reader(lines)


def _read_csv_fast(data: bytearray, header: list[str], spec: TableSpec) -> pd.DataFrame | None:
    """Typed parse of a well-formed file; strings stay exactly as they are. None where anything is odd."""
    if len(set(header)) < len(header):
        return None
    try:
        return _read_csv_typed(data, header, spec)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None


def _read_csv_typed(data: bytearray, header: list[str], spec: TableSpec) -> pd.DataFrame:
    import pyarrow.csv

    kinds = {column.name: column.type for column in spec.columns}
    arrow = {"number": pa.float64(), "score": pa.float64(), "flag": pa.bool_()}
    table = pyarrow.csv.read_csv(
        pa.BufferReader(pa.py_buffer(data)),
        read_options=pyarrow.csv.ReadOptions(block_size=4 * 2**20, encoding="utf8"),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=b'"' in data),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: arrow.get(kinds.get(name, ""), pa.large_string()) for name in header},
            null_values=[""],
            strings_can_be_null=False,
            check_utf8=False,  # the bytes have been through the guard
        ),
    )
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _csv_frames(path: Path, spec: TableSpec, problems: Problems, size: int) -> Iterator[pd.DataFrame]:
    defused = is_defused(path)
    with open_text(path, problems, newline="") as lines:
        rows = (row for row in _csv_reader(lines) if row)
        header = next(rows, [])
        while portion := list(islice(rows, size)):
            frame = _csv_frame(header, portion, problems)
            yield decode_cells(undefuse(frame, path) if defused else frame, spec, problems)


def _csv_frame(header: list[str], rows: Iterable[list[str]], problems: Problems) -> pd.DataFrame:
    """Row by row as Python's reader has them: finds which rows are ragged and leaves every cell a string."""
    table = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            problems.add(number, None, f"{len(row)} cells", f"{len(header)} cells, one for each column")
        table.append(row)
    problems.check()
    return pd.DataFrame(table, columns=header, dtype="str")


# JSON lines


def _jsonl_frames(path: Path, spec: TableSpec, problems: Problems, size: int) -> Iterator[pd.DataFrame]:
    with open_text(path, problems, newline="\n") as text:
        lines = ((number, line) for number, line in enumerate(text, start=1) if line.strip())
        while portion := list(islice(lines, size)):
            yield _read_jsonl(portion, spec, problems)


def _read_jsonl(lines: Iterable[tuple[int, str | bytes]], spec: TableSpec, problems: Problems) -> pd.DataFrame:
    """The objects in numbered lines."""
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    for number, line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.add(None, None, f"line {number} that is not JSON ({_reason(error)})", "one JSON object per line")
            continue
        if not isinstance(value, dict):
            problems.add(None, None, f"{show(value)} in line {number}", "one JSON object per line")
            continue
        columns.update(dict.fromkeys(value))
        rows.append(value)
    problems.check()
    if not rows:
        raise problems.fail("no rows", "one JSON object per line")
    declared = {*spec.required, *spec.optional, "reference"}
    frame = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in columns}
    return pd.DataFrame({name: v if name in declared else _own_type(v, name, problems) for name, v in frame.items()})


def _own_type(values: pd.Series, name: str, problems: Problems) -> pd.Series:
    """An extra column of one type is stored as that type, as a Parquet file would have it."""
    try:
        return values.infer_objects()
    except UnicodeEncodeError as error:
        raise problems.fail(f"half a surrogate pair in column {name}", "whole characters") from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "nested too deeply"


# Parquet


def _read_parquet(path: Path, spec: TableSpec, problems: Problems) -> tuple[pd.DataFrame, dict[str, Codes]]:
    import pyarrow.parquet

    ids = [column.name for column in spec.columns if column.type == "id"]
    try:
        table = pyarrow.parquet.read_table(path, read_dictionary=ids)
    except (pa.ArrowException, OSError) as error:
        raise problems.fail("a file that is not readable Parquet", "a whole Parquet file") from error
    codes = {name: column_codes for name in ids if (column_codes := _stored_codes(table, name)) is not None}
    return _parquet_frame(table, spec, problems), codes


def _parquet_frames(path: Path, spec: TableSpec, problems: Problems, size: int) -> Iterator[pd.DataFrame]:
    import pyarrow.parquet

    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(size):
            yield _parquet_frame(pa.Table.from_batches([batch]), spec, problems)
    except (pa.ArrowException, OSError) as error:
        raise problems.fail("a file that is not readable Parquet", "a whole Parquet file") from error


def _parquet_frame(table: pa.Table, spec: TableSpec, problems: Problems) -> pd.DataFrame:
    frame = pd.DataFrame({name: _parquet_column(table.column(name)) for name in table.column_names})
    return decode_cells(frame, spec, problems)


def _stored_codes(table: pa.Table, name: str) -> Codes | None:
    """The codes Parquet stores a column by, where one dictionary serves the whole file."""
    if name not in table.column_names or not table.num_rows or table.column(name).null_count:
        return None
    chunks = table.column(name).chunks
    if not pa.types.is_dictionary(chunks[0].type):
        return None
    if not all(chunk.dictionary.equals(chunks[0].dictionary) for chunk in chunks[1:]):
        return None
    return np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks])


def _parquet_column(column: pa.ChunkedArray) -> pd.Series:
    if pa.types.is_dictionary(column.type):
        column = _plain_strings(column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return pd.Series(column.to_pylist(), dtype=object)
    if pa.types.is_integer(column.type) and column.null_count:
        return pd.Series(column.to_pandas(integer_object_nulls=True), dtype=object)
    series: pd.Series = column.to_pandas()
    return series


def _plain_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Out of the dictionary, chunks side by side; a take is twice as fast as a cast."""
    kind = pa.large_string() if pa.types.is_string(column.type.value_type) else column.type.value_type
    with ThreadPoolExecutor(2) as pool:
        chunks = list(pool.map(lambda chunk: chunk.dictionary.cast(kind).take(chunk.indices), column.chunks))
    return pa.chunked_array(chunks, type=kind)
