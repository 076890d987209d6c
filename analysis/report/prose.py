"""The verdict, the warnings and the methods paragraph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.compare import Comparison
from analysis.correlate import FEW_SYSTEMS, CorrelationResult
from analysis.correlate.resample import draw_weights
from analysis.experiments.pairwise import verdicts
from analysis.plot import number
from analysis.report.figures import Findings
from analysis.report.parts import Study
from analysis.sentence import Grouped, Sentence, Value, join_sentences, some_of
from analysis.tables.provenance import versions

FEW = 10
STRONG, FAIR = 0.8, 0.5
SURE = 0.7
"""A metric stands in for people only when the lower end of its interval is so high."""


def best_metric(findings: Findings) -> CorrelationResult | None:
    """The metric with the highest system-level correlation."""
    defined = [result for result in findings.system if result.value == result.value]
    return max(defined, key=lambda result: result.value) if defined else None


def systems_of(study: Study) -> Sentence:
    """How many systems: 1 system, 25 systems."""
    n = len(study.cube.systems)
    return Sentence("%(n)s system", {"n": n}) if n == 1 else Sentence("%(n)s systems", {"n": n})


def documents_of(study: Study) -> Sentence:
    """How many documents."""
    n = len(study.cube.documents)
    return Sentence("%(n)s document", {"n": n}) if n == 1 else Sentence("%(n)s documents", {"n": n})


def verdict(study: Study, findings: Findings) -> Sentence:
    """Two sentences that a newcomer understands."""
    best = best_metric(findings)
    data: dict[str, Value] = {"systems": systems_of(study), "documents": documents_of(study), "human": study.human}
    if best is None:
        scope = Sentence("%(systems)s were judged on %(documents)s by %(human)s.", data)
        return join_sentences([scope, _nothing_yet(study)])
    data |= {"metric": best.metric, "value": number(best.value), "low": number(best.low), "high": number(best.high)}
    if _useless(best):
        closest = Sentence(
            "On these %(systems)s and %(documents)s no metric follows %(human)s well: the closest is %(metric)s "
            "(r = %(value)s, 95 %% interval %(low)s to %(high)s).",
            data,
        )
        return join_sentences([closest, Sentence("None of these metrics can stand in for human judgment here.")])
    return join_sentences([_best(findings.comparison, best.metric, data), _advice(findings, best)])


def _useless(best: CorrelationResult) -> bool:
    return best.value < FAIR or not best.low > 0


def _nothing_yet(study: Study) -> Sentence:
    if not study.metrics:
        return Sentence(
            "There is no automatic metric to judge yet: add metric scores to the table, and this page will say which "
            "of them deserve trust."
        )
    if len(study.cube.systems) < FEW_SYSTEMS:
        return Sentence("No metric can be judged on fewer than %(n)s systems: add systems.", {"n": FEW_SYSTEMS})
    return Sentence("No metric can be judged: every correlation is undefined, for the reasons below.")


def _best(comparison: Comparison | None, best: str, data: dict[str, Value]) -> Sentence:
    """The best metric, and which others it doesn't beat."""
    standings = comparison.standings if comparison else ()
    rivals = [item for item in standings if item.metric != best and item.value == item.value]
    equal = [item.metric for item in rivals if best not in item.beaten_by]
    if not rivals:
        return Sentence(
            "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely "
            "(r = %(value)s, 95 %% interval %(low)s to %(high)s).",
            data,
        )
    if not equal:
        return Sentence(
            "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely "
            "(r = %(value)s, 95 %% interval %(low)s to %(high)s) and is significantly better than every other metric.",
            data,
        )
    return Sentence(
        "On these %(systems)s and %(documents)s, %(metric)s follows %(human)s most closely (r = %(value)s, 95 %% "
        "interval %(low)s to %(high)s), but with this data it can't be told apart from %(names)s.",
        {**data, "names": some_of(equal)},
    )


def _advice(findings: Findings, best: CorrelationResult) -> Sentence:
    sure = best.value >= STRONG and best.low >= SURE
    summary = next((result for result in findings.summary if result.metric == best.metric), None)
    if summary is None or not summary.value < STRONG:
        if sure:
            return Sentence("It can stand in for people when systems of this kind are ranked.")
        return Sentence("It gives a rough idea, no more, when systems of this kind are ranked.")
    value = number(summary.value, 2)
    if sure:
        return Sentence(
            "It can stand in for people when systems of this kind are ranked, but not when single summaries are "
            "judged, where it reaches only %(value)s.",
            {"value": value},
        )
    return Sentence(
        "It gives a rough idea, no more, when systems of this kind are ranked, but not when single summaries are "
        "judged, where it reaches only %(value)s.",
        {"value": value},
    )


def warnings(study: Study, findings: Findings) -> list[str]:
    """What a reader could be misled by."""
    return [
        *_few(study),
        *_duplicates(study),
        *_missing(study, findings),
        *_ranks(study),
        *_many_tests(findings),
        *_negative(findings),
    ]


def _few(study: Study) -> list[Sentence]:
    if len(study.cube.systems) >= FEW:
        return []
    return [
        Sentence(
            "Only %(systems)s: correlations over so few are uncertain, whatever their value. See the intervals.",
            {"systems": systems_of(study)},
        )
    ]


def _duplicates(study: Study) -> list[Sentence]:
    """Systems that are one system under two names: equal scores throughout, or equal texts."""
    score_rows = np.nan_to_num(study.cube.values, nan=-1e300).transpose(1, 0, 2).reshape(len(study.cube.systems), -1)
    notes = []
    if score_rows.size:
        _, first, inverse = np.unique(score_rows, axis=0, return_index=True, return_inverse=True)
        for i, group in enumerate(np.asarray(inverse).ravel()):
            if first[group] != i:
                notes.append(
                    Sentence(
                        "%(a)s and %(b)s have the same scores throughout: one system seems to count twice.",
                        {"a": study.cube.systems[first[group]], "b": study.cube.systems[i]},
                    )
                )
    if study.summaries is not None:
        notes += _equal_texts(study.summaries)
    return notes


