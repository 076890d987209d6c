"""Scores on disk, keyed by the texts and by the signature of how they are scored.

One SQLite file in the cache folder. Writers of several processes take turns; a row is there whole or not at all, and
rows are kept as soon as their batch is done, so a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

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

Known = dict[str, float]


class Keys:
    """Keys of one document's summaries, for families that look at references, at the source, or at both."""

    def __init__(self, document: Document, summaries: Sequence[Text]) -> None:
        self._document, self._summaries = document, summaries
        self._made: dict[tuple[str, ...], list[bytes]] = {}

    def of(self, needs: Sequence[str]) -> list[bytes]:
        """One key per summary, from it and from what the family compares it with."""
        used = tuple(need for need in ("references", "source") if need in needs)
        if used not in self._made:
            self._made[used] = self._make(used)
        return self._made[used]

    def _make(self, used: tuple[str, ...]) -> list[bytes]:
        start = blake2b(digest_size=16)
        if "references" in used:
            start.update(b"references")
            for reference in self._document.references:
                start.update(_text_bytes(reference))
        if "source" in used:
            start.update(b"source" + _text_bytes(self._document.source or ""))
        start.update(b"summary")
        made = []
        for summary in self._summaries:
            digest = start.copy()
            digest.update(_text_bytes(summary))
            made.append(digest.digest())
        return made


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

    def shelf(self, signature: str, columns: Sequence[str]) -> Shelf:
        """The part of the cache that holds the scores of one family under one signature."""
        self._base.execute("INSERT OR IGNORE INTO kernels (signature) VALUES (?)", [signature])
        (number,) = self._base.execute("SELECT id FROM kernels WHERE signature = ?", [signature]).fetchone()
        return Shelf(self._base, number, columns)

    def keep(self, writes: Iterable[tuple[Shelf, dict[bytes, Known]]]) -> None:
        """Store many cells in one transaction."""
        writes = [(shelf, cells) for shelf, cells in writes if cells]
        if not writes:
            return
        self._base.execute("BEGIN IMMEDIATE")
        try:
            for shelf, cells in writes:
                shelf.put(cells)
            self._base.execute("COMMIT")
        except BaseException:
            self._base.execute("ROLLBACK")
            raise


class Shelf:
    """Cells of one family: for each key the columns that are known so far."""

    def __init__(self, base: sqlite3.Connection, number: int, columns: Sequence[str]) -> None:
        self._base, self._number = base, number
        self._place = {column: i for i, column in enumerate(columns)}
        self._size = 8 * ((len(columns) + 7) // 8) // 8  # bytes of the mask that says which columns are known
        self._layout = struct.Struct(f"<{self._size}s{len(columns)}d")

    def get(self, keys: Sequence[bytes], columns: Sequence[str]) -> dict[bytes, list[float | None]]:
        """For each stored key the asked columns; None where a column isn't known."""
        found: dict[bytes, list[float | None]] = {}
        places = [self._place[column] for column in columns]
        needed = sum(1 << place for place in places)
        for start in range(0, len(keys), _ASK_AT_ONCE):
            some = keys[start : start + _ASK_AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, cell FROM cells WHERE kernel = ? AND key IN ({marks})"  # noqa: S608
            for key, cell in self._base.execute(query, [self._number, *some]):
                mask, *values = self._layout.unpack(cell)
                known = int.from_bytes(mask, "little")
                if known & needed == needed:
                    found[key] = [values[place] for place in places]
                else:
                    found[key] = [values[place] if known >> place & 1 else None for place in places]
        return found

    def put(self, cells: dict[bytes, Known]) -> None:
        """Add columns to cells; what was known stays."""
        names = list(self._place)
        before = self.get(list(cells), names)
        rows = []
        for key, values in cells.items():
            row = before.get(key) or [None] * len(names)
            for column, value in values.items():
                row[self._place[column]] = value
            mask = sum(1 << i for i, value in enumerate(row) if value is not None)
            numbers = [0.0 if value is None else value for value in row]
            cell = self._layout.pack(mask.to_bytes(self._size, "little"), *numbers)
            rows.append((self._number, key, cell))
        self._base.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)", rows)


def _text_bytes(text: Text) -> bytes:
    """A text as bytes, so that different texts and different splits never look the same."""
    if isinstance(text, str):
        content = text.encode("utf-8", "surrogatepass")
        return b"t%d:" % len(content) + content
    lengths = ",".join([str(len(sentence)) for sentence in text])
    return f"l{lengths}:{''.join(text)}".encode("utf-8", "surrogatepass")
