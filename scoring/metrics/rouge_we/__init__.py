"""ROUGE-WE: n-gram overlap where an n-gram may be matched to a close one by word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from scoring.explain.explanation import Explanation, Passage, Span, Unit, merge
from scoring.metrics.rouge_we.soft_match import Gram, Grams, Match, Place, Words, locate, match, overlap
from scoring.models.word_vectors import OPTION, VectorFamily
from scoring.options import Option, multi_option
from scoring.registry import metric
from scoring.texts import Document, Text, in_lines

ORDERS = (1, 2, 3)
NAMES = tuple(f"rouge-we-{n}-{measure}" for n, measure in product(ORDERS, "prf"))


def _threshold(value: str) -> None:
    if not 0.0 < float(value) <= 1.0:
        raise ValueError("it is above 0 and at most 1")


@dataclass(frozen=True)
class Hits:
    """Matched n-grams, those of the reference, those of the summary."""

    matches: int
    reference: int
    summary: int

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall, F1; 0 where there is nothing to divide by."""
        precision = self.matches / self.summary if self.summary else 0.0
        recall = self.matches / self.reference if self.reference else 0.0
        total = precision + recall
        return precision, recall, 2 * precision * recall / total if total else 0.0


@metric(
    *NAMES,
    title="Overlap of n-grams (1–3) where close word vectors count as equal",
    citation="Ng and Abrecht 2015, Better Summarization Evaluation with Word Embeddings for ROUGE",
    reference="rouge_n_we of S3 (Peyrard et al. 2017) and SummEval (Fabbri et al. 2021)",
    needs=("references", "word vectors"),
    options=(
        Option("threshold", "0.8", "the least cosine that counts as a match (0.5 in REALSumm)", check=_threshold),
        multi_option("several references: pool matches and counts over them, or take the one with the best recall"),
        OPTION,
    ),
)
class RougeWe(VectorFamily):
    """Each distinct n-gram of the summary, in order, takes the closest unused one of the reference."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        requested = [(int(column[-3]), "prf".index(column[-1])) for column in columns]
        orders = sorted({n for n, _ in requested})
        vectors, threshold = self.vectors(), float(self.options["threshold"])
        references = [Words(text, vectors) for text in document.references]
        rows = []
        for text in summaries:
            summary = Words(text, vectors)
            scores = {n: self._pool(_hits(summary, references, n, threshold)).scores for n in orders}
            rows.append([scores[n][measure] for n, measure in requested])
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        n, measure = int(name[-3]), "prf".index(name[-1])
        vectors, threshold = self.vectors(), float(self.options["threshold"])
        grams = Words(summary, vectors).grams(n)
        spans: list[Span] = []
        passages, units, steps, hits = [], [], [], []
        for number, text in enumerate(document.references, start=1):
            title, reference_grams = f"Reference {number}", Words(text, vectors).grams(n)
            matches = match(grams, reference_grams, threshold)
            spans += _spans(in_lines(summary), n, {grams.grams[pair.summary]: pair for pair in matches})
            passages.append(_passage(title, text, n, {reference_grams.grams[pair.reference]: pair for pair in matches}))
            units += [_unit(pair, grams, reference_grams, title) for pair in matches]
            count = sum(pair.times for pair in matches)
            hits.append(Hits(count, reference_grams.total, grams.total))
            steps.append(f"{title}: {count} matched, {reference_grams.total} in the reference, {grams.total} here.")
        precision, recall, f1 = self._pool(hits).scores
        sentences = (
            f"Precision = matched / summary = {precision:.5f}.",
            f"Recall = matched / reference = {recall:.5f}.",
            f"F1 of precision {precision:.5f} and recall {recall:.5f} = {f1:.5f}.",
        )
        passages = [Passage("Summary", in_lines(summary), merge(spans)), *passages]
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), (*steps, sentences[measure]))

    def _pool(self, hits: Sequence[Hits]) -> Hits:
        if self.options["multi"] == "best":
            return max(hits, key=lambda reference_hits: reference_hits.scores[1])
        return Hits(*(sum(counts) for counts in zip(*((h.matches, h.reference, h.summary) for h in hits), strict=True)))


def _hits(summary: Words, references: Sequence[Words], n: int, threshold: float) -> list[Hits]:
    summary_grams = summary.grams(n)
    return [
        Hits(overlap(summary_grams, reference_grams, threshold), reference_grams.total, summary_grams.total)
        for reference_grams in (reference.grams(n) for reference in references)
    ]


def _unit(pair: Match, summary: Grams, reference: Grams, title: str) -> Unit:
    gram, partner = " ".join(summary.grams[pair.summary]), " ".join(reference.grams[pair.reference])
    text = gram if gram == partner else f"{gram} ≈ {partner} ({pair.similarity:.2f})"
    return Unit(text, int(summary.times[pair.summary]), int(reference.times[pair.reference]), pair.times, title)


def _passage(title: str, text: Text, n: int, pairs: dict[Gram, Match]) -> Passage:
    return Passage(title, in_lines(text), merge(_spans(in_lines(text), n, pairs)))


def _spans(text: str, n: int, pairs: dict[Gram, Match]) -> list[Span]:
    """The places of the matched n-grams; those that are only close are marked as synonyms."""
    words: list[Place] = locate(text)
    spans = []
    for start in range(len(words) - n + 1):
        gram = tuple(place.word for place in words[start : start + n])
        if gram in pairs:
            kind = "match" if pairs[gram].similarity == 1.0 else "synonym"
            spans.append(Span(words[start].start, words[start + n - 1].end, kind))
    return spans