def _equal_texts(summaries: pd.DataFrame) -> list[Sentence]:
    text = summaries["summary"].map(lambda value: value if isinstance(value, str) else "\n".join(value))
    keys = summaries["system"].astype(str)
    if "group" in summaries.columns:
        keys = summaries["group"].fillna("").astype(str) + "/" + keys
    wide = pd.DataFrame({"d": summaries["doc_id"], "s": keys.str.removeprefix("/"), "t": text}).pivot_table(
        index="s", columns="d", values="t", aggfunc="first"
    )
    names_by_text: dict[tuple[str, ...], str] = {}
    notes = []
    for name, row in wide.iterrows():
        texts = tuple(row.fillna("").tolist())
        if texts in names_by_text:
            notes.append(
                Sentence(
                    "%(a)s and %(b)s have the same text for every document: one system under two names.",
                    {"a": names_by_text[texts], "b": str(name)},
                )
            )
        names_by_text.setdefault(texts, str(name))
    return notes


def _missing(study: Study, findings: Findings) -> list[str]:
    measures = {study.human, *study.metrics}
    notes: list[str] = [
        coverage.sentence()
        for coverage in study.cube.coverage()
        if coverage.metric in measures and not coverage.complete and coverage.n_scores
    ]
    notes += [result.note for result in findings.system if result.note]
    undefined = max((result.n_undefined for result in findings.summary), default=0)
    if undefined:
        notes.append(
            Sentence(
                "At summary level up to %(n)s documents have an undefined correlation and are left out.",
                {"n": undefined},
            )
        )
    return notes


def _ranks(study: Study) -> list[Sentence]:
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
        Sentence(
            "%(close)s of the %(n)s neighbours in the human ranking can't be told apart at 95 %%: their order is no "
            "result.",
            {"close": close, "n": len(order) - 1},
        )
    ]


def _many_tests(findings: Findings) -> list[str]:
    if findings.comparison is None:
        return []
    coarse = findings.comparison.too_coarse()
    return [
        *([coarse] if coarse else []),
        Sentence(
            "%(n)s comparisons of metrics were made; their p-values are adjusted (%(how)s), the intervals of single "
            "correlations aren't.",
            {"n": len(findings.comparison.pairs), "how": findings.comparison.correction},
        ),
    ]


def _negative(findings: Findings) -> list[Sentence]:
    below = [result.metric for result in findings.system if result.value < 0]
    if not below:
        return []
    return [
        Sentence(
            "%(names)s: negative correlation. If lower is better there, turn the sign before comparing.",
            {"names": ", ".join(below)},
        )
    ]


def methods(study: Study, findings: Findings) -> Sentence:
    """Exactly what was done, as a paper would state it."""
    scored = Sentence(
        "%(systems)s were scored on %(documents)s; the human measure is %(human)s.",
        {"systems": systems_of(study), "documents": documents_of(study), "human": study.human},
    )
    notes = [scored, *_data(study), study.filtered, *_estimates(study, findings), _made_with(study)]
    return join_sentences(note for note in notes if note)


def _data(study: Study) -> list[Sentence]:
    """Which rows the scores rest on."""
    notes = []
    if study.where:
        notes.append(Sentence("Only rows with %(conditions)s were used.", {"conditions": " and ".join(study.where)}))
    if study.judgments is not None and len(study.judgments):
        notes.append(
            Sentence(
                "It rests on %(n)s judgments by %(workers)s workers.",
                {"n": Grouped(len(study.judgments)), "workers": study.judgments["worker_id"].nunique()},
            )
        )
    return notes


def _estimates(study: Study, findings: Findings) -> list[Sentence]:
    """How correlations, intervals and tests were worked out."""
    notes = [
        Sentence(
            "A system's score is the mean over its documents. System level: correlation of those means (Pearson unless "
            "said otherwise). Summary level: correlation over systems per document, averaged over documents; documents "
            "on which it is undefined because one side is constant are left out and counted. Kendall's tau is tau-b. "
            "Systems for which a metric has no score are left out of that metric's correlation."
        ),
        Sentence(
            "Intervals are 95 %% expanded percentile bootstrap intervals (Hesterberg 2015), %(n)s resamples: of "
            "systems at system level, of documents at summary level and for the systems' means.",
            {"n": study.resamples},
        ),
    ]
    if findings.comparison is not None:
        notes.append(_compared(findings.comparison))
    if findings.pairs:
        notes.append(
            Sentence(
                "Pairs of systems were compared by a paired bootstrap over documents (1,000 resamples, equal means "
                "counted half for each side); a verdict needs 95 %%."
            )
        )
    return notes


def _compared(comparison: Comparison) -> Sentence:
    n = {"n": comparison.resamples}
    return Sentence(
        "Metrics were compared by %(test)s (%(alternative)s, %(draws)s, p = (c + 1)/(n + 1) unless all are enumerated) "
        "on scores standardised per metric, adjusted by %(correction)s.",
        {
            "test": comparison.test.upper(),
            "alternative": comparison.alternative,
            "draws": Sentence("all %(n)s swaps", n) if comparison.exact else Sentence("%(n)s random swaps", n),
            "correction": comparison.correction,
        },
    )


def _made_with(study: Study) -> Sentence:
    libraries = ", ".join(f"{name} {version}" for name, version in versions().items())
    return Sentence("Seed %(seed)s. Made with %(made)s.", {"seed": study.seed, "made": libraries})
