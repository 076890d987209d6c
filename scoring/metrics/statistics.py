"""What a summary copies, how much it shortens, what is new in it and what it repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from scoring.base import Family
from scoring.explain.explanation import Explanation, Passage, Span, Unit, merge
from scoring.registry import metric
from scoring.texts import TOKEN, Document, Text, joined, word_tokens

_COPYING = ("coverage", "density", "compression")
_CITATION = "Grusky et al. 2018, Newsroom: A Dataset of 1.3 Million Summaries"
_PEER = "SummEval's DataStatsMetric (Fabbri et al. 2021), with words and punctuation marks as tokens"


@dataclass(frozen=True)
class Fragment:
    """A stretch of the summary that stands in the source word for word."""

    start: int
    length: int


def fragments(summary: Sequence[str], source: Sequence[str]) -> list[Fragment]:
    """Greedy longest fragments, left to right (Grusky et al. 2018, figure 3)."""
    places: dict[str, list[int]] = {}
    for place, token in enumerate(source):
        places.setdefault(token, []).append(place)
    copied = []
    start = 0
    while start < len(summary):
        length = _longest(summary, start, source, places.get(summary[start], ()))
        if length:
            copied.append(Fragment(start, length))
        start += length or 1
    return copied


def _longest(summary: Sequence[str], start: int, source: Sequence[str], places: Sequence[int]) -> int:
    best, free = 0, 0
    for place in places:
        # As published: the search goes on behind a match, not inside it.
        if place < free:
            continue
        length = 1
        limit = min(len(summary) - start, len(source) - place)
        while length < limit and summary[start + length] == source[place + length]:
            length += 1
        free = place + length
        best = max(best, length)
    return best


def grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[k:] for k in range(n)), strict=False))


@metric(
    *_COPYING,
    "novel-1",
    "novel-2",
    "novel-3",
    title="How much of a summary is copied from the source, how much it shortens, and its share of new n-grams",
    citation=_CITATION,
    reference=_PEER,
    needs=("source",),
)
class Copying(Family):
    """Coverage, density, compression and novel n-grams, against the source."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        source = word_tokens(document.source or "")
        source_grams = {n: set(grams(source, n)) for n in (1, 2, 3) if f"novel-{n}" in columns}
        return [self._row(word_tokens(summary), source, source_grams, columns) for summary in summaries]

    def _row(
        self,
        summary: Sequence[str],
        source: Sequence[str],
        source_grams: Mapping[int, set[tuple[str, ...]]],
        columns: Sequence[str],
    ) -> list[float]:
        values: dict[str, float] = dict.fromkeys(columns, nan)
        size = len(summary)
        if size and not {*_COPYING}.isdisjoint(columns):
            copied = fragments(summary, source)
            values["coverage"] = sum(fragment.length for fragment in copied) / size
            values["density"] = sum(fragment.length**2 for fragment in copied) / size
            values["compression"] = len(source) / size
        for n, in_source in source_grams.items():
            in_summary = set(grams(summary, n))
            values[f"novel-{n}"] = len(in_summary - in_source) / len(in_summary) if in_summary else nan
        return [values[column] for column in columns]

    def versions(self) -> Mapping[str, str]:
        return {"words": "unicode-lc-punctuation"}

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        words, source = word_tokens(summary), word_tokens(document.source or "")
        text = joined(summary)
        spans = [(token.start(), token.end()) for token in TOKEN.finditer(text)]
        passages = (Passage("Source", joined(document.source or "")),)
        if name in _COPYING:
            copied = fragments(words, source)
            marks = [Span(spans[f.start][0], spans[f.start + f.length - 1][1], "copied") for f in copied]
            sizes = ", ".join(str(fragment.length) for fragment in copied) or "none"
            steps = (
                f"Copied stretches of the summary, in tokens: {sizes}.",
                f"The summary has {len(words)} tokens, the source {len(source)}.",
                _FORMULAS[name],
            )
            return Explanation(name, 0.0, "", (Passage("Summary", text, tuple(marks)), *passages), (), steps)
        n = int(name.removeprefix("novel-"))
        in_source, in_summary = Counter(grams(source, n)), Counter(grams(words, n))
        marks = [
            Span(spans[i][0], spans[i + n - 1][1], "novel")
            for i, gram in enumerate(grams(words, n))
            if gram not in in_source
        ]
        units = tuple(Unit(" ".join(g), in_summary[g], in_source[g], int(g in in_source), "Source") for g in in_summary)
        novel = sum(gram not in in_source for gram in in_summary)
        step = f"{novel} of {len(in_summary)} different {n}-grams are not in the source."
        return Explanation(name, 0.0, "", (Passage("Summary", text, merge(marks)), *passages), units, (step,))


_FORMULAS = {
    "coverage": "Coverage = copied tokens / tokens of the summary.",
    "density": "Density = sum of squared lengths of the copied stretches / tokens of the summary.",
    "compression": "Compression = tokens of the source / tokens of the summary.",
}


@metric(
    "length",
    "repeated-1",
    "repeated-2",
    "repeated-3",
    title="Tokens of a summary, and the share of its different n-grams that stand in it more than once",
    citation=_CITATION,
    reference=_PEER,
    needs=(),
)
class LengthAndRepetition(Family):
    """What a summary says about itself."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        return [[_length_or_repetition(word_tokens(summary), column) for column in columns] for summary in summaries]

    def versions(self) -> Mapping[str, str]:
        return {"words": "unicode-lc-punctuation"}

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        words, text = word_tokens(summary), joined(summary)
        if name == "length":
            steps = (f"The summary has {len(words)} words and punctuation marks.",)
            return Explanation(name, 0.0, "", (Passage("Summary", text),), (), steps)
        n = int(name.removeprefix("repeated-"))
        gram_counts = Counter(grams(words, n))
        spans = [(token.start(), token.end()) for token in TOKEN.finditer(text)]
        marks = [
            Span(spans[i][0], spans[i + n - 1][1], "repeated")
            for i, gram in enumerate(grams(words, n))
            if gram_counts[gram] > 1
        ]
        units = tuple(Unit(" ".join(g), c, 0, int(c > 1)) for g, c in gram_counts.items() if c > 1)
        steps = (f"{len(units)} of {len(gram_counts)} different {n}-grams stand more than once.",)
        return Explanation(name, 0.0, "", (Passage("Summary", text, merge(marks)),), units, steps)


def _length_or_repetition(words: Sequence[str], column: str) -> float:
    if column == "length":
        return float(len(words))
    gram_counts = Counter(grams(words, int(column.removeprefix("repeated-"))))
    return sum(times > 1 for times in gram_counts.values()) / len(gram_counts) if gram_counts else nan
