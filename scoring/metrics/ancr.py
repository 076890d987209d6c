"""Anchored ROUGE: words and bigrams of two summaries are compared by what they are anchored to in the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from scoring.metrics.rouge.wordlists import stemmer
from scoring.models.encoder_family import LAYER, LONG, MODEL, PRECISION, Encoded, EncoderFamily, long_option, unit
from scoring.options import Option, check_positive
from scoring.registry import metric
from scoring.texts import Document, Text

_WORD = re.compile(r"\w+")
_SIZES = {"ancr-1": 1, "ancr-2": 2}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Particles:
    """The different n-grams of a text: unit vectors, and how often each occurs."""

    vectors: Array
    counts: Array


@dataclass(frozen=True)
class _Words:
    """The words of a text that the model has read."""

    stems: tuple[str, ...]
    sums: Array
    """Sum of the vectors of each word's tokens."""
    tokens: Array
    """How many tokens each word has."""


@metric(
    *_SIZES,
    title="Recall of the source's words or bigrams that the reference is anchored to (anchored ROUGE)",
    citation="Wang et al. 2020, An Anchor-Based Automatic Evaluation Metric for Document Summarization",
    reference="equations 1 and 2 of the paper",
    needs=("references", "source", "encoder"),
    options=(
        MODEL,
        LAYER,
        Option("k", "5", "how many anchors a particle has", check=check_positive),
        Option(
            "anchors", "types", "particles of the source: different ones, or each place", choices=("types", "places")
        ),
        Option("stem", "porter", "which particles are the same", choices=("porter", "wordnet", "no")),
        long_option("windows"),
        PRECISION,
    ),
    hidden=(LONG,),
)
class AnchoredRouge(EncoderFamily):
    """All references together (equation 1). Undefined where source or references have no words."""

    auto_layer = "last4"

    def other_layer(self) -> str:
        return "last4"

    def versions(self) -> Mapping[str, str]:
        return {**super().versions(), "words": "unicode-lc"}

    def texts(self, document: Document) -> Sequence[Text]:
        return (*document.references, *([] if document.source is None else [document.source]))

    def values(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        summary_words = [self._words(self.encoded(summary)) for summary in summaries]
        source = self._words(self.encoded(document.source or ""))
        references = [self._words(self.encoded(text)) for text in document.references]
        score_columns = [self._column(summary_words, references, source, _SIZES[column]) for column in columns]
        return [list(row) for row in zip(*score_columns, strict=True)]

    def _column(self, summaries: Sequence[_Words], references: Sequence[_Words], source: _Words, n: int) -> list[float]:
        ground = particles(source, n, distinct=self.options["anchors"] == "types")
        k = int(self.options["k"])
        targets = [strengths(particles(words, n), ground, k) for words in references]
        total = sum(float(target.sum()) for target in targets)
        if total <= 0:
            return [nan] * len(summaries)
        values = []
        for words in summaries:
            strength = strengths(particles(words, n), ground, k)
            values.append(sum(float(np.minimum(strength, target)[target != 0].sum()) for target in targets) / total)
        return values

    def _words(self, text: Encoded) -> _Words:
        """Words as runs of letters and digits, with the tokens that overlap them."""
        stem = stemmer(self.options["stem"])
        spans = text.tokens.spans
        real = np.flatnonzero(~text.tokens.special & (spans[:, 1] > spans[:, 0]))
        vectors = text.vectors[real].astype(np.float64)
        words = [(match.start(), match.end(), match.group()) for match in _WORD.finditer(text.tokens.text)]
        first = np.searchsorted(spans[real, 1], [start for start, _, _ in words], side="right").tolist()
        last = np.searchsorted(spans[real, 0], [end for _, end, _ in words], side="left").tolist()
        places = [(a, b, stem(word.lower())) for a, b, (_, _, word) in zip(first, last, words, strict=True) if a < b]
        sums = vectors[[a for a, _, _ in places]].reshape(-1, vectors.shape[1])
        for row, (a, b, _) in enumerate(places):
            if b - a > 1:
                sums[row] = vectors[a:b].sum(axis=0)
        return _Words(tuple(word for _, _, word in places), sums, np.array([float(b - a) for a, b, _ in places]))


def particles(words: _Words, n: int, distinct: bool = True) -> Particles:
    """n-grams with the mean vector of all their tokens; the same stems in a row are the same particle."""
    count = len(words.stems) - n + 1
    if count < 1:
        return Particles(words.sums[:0], words.tokens[:0])
    grams: Iterable[object] = zip(*(words.stems[k:] for k in range(n)), strict=False)
    numbers: dict[object, int] = {}
    if not distinct:
        grams = range(count)
    gram_numbers = np.array([numbers.setdefault(gram, len(numbers)) for gram in grams])
    order = np.argsort(gram_numbers, kind="stable")
    starts = np.searchsorted(gram_numbers[order], np.arange(len(numbers)))
    sums = np.add.reduceat(_slide(words.sums, n)[order], starts)
    sizes = np.add.reduceat(_slide(words.tokens, n)[order], starts)
    counts = np.bincount(gram_numbers).astype(np.float64)
    return Particles(np.asarray(unit(sums / sizes[:, None]), dtype=np.float64), counts)


def _slide(values: Array, n: int) -> Array:
    """The sum of each n neighbours."""
    total = values[: len(values) - n + 1].copy()
    for k in range(1, n):
        total += values[k : k + len(total)]
    return total


def strengths(text: Particles, ground: Particles, k: int) -> Array:
    """T(d, summary) for each particle d of the source (equation 2)."""
    total = np.zeros(len(ground.counts))
    if not len(text.counts) or not len(total):
        return total
    similar = text.vectors @ ground.vectors.T
    nearest = min(k, len(total))
    anchors = np.argpartition(-similar, nearest - 1, axis=1)[:, :nearest]
    values = np.take_along_axis(similar, anchors, axis=1) * text.counts[:, None]
    return np.bincount(anchors.ravel(), weights=values.ravel(), minlength=len(total)).astype(np.float64)
