"""Word mover's and sentence mover's similarity: how far the words or sentences of two texts must be carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, nan

import numpy as np
import numpy.typing as npt

from scoring.base import library_version
from scoring.explain.explanation import Explanation, Passage, Span, Unit
from scoring.metrics.rouge_we.soft_match import locate
from scoring.models import earth_mover
from scoring.models.word_vectors import OPTION, Matrix, VectorFamily, WordVectors
from scoring.options import multi_option, split_option
from scoring.registry import metric
from scoring.texts import TOKEN, Document, Text, in_lines, sentences
from scoring.texts_english import STOP_WORDS

Item = tuple[str, ...]
"""A word (one string) or a sentence (its words)."""
_SHOWN_FLOWS = 12


@dataclass(frozen=True, eq=False)
class Bag:
    """What is carried: items with whole weights, and where each stands."""

    weights: Mapping[Item, int]
    vectors: Matrix

    @property
    def total(self) -> int:
        return sum(self.weights.values())


@dataclass(frozen=True)
class Flow:
    """A share of the mass that goes from an item of the summary to one of the reference."""

    origin: Item
    target: Item
    share: float
    distance: float


@metric(
    "wms",
    "sms",
    "s+wms",
    title="exp(−earth mover's distance) between the word vectors (wms), sentence vectors (sms) or both (s+wms)",
    citation="Clark et al. 2019, Sentence Mover's Similarity: Automatic Evaluation for Multi-Sentence Texts",
    reference="smd.py of the authors with GloVe vectors; the distance is exact (POT)",
    needs=("references", "word vectors"),
    options=(
        multi_option("several references: the mean of the similarities, or the best"),
        split_option("sentences of a text that comes unsplit: by pysbd, at line ends, or none"),
        OPTION,
    ),
)
class MoversSimilarity(VectorFamily):
    """Words: alphabetic, lower-cased, no stop words, with a vector. A text without any has no distance to another."""

    reports = True
    libraries = ("pyarrow", "ot")

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        vectors, split = self.vectors(), self.options["split"]
        references = [content(text, vectors, split) for text in document.references]
        reference_bags = {kind: [make_bag(kind, text, vectors) for text in references] for kind in columns}
        rows = []
        for text in summaries:
            summary = content(text, vectors, split)
            row = []
            for kind in columns:
                bag = make_bag(kind, summary, vectors)
                row.append(self._pool([similarity(bag, reference) for reference in reference_bags[kind]]))
            rows.append(row)
        return rows

    def versions(self) -> Mapping[str, str]:
        facts = {**super().versions(), "stop": "english-179", "distance": "l2", "emd": f"pot-{library_version('POT')}"}
        if self.options["split"] == "auto":
            facts["pysbd"] = library_version("pysbd")
        return facts

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        vectors, split = self.vectors(), self.options["split"]
        summary_content = content(summary, vectors, split)
        summary_bag = make_bag(name, summary_content, vectors)
        passages = [_passage("Summary", summary, (content(text, vectors, split) for text in document.references))]
        units: list[Unit] = []
        steps: list[str] = []
        for number, text in enumerate(document.references, start=1):
            title, reference_content = f"Reference {number}", content(text, vectors, split)
            reference_bag = make_bag(name, reference_content, vectors)
            passages.append(_passage(title, text, [summary_content]))
            units += _units(summary_bag, reference_bag, title)
            steps += _steps(summary_bag, reference_bag, title)
        pooling = "best" if self.options["multi"] == "best" else "mean"
        steps.append(f"The score is the {pooling} of exp(−distance) over the references.")
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), tuple(steps))

    def _pool(self, similarities: Sequence[float]) -> float:
        return max(similarities) if self.options["multi"] == "best" else fsum(similarities) / len(similarities)


def content(text: Text, vectors: WordVectors, split: str) -> list[Item]:
    """The words of each sentence that take part; sentences without any are left out."""
    sentence_words = (
        tuple(
            word
            for word in TOKEN.findall(sentence.lower())
            if word.isalpha() and word not in STOP_WORDS and vectors.has(word)
        )
        for sentence in sentences(text, split)
    )
    return [words for words in sentence_words if words]


def make_bag(kind: str, text: Sequence[Item], vectors: WordVectors) -> Bag:
    """Words weigh their count, sentences the number of their words (Clark et al., section 3)."""
    weights: Counter[Item] = Counter()
    matrices: list[Matrix] = []
    if kind != "sms":
        words = Counter(word for sentence in text for word in sentence)
        weights.update({(word,): times for word, times in words.items()})
        matrices.append(vectors.of(words))
    if kind != "wms":
        sentence_counts = Counter(text)
        # A sentence of one word is an item of its own beside that word: the empty string keeps them apart.
        weights.update({(*sentence, ""): len(sentence) * times for sentence, times in sentence_counts.items()})
        matrices += [vectors.of(sentence).mean(axis=0, keepdims=True) for sentence in sentence_counts]
    return Bag(weights, np.vstack(matrices) if weights else np.empty((0, 0)))


def similarity(summary: Bag, reference: Bag) -> float:
    """exp(−distance); undefined when one side has nothing to carry."""
    if not summary.weights or not reference.weights:
        return nan
    return exp(-_distance(summary, reference))


def _distance(summary: Bag, reference: Bag) -> float:
    from scipy.spatial.distance import cdist

    supply, demand = _residue(summary, reference), _residue(reference, summary)
    is_moved = supply > 0
    is_demanded = demand > 0
    if not is_moved.any():
        return 0.0
    costs = cdist(summary.vectors[is_moved], reference.vectors[is_demanded])
    share = supply.sum() / (summary.total * reference.total)
    return float(share) * earth_mover.distance(supply[is_moved], demand[is_demanded], costs)


def _residue(bag: Bag, peer: Bag) -> npt.NDArray[np.float64]:
    """What is left of a bag when items that both have stay where they are.

    The distance is a metric, so leaving them costs nothing and is optimal. Weights are counts times the peer's total:
    whole numbers, and equal sums on both sides.
    """
    total, peer_total = bag.total, peer.total
    residue = [weight * peer_total - peer.weights.get(item, 0) * total for item, weight in bag.weights.items()]
    return np.maximum(np.array(residue, dtype=np.float64), 0.0)


def flows(summary: Bag, reference: Bag) -> list[Flow]:
    """The best transport, largest costs first, without what stays where it is."""
    from scipy.spatial.distance import cdist

    supply, demand = _residue(summary, reference), _residue(reference, summary)
    if not supply.any():
        return []
    summary_items = [item for item, weight in zip(summary.weights, supply, strict=True) if weight]
    reference_items = [item for item, weight in zip(reference.weights, demand, strict=True) if weight]
    costs = cdist(summary.vectors[supply > 0], reference.vectors[demand > 0])
    total = summary.total * reference.total
    shares = earth_mover.plan(supply[supply > 0], demand[demand > 0], costs) * supply.sum() / total
    moves = [
        Flow(summary_items[i], reference_items[j], float(shares[i, j]), float(costs[i, j]))
        for i, j in zip(*np.nonzero(shares), strict=True)
    ]
    return sorted(moves, key=lambda flow: -flow.share * flow.distance)


def _steps(summary: Bag, reference: Bag, title: str) -> list[str]:
    if not summary.weights or not reference.weights:
        return [f"{title}: one side has no word with a vector, so there is no distance."]
    moves = flows(summary, reference)
    lines = [
        f"{title}: {flow.share:.4f} of the mass goes from “{_name(flow.origin)}” to “{_name(flow.target)}”, "
        f"{flow.distance:.3f} apart."
        for flow in moves[:_SHOWN_FLOWS]
    ]
    if len(moves) > _SHOWN_FLOWS:
        lines.append(f"{title}: {len(moves) - _SHOWN_FLOWS} smaller moves.")
    unmoved = 1.0 - fsum(flow.share for flow in moves)
    distance = fsum(flow.share * flow.distance for flow in moves)
    return [
        *lines,
        f"{title}: {unmoved:.4f} stays in its place; the distance is {distance:.6f}, exp(−it) {exp(-distance):.6f}.",
    ]


def _name(item: Item) -> str:
    return " ".join(item).strip()


def _units(summary: Bag, reference: Bag, title: str) -> list[Unit]:
    shared = [item for item in summary.weights if item in reference.weights]
    counts = [(_name(item), summary.weights[item], reference.weights[item]) for item in shared]
    return [Unit(*row, min(row[1:]), title) for row in counts]


def _passage(title: str, text: Text, other_texts: Iterable[Sequence[Item]]) -> Passage:
    """The text with the words marked that the other side has too."""
    other_words = {word for other_text in other_texts for sentence in other_text for word in sentence}
    spans = tuple(Span(place.start, place.end) for place in locate(in_lines(text)) if place.word in other_words)
    return Passage(title, in_lines(text), spans)
