"""BLEU and chrF as sacrebleu computes them, per summary and over all summaries of a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from scoring.base import Family, library_version
from scoring.explain.explanation import Explanation, Passage
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import Document, Text, joined

_LEVEL = Option(
    "level",
    "both",
    "rows per summary, one row per system over the whole corpus (doc_id *), or both",
    choices=("both", "summary", "corpus"),
)
_LOWER = Option("lowercase", "no", "compare without case", choices=("no", "yes"), bare="yes")


class _Sacrebleu(Family):
    """Counts of every summary come from sacrebleu; a summary's score and a system's score come from their sums."""

    is_pooled = True
    libraries = ("sacrebleu",)
    name: str

    @property
    def _size(self) -> int:
        """How many counts a score is made of."""
        return len(self.description.hidden)

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        return (*names, *self.description.hidden)

    def per_summary(self, names: Sequence[str]) -> tuple[str, ...]:
        return () if self.options["level"] == "corpus" else tuple(names)

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        scorer = self._scorer(False)
        references = [scorer._preprocess_segment(joined(text)) for text in document.references]
        reference_info = scorer._extract_reference_info(references)
        rows = []
        for summary in summaries:
            counts = scorer._compute_segment_statistics(scorer._preprocess_segment(joined(summary)), reference_info)
            # Fewer counts than columns: the word orders of chrF++ are not asked for.
            values = dict.fromkeys(self.description.hidden, 0.0)
            values.update(zip(self.description.hidden, map(float, counts), strict=False))
            if self.name in columns:
                values[self.name] = float(scorer._compute_score_from_stats(counts).score)
            rows.append([values[column] for column in columns])
        return rows

    def pool(self, sums: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
        if self.options["level"] == "summary":
            return {}
        counts = [int(sums[column]) for column in self.description.hidden[: self._size]]
        return {self.name: float(self._scorer(True)._compute_score_from_stats(counts).score)}

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        scorer = self._scorer(False)
        references = [scorer._preprocess_segment(joined(text)) for text in document.references]
        reference_info = scorer._extract_reference_info(references)
        counts = scorer._compute_segment_statistics(scorer._preprocess_segment(joined(summary)), reference_info)
        passages = [Passage("Summary", joined(summary))]
        passages += [Passage(f"Reference {i}", joined(text)) for i, text in enumerate(document.references, start=1)]
        value = float(scorer._compute_score_from_stats(counts).score)
        steps = [*self._steps(counts), f"The score is {value:.5f}."]
        return Explanation(name, value, "", tuple(passages), (), tuple(steps))

    def _steps(self, counts: Sequence[int]) -> list[str]:
        raise NotImplementedError

    def versions(self) -> Mapping[str, str]:
        return {"scale": "100", "sacrebleu": library_version("sacrebleu")}

    def _scorer(self, corpus: bool) -> Any:
        raise NotImplementedError


@metric(
    "bleu",
    title="Precision of n-grams (1–4) with a brevity penalty, 0 to 100; per summary and per system",
    citation="Papineni et al. 2002, BLEU; Post 2018, A Call for Clarity in Reporting BLEU Scores",
    reference="sacrebleu: sentence_bleu (exp smoothing, effective order) and corpus_bleu",
    options=(
        _LEVEL,
        _LOWER,
        Option("tokenize", "13a", "sacrebleu's tokeniser", choices=("13a", "intl", "char", "none")),
        Option("smooth", "exp", "smoothing of zero counts", choices=("exp", "floor", "add-k", "none")),
        Option("effective", "yes", "per summary, only the orders it has n-grams of", choices=("yes", "no")),
    ),
    hidden=("#summary", "#reference", *(f"#{kind}-{n}" for kind in ("correct", "total") for n in (1, 2, 3, 4))),
)
class Bleu(_Sacrebleu):
    """The corpus score never uses the effective order, as sacrebleu's."""

    name = "bleu"

    def _steps(self, counts: Sequence[int]) -> list[str]:
        summary_length, reference_length = counts[:2]
        steps = [f"{counts[1 + n]} of {counts[5 + n]} {n}-grams of the summary match." for n in (1, 2, 3, 4)]
        return [*steps, f"The summary has {summary_length} tokens, the closest reference {reference_length}."]

    def _scorer(self, corpus: bool) -> Any:
        effective = self.options["effective"] == "yes" and not corpus
        return _bleu(self.options["lowercase"] == "yes", self.options["tokenize"], self.options["smooth"], effective)


@metric(
    "chrf",
    title="F-score of character n-grams (1–6), 0 to 100; per summary and per system",
    citation="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
    reference="sacrebleu: sentence_chrf and corpus_chrf",
    options=(
        _LEVEL,
        _LOWER,
        Option("words", "0", "order of word n-grams to add: 2 is chrF++", choices=("0", "1", "2")),
        Option("beta", "2", "weight of recall", choices=("1", "2", "3")),
    ),
    hidden=tuple(f"#{side}-{n}" for n in range(1, 9) for side in ("summary", "reference", "both")),
)
class Chrf(_Sacrebleu):
    """Three counts per order: in the summary, in the reference, in both."""

    name = "chrf"

    @property
    def _size(self) -> int:
        return 3 * (6 + int(self.options["words"]))

    def _steps(self, counts: Sequence[int]) -> list[str]:
        triples = [counts[i : i + 3] for i in range(0, len(counts), 3)]
        return [
            f"{shared} of {in_summary} {n}-grams of characters match, and of {in_reference} in the best reference."
            if n <= 6
            else f"{shared} of {in_summary} {n - 6}-grams of words match, and of {in_reference} in the best reference."
            for n, (in_summary, in_reference, shared) in enumerate(triples, start=1)
        ]

    def _scorer(self, corpus: bool) -> Any:
        return _chrf(self.options["lowercase"] == "yes", int(self.options["words"]), int(self.options["beta"]))


@lru_cache(maxsize=16)
def _bleu(lowercase: bool, tokenize: str, smooth: str, effective: bool) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth, effective_order=effective, force=True)


@lru_cache(maxsize=16)
def _chrf(lowercase: bool, words: int, beta: int) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=lowercase, word_order=words, beta=beta)
