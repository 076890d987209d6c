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
        made = Cider(self.options)
        digest = sha256()
        seen: Counter[Gram] = Counter()
        for document in documents:
            made._documents += 1
            counted = [counts(text) for text in document.references]
            seen.update({gram for one in counted for gram in one})
            for one in sorted(" ".join(gram) + f" {n}" for found in counted for gram, n in found.items()):
                digest.update(one.encode("utf-8", "surrogatepass") + b"\n")
            digest.update(b"\f")
        made._frequency = dict(seen)
        made._corpus = f"{made._documents}-{digest.hexdigest()[:12]}"
        return made

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self._vectors(counts(text)) for text in document.references]
        lengths = [_length(text) for text in document.references]
        rows = []
        for summary in summaries:
            ours, length = self._vectors(counts(summary)), _length(summary)
            found = [
                similarity(ours, theirs, length - other) for theirs, other in zip(references, lengths, strict=True)
            ]
            rows.append([10.0 * fsum(found) / len(found)] * len(columns))
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        ours, counted = self._vectors(counts(summary)), counts(summary)
        passages, units, steps = [Passage("Summary", joined(summary))], [], []
        for number, text in enumerate(document.references, start=1):
            title, theirs = f"Reference {number}", counts(text)
            passages.append(Passage(title, joined(text)))
            units += [
                Unit(" ".join(gram), counted[gram], theirs[gram], min(counted[gram], theirs[gram]), title)
                for gram in theirs
                if gram in counted
            ]
            found = similarity(ours, self._vectors(theirs), _length(summary) - _length(text))
            steps.append(f"{title}: the mean clipped cosine times the length factor is {found:.6f}.")
        steps.append(f"Document frequencies come from {self._documents} documents; the score is 10 times the mean.")
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), tuple(steps))

    def versions(self) -> Mapping[str, str]:
        return {"n": "4", "sigma": "6", "words": "unicode-lc", "corpus": self._corpus}

    def _vectors(self, counted: Counter[Gram]) -> list[Vector]:
        """One tf-idf vector per order; a gram in no reference counts as if it stood in one."""
        everything = log(max(self._documents, 1))
        vectors: list[Vector] = [{} for _ in ORDERS]
        for gram, times in counted.items():
            rarity = everything - log(max(1, self._frequency.get(gram, 0)))
            vectors[len(gram) - 1][gram] = times * rarity
        return vectors


def counts(text: Text) -> Counter[Gram]:
    """All n-grams of orders 1 to 4."""
    words = _WORD.findall(joined(text).lower())
    found: Counter[Gram] = Counter()
    for n in ORDERS:
        found.update(zip(*(words[k:] for k in range(n)), strict=False))
    return found


def similarity(ours: Sequence[Vector], theirs: Sequence[Vector], difference: int) -> float:
    """Mean over the orders of the clipped cosine, times a Gaussian of the difference in length."""
    values = []
    for mine, other in zip(ours, theirs, strict=True):
        norm = sqrt(fsum(v * v for v in mine.values())) * sqrt(fsum(v * v for v in other.values()))
        dot = fsum(min(value, other[gram]) * other[gram] for gram, value in mine.items() if gram in other)
        values.append(dot / norm if norm else 0.0)
    return exp(-(difference**2) / (2 * SIGMA**2)) * fsum(values) / len(values)


def _length(text: Text) -> int:
    return len(_WORD.findall(joined(text).lower()))
