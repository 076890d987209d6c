"""Writing tables: the same table gives the same bytes. Used through `analysis.tables`."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.lazy import pyarrow as pa
from analysis.tables.bytes import SUFFIXES, suffix_of, write_atomically
from analysis.tables.cells import encode_cell
from analysis.tables.checks import Problems, TableSpec, check_arrow


def write_frame(frame: pd.DataFrame, path: Path, spec: TableSpec) -> None:
    """The same frame gives the same bytes; the file appears whole or not at all."""
    suffix = suffix_of(path)
    if suffix is None:
        raise Problems(path.name).fail(f"a name ending in {path.suffix or 'nothing'}", f"one of {', '.join(SUFFIXES)}")
    if suffix == ".parquet":
        check_arrow(path)
    else:
        frame = _whole_numbers(frame, spec)
    texts = {column.name for column in spec.columns if column.type == "text"}
    data = _as_parquet(frame, texts) if suffix == ".parquet" else _as_text(frame, suffix, texts).encode()
    if suffix.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    write_atomically(path, data)


def _whole_numbers(frame: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Columns of numbers that are all whole are written without a decimal point: 0 and 1, not 0.0 and 1.0."""
    names = [column.name for column in spec.columns if column.type in {"number", "score"}]
    integers = {}
    for name in names:
        if name in frame.columns and np.isfinite(frame[name]).all():
            values = frame[name].to_numpy()
            if (values == np.trunc(values)).all() and (np.abs(values) < 2**53).all():
                integers[name] = values.astype(np.int64)
    return frame.assign(**integers)


def _as_text(frame: pd.DataFrame, suffix: str, texts: set[str]) -> str:
    if ".jsonl" in suffix:
        return _as_jsonl(frame)
    cells = frame.copy(deep=False)
    for name in cells.columns:
        if pd.api.types.is_bool_dtype(cells[name].dtype):
            cells[name] = cells[name].astype("int8")
        elif cells[name].dtype == object or isinstance(cells[name].dtype, pd.StringDtype):
            cells[name] = _encode_column(cells[name], name in texts)
    # The writer quotes what holds a line feed by itself, but not a lone carriage return.
    returns = any("\r" in value for name in cells.columns for value in _strings(cells[name]))
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(cells.to_csv(index=False, lineterminator="\n", quoting=quoting))


def _strings(series: pd.Series) -> Iterator[str]:
    """The distinct strings of a column."""
    if series.dtype == object or isinstance(series.dtype, pd.StringDtype):
        yield from (value for value in series.unique() if isinstance(value, str))


def _encode_column(series: pd.Series, is_text: bool) -> pd.Series:
    """Lists as JSON; a text that looks like a list is told apart from one."""
    plain = isinstance(series.dtype, pd.StringDtype)
    if plain and not (is_text and series.str.startswith(("[", '"'), na=False).any()):
        return series
    return pd.Series([_encode_any(value, is_text) for value in series], index=series.index, dtype=object)


def _encode_any(value: Any, is_text: bool) -> Any:
    if isinstance(value, str):
        return encode_cell(value) if is_text else value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _as_jsonl(frame: pd.DataFrame) -> str:
    columns = {name: _json_values(frame[name]) for name in frame.columns}
    names = list(columns)
    lines = [
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)
        for row in zip(*columns.values(), strict=True)
    ]
    return "".join(f"{line}\n" for line in lines)


def _json_values(series: pd.Series) -> list[Any]:
    values = series.astype(object).tolist()
    return [None if not isinstance(value, list | dict | str) and pd.isna(value) else value for value in values]


def _as_parquet(frame: pd.DataFrame, texts: set[str]) -> bytes:
    import pyarrow.parquet

    arrays = {name: _arrow_column(frame[name], name in texts) for name in frame.columns}
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(arrays), sink, compression="zstd")
    return sink.getvalue()


def _arrow_column(series: pd.Series, is_text: bool) -> pa.Array:
    """Lists of one shape are stored as lists; strings and mixtures as cells, like in CSV."""
    if series.dtype != object:
        encoded = _encode_column(series, is_text) if isinstance(series.dtype, pd.StringDtype) else series
        return pa.Array.from_pandas(encoded)
    values = _json_values(series)
    with contextlib.suppress(pa.ArrowInvalid, pa.ArrowTypeError):
        if values and not any(isinstance(value, str) for value in values):
            return pa.array(values)
    return pa.array([_encode_any(value, is_text) for value in values])
