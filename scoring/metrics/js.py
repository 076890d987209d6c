"""Jensen–Shannon divergence between the n-gram distributions of summary and reference, with its sign turned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, log, nan

from scoring.base import Family, library_version
from scoring.explain.explanation import Explanation, Passage, Unit
from scoring.registry import metric
from scoring.texts import Document, Text, joined
from scoring.texts_english import STOP_WORDS, snowball

_WORD = re.compile(r"\w+")
Gram = tuple[str, ...]


@metric(
    "js-1",
    "js-2",
    title="Jensen–Shannon divergence of the distributions of stemmed words or bigrams, negated: higher is better",
    citation="Lin et al. 2006, An Information-Theoretic Approach to Automatic Evaluation of Summaries",
    reference="the js2 of REALSumm (Bhandari et al. 2020) and S3 (Peyrard et al. 2017)",
)
class JensenShannon(Family):
    """Natural logarithm, over the n-grams that each side has; the mean over references."""

    libraries = ("nltk",)

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        sizes = [int(column.removeprefix("js-")) for column in columns]
        references = {n: [distribution(text, n) for text in document.references] for n in sizes}
        rows = []
        for summary in summaries:
            shares = {n: distribution(summary, n) for n in sizes}
            rows.append([_mean([-divergence(shares[n], reference) for reference in references[n]]) for n in sizes])
        return rows

    def versions(self) -> Mapping[str, str]:
        return {
            "words": "unicode-lc",
            "stem": f"snowball-nltk-{library_version('nltk')}",
            "stop": "english-179",
            "log": "e",
        }

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        n = int(name.removeprefix("js-"))
        in_summary = counts(summary, n)
        passages = [Passage("Summary", joined(summary))]
        units, steps = [], []
        for number, text in enumerate(document.references, start=1):
            title, in_reference = f"Reference {number}", counts(text, n)
            passages.append(Passage(title, joined(text)))
            shared = in_summary & in_reference
            grams = dict.fromkeys([*in_reference, *in_summary])
            units += [Unit(" ".join(g), in_summary[g], in_reference[g], shared[g], title) for g in grams]
            value = divergence(distribution(summary, n), distribution(text, n))
            steps.append(f"{title}: the divergence of the two distributions is {value:.6f}.")
        steps.append("The score is minus the mean over the references.")
        return Explanation(name, 0.0, "", tuple(passages), tuple(units), tuple(steps))


def counts(text: Text, n: int) -> Counter[Gram]:
    """Stemmed n-grams; those made of stop words only are left out, and it is the stem that is looked up."""
    words = tuple(map(snowball().__getitem__, _WORD.findall(joined(text).lower())))
    grams = zip(*(words[k:] for k in range(n)), strict=False)
    return Counter(gram for gram in grams if not STOP_WORDS.issuperset(gram))


def distribution(text: Text, n: int) -> dict[Gram, float]:
    """Relative frequencies; empty when there is nothing to count."""
    gram_counts = counts(text, n)
    total = sum(gram_counts.values())
    return {gram: times / total for gram, times in gram_counts.items()}


def divergence(p: Mapping[Gram, float], q: Mapping[Gram, float]) -> float:
    """Jensen–Shannon divergence in nats; undefined when one side has no n-grams."""
    if not p or not q:
        return nan
    p_divergence = fsum(value * log(2 * value / (value + q.get(gram, 0.0))) for gram, value in p.items())
    q_divergence = fsum(value * log(2 * value / (value + p.get(gram, 0.0))) for gram, value in q.items())
    return (p_divergence + q_divergence) / 2


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
