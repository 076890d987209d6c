"""Soft matching of n-grams by their word vectors: the counting behind ROUGE-WE."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.models.word_vectors import Matrix, WordVectors
from scoring.texts import Text, in_lines

_WORD = re.compile(r"\w+")
_DIGITS = 10
"""Cosines are compared to this many digits, so that n-grams with the same words in another order are equally close."""
_EXACT = 2.0
"""Above every cosine: the same n-gram is the closest one, whatever its vector."""

Gram = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A word as it is compared, and where it stands."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Match:
    """An n-gram of the summary (by its number), the one of the reference that it is matched to, and how often."""

    summary: int
    reference: int
    times: int
    similarity: float


def locate(text: str) -> list[Place]:
    """Runs of letters and digits of any script, lower-cased, with their places."""
    return [Place(word.group().lower(), word.start(), word.end()) for word in _WORD.finditer(text)]


class Words:
    """The words of a text with their vectors, looked up once for all orders."""

    def __init__(self, text: Text, vectors: WordVectors) -> None:
        self.words = [word.lower() for word in _WORD.findall(in_lines(text))]
        distinct = dict.fromkeys(self.words)
        with_vector = [word for word in distinct if vectors.has(word)]
        numbers = {word: number for number, word in enumerate(with_vector)}
        self._table = np.vstack([vectors.of(with_vector), np.zeros((1, vectors.table.shape[1]))])
        self._rows = np.array([numbers.get(word, len(with_vector)) for word in self.words], dtype=np.intp)
        self._grams: dict[int, Grams] = {}

    def grams(self, n: int) -> Grams:
        if n not in self._grams:
            self._grams[n] = self._count(n)
        return self._grams[n]

    def _count(self, n: int) -> Grams:
        first: dict[Gram, int] = {}
        times: dict[Gram, int] = {}
        for start, gram in enumerate(zip(*(self.words[k:] for k in range(n)), strict=False)):
            first.setdefault(gram, start)
            times[gram] = times.get(gram, 0) + 1
        starts = np.array(list(first.values()), dtype=np.intp)
        rows = starts[:, None] + np.arange(n)
        words = self._rows[rows] if len(starts) else np.empty((0, n), dtype=np.intp)
        has_vector: npt.NDArray[np.bool_] = np.all(words < len(self._table) - 1, axis=1)
        return Grams(tuple(first), np.array(list(times.values()), dtype=np.int64), has_vector, self._unit(words))

    def _unit(self, words: npt.NDArray[np.intp]) -> Matrix:
        """The sum of each n-gram's words, scaled to length one."""
        sums: Matrix = self._table[words].sum(axis=1)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        unit: Matrix = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
        return unit


@dataclass(frozen=True, eq=False)
class Grams:
    """The distinct n-grams of a text in the order of their first place."""

    grams: tuple[Gram, ...]
    times: npt.NDArray[np.int64]
    has_vector: npt.NDArray[np.bool_]
    """Whether all its words have vectors."""
    unit: Matrix

    @cached_property
    def total(self) -> int:
        return int(self.times.sum())

    @cached_property
    def numbers(self) -> dict[Gram, int]:
        return {gram: number for number, gram in enumerate(self.grams)}


def similarities(summary: Grams, reference: Grams) -> Matrix:
    """Cosines, one row per n-gram of the summary; 0 without a vector, above all cosines where n-grams are equal."""
    cosines = np.round(summary.unit @ reference.unit.T, _DIGITS)
    cosines[~summary.has_vector] = 0.0
    cosines[:, ~reference.has_vector] = 0.0
    equal = [(i, reference.numbers[gram]) for i, gram in enumerate(summary.grams) if gram in reference.numbers]
    if equal:
        rows, columns = zip(*equal, strict=True)
        cosines[rows, columns] = _EXACT
    return cosines


def match(summary: Grams, reference: Grams, threshold: float) -> list[Match]:
    """Each n-gram of the summary, in order, takes the closest one left of the reference, if it is close enough."""
    if not summary.grams or not reference.grams:
        return []
    close = similarities(summary, reference)
    remaining = reference.times.tolist()
    times = summary.times.tolist()
    nearest = close.argmax(axis=1).tolist()
    matches = []
    for i in np.flatnonzero(close.max(axis=1) >= threshold).tolist():
        j = nearest[i]
        if not remaining[j]:
            j = int(close[i].argmax())
        similarity = float(close[i, j])
        if similarity < threshold:
            continue
        count = min(times[i], remaining[j])
        remaining[j] -= count
        if not remaining[j]:
            close[:, j] = -1.0
        matches.append(Match(i, j, count, min(similarity, 1.0)))
    return matches


def overlap(summary: Grams, reference: Grams, threshold: float) -> int:
    """How many n-grams of the summary found a partner."""
    return sum(pair.times for pair in match(summary, reference, threshold))
