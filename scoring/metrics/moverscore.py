"""MoverScore: the least cost of moving a summary's words onto the reference's, in the space of contextual vectors."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from typing import Self

import numpy as np
import numpy.typing as npt

from scoring.base import library_version
from scoring.models.earth_mover import distance
from scoring.models.encoder_family import LAYER, LONG, MODEL, PRECISION, Encoded, EncoderFamily, Idf, long_option, unit
from scoring.models.tokenizer import Tokens
from scoring.options import Option, Options
from scoring.registry import metric
from scoring.texts import Document, Text
from scoring.texts_english import STOP_WORDS

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _WeightedGrams:
    """The n-grams of a text: unit vectors and positive weights."""

    vectors: Array
    weights: Array


@metric(
    "moverscore",
    title="One minus the earth mover's distance between the contextual vectors of words or bigrams, weighed by idf",
    citation="Zhao et al. 2019, MoverScore: Text Generation Evaluating with Contextualized Embeddings and EMD",
    reference="moverscore_v2 of the authors (unit vectors, Euclidean distances), with exact EMD by POT",
    needs=("references", "encoder"),
    options=(
        MODEL,
        LAYER,
        Option("n", "1", "words or bigrams", choices=("1", "2")),
        Option("idf", "both", "rarity in references and in summaries", choices=("both", "references", "no")),
        Option("stop", "off", "stop words count (on) or have no weight", choices=("off", "on")),
        Option("subwords", "off", "later pieces of a word count (on) or have no weight", choices=("off", "on")),
        long_option("truncate"),
        PRECISION,
    ),
    hidden=(LONG,),
)
class MoverScore(EncoderFamily):
    """The mean over references. Undefined where a text has no word with a weight."""

    needs_corpus = True
    needs_summaries = True
    auto_layer = "5"
    libraries = ("torch", "transformers", "ot")

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._references: Idf | None = None
        self._summaries: Idf | None = None

    def fit_corpus(self, documents: Iterable[Document]) -> Self:
        """The same metric with the rarity of tokens in these documents' references."""
        if self.options["idf"] == "no":
            return self
        fitted = copy.copy(self)
        fitted._references = self.count_references(documents)
        fitted._summaries = fitted._references if self.options["idf"] == "references" else None
        return fitted

    def fit_summaries(self, summaries: Iterable[Text]) -> Self:
        """The same metric with the rarity of tokens in these summaries."""
        if self.options["idf"] != "both":
            return self
        fitted = copy.copy(self)
        fitted._summaries = self.count_tokens(lambda: summaries)
        return fitted

    def versions(self) -> Mapping[str, str]:
        corpus = {
            "corpus": self._references.name if self._references else "none",
            "summaries": self._summaries.name if self._summaries else "none",
        }
        words = {"stop-words": "english-179", "pot": library_version("POT")}
        return {**super().versions(), **words, **(corpus if self.options["idf"] != "no" else {})}

    def texts(self, document: Document) -> Sequence[Text]:
        return document.references

    def values(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self._weighted_grams(self.encoded(text), self._references) for text in document.references]
        rows = []
        for summary in summaries:
            summary_grams = self._weighted_grams(self.encoded(summary), self._summaries)
            scores = [_closeness(summary_grams, reference) for reference in references]
            rows.append([fsum(scores) / len(scores)] * len(columns))
        return rows

    def _weighted_grams(self, text: Encoded, idf: Idf | None) -> _WeightedGrams | None:
        """The n-grams of the tokens that count; none when nothing has a weight."""
        places = np.flatnonzero(self._counts(text.tokens))
        if not len(places):
            return None
        ids = [text.tokens.ids[place] for place in places.tolist()]
        weights = idf.weights(ids) if idf is not None else np.ones(len(ids))
        vectors = text.vectors[places].astype(np.float64)
        return _grams(vectors, weights, int(self.options["n"]))

    def _counts(self, tokens: Tokens) -> npt.NDArray[np.bool_]:
        """Which tokens have a weight: words, not marks; first pieces; no stop words."""
        is_word = np.array([any(map(str.isalnum, surface)) for surface in tokens.surfaces], dtype=bool)
        counts = is_word & ~tokens.special
        if self.options["subwords"] == "off":
            counts &= ~tokens.inner
        if self.options["stop"] == "off":
            counts &= ~tokens.in_list(STOP_WORDS)
        return counts


def _grams(vectors: Array, weights: Array, n: int) -> _WeightedGrams | None:
    """n-grams of neighbours: the weighted mean of their vectors, the sum of their weights."""
    size = min(n, len(weights))
    count = len(weights) - size + 1
    total = sum(weights[k : k + count] for k in range(size))
    mixed = sum((weights[k : k + count, None] * vectors[k : k + count] for k in range(size)), np.zeros(1))
    heavy = np.flatnonzero(total > 0)
    if not len(heavy):
        return None
    return _WeightedGrams(np.asarray(unit(mixed[heavy]), dtype=np.float64), np.asarray(total, dtype=np.float64)[heavy])


def _closeness(summary: _WeightedGrams | None, reference: _WeightedGrams | None) -> float:
    if summary is None or reference is None:
        return nan
    squares = 2.0 - 2.0 * (summary.vectors @ reference.vectors.T)
    return 1.0 - distance(summary.weights, reference.weights, np.sqrt(np.maximum(squares, 0.0)))
