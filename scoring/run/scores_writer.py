"""A scores file that is written piece by piece and appears whole or not at all."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, cast

import pandas as pd

from analysis.tables import SUFFIXES, read_table, write_table
from scoring.errors import ScoringError


class ScoresWriter:
    """Takes frames in the order of their rows. `place` lets rows that are known last stand earlier."""

    def __init__(self, path: Path) -> None:
        suffixes = [suffix for suffix in SUFFIXES if path.name.endswith(suffix)]
        if not suffixes:
            raise ScoringError(f"{path.name} has no known suffix; name the file with one of {', '.join(SUFFIXES)}.")
        if not path.parent.is_dir():
            raise ScoringError(f"The folder {path.parent} is not there; make it first or name another.")
        self._path = path
        self._suffix = max(suffixes, key=len)
        self._form = self._suffix.removesuffix(".gz")
        self._folder = tempfile.TemporaryDirectory(prefix="scoring-out-")
        self._pieces: list[tuple[int, int, Path]] = []
        self._columns: dict[Path, list[str]] = {}

    def __enter__(self) -> ScoresWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def add(self, frame: pd.DataFrame, place: int = 0) -> None:
        """Append rows at a place; all of place 0 come before all of place 1."""
        number = len(self._pieces)
        piece = Path(self._folder.name) / f"{number}{self._form}"
        write_table(frame, piece, "scores")
        self._pieces.append((place, number, piece))
        self._columns[piece] = list(frame.columns)

    def finish(self) -> None:
        """Put the pieces together and the file in its place."""
        pieces = [piece for _, _, piece in sorted(self._pieces)]
        self._even_columns(pieces)
        draft = self._path.with_name(f".{self._path.name}.part")
        try:
            if self._form == ".parquet":
                _join_parquet(pieces, draft)
            else:
                _join_text(pieces, draft, self._suffix.endswith(".gz"), self._form == ".csv")
            os.replace(draft, self._path)
        except OSError as error:
            raise ScoringError(f"{self._path} cannot be written ({error.strerror}).") from error
        finally:
            draft.unlink(missing_ok=True)

    def _even_columns(self, pieces: list[Path]) -> None:
        """Give every piece the columns that only some of them have (`is_reference`), with nothing in them."""
        widest = max(self._columns.values(), key=len, default=[])
        for piece in pieces:
            if len(self._columns[piece]) < len(widest):
                write_table(read_table(piece, "scores").reindex(columns=widest, fill_value=False), piece, "scores")


def _join_text(pieces: list[Path], draft: Path, is_gzipped: bool, has_header: bool) -> None:
    with draft.open("wb") as raw:
        # No name and no time in the gzip header: the same scores give the same bytes.
        gz = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if is_gzipped else None
        out = cast(IO[bytes], gz or raw)
        for number, piece in enumerate(pieces):
            with piece.open("rb") as source:
                if has_header and number:
                    source.readline()
                shutil.copyfileobj(source, out)
        if gz is not None:
            gz.close()


def _join_parquet(pieces: list[Path], draft: Path) -> None:
    import pyarrow.parquet as pq

    schema = pq.read_schema(pieces[0])
    with pq.ParquetWriter(draft, schema, compression="zstd") as writer:
        for piece in pieces:
            writer.write_table(pq.read_table(piece).cast(schema))
