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

    ours: Item
    theirs: Item
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

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        vectors, split = self.vectors(), self.options["split"]
        references = [content(text, vectors, split) for text in document.references]
        theirs = {kind: [make_bag(kind, text, vectors) for text in references] for kind in columns}
        rows = []
        for text in summaries:
            ours = content(text, vectors, split)
            row = []
            for kind in columns:
                bag = make_bag(kind, ours, vectors)
                row.append(self._pool([similarity(bag, other) for other in theirs[kind]]))
            rows.append(row)
        return rows

    def versions(self) -> Mapping[str, str]:
        facts = {**super().versions(), "stop": "english-179", "distance": "l2", "emd": f"pot-{library_version('POT')}"}
        if self.options["split"] == "auto":
            facts["pysbd"] = library_version("pysbd")
        return facts

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        vectors, split = self.vectors(), self.options["split"]
        ours = content(summary, vectors, split)
        mine = make_bag(name, ours, vectors)
        passages = [_passage("Summary", summary, (content(text, vectors, split) for text in document.references))]
        units: list[Unit] = []
        steps: list[str] = []
        for number, text in enumerate(document.references, start=1):
            title, theirs = f"Reference {number}", content(text, vectors, split)
            other = make_bag(name, theirs, vectors)
            passages.append(_passage(title, text, [ours]))
            units += _units(mine, other, title)
            steps += _steps(mine, other, title)
        how = "best" if self.options["multi"] == "best" else "mean"
        steps.append(f"The score is the {how} of exp(−distance) over the references.")
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), tuple(steps))

    def _pool(self, found: Sequence[float]) -> float:
        return max(found) if self.options["multi"] == "best" else fsum(found) / len(found)


def content(text: Text, vectors: WordVectors, split: str) -> list[Item]:
    """The words of each sentence that take part; sentences without any are left out."""
    found = (
        tuple(
            word
            for word in TOKEN.findall(sentence.lower())
            if word.isalpha() and word not in STOP_WORDS and vectors.has(word)
        )
        for sentence in sentences(text, split)
    )
    return [words for words in found if words]


def make_bag(kind: str, text: Sequence[Item], vectors: WordVectors) -> Bag:
    """Words weigh their count, sentences the number of their words (Clark et al., section 3)."""
    weights: Counter[Item] = Counter()
    parts: list[Matrix] = []
    if kind != "sms":
        words = Counter(word for sentence in text for word in sentence)
        weights.update({(word,): times for word, times in words.items()})
        parts.append(vectors.of(words))
    if kind != "wms":
        whole = Counter(text)
        # A sentence of one word is an item of its own beside that word: the empty string keeps them apart.
        weights.update({(*sentence, ""): len(sentence) * times for sentence, times in whole.items()})
        parts += [vectors.of(sentence).mean(axis=0, keepdims=True) for sentence in whole]
    return Bag(weights, np.vstack(parts) if weights else np.empty((0, 0)))


def similarity(ours: Bag, theirs: Bag) -> float:
    """exp(−distance); undefined when one side has nothing to carry."""
    if not ours.weights or not theirs.weights:
        return nan
    return exp(-_distance(ours, theirs))


def _distance(ours: Bag, theirs: Bag) -> float:
    from scipy.spatial.distance import cdist

    left, right = _residues(ours, theirs)
    moved = left > 0
    wanted = right > 0
    if not moved.any():
        return 0.0
    costs = cdist(ours.vectors[moved], theirs.vectors[wanted])
    share = left.sum() / (ours.total * theirs.total)
    return float(share) * earth_mover.distance(left[moved], right[wanted], costs)


def _residues(ours: Bag, theirs: Bag) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What is left on both sides when items that both have stay where they are.

    The distance is a metric, so leaving them costs nothing and is optimal. Weights are counts times the other side's
    total: whole numbers, and equal sums on both sides.
    """
    have, want = ours.total, theirs.total
    left = {item: weight * want - theirs.weights.get(item, 0) * have for item, weight in ours.weights.items()}
    right = {item: weight * have - ours.weights.get(item, 0) * want for item, weight in theirs.weights.items()}
    positive = (np.maximum(np.array(list(side.values()), dtype=np.float64), 0.0) for side in (left, right))
    return next(positive), next(positive)


def flows(ours: Bag, theirs: Bag) -> list[Flow]:
    """The best transport, largest costs first, without what stays where it is."""
    from scipy.spatial.distance import cdist

    left, right = _residues(ours, theirs)
    if not left.any():
        return []
    mine = [item for item, weight in zip(ours.weights, left, strict=True) if weight]
    other = [item for item, weight in zip(theirs.weights, right, strict=True) if weight]
    costs = cdist(ours.vectors[left > 0], theirs.vectors[right > 0])
    shares = earth_mover.plan(left[left > 0], right[right > 0], costs) * left.sum() / (ours.total * theirs.total)
    found = [
        Flow(mine[i], other[j], float(shares[i, j]), float(costs[i, j]))
        for i, j in zip(*np.nonzero(shares), strict=True)
    ]
    return sorted(found, key=lambda flow: -flow.share * flow.distance)


def _steps(ours: Bag, theirs: Bag, title: str) -> list[str]:
    if not ours.weights or not theirs.weights:
        return [f"{title}: one side has no word with a vector, so there is no distance."]
    found = flows(ours, theirs)
    lines = [
        f"{title}: {flow.share:.4f} of the mass goes from “{_name(flow.ours)}” to “{_name(flow.theirs)}”, "
        f"{flow.distance:.3f} apart."
        for flow in found[:_SHOWN_FLOWS]
    ]
    if len(found) > _SHOWN_FLOWS:
        lines.append(f"{title}: {len(found) - _SHOWN_FLOWS} smaller moves.")
    stays = 1.0 - fsum(flow.share for flow in found)
    whole = fsum(flow.share * flow.distance for flow in found)
    return [
        *lines,
        f"{title}: {stays:.4f} stays in its place; the distance is {whole:.6f}, exp(−it) {exp(-whole):.6f}.",
    ]


def _name(item: Item) -> str:
    return " ".join(item).strip()


def _units(ours: Bag, theirs: Bag, title: str) -> list[Unit]:
    both = [(item, times, theirs.weights[item]) for item, times in ours.weights.items() if item in theirs.weights]
    return [Unit(_name(item), mine, other, min(mine, other), title) for item, mine, other in both]


def _passage(title: str, text: Text, others: Iterable[Sequence[Item]]) -> Passage:
    """The text with the words marked that the other side has too."""
    there = {word for other in others for sentence in other for word in sentence}
    spans = tuple(Span(place.start, place.end) for place in locate(in_lines(text)) if place.word in there)
    return Passage(title, in_lines(text), spans)
