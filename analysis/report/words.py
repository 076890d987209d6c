"""The verdict, the warnings and the methods paragraph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.compare import Comparison
from analysis.correlate import FEW_SYSTEMS, CorrelationResult
from analysis.experiments.pairwise import verdicts
from analysis.plot import number
from analysis.provenance import versions
from analysis.report.figures import Findings
from analysis.report.parts import Study
from analysis.resample import draw_weights

FEW = 10
STRONG, FAIR = 0.8, 0.5
SURE = 0.7
"""A metric stands in for people only when the lower end of its interval is so high."""


def best_metric(found: Findings) -> CorrelationResult | None:
    """The metric with the highest system-level correlation."""
    defined = [result for result in found.system if result.value == result.value]
    return max(defined, key=lambda result: result.value) if defined else None


def counted(n: int, thing: str) -> str:
    """A number with its noun: 1 system, 25 systems."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def verdict(study: Study, found: Findings) -> str:
    """Two sentences that a newcomer understands."""
    best = best_metric(found)
    systems, documents = counted(len(study.cube.systems), "system"), counted(len(study.cube.documents), "document")
    if best is None:
        return f"{systems} were judged on {documents} by {study.human}. {_nothing_yet(study)}"
    here = f"On these {systems} and {documents}"
    strength = f"(r = {number(best.value)}, 95 % interval {number(best.low)} to {number(best.high)})"
    if _useless(best):
        least = f"{here} no metric follows {study.human} well: the closest is {best.metric} {strength}."
        return f"{least} None of these metrics can stand in for human judgment here."
    start = f"{here}, {best.metric} follows {study.human} most closely {strength}"
    return f"{start}{_rivals(found.comparison, best.metric)}. {_advice(found, best)}"


def _useless(best: CorrelationResult) -> bool:
    return best.value < FAIR or not best.low > 0


def _nothing_yet(study: Study) -> str:
    if not study.metrics:
        return (
            "There is no automatic metric to judge yet: add metric scores to the table, and this page will say which "
            "of them deserve trust."
        )
    if len(study.cube.systems) < FEW_SYSTEMS:
        return f"No metric can be judged on fewer than {FEW_SYSTEMS} systems: add systems."
    return "No metric can be judged: every correlation is undefined, for the reasons below."


def _rivals(comparison: Comparison | None, best: str) -> str:
    """Which other metrics the best one doesn't beat."""
    if comparison is None:
        return ""
    others = [item for item in comparison.standings if item.metric != best and item.value == item.value]
    equal = [item.metric for item in others if best not in item.beaten_by]
    if not others:
        return ""
    if not equal:
        return " and is significantly better than every other metric"
    names = ", ".join(equal[:4]) + (f" and {len(equal) - 4} more" if len(equal) > 4 else "")
    return f", but with this data it can't be told apart from {names}"


def _advice(found: Findings, best: CorrelationResult) -> str:
    sure = best.value >= STRONG and best.low >= SURE
    use = "It can stand in for people" if sure else "It gives a rough idea, no more,"
    use += " when systems of this kind are ranked"
    summary = next((r for r in found.summary if r.metric == best.metric), None)
    if summary and summary.value == summary.value and summary.value < STRONG:
        use += f", but not when single summaries are judged, where it reaches only {number(summary.value, 2)}"
    return f"{use}."


def warnings(study: Study, found: Findings) -> list[str]:
    """What a reader could be misled by."""
    return [
        *_few(study),
        *_duplicates(study),
        *_missing(study, found),
        *_ranks(study),
        *_many_tests(found),
        *_negative(found),
    ]


def _few(study: Study) -> list[str]:
    n = len(study.cube.systems)
    if n >= FEW:
        return []
    return [
        f"Only {counted(n, 'system')}: correlations over so few are uncertain, whatever their value. See the intervals."
    ]


def _duplicates(study: Study) -> list[str]:
    """Systems that are one system under two names: equal scores throughout, or equal texts."""
    filled = np.nan_to_num(study.cube.values, nan=-1e300).transpose(1, 0, 2).reshape(len(study.cube.systems), -1)
    notes = []
    if filled.size:
        _, first, inverse = np.unique(filled, axis=0, return_index=True, return_inverse=True)
        for i, group in enumerate(np.asarray(inverse).ravel()):
            if first[group] != i:
                a, b = study.cube.systems[first[group]], study.cube.systems[i]
                notes.append(f"{a} and {b} have the same scores throughout: one system seems to count twice.")
    if study.summaries is not None:
        notes += _equal_texts(study.summaries)
    return notes


