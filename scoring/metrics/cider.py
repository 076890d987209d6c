"""CIDEr-D: cosine of tf-idf vectors of n-grams, with document frequencies from the references of the corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import exp, fsum, log, sqrt

from scoring.base import Family
from scoring.explain.explanation import Explanation, Passage, Unit
from scoring.options import Options
from scoring.registry import metric
from scoring.texts import Document, Text, joined

_WORD = re.compile(r"\w+")
ORDERS = (1, 2, 3, 4)
SIGMA = 6.0

Gram = tuple[str, ...]
Vector = dict[Gram, float]


@metric(
    "cider",
    title="Consensus with the references: clipped cosine of tf-idf n-gram vectors (1–4), times 10",
    citation="Vedantam et al. 2015, CIDEr: Consensus-based Image Description Evaluation",
    reference="CIDEr-D of coco-caption (pycocoevalcap's cider), on lower-cased words",
)
class Cider(Family):
    """n = 4, sigma = 6. The corpus is all documents of the run; the signature names it by a hash."""

    needs_corpus = True

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._frequency: dict[Gram, int] = {}
        self._documents = 0
        self._corpus = "none"

    def fit_corpus(self, documents: Iterable[Document]) -> Cider:
        """The same metric with the document frequencies of these documents' references."""
        fitted = Cider(self.options)
        digest = sha256()
        frequency: Counter[Gram] = Counter()
        for document in documents:
            fitted._documents += 1
            counters = [counts(text) for text in document.references]
            frequency.update({gram for counter in counters for gram in counter})
            for line in sorted(" ".join(gram) + f" {n}" for counter in counters for gram, n in counter.items()):
                digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
            digest.update(b"\f")
        fitted._frequency = dict(frequency)
        fitted._corpus = f"{fitted._documents}-{digest.hexdigest()[:12]}"
        return fitted

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self._vectors(counts(text)) for text in document.references]
        lengths = [_length(text) for text in document.references]
        rows = []
        for summary in summaries:
            vectors, size = self._vectors(counts(summary)), _length(summary)
            similarities = [
                similarity(vectors, reference, size - length)
                for reference, length in zip(references, lengths, strict=True)
            ]
            rows.append([10.0 * fsum(similarities) / len(similarities)] * len(columns))
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        vectors, in_summary = self._vectors(counts(summary)), counts(summary)
        passages, units, steps = [Passage("Summary", joined(summary))], [], []
        for number, text in enumerate(document.references, start=1):
            title, in_reference = f"Reference {number}", counts(text)
            passages.append(Passage(title, joined(text)))
            shared = in_summary & in_reference
            units += [
                Unit(" ".join(gram), in_summary[gram], in_reference[gram], shared[gram], title)
                for gram in in_reference
                if gram in shared
            ]
            value = similarity(vectors, self._vectors(in_reference), _length(summary) - _length(text))
            steps.append(f"{title}: the mean clipped cosine times the length factor is {value:.6f}.")
        steps.append(f"Document frequencies come from {self._documents} documents; the score is 10 times the mean.")
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), tuple(steps))

    def versions(self) -> Mapping[str, str]:
        return {"n": "4", "sigma": "6", "words": "unicode-lc", "corpus": self._corpus}

    def _vectors(self, gram_counts: Counter[Gram]) -> list[Vector]:
        """One tf-idf vector per order; a gram in no reference counts as if it stood in one."""
        everything = log(max(self._documents, 1))
        vectors: list[Vector] = [{} for _ in ORDERS]
        for gram, times in gram_counts.items():
            rarity = everything - log(max(1, self._frequency.get(gram, 0)))
            vectors[len(gram) - 1][gram] = times * rarity
        return vectors


def counts(text: Text) -> Counter[Gram]:
    """All n-grams of orders 1 to 4."""
    words = _WORD.findall(joined(text).lower())
    gram_counts: Counter[Gram] = Counter()
    for n in ORDERS:
        gram_counts.update(zip(*(words[k:] for k in range(n)), strict=False))
    return gram_counts


def similarity(summary: Sequence[Vector], reference: Sequence[Vector], difference: int) -> float:
    """Mean over the orders of the clipped cosine, times a Gaussian of the difference in length."""
    values = []
    for vector, target in zip(summary, reference, strict=True):
        norm = sqrt(fsum(v * v for v in vector.values())) * sqrt(fsum(v * v for v in target.values()))
        dot = fsum(min(value, target[gram]) * target[gram] for gram, value in vector.items() if gram in target)
        values.append(dot / norm if norm else 0.0)
    return exp(-(difference**2) / (2 * SIGMA**2)) * fsum(values) / len(values)


def _length(text: Text) -> int:
    return len(_WORD.findall(joined(text).lower()))
