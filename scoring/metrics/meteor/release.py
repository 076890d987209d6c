"""The word lists and the paraphrase table of METEOR 1.5, read in place from a copy of the release.

The package pycocoevalcap carries one; `METEOR_DIR` names any other folder with `meteor-1.5.jar` and
`data/paraphrase-en.gz`. Nothing is downloaded and no Java runs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from scoring.base import Requirement
from scoring.errors import NotReady
from scoring.metrics.meteor.normalizer import normalized_words
from scoring.metrics.meteor.paraphrases import Paraphrases, open_paraphrases
from scoring.texts import Memo, Text, joined

COMMAND = "pip install --no-deps pycocoevalcap==1.2"
HOW = f"{COMMAND}, or set METEOR_DIR to a folder with meteor-1.5.jar and data/paraphrase-en.gz"
_SIZE = 104_000_000
_SUFFIXES = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip
"""Endings in the order in which the release takes them off."""


def folder() -> Path | None:
    """The folder that METEOR_DIR names, or the package's, if it holds the release."""
    setting = os.environ.get("METEOR_DIR")
    place = Path(setting) if setting else _package_folder()
    return place if place is not None and _jar(place).is_file() and _table(place).is_file() else None


@lru_cache(maxsize=1)
def _package_folder() -> Path | None:
    package = find_spec("pycocoevalcap")
    locations = list(package.submodule_search_locations or ()) if package else []
    return Path(locations[0]) / "meteor" if locations else None


def _jar(place: Path) -> Path:
    return place / "meteor-1.5.jar"


def _table(place: Path) -> Path:
    return place / "data" / "paraphrase-en.gz"


def requirement() -> Requirement:
    """The release as something that a metric needs."""
    place = folder()
    size = sum(path.stat().st_size for path in (_jar(place), _table(place))) if place is not None else _SIZE
    return Requirement("METEOR 1.5's lists and paraphrases", place is not None, size, HOW)


@dataclass(frozen=True)
class Release:
    """Everything that the release knows about English."""

    function_words: frozenset[str]
    words: Memo[str, tuple[str, ...]]
    """The words of a text."""
    synsets: Memo[str, frozenset[str]]
    """The synsets of a word and of its base forms."""
    paraphrases: Paraphrases

    def tokens(self, text: Text) -> tuple[str, ...]:
        return self.words[joined(text)]


def require() -> Release:
    """The release, or the sentence that helps."""
    place = folder()
    if place is None:
        raise NotReady(f"METEOR 1.5's word lists and paraphrases are not here; {HOW}.")
    return _open(place)


@lru_cache(maxsize=2)
def _open(place: Path) -> Release:
    with ZipFile(_jar(place)) as jar:
        functions, prefix_lines, exceptions, synsets = (
            jar.read(name).decode("utf-8").splitlines()
            for name in (
                "function/english.words",
                "nonbreaking/english.prefixes",
                "synonym/english.exceptions",
                "synonym/english.synsets",
            )
        )
    prefixes = _prefixes(prefix_lines)
    synonyms = _Synonyms(exceptions, synsets)
    return Release(
        frozenset(functions),
        Memo(lambda text: normalized_words(text, prefixes), limit=2_000),
        Memo(synonyms.of_word, limit=100_000),
        open_paraphrases(_table(place)),
    )


def _prefixes(lines: list[str]) -> dict[str, bool]:
    """Abbreviations, and whether each counts only before a number."""
    rows = (line.split() for line in lines)
    return {row[0]: row[1:2] == ["#NUMERIC_ONLY#"] for row in rows if row and not row[0].startswith("#")}


class _Synonyms:
    """Synsets of words; both lists alternate between a word and its line."""

    def __init__(self, exceptions: list[str], synsets: list[str]) -> None:
        self._synsets = dict(zip(synsets[::2], synsets[1::2], strict=True))
        self._bases: dict[str, list[str]] = {}
        for base, forms in zip(exceptions[::2], exceptions[1::2], strict=True):
            for form in forms.split():
                self._bases.setdefault(form, []).append(base)

    def of_word(self, word: str) -> frozenset[str]:
        forms = [word, *(self._bases.get(word) or [self._base(word)])]
        return frozenset(synset for form in forms for synset in self._synsets.get(form, "").split())

    def _base(self, word: str) -> str:
        """The first base form that the list has; none for words in -ful, where the release looks for the wrong form."""
        if word.endswith("ss") or len(word) <= 2 or word.endswith("ful"):
            return ""
        forms = (word[: -len(old)] + new for old, new in _SUFFIXES if word.endswith(old))
        return next((form for form in forms if form in self._synsets), "")
