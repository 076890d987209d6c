"""Synonyms from the database files of WordNet, read in place: no index is built and nothing is downloaded."""

from __future__ import annotations

import mmap
import os
import re
from functools import lru_cache
from pathlib import Path

from scoring.base import Need
from scoring.errors import NotReady
from scoring.texts import Memo

PARTS = ("noun", "verb", "adj", "adv")
_SIZE = 34_000_000
USUAL = Path("/usr/share/wordnet")
"""Where Debian's package wordnet-base puts it."""
COMMAND = "apt-get install wordnet-base"
HOW = f"{COMMAND}, or set WORDNET_DIR to a folder with WordNet's index and data files"

_RULES = {
    "noun": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
             ("men", "man"), ("ies", "y")),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip

Synset = tuple[str, str]
"""Part of speech and offset."""


def folder() -> Path | None:
    """The folder that WORDNET_DIR names, or the usual one, if it holds WordNet."""
    named = os.environ.get("WORDNET_DIR")
    place = Path(named) if named else USUAL
    complete = all((place / f"{kind}.{part}").is_file() for kind in ("index", "data") for part in PARTS)
    return place if complete else None


def need() -> Need:
    """WordNet as something that a metric needs."""
    found = folder()
    size = sum(path.stat().st_size for path in found.iterdir() if path.is_file()) if found is not None else _SIZE
    return Need("WordNet", found is not None, size, HOW)


@lru_cache(maxsize=4)
def open_wordnet(place: Path) -> WordNet:
    return WordNet(place)


class WordNet:
    """WordNet in one folder. Look-ups are binary searches in the sorted index files."""

    def __init__(self, place: Path) -> None:
        self._index = {part: _map(place / f"index.{part}") for part in PARTS}
        self._data = {part: _map(place / f"data.{part}") for part in PARTS}
        self._exceptions = {part: _exceptions(place / f"{part}.exc") for part in PARTS}
        self.version = _version(self._data["noun"])
        self.synsets: Memo[str, frozenset[Synset]] = Memo(self._synsets, limit=100_000)
        """All synsets of a word and its base forms."""
        self.names: Memo[str, frozenset[str]] = Memo(self._names, limit=100_000)
        """All single words in the synsets of a word."""

    def _synsets(self, word: str) -> frozenset[Synset]:
        return frozenset(
            (part, offset)
            for part in PARTS
            for form in self._base_forms(word, part)
            for offset in self._offsets(form, part)
        )

    def _names(self, word: str) -> frozenset[str]:
        found: set[str] = set()
        for part, offset in self.synsets[word]:
            data = self._data[part]
            fields = data[int(offset) : data.find(b"\n", int(offset))].decode("ascii").split(" ")
            count = int(fields[3], 16)
            names = (re.sub(r"\([a-z]+\)$", "", name) for name in fields[4 : 4 + 2 * count : 2])
            found.update(name for name in names if "_" not in name)
        return frozenset(found)

    def _base_forms(self, word: str, part: str) -> list[str]:
        """The word itself and its base forms, as far as the index has them (WordNet's morphy)."""
        irregular = self._exceptions[part].get(word)
        if irregular:
            return self._known([word, *irregular], part)
        forms = _detach([word], part)
        found = self._known([word, *forms], part)
        while not found and forms:
            forms = _detach(forms, part)
            found = self._known(forms, part)
        return found

    def _known(self, forms: list[str], part: str) -> list[str]:
        return [form for form in dict.fromkeys(forms) if form and self._offsets(form, part)]

    def _offsets(self, form: str, part: str) -> list[str]:
        line = _search(self._index[part], form.encode("utf-8", "replace"))
        if line is None:
            return []
        fields = line.decode("ascii").split()
        return fields[-int(fields[2]) :]


def require() -> WordNet:
    """WordNet, or the sentence that helps."""
    place = folder()
    if place is None:
        raise NotReady(f"WordNet is not here; {HOW}.")
    return open_wordnet(place)


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _exceptions(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        return {}
    rows = (line.split() for line in path.read_text("ascii").splitlines())
    return {row[0]: row[1:] for row in rows if row}


def _version(data: mmap.mmap) -> str:
    found = re.search(rb"WordNet (\d+\.\d+) Copyright", data[:4096])
    return found.group(1).decode() if found else "unknown"


def _detach(forms: list[str], part: str) -> list[str]:
    return [form[: len(form) - len(old)] + new for form in forms for old, new in _RULES[part] if form.endswith(old)]


def _search(index: mmap.mmap, word: bytes) -> bytes | None:
    """The line of a word in a sorted index; header lines start with a space and sort before every word."""
    low, high = 0, len(index)
    while low < high:
        middle = (low + high) // 2
        start = index.rfind(b"\n", 0, middle) + 1
        end = index.find(b"\n", start)
        end = len(index) if end < 0 else end
        line = index[start:end]
        key = line.partition(b" ")[0]
        if key == word:
            return line
        if key < word:
            low = end + 1
        else:
            high = start
    return None
