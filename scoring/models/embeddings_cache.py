"""Embeddings on disk: each text once per model and layer, memory-mapped, shared by any number of processes.

Vectors lie in segment files that are only ever appended to, each by the one process that made it; an SQLite index says
where. A row enters the index after its bytes are in the file, so a reader finds a text whole or not at all. When the
folder outgrows its limit, the segments that were used longest ago go; a reader that had one open keeps what it has.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError

Vectors = npt.NDArray[np.float32]

FORMAT = 1
LIMIT = 4 * 2**30
"""Bytes in the folder unless EMBEDDINGS_LIMIT_MB says otherwise."""
SEGMENT = 64 * 2**20
"""Bytes after which a process begins a new segment: what is thrown away at once."""
MAPPED = 8
"""Segments that a process keeps mapped."""
_ASK_AT_ONCE = 500
_TABLES = """
    CREATE TABLE IF NOT EXISTS segments (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL, used REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS texts (
        key BLOB PRIMARY KEY, segment TEXT NOT NULL,
        place INTEGER NOT NULL, rows INTEGER NOT NULL, width INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS texts_of_segment ON texts (segment);
"""


def text_key(model: str, layer: str, reading: str, text: str) -> bytes:
    """What a text's vectors depend on: the model's hash, the layer, how it was read, and the text."""
    digest = blake2b(digest_size=16)
    for component in (model, layer, reading, text):
        content = component.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(content) + content)
    return digest.digest()


@lru_cache(maxsize=8)
def open_cache(folder: Path) -> EmbeddingCache:
    """One object per folder and process."""
    megabytes = os.environ.get("EMBEDDINGS_LIMIT_MB", "")
    return EmbeddingCache(folder, int(megabytes) * 2**20 if megabytes.isdigit() else LIMIT)


class EmbeddingCache:
    """A folder of vectors by key. Any number of processes may read and write at once."""

    def __init__(self, folder: Path, limit: int = LIMIT, segment: int = SEGMENT) -> None:
        self._folder = folder / f"embeddings-{FORMAT}"
        self._limit, self._segment_size = limit, min(segment, max(limit // 4, 1))
        self._maps: dict[str, np.memmap[tuple[int], np.dtype[np.float32]]] = {}
        self._current: Path | None = None
        self._pid = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._connect()
        except (OSError, sqlite3.Error) as error:
            raise ScoringError(f"The cache folder {folder} cannot be used ({error}); name another.") from error

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors of those keys that are here, mapped from disk and not to be written to."""
        base = self._connect()
        vectors_by_key: dict[bytes, Vectors] = {}
        used_segments: set[str] = set()
        for start in range(0, len(keys), _ASK_AT_ONCE):
            key_block = keys[start : start + _ASK_AT_ONCE]
            marks = ",".join("?" * len(key_block))
            query = f"SELECT key, segment, place, rows, width FROM texts WHERE key IN ({marks})"  # noqa: S608
            for key, segment, place, rows, width in base.execute(query, key_block).fetchall():
                vectors = self._read(segment, place, rows, width)
                if vectors is not None:
                    vectors_by_key[key] = vectors
                    used_segments.add(segment)
        if used_segments:
            # A minute's grain is enough to know what was used longest ago, and spares most writes.
            now = time.time()
            rows_used = [(now, name, now - 60) for name in used_segments]
            base.executemany("UPDATE segments SET used = ? WHERE name = ? AND used < ?", rows_used)
        return vectors_by_key

    def store(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Add texts; those that another process added first stay as they are."""
        if not vectors:
            return
        base = self._connect()
        segment = self._segment()
        rows = []
        with segment.open("ab") as file:
            for key, value in vectors.items():
                place = file.tell()
                file.write(np.ascontiguousarray(value, dtype="<f4").data)
                rows.append((key, segment.name, place, *value.shape))
            size = file.tell()
        base.execute("BEGIN IMMEDIATE")
        try:
            base.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, ?)", [segment.name, size, time.time()])
            base.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?, ?, ?, ?)", rows)
            dropped = self._choose_old(base, segment.name)
            base.execute("COMMIT")
        except BaseException:
            base.execute("ROLLBACK")
            raise
        for name in dropped:
            self._maps.pop(name, None)
            (self._folder / name).unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Bytes of vectors in the folder."""
        return int(self._connect().execute("SELECT coalesce(sum(bytes), 0) FROM segments").fetchone()[0])

    def _connect(self) -> sqlite3.Connection:
        """This process's connection: neither it nor a segment may cross a fork."""
        if self._pid != os.getpid():
            self._pid, self._current, self._maps = os.getpid(), None, {}
            self._base = sqlite3.connect(
                self._folder / "index.sqlite3", timeout=60, isolation_level=None, check_same_thread=False
            )
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
        return self._base

    def _segment(self) -> Path:
        """The file that this process appends to."""
        if self._current is None or not self._current.exists() or self._current.stat().st_size >= self._segment_size:
            self._current = self._folder / f"{uuid4().hex}.f32"
        return self._current

    def _choose_old(self, base: sqlite3.Connection, current: str) -> list[str]:
        """Take the segments that were used longest ago off the index until the rest is below the limit."""
        (total,) = base.execute("SELECT sum(bytes) FROM segments").fetchone()
        dropped = []
        for name, size in base.execute(
            "SELECT name, bytes FROM segments WHERE name != ? ORDER BY used", [current]
        ).fetchall():
            if total <= self._limit:
                break
            base.execute("DELETE FROM texts WHERE segment = ?", [name])
            base.execute("DELETE FROM segments WHERE name = ?", [name])
            total -= size
            dropped.append(name)
        return dropped

    def _read(self, segment: str, place: int, rows: int, width: int) -> Vectors | None:
        """A view of the mapped file; None when the segment was thrown away in the meantime."""
        first, last = place // 4, place // 4 + rows * width
        mapped = self._maps.get(segment)
        if mapped is None or len(mapped) < last:
            try:
                mapped = np.memmap(self._folder / segment, dtype="<f4", mode="r")
            except (OSError, ValueError):
                return None
            # Pages that were read stay counted as ours while a file is mapped: a few mappings are enough.
            while len(self._maps) >= MAPPED:
                del self._maps[next(iter(self._maps))]
            self._maps[segment] = mapped
        if len(mapped) < last:
            return None
        return np.asarray(mapped[first:last]).reshape(rows, width)
