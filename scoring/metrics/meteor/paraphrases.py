"""METEOR's table of paraphrases as a sorted file that is searched in place.

The release's table has 5.3 million lines of phrase, paraphrase and probability (272 MB) behind gzip. At first use it is
written once, a line per phrase, into the cache folder (100 MB); every process maps that file.
"""

from __future__ import annotations

import gzip
import mmap
import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from scoring.metrics.meteor.sorted_lines import line_of, map_file
from scoring.texts import Memo

LONGEST = 7
"""Words in the longest phrase of the release's table."""


class Paraphrases:
    """The paraphrases of a phrase, in the table's order."""

    def __init__(self, lines: mmap.mmap) -> None:
        self._lines = lines
        self.of_phrase: Memo[str, tuple[str, ...]] = Memo(self._find, limit=50_000)

    def _find(self, phrase: str) -> tuple[str, ...]:
        line = line_of(phrase.encode("utf-8", "replace"), self._lines, b"\t")
        return tuple(line.decode("utf-8").split("\t")[1:]) if line is not None else ()


@lru_cache(maxsize=2)
def open_paraphrases(table: Path) -> Paraphrases:
    """The table of the release, indexed at first use."""
    index = cache_folder() / f"meteor-{_checksum(table)}.tsv"
    if not index.is_file():
        _write_index(table, index)
    return Paraphrases(map_file(index))


def cache_folder() -> Path:
    """Where derived files go: below XDG_CACHE_HOME or ~/.cache; the temporary folder where that can't be written."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path.home() / ".cache") / "pyramidion"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return Path(tempfile.gettempdir())


def _checksum(table: Path) -> str:
    """The check value and size that gzip writes at the end of a file."""
    with table.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        return file.read().hex()


def _write_index(table: Path, index: Path) -> None:
    """One line per phrase; written beside and renamed, so that nobody reads half of it."""
    with tempfile.NamedTemporaryFile(dir=index.parent, delete=False) as file:
        try:
            for phrase, paraphrases in _phrases(table):
                file.write(b"\t".join([phrase, *paraphrases]) + b"\n")
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, index)


def _phrases(table: Path) -> Iterator[tuple[bytes, Sequence[bytes]]]:
    """Phrases with their paraphrases; the table stands in the order of its phrases' bytes."""
    with gzip.open(table) as lines:
        stripped = map(bytes.rstrip, lines)
        for phrase, rows in groupby(zip(stripped, stripped, stripped, strict=True), key=lambda row: row[1]):
            yield phrase, [paraphrase for _, _, paraphrase in rows]
