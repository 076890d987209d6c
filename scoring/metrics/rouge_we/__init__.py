"""ROUGE-WE: n-gram overlap where an n-gram may be matched to a close one by word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from scoring.explain.explanation import Explanation, Passage, Span, Unit, merge
from scoring.metrics.rouge_we.soft_match import Gram, Grams, Match, Place, Words, locate, match, overlap
from scoring.models.word_vectors import OPTION, VectorFamily
from scoring.options import Option
from scoring.registry import metric
from scoring.texts import Document, Text, in_lines

ORDERS = (1, 2, 3)
NAMES = tuple(f"rouge-we-{n}-{part}" for n, part in product(ORDERS, "prf"))


def _threshold(value: str) -> None:
    if not 0.0 < float(value) <= 1.0:
        raise ValueError("it is above 0 and at most 1")


@dataclass(frozen=True)
class Hits:
    """Matched n-grams, those of the reference, those of the summary."""

    matched: int
    reference: int
    summary: int

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall, F1; 0 where there is nothing to divide by."""
        precision = self.matched / self.summary if self.summary else 0.0
        recall = self.matched / self.reference if self.reference else 0.0
        both = precision + recall
        return precision, recall, 2 * precision * recall / both if both else 0.0


@metric(
    *NAMES,
    title="Overlap of n-grams (1–3) where close word vectors count as equal",
    citation="Ng and Abrecht 2015, Better Summarization Evaluation with Word Embeddings for ROUGE",
    reference="rouge_n_we of S3 (Peyrard et al. 2017) and SummEval (Fabbri et al. 2021)",
    needs=("references", "word vectors"),
    options=(
        Option("threshold", "0.8", "the least cosine that counts as a match (0.5 in REALSumm)", check=_threshold),
        Option(
            "multi",
            "average",
            "several references: pool matches and counts over them, or take the one with the best recall",
            choices=("average", "best"),
            shorthands={"best": "best", "average": "average"},
        ),
        OPTION,
    ),
)
class RougeWe(VectorFamily):
    """Each distinct n-gram of the summary, in order, takes the closest unused one of the reference."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        wanted = [(int(column[-3]), "prf".index(column[-1])) for column in columns]
        orders = sorted({n for n, _ in wanted})
        vectors, threshold = self.vectors(), float(self.options["threshold"])
        references = [Words(text, vectors) for text in document.references]
        rows = []
        for text in summaries:
            summary = Words(text, vectors)
            found = {n: self._pool(_hits(summary, references, n, threshold)).scores for n in orders}
            rows.append([found[n][part] for n, part in wanted])
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        n, part = int(name[-3]), "prf".index(name[-1])
        vectors, threshold = self.vectors(), float(self.options["threshold"])
        ours = Words(summary, vectors).grams(n)
        spans: list[Span] = []
        passages, units, steps, hits = [], [], [], []
        for number, text in enumerate(document.references, start=1):
            title, theirs = f"Reference {number}", Words(text, vectors).grams(n)
            found = match(ours, theirs, threshold)
            spans += _spans(in_lines(summary), n, {ours.grams[one.ours]: one for one in found})
            passages.append(_passage(title, text, n, {theirs.grams[one.theirs]: one for one in found}))
            units += [_unit(one, ours, theirs, title) for one in found]
            hits.append(Hits(sum(one.times for one in found), theirs.total, ours.total))
            one = hits[-1]
            steps.append(f"{title}: {one.matched} matched, {one.reference} in the reference, {one.summary} here.")
        precision, recall, f1 = self._pool(hits).scores
        said = (
            f"Precision = matched / summary = {precision:.5f}.",
            f"Recall = matched / reference = {recall:.5f}.",
            f"F1 of precision {precision:.5f} and recall {recall:.5f} = {f1:.5f}.",
        )
        passages = [Passage("Summary", in_lines(summary), merge(spans)), *passages]
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), (*steps, said[part]))

    def _pool(self, hits: Sequence[Hits]) -> Hits:
        if self.options["multi"] == "best":
            return max(hits, key=lambda one: one.scores[1])
        return Hits(*(sum(counts) for counts in zip(*((h.matched, h.reference, h.summary) for h in hits), strict=True)))


def _hits(summary: Words, references: Sequence[Words], n: int, threshold: float) -> list[Hits]:
    ours = summary.grams(n)
    return [
        Hits(overlap(ours, theirs, threshold), theirs.total, ours.total)
        for theirs in (reference.grams(n) for reference in references)
    ]


def _unit(one: Match, ours: Grams, theirs: Grams, title: str) -> Unit:
    mine, other = " ".join(ours.grams[one.ours]), " ".join(theirs.grams[one.theirs])
    text = mine if mine == other else f"{mine} ≈ {other} ({one.similarity:.2f})"
    return Unit(text, int(ours.times[one.ours]), int(theirs.times[one.theirs]), one.times, title)


def _passage(title: str, text: Text, n: int, matched: dict[Gram, Match]) -> Passage:
    return Passage(title, in_lines(text), merge(_spans(in_lines(text), n, matched)))


def _spans(text: str, n: int, matched: dict[Gram, Match]) -> list[Span]:
    """The places of the matched n-grams; those that are only close are marked as synonyms."""
    words: list[Place] = locate(text)
    found = []
    for start in range(len(words) - n + 1):
        gram = tuple(place.word for place in words[start : start + n])
        if gram in matched:
            kind = "match" if matched[gram].similarity == 1.0 else "synonym"
            found.append(Span(words[start].start, words[start + n - 1].end, kind))
    return found
