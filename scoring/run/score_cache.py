"""Scores on disk, keyed by the texts and by the signature of how they are scored.

One SQLite file in the cache folder. Writers of several processes take turns; a row is there whole or not at all, and
rows are kept as soon as their batch is done, so a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.texts import Document, Text

FORMAT = 1
_ASK_AT_ONCE = 500
_TABLES = """
    CREATE TABLE IF NOT EXISTS kernels (id INTEGER PRIMARY KEY, signature TEXT UNIQUE NOT NULL);
    CREATE TABLE IF NOT EXISTS cells (
        kernel INTEGER NOT NULL, key BLOB NOT NULL, cell BLOB NOT NULL, PRIMARY KEY (kernel, key)
    ) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Block:
    """Cells of several keys."""

    values: npt.NDArray[np.float64]
    is_known: npt.NDArray[np.bool_]


class Keys:
    """Keys of one document's summaries, for families that look at references, at the source, or at both."""

    def __init__(self, document: Document, summaries: Sequence[Text]) -> None:
        self._document = document
        self._summaries = [_text_bytes(summary) for summary in summaries]
        self._keys: dict[tuple[str, ...], list[bytes]] = {}

    def of(self, needs: Sequence[str]) -> list[bytes]:
        """One key per summary, from it and from what the family compares it with."""
        inputs = tuple(input_name for input_name in ("references", "source") if input_name in needs)
        if inputs not in self._keys:
            self._keys[inputs] = self._make(inputs)
        return self._keys[inputs]

    def _make(self, inputs: tuple[str, ...]) -> list[bytes]:
        start = blake2b(digest_size=16)
        if "references" in inputs:
            start.update(b"references")
            for reference in self._document.references:
                start.update(_text_bytes(reference))
        if "source" in inputs:
            start.update(b"source" + _text_bytes(self._document.source or ""))
        start.update(b"summary")
        keys = []
        for summary in self._summaries:
            digest = start.copy()
            digest.update(summary)
            keys.append(digest.digest())
        return keys


class Cache:
    """A folder with scores. `with Cache(folder) as cache:` closes it."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(folder / f"scores-{FORMAT}.sqlite3", timeout=60, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise ScoringError(f"The cache folder {folder} cannot be used ({error}); name another.") from error

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def of_signature(self, signature: str, columns: Sequence[str]) -> SignatureCache:
        """The part of the cache that holds the scores of one family under one signature."""
        self._base.execute("INSERT OR IGNORE INTO kernels (signature) VALUES (?)", [signature])
        (number,) = self._base.execute("SELECT id FROM kernels WHERE signature = ?", [signature]).fetchone()
        return SignatureCache(self._base, number, columns)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is put inside is stored in one transaction, or not at all."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            self._base.execute("ROLLBACK")
            raise


class SignatureCache:
    """Cells of one family: for each key the columns that are known so far, with a bit for each of them."""

    def __init__(self, base: sqlite3.Connection, number: int, columns: Sequence[str]) -> None:
        self._base, self._number = base, number
        self._place = {column: i for i, column in enumerate(columns)}
        self._cell = np.dtype([("known", "u1", ((len(columns) + 7) // 8,)), ("values", "<f8", (len(columns),))])
        self._nothing = bytes(self._cell.itemsize)

    def get(self, keys: Sequence[bytes], columns: Sequence[str]) -> Block:
        """Values of the asked columns, one row per key, and which of them are known."""
        places = [self._place[column] for column in columns]
        cells = self._read(keys)
        bits = np.unpackbits(cells["known"], axis=1, bitorder="little")
        return Block(cells["values"][:, places], bits[:, places].astype(bool))

    def store(self, keys: Sequence[bytes], columns: Sequence[str], values: npt.ArrayLike) -> None:
        """Add columns to cells; what was known stays."""
        places = [self._place[column] for column in columns]
        cells = self._read(keys).copy()
        cells["values"][:, places] = values
        bits = np.unpackbits(cells["known"], axis=1, bitorder="little")
        bits[:, places] = 1
        cells["known"] = np.packbits(bits, axis=1, bitorder="little")
        rows = [(self._number, key, cell.tobytes()) for key, cell in zip(keys, cells, strict=True)]
        self._base.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)", rows)

    def _read(self, keys: Sequence[bytes]) -> npt.NDArray[np.void]:
        cells: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _ASK_AT_ONCE):
            key_block = keys[start : start + _ASK_AT_ONCE]
            marks = ",".join("?" * len(key_block))
            query = f"SELECT key, cell FROM cells WHERE kernel = ? AND key IN ({marks})"  # noqa: S608
            cells.update(self._base.execute(query, [self._number, *key_block]))
        return np.frombuffer(b"".join([cells.get(key, self._nothing) for key in keys]), dtype=self._cell)


def _text_bytes(text: Text) -> bytes:
    """A text as bytes, so that different texts and different splits never look the same."""
    if isinstance(text, str):
        content = text.encode("utf-8", "surrogatepass")
        return b"t%d:" % len(content) + content
    lengths = ",".join([str(len(sentence)) for sentence in text])
    return f"l{lengths}:{''.join(text)}".encode("utf-8", "surrogatepass")
