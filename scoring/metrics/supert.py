"""SUPERT: a summary against the leading sentences of its source, without any reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan

import numpy as np
import numpy.typing as npt

from scoring.base import library_version
from scoring.models.encoder import TextToEncode
from scoring.models.encoder_family import LAYER, LONG, MODEL, PRECISION, Encoded, EncoderFamily, long_option, unit
from scoring.options import Option, check_positive
from scoring.registry import metric
from scoring.texts import Document, Text, sentences
from scoring.texts_english import STOP_WORDS

Array = npt.NDArray[np.floating]


@metric(
    "supert",
    title="F of the best matches between the summary's tokens and those of the source's leading sentences",
    citation="Gao et al. 2020, SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for Summarization",
    reference="the authors' Supert with the pseudo-reference of the first sentences, on our encoder",
    needs=("source", "encoder"),
    options=(
        MODEL,
        LAYER,
        Option("top", "15", "how many sentences of the source make the pseudo-reference", check=check_positive),
        Option("context", "text", "what the model reads at once", choices=("text", "sentence")),
        long_option("windows"),
        PRECISION,
    ),
    hidden=(LONG,),
)
class Supert(EncoderFamily):
    """Stop words and special tokens take no part. Undefined where a text has nothing else."""

    auto_layer = "5"

    def versions(self) -> Mapping[str, str]:
        words = {"stop-words": "english-179", "sentences": f"given-or-pysbd-{library_version('pysbd')}"}
        return {**super().versions(), **words}

    def texts(self, document: Document) -> Sequence[Text]:
        return [] if document.source is None else [document.source]

    def texts_to_encode(self, document: Document, summaries: Sequence[Text]) -> Iterable[TextToEncode]:
        if self.options["context"] == "text":
            return super().texts_to_encode(document, summaries)
        settings = (self.options["model"], self.is_half, self._folder)
        split = [*self._leading(document), *(sentence for summary in summaries for sentence in sentences(summary))]
        return [TextToEncode(*settings, self._request(sentence)) for sentence in split]

    def values(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        leading = self._leading(document)
        if self.options["context"] == "sentence":
            source_vectors = self._sentence_tokens(leading)
            summary_vectors = [self._sentence_tokens(sentences(summary)) for summary in summaries]
        else:
            source_vectors = _content(self.encoded(document.source or ""), leading)
            summary_vectors = [_content(self.encoded(summary)) for summary in summaries]
        return [[_f(vectors, source_vectors)] * len(columns) for vectors in summary_vectors]

    def _leading(self, document: Document) -> Sequence[str]:
        return sentences(document.source or "")[: int(self.options["top"])]

    def _sentence_tokens(self, split: Sequence[str]) -> Array:
        vectors = [_content(self.encoded(sentence)) for sentence in split]
        return np.concatenate(vectors) if vectors else np.empty((0, 1), dtype=np.float32)


def _content(text: Encoded, leading: Sequence[str] | None = None) -> Array:
    """Unit vectors of the tokens that count; with leading sentences given, of those in them."""
    tokens = text.tokens
    counts = ~tokens.special & ~tokens.in_list(STOP_WORDS)
    if leading is not None:
        counts &= tokens.spans[:, 1] <= _end(tokens.text, leading)
    return unit(text.vectors[counts])


def _end(text: str, leading: Sequence[str]) -> int:
    """Where the last of these sentences ends in the text that they were found in."""
    place = 0
    for sentence in leading:
        start = text.find(sentence.strip(), place)
        place = (place if start < 0 else start) + len(sentence.strip())
    return place


def _f(summary: Array, source: Array) -> float:
    if not len(summary) or not len(source):
        return nan
    similar = summary @ source.T
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