def _equal_texts(summaries: pd.DataFrame) -> list[str]:
    text = summaries["summary"].map(lambda value: value if isinstance(value, str) else "\n".join(value))
    keys = summaries["system"].astype(str)
    if "group" in summaries.columns:
        keys = summaries["group"].fillna("").astype(str) + "/" + keys
    wide = pd.DataFrame({"d": summaries["doc_id"], "s": keys.str.removeprefix("/"), "t": text}).pivot_table(
        index="s", columns="d", values="t", aggfunc="first"
    )
    seen: dict[tuple[str, ...], str] = {}
    notes = []
    for name, row in wide.iterrows():
        whole = tuple(row.fillna("").tolist())
        if whole in seen:
            notes.append(f"{seen[whole]} and {name} have the same text for every document: one system under two names.")
        seen.setdefault(whole, str(name))
    return notes


def _missing(study: Study, found: Findings) -> list[str]:
    used = {study.human, *study.metrics}
    notes = [
        part.sentence() for part in study.cube.coverage() if part.metric in used and not part.complete and part.n_scores
    ]
    notes += [result.note for result in found.system if result.note]
    undefined = max((result.n_undefined for result in found.summary), default=0)
    if undefined:
        notes.append(f"At summary level up to {undefined} documents have an undefined correlation and are left out.")
    return notes


def _ranks(study: Study) -> list[str]:
    """Neighbours in the human ranking that the judgments can't tell apart."""
    matrix = study.cube.matrix(study.human)
    order = np.argsort(-np.nan_to_num(study.cube.system_scores(study.human), nan=-np.inf), kind="stable")
    if len(order) < 2 or matrix.shape[1] < 2 or study.cube.is_whole(study.human):
        return []
    weights = draw_weights(study.seed, study.resamples or 1000, matrix.shape[1], 5)
    close = sum(int(verdicts(matrix[[a, b]], weights)[0] == 0) for a, b in pairwise(order.tolist()))
    if not close:
        return []
    return [
        f"{close} of the {len(order) - 1} neighbours in the human ranking can't be told apart at 95 %: their order is "
        "no result."
    ]


def _many_tests(found: Findings) -> list[str]:
    if found.comparison is None:
        return []
    tests = len(found.comparison.pairs)
    coarse = found.comparison.too_coarse()
    return [
        *([coarse] if coarse else []),
        f"{tests} comparisons of metrics were made; their p-values are adjusted ({found.comparison.correction}), the "
        "intervals of single correlations aren't.",
    ]


def _negative(found: Findings) -> list[str]:
    below = [result.metric for result in found.system if result.value < 0]
    if not below:
        return []
    return [f"{', '.join(below)}: negative correlation. If lower is better there, turn the sign before comparing."]


def methods(study: Study, found: Findings) -> str:
    """Exactly what was done, as a paper would state it."""
    n, d = len(study.cube.systems), len(study.cube.documents)
    scored = f"{counted(n, 'system')} were scored on {counted(d, 'document')}"
    parts = [f"{scored}; the human measure is {study.human}."]
    if study.where:
        parts.append(f"Only rows with {' and '.join(study.where)} were used.")
    if study.judgments is not None and len(study.judgments):
        workers = study.judgments["worker_id"].nunique()
        parts.append(f"It rests on {len(study.judgments):,} judgments by {workers} workers.")
    parts.append(study.filtered)
    parts.append(
        "A system's score is the mean over its documents. System level: correlation of those means (Pearson unless "
        "said otherwise). Summary level: correlation over systems per document, averaged over documents; documents "
        "on which it is undefined because one side is constant are left out and counted. Kendall's tau is tau-b. "
        "Systems for which a metric has no score are left out of that metric's correlation."
    )
    parts.append(
        f"Intervals are 95 % expanded percentile bootstrap intervals (Hesterberg 2015), {study.resamples} resamples: "
        "of systems at system level, of documents at summary level and for the systems' means."
    )
    if found.comparison is not None:
        c = found.comparison
        draws = f"all {c.resamples} swaps" if c.exact else f"{c.resamples} random swaps"
        parts.append(
            f"Metrics were compared by {c.test.upper()} ({c.alternative}, {draws}, p = (c + 1)/(n + 1) unless all "
            f"are enumerated) on scores standardised per metric, adjusted by {c.correction}."
        )
    if found.pairs:
        parts.append(
            "Pairs of systems were compared by a paired bootstrap over documents (1,000 resamples, equal means counted "
            "half for each side); a verdict needs 95 %."
        )
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    parts.append(f"Seed {study.seed}. Made with {made}.")
    return " ".join(part for part in parts if part)
