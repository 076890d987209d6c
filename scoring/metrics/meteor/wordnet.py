"""Synonyms from the database files of WordNet, read in place: no index is built and nothing is downloaded."""

from __future__ import annotations

import mmap
import os
import re
from functools import lru_cache
from pathlib import Path

from scoring.base import Requirement
from scoring.errors import NotReady
from scoring.metrics.meteor.sorted_lines import line_of, map_file
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
    setting = os.environ.get("WORDNET_DIR")
    place = Path(setting) if setting else USUAL
    complete = all((place / f"{kind}.{pos}").is_file() for kind in ("index", "data") for pos in PARTS)
    return place if complete else None


def requirement() -> Requirement:
    """WordNet as something that a metric needs."""
    place = folder()
    size = sum(path.stat().st_size for path in place.iterdir() if path.is_file()) if place is not None else _SIZE
    return Requirement("WordNet", place is not None, size, HOW)


@lru_cache(maxsize=4)
def open_wordnet(place: Path) -> WordNet:
    return WordNet(place)


class WordNet:
    """WordNet in one folder. Look-ups are binary searches in the sorted index files."""

    def __init__(self, place: Path) -> None:
        self._index = {pos: map_file(place / f"index.{pos}") for pos in PARTS}
        self._data = {pos: map_file(place / f"data.{pos}") for pos in PARTS}
        self._exceptions = {pos: _exceptions(place / f"{pos}.exc") for pos in PARTS}
        self.version = _version(self._data["noun"])
        self.synsets: Memo[str, frozenset[Synset]] = Memo(self._synsets, limit=100_000)
        """All synsets of a word and its base forms."""
        self.names: Memo[str, frozenset[str]] = Memo(self._names, limit=100_000)
        """All single words in the synsets of a word."""

    def _synsets(self, word: str) -> frozenset[Synset]:
        return frozenset(
            (pos, offset)
            for pos in PARTS
            for form in self._base_forms(word, pos)
            for offset in self._offsets(form, pos)
        )

    def _names(self, word: str) -> frozenset[str]:
        single_words: set[str] = set()
        for pos, offset in self.synsets[word]:
            data = self._data[pos]
            fields = data[int(offset) : data.find(b"\n", int(offset))].decode("ascii").split(" ")
            count = int(fields[3], 16)
            names = (re.sub(r"\([a-z]+\)$", "", name) for name in fields[4 : 4 + 2 * count : 2])
            single_words.update(name for name in names if "_" not in name)
        return frozenset(single_words)

    def _base_forms(self, word: str, pos: str) -> list[str]:
        """The word itself and its base forms, as far as the index has them (WordNet's morphy)."""
        irregular = self._exceptions[pos].get(word)
        if irregular:
            return self._in_index([word, *irregular], pos)
        forms = _detach([word], pos)
        base_forms = self._in_index([word, *forms], pos)
        while not base_forms and forms:
            forms = _detach(forms, pos)
            base_forms = self._in_index(forms, pos)
        return base_forms

    def _in_index(self, forms: list[str], pos: str) -> list[str]:
        return [form for form in dict.fromkeys(forms) if form and self._offsets(form, pos)]

    def _offsets(self, form: str, pos: str) -> list[str]:
        line = line_of(form.encode("utf-8", "replace"), self._index[pos], b" ")
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


def _exceptions(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        return {}
    rows = (line.split() for line in path.read_text("ascii").splitlines())
    return {row[0]: row[1:] for row in rows if row}


def _version(data: mmap.mmap) -> str:
    match = re.search(rb"WordNet (\d+\.\d+) Copyright", data[:4096])
    return match.group(1).decode() if match else "unknown"


def _detach(forms: list[str], pos: str) -> list[str]:
    return [form[: len(form) - len(old)] + new for form in forms for old, new in _RULES[pos] if form.endswith(old)]
