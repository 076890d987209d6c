"""Bytes of table files: read with bounds, written whole or not at all. Used through `analysis.tables`."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from analysis.tables.checks import Problems, TableError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet")
MAX_LINE = 16 * 2**20
"""Longest line in bytes. A file with a longer one is refused before the line is in memory."""
CHUNK = 2**20
BOMB_SIZE = 128 * 2**20
BOMB_RATIO = 300
"""A gzip that unpacks to more than both is refused: no table packs that well, a decompression bomb does."""


def suffix_of(path: Path) -> str | None:
    """The longest known suffix of the name, or None."""
    name = path.name.lower()
    matches = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    return max(matches, key=len) if matches else None


def read_bytes(path: Path, problems: Problems) -> bytearray:
    """The file's text, unpacked, without byte-order mark: UTF-8, no NUL, no endless line."""
    data = bytearray()
    for chunk in _guarded(path, problems):
        data += chunk
    if data.startswith(codecs.BOM_UTF8):
        del data[: len(codecs.BOM_UTF8)]
    return data


def open_text(path: Path, problems: Problems, newline: str) -> io.TextIOWrapper:
    """The same text as a stream of lines, for files larger than memory."""
    chunks = io.BufferedReader(_Stream(_guarded(path, problems)), CHUNK)
    return io.TextIOWrapper(chunks, encoding="utf-8-sig", newline=newline)


class _Stream(io.RawIOBase):
    """Chunks as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks, self.rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        self.rest = self.rest or memoryview(next(self.chunks, b""))
        target = memoryview(buffer)
        size = min(len(target), len(self.rest))
        target[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


def _guarded(path: Path, problems: Problems) -> Iterator[bytes]:
    guard, is_gzip = _Guard(problems), path.name.lower().endswith(".gz")
    with path.open("rb") as raw:
        stream: BinaryIO = gzip.GzipFile(fileobj=raw) if is_gzip else raw  # type: ignore[assignment]
        for chunk in _chunks(stream, problems):
            guard.check(chunk)
            if is_gzip and guard.position > BOMB_SIZE and guard.position > BOMB_RATIO * path.stat().st_size:
                raise problems.fail(
                    f"a gzip that unpacks to more than {BOMB_RATIO} times its size",
                    "a table, not a decompression bomb",
                )
            yield chunk
    guard.check(b"", final=True)


def _chunks(stream: BinaryIO, problems: Problems) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = "a gzip that breaks off" if isinstance(error, EOFError) else "a gzip that is damaged"
        raise problems.fail(problem, "a whole gzip file; copy or download it again") from error


class _Guard:
    """Looks at bytes as they stream past; memory stays flat whatever comes."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.position = 0
        self.line_length = 0

    def check(self, chunk: bytes, final: bool = False) -> None:
        if (nul := chunk.find(b"\0")) >= 0:
            raise self.problems.fail(f"a NUL byte at byte {self.position + nul}", "text without NUL bytes")
        self._check_line(chunk)
        pending = self.decoder.getstate()[0]
        if final or pending or not chunk.isascii():
            self._decode(chunk, len(pending), final)
        self.position += len(chunk)

    def _check_line(self, chunk: bytes) -> None:
        last = chunk.rfind(b"\n")
        first = chunk.find(b"\n") if last >= 0 else len(chunk)
        if self.line_length + first > MAX_LINE:
            start = self.position - self.line_length
            raise self.problems.fail(
                f"a line longer than {MAX_LINE // 2**20} MiB, starting at byte {start}",
                "one row per line of ordinary length",
            )
        self.line_length = len(chunk) - last - 1 if last >= 0 else self.line_length + len(chunk)

    def _decode(self, chunk: bytes, pending: int, final: bool) -> None:
        try:
            self.decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            at = self.position - pending + error.start
            byte = error.object[error.start]
            raise self.problems.fail(
                f"byte 0x{byte:02x} at byte {at}, which is not UTF-8", "text in UTF-8; save the file as UTF-8"
            ) from error


def check_writable(folder: Path) -> None:
    """Refuse a folder that can't be written to, before the work that would be lost."""
    try:
        existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _unwritable(folder, error) from error


def check_target(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse a file to write that can't be written or that is being read, before any work."""
    if path.exists() and any(source.exists() and source.samefile(path) for source in inputs):
        raise Problems(path.name).fail("a file to write that is also read", "another name; what was there is kept")
    check_writable(path.parent)


def _unwritable(path: Path, error: OSError) -> TableError:
    return Problems(path.name or str(path)).fail(
        f"a place that can't be written ({error.strerror})", "a folder that may be written"
    )


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside the target, then rename: a crash leaves the old file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except OSError as error:  # a full disk, or a folder of that name
        Path(name).unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
