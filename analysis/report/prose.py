"""The warnings and the methods paragraph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.compare import Comparison
from analysis.compare.stand_in import THRESHOLD
from analysis.correlate.intervals import is_skewed
from analysis.correlate.resample import draw_weights
from analysis.experiments.pairwise import verdicts
from analysis.plot import number
from analysis.report.figures import Findings
from analysis.report.parts import Study
from analysis.report.verdict import documents_of, systems_of
from analysis.sentence import Grouped, Sentence, join_sentences
from analysis.tables.provenance import versions

FEW = 10
NOISY = 0.9
"""Below such a ceiling the noise of the human scores is worth a warning."""


def warnings(study: Study, findings: Findings) -> list[str]:
    """What a reader could be misled by."""
    return [
        *([study.filtered] if study.filtered else []),
        *_other_people(study),
        *_few(study, findings),
        *_duplicates(study),
        *_missing(study, findings),
        *_ranks(study),
        *_many_tests(findings),
        *_negative(findings),
        *_skewed(study, findings),
        *_noise(study, findings),
        *_different_systems(findings),
    ]


def _other_people(study: Study) -> list[Sentence]:
    """Human measures beside the one reported on: they are no metrics, however well they follow it."""
    others = [name for name in study.cube.humans if name != study.human and name not in study.metrics]
    if not others:
        return []
    return [
        Sentence("%(names)s: given by people too, and so not judged as metrics.", {"names": ", ".join(others)}),
    ]


def _few(study: Study, findings: Findings) -> list[Sentence]:
    if len(study.cube.systems) >= FEW or findings.lead is None:
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


NEIGHBOUR_DRAWS = 10_000


def _ranks(study: Study) -> list[Sentence]:
    """Neighbours in the human ranking that the judgments can't tell apart."""
    matrix = study.cube.matrix(study.human)
    order = np.argsort(-np.nan_to_num(study.cube.system_scores(study.human), nan=-np.inf), kind="stable")
    if len(order) < 2 or matrix.shape[1] < 2 or study.cube.is_whole(study.human):
        return []
    weights = draw_weights(study.seed, NEIGHBOUR_DRAWS, matrix.shape[1], 5)
    close = sum(int(verdicts(matrix[[a, b]], weights, whatever_seed=True)[0] == 0) for a, b in pairwise(order.tolist()))
    if not close:
        return []
    if len(order) == 2:
        return [Sentence("The two systems can't be told apart at 95 %%: their order is no result.")]
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
    cautions = (findings.comparison.too_coarse(), findings.comparison.left_to_chance())
    return [
        *(caution for caution in cautions if caution),
        Sentence(
            "%(n)s comparisons of metrics were made; their p-values are adjusted (%(how)s), the intervals of single "
            "correlations aren't.",
            {"n": len(findings.comparison.pairs), "how": findings.comparison.correction},
        ),
    ]


def _negative(findings: Findings) -> list[Sentence]:
    """Metrics whose sign was turned though it isn't sure which way they run."""
    below = [result.metric for result in findings.standing.metrics if result.turned and result.own_low <= 0]
    if not below:
        return []
    return [
        Sentence(
            "%(names)s: the correlation is negative, but may as well be positive. It is judged with its sign turned.",
            {"names": ", ".join(below)},
        )
    ]


def _skewed(study: Study, findings: Findings) -> list[Sentence]:
    """System scores that are far from normal: the intervals of r are too narrow then."""
    names = [study.human, *([findings.lead.metric] if findings.lead else [])]
    skewed = [name for name in names if findings.lead and is_skewed(study.cube.system_scores(name))]
    if not skewed:
        return []
    return [
        Sentence(
            "The systems' scores by %(names)s are not normal (Shapiro and Wilk): single systems far from the others "
            "make intervals of correlations too narrow, down to 80 %% instead of 95 %%.",
            {"names": ", ".join(skewed)},
        )
    ]


def _noise(study: Study, findings: Findings) -> list[Sentence]:
    """How much of the human scores is noise, or that nobody knows."""
    if findings.lead is None:
        return []
    if study.cube.is_whole(study.human):
        return [
            Sentence(
                "%(human)s is given for whole systems, so its noise isn't known: the verdict is about these scores, "
                "not about what more documents would give.",
                {"human": study.human},
            )
        ]
    ceiling = float(findings.lead.noise.ceiling)
    if not ceiling < NOISY:
        return []
    return [
        Sentence(
            "The human scores are noisy: their true means would correlate at only %(ceiling)s with them. More "
            "documents or judgments would help more than other metrics.",
            {"ceiling": number(ceiling, 2)},
        )
    ]


def _different_systems(findings: Findings) -> list[Sentence]:
    counts = sorted({result.n for result in findings.standing.metrics})
    if len(counts) < 2:
        return []
    return [
        Sentence(
            "Metrics were scored on different systems (%(least)s to %(most)s of them): their correlations can't be "
            "compared by eye; the paired tests take the systems that both have.",
            {"least": counts[0], "most": counts[-1]},
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
        notes.append(_judges(study.judgments))
    return notes


def _judges(judgments: pd.DataFrame) -> Sentence:
    """How many people judged; where every assignment has a worker id of its own nobody can know."""
    n, workers = Grouped(len(judgments)), judgments["worker_id"].nunique()
    if "assignment_id" in judgments.columns and workers > 1 and judgments["assignment_id"].nunique() == workers:
        return Sentence(
            "It rests on %(n)s judgments in %(assignments)s assignments, each with a worker id of its own.",
            {"n": n, "assignments": Grouped(workers)},
        )
    return Sentence("It rests on %(n)s judgments by %(workers)s workers.", {"n": n, "workers": workers})


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
            "Intervals are 95 %%. At system level they follow from the distribution of r for normal scores (Hotelling "
            "1953) and speak of other systems on these documents. At summary level and for the systems' means they "
            "are expanded percentile bootstrap intervals (Hesterberg 2015), %(n)s resamples of documents.",
            {"n": study.resamples},
        ),
        Sentence(
            "The verdict: a metric can stand in for people if the true means correlate at %(threshold)s or more, with "
            "either sign. Its intervals hold for all metrics together (Bonferroni) and allow for the noise of the "
            "documents. It is shown or refuted only if its interval lies on one side of %(threshold)s, and at 80 %% "
            "whichever system is left out; shown only if that holds within groups of systems too, taken together and "
            "each by itself.",
            {"threshold": f"{THRESHOLD:g}".removeprefix("0")},
        ),
    ]
    if findings.comparison is not None:
        notes.append(_compared(findings.comparison))
    if findings.pairs:
        notes.append(
            Sentence(
                "Pairs of systems were compared by a paired bootstrap over documents (1,000 resamples, equal means "
                "counted half for each side); a verdict needs 95 %%, two-sided."
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
