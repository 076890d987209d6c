"""Tables too large for memory, in pieces that each pass the gate of `analysis.tables`."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pandas as pd

from analysis.tables import TableError, read_table
from scoring.errors import ScoringError

WHOLE = 16 * 2**20
"""Files up to this size in bytes are read in one piece."""
ROWS = 4000
"""Rows per piece of a larger file."""


def read_pieces(path: Path, kind: str, folder: Path) -> Iterator[pd.DataFrame]:
    """A table's rows, in one frame if the file is small, else in many; pieces are written to the folder."""
    small = not path.is_file() or path.stat().st_size <= WHOLE
    try:
        if small:
            yield read_table(path, kind)
        else:
            yield from _read_cut(path, kind, folder, False)
    except TableError as error:
        if not (kind == "documents" and _lacks_only_sources(error)):
            raise
        # Most metrics look at references only; those that need a source refuse the empty one.
        yield from _read_cut(path, kind, folder, True)


def _lacks_only_sources(error: TableError) -> bool:
    return all(one.row is None and one.column == "source" for one in error.problems)


def _read_cut(path: Path, kind: str, folder: Path, add_source: bool) -> Iterator[pd.DataFrame]:
    before = 0
    for piece in _cut(path, folder, add_source):
        try:
            frame = read_table(piece, kind)
        except TableError as error:
            problems = [replace(one, file=path.name, row=one.row and one.row + before) for one in error.problems]
            raise TableError(problems, error.total) from error
        finally:
            piece.unlink()
        before += len(frame)
        yield frame


def _cut(path: Path, folder: Path, add_source: bool) -> Iterator[Path]:
    """The file in pieces of its own form, with an empty source in every row if asked."""
    if path.name.endswith(".parquet"):
        yield from _cut_parquet(path, folder, add_source)
        return
    is_csv = ".csv" in path.name
    piece = folder / ("piece.csv" if is_csv else "piece.jsonl")
    with _open(path) as lines:
        try:
            records = _records(lines) if is_csv else (line for line in lines if line.strip())
            if add_source:
                records = map(_add_cell, records) if is_csv else map(_add_field, records)
            header = next(records) if is_csv else b""
            if is_csv and add_source:
                header = header.removesuffix(b"\n") + b"source\n"
            while rows := list(islice(records, ROWS)):
                piece.write_bytes(header + b"".join(rows))
                yield piece
        except (OSError, EOFError) as error:
            raise ScoringError(f"{path.name} cannot be read to its end ({error}).") from error


def _open(path: Path) -> IO[bytes]:
    raw = path.open("rb")
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if path.name.endswith(".gz") else raw


def _records(lines: Iterable[bytes]) -> Iterator[bytes]:
    """CSV records; a quoted cell may hold line ends."""
    record = b""
    for line in lines:
        record += line
        if record.count(b'"') % 2 == 0:
            yield record
            record = b""
    if record:
        yield record


def _add_cell(record: bytes) -> bytes:
    return record.rstrip(b"\r\n") + b",\n"


def _add_field(line: bytes) -> bytes:
    return b'{"source": "", ' + line.lstrip().removeprefix(b"{")


def _cut_parquet(path: Path, folder: Path, add_source: bool) -> Iterator[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    piece = folder / "piece.parquet"
    for batch in pq.ParquetFile(path).iter_batches(batch_size=ROWS):
        table = pa.Table.from_batches([batch])
        if add_source:
            table = table.append_column("source", pa.array([""] * len(table), pa.string()))
        pq.write_table(table, piece)
        yield piece
