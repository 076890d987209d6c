"""The figures of the report, in the order of its argument."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare import Comparison, compare
from analysis.compare.stand_in import SHOWN, StandIn, StudyVerdict, judge_metrics
from analysis.correlate import CorrelationResult, correlate, system_means
from analysis.correlate.coefficients import kendall
from analysis.correlate.noise import QUIET
from analysis.correlate.score_cube import ScoreCube
from analysis.experiments.accuracy import pair_accuracy
from analysis.experiments.pairwise import PairwiseF1, pairwise_f1
from analysis.experiments.topk import TopK, top_k
from analysis.plot import score_bars, system_scatter
from analysis.plot.metrics import (
    correlation_bars,
    f1_bars,
    frame_of,
    level_difference,
    significance_matrix,
    topk_lines,
    value_matrix,
)
from analysis.report.parts import Figure, Study
from analysis.sentence import Sentence

CORRELATION_COLUMNS = ["metric", "level", "coefficient", "value", "n_used", "n_undefined", "low", "high"]
MOST_IN_LINES = 8
"""More lines than that in one chart can't be told apart; the table has them all."""


@dataclass(frozen=True)
class Findings:
    """Everything that is worked out once and used by figures, verdict and warnings."""

    means: pd.DataFrame
    system: list[CorrelationResult]
    summary: list[CorrelationResult]
    comparison: Comparison | None
    pairs: list[PairwiseF1]
    top: list[TopK]
    standing: StudyVerdict

    @property
    def lead(self) -> StandIn | None:
        """The metric that the verdict speaks of: the best that is shown, else the closest of all."""
        shown = self.standing.with_answer(SHOWN)
        return next(iter(shown or self.standing.metrics), None)


def work_out(study: Study) -> Findings:
    """All numbers of the report."""
    human, metrics = study.human, list(study.metrics)
    has_documents = not study.cube.is_whole(human)
    cellwise = [name for name in metrics if has_documents and not study.cube.is_whole(name)]
    options: dict[str, Any] = {"human": human, "ci": study.resamples, "seed": study.seed}
    is_enough = len(study.cube.systems) >= 3
    complete = [name for name in cellwise if _covers(study.cube, human, name)]
    return Findings(
        system_means(study.cube, human, study.resamples, study.seed),
        correlate(study.cube, metrics=metrics, interval="exact", **options) if metrics and is_enough else [],
        correlate(study.cube, metrics=cellwise, level="summary", resample="inputs", **options)
        if cellwise and is_enough
        else [],
        compare(study.cube, human=human, metrics=metrics, seed=study.seed, flip=True)
        if len(metrics) > 1 and is_enough
        else None,
        pairwise_f1(study.cube, human=human, metrics=complete, seed=study.seed)
        if is_enough and complete and len(study.cube.documents) > 1
        else [],
        top_k(study.cube, human=human, metrics=metrics) if metrics and len(study.cube.systems) > 4 else [],
        judge_metrics(study.cube, human, metrics),
    )


def _covers(cube: ScoreCube, human: str, metric: str) -> bool:
    is_judged = np.isfinite(cube.matrix(human)).any(axis=1)
    return bool(np.isfinite(cube.matrix(metric)[is_judged]).any(axis=1).all())


def command(study: Study, name: str, *options: str) -> str:
    """A command line on the scores of the study."""
    conditions = [argument for condition in study.where for argument in ("--where", condition)]
    arguments = ["python", "-m", "analysis", name, *study.source, "--human", study.human, *options, *conditions]
    return shlex.join([*arguments, "--seed", str(study.seed)])


def of_metrics(study: Study) -> list[str]:
    """`--metrics` with the metrics of the study."""
    return ["--metrics", ",".join(study.metrics)]


def agreement_figure(study: Study) -> Figure | None:
    """How far the judges agree, by several readings that are all in use."""
    from analysis.agreement import agreement
    from analysis.plot import ACCENT, altair, names_axis, themed
    from analysis.tables import AnalysisError

    if study.judgments is None or study.judgments.empty:
        return None
    yes_no = bool(study.judgments["value"].isin([0, 1]).all())
    level = "nominal" if yes_no else "interval"
    rows = []
    readings: list[tuple[str, dict[str, Any]]] = [
        ("alpha, all units pooled", {"coefficient": "alpha"}),
        ("alpha, mean per summary", {"coefficient": "alpha", "per": ["doc_id", "system"]}),
    ]
    if yes_no:
        readings.append(("AC1, all units pooled", {"coefficient": "ac1"}))
    for name, options in readings:
        try:
            result = agreement(study.judgments, level=level, ci=300, cluster="doc_id", seed=study.seed, **options)[0]
        except AnalysisError:
            continue
        rows.append({"reading": name, **{key: getattr(result, key) for key in _AGREEMENT}})
    if not rows:
        return None
    table = pd.DataFrame(rows)
    alt = altair()
    base = alt.Chart(table).encode(y=alt.Y("reading:N", sort=None, title=None, axis=names_axis(table["reading"], 280)))
    scale = alt.Scale(domain=[min(0.0, float(table["low"].min())), 1])
    rule = base.mark_rule(strokeWidth=1.5, color=ACCENT).encode(
        x=alt.X("low:Q", title="agreement", scale=scale), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, color=ACCENT, opacity=1).encode(
        x="value:Q", tooltip=list(table.columns)
    )
    title = alt.Title("Agreement of the judges", subtitle="95 % interval by bootstrap over documents")
    line = ["python", "-m", "analysis", "agreement", study.judgments_source, "--level", level]
    line += ["--ci", "300", "--cluster", "doc_id", "--seed", str(study.seed)]
    return Figure(
        "agreement",
        Sentence("Do the judges agree?"),
        Sentence(
            "Krippendorff's alpha, and Gwet's AC1 for yes/no answers: 1 is full agreement, 0 what chance would give. "
            "The readings answer different questions and may lie far apart."
        ),
        themed(alt.layer(rule, dots).properties(width=240, height=alt.Step(24), title=title)),
        table,
        shlex.join(line),
    )


_AGREEMENT = ("value", "low", "high", "level", "n_units", "n_undefined")


def human_figure(study: Study, findings: Findings) -> Figure:
    """The systems by human score."""
    return Figure(
        "human-scores",
        Sentence("Human score per system"),
        Sentence(
            "Mean %(human)s over documents. Overlapping intervals: don't read the order as a ranking.",
            {"human": study.human},
        ),
        score_bars(findings.means, f"{study.human} per system"),
        findings.means,
        command(study, "report", "--figure", "human-scores", "--out", "report"),
    )


def correlation_figure(study: Study, findings: Findings) -> Figure:
    """Which metric ranks the systems as people do (Exp-I)."""
    table = frame_of(findings.system)[CORRELATION_COLUMNS].sort_values("value", ascending=False)
    answers = {result.metric: (result.answer, result.low, result.high) for result in findings.standing.metrics}
    for place, column in enumerate(("verdict", "true_low", "true_high")):
        table[column] = [answers.get(name, ("", float("nan"), float("nan")))[place] for name in table["metric"]]
    return Figure(
        "system-correlation",
        Sentence("Which metric ranks the systems as people do?"),
        Sentence(
            "Correlation of the systems' mean scores with their human scores. Dashed, where known: the noise ceiling, "
            "what the true human means would reach with the observed ones."
        ),
        correlation_bars(findings.system, study.human, _ceiling(findings)),
        table,
        command(
            study, "correlate", *of_metrics(study), "--ci", str(study.resamples), "--plot", "system-correlation.svg"
        ),
    )


def _ceiling(findings: Findings) -> float | None:
    """The noise ceiling, where the human scores show their noise."""
    lead = findings.lead
    return None if lead is None or lead.noise is QUIET else float(lead.noise.ceiling)


def significance_figure(study: Study, comparison: Comparison) -> Figure:
    """Which differences are more than chance (Exp-I, Figure 1)."""
    table = frame_of(comparison.pairs).drop(columns="n")
    return Figure(
        "significance",
        Sentence("Is one metric really better than another?"),
        comparison.population,
        significance_matrix(comparison),
        table,
        command(study, "compare", *of_metrics(study), "--plot", "significance.svg"),
    )


def scatter_figure(study: Study, metric: str) -> Figure:
    """The best metric, system by system."""
    table = pd.DataFrame(
        {
            "system": list(study.cube.systems),
            "group": list(study.cube.groups),
            study.human: study.cube.system_scores(study.human),
            metric: study.cube.system_scores(metric),
        }
    )
    return Figure(
        "best-metric",
        Sentence("%(metric)s, system by system", {"metric": metric}),
        Sentence("One point per system. Points far from the line are systems that the metric over- or underrates."),
        system_scatter(study.scores, study.human, metric, ci=study.resamples, seed=study.seed),
        table,
        command(study, "correlate", "--metrics", metric, "--figure", "scatter", "--plot", "best-metric.svg"),
    )


def level_figure(study: Study, findings: Findings) -> Figure:
    """System and summary level (Exp-IV)."""
    wide = pd.DataFrame(
        {
            "metric": [result.metric for result in findings.summary],
            "system": [_value(findings.system, result.metric) for result in findings.summary],
            "summary": [result.value for result in findings.summary],
            "summary_low": [result.low for result in findings.summary],
            "summary_high": [result.high for result in findings.summary],
            "documents": [result.n_used for result in findings.summary],
            "undefined": [result.n_undefined for result in findings.summary],
        }
    )
    wide["difference"] = wide["system"] - wide["summary"]
    return Figure(
        "levels",
        Sentence("Does it hold for single summaries?"),
        Sentence(
            "The same metrics at both levels. A metric may be trusted with systems and not with single summaries."
        ),
        level_difference(findings.system, findings.summary, study.human),
        wide.sort_values("summary", ascending=False),
        command(
            study, "correlate", *of_metrics(study), "--level", "summary", "--figure", "levels", "--plot", "levels.svg"
        ),
    )


def _value(results: list[CorrelationResult], metric: str) -> float:
    return next(result.value for result in results if result.metric == metric)


def pairwise_figure(study: Study, findings: Findings) -> Figure:
    """Verdicts on pairs of systems (Exp-III)."""
    return Figure(
        "pairwise",
        Sentence("Can a metric tell which of two systems is better?"),
        Sentence(
            "Weighted F1 of the metric's verdicts against the human ones; the dashed line is what the human measure "
            "reaches against itself. The table adds soft pairwise accuracy and the accuracy on pairs of summaries, "
            "ties included, with a threshold from other documents."
        ),
        f1_bars(findings.pairs, study.human),
        _pairwise_table(study, findings),
        command(study, "pairwise", *of_metrics(study), "--plot", "pairwise.svg"),
    )


def _pairwise_table(study: Study, findings: Findings) -> pd.DataFrame:
    table = frame_of(findings.pairs).drop(columns="is_ceiling")
    metrics = [result.metric for result in findings.pairs if not result.is_ceiling]
    accuracies = {
        result.metric: result
        for result in pair_accuracy(study.cube, human=study.human, metrics=metrics, seed=study.seed)
    }
    for column, field in (("soft_accuracy", "soft"), ("tie_accuracy", "accuracy"), ("tie_threshold", "epsilon")):
        table[column] = [getattr(accuracies.get(name), field, math.nan) for name in table["metric"]]
    return table


def topk_figure(study: Study, findings: Findings) -> Figure:
    """The best systems only (Exp-II)."""
    best = sorted(findings.system, key=lambda r: -r.value if r.value == r.value else 9)[:MOST_IN_LINES]
    drawn_metrics = {result.metric for result in best}
    return Figure(
        "top-k",
        Sentence("Does it hold among the best systems?"),
        Sentence(
            "Correlation among the k systems with the highest human score; the %(n)s best metrics are drawn, the "
            "table has all.",
            {"n": len(drawn_metrics)},
        ),
        topk_lines([result for result in findings.top if result.metric in drawn_metrics], study.human),
        frame_of(findings.top).drop(columns="tied"),
        command(study, "topk", *of_metrics(study), "--plot", "top-k.svg"),
    )


def group_figure(study: Study) -> Figure | None:
    """The same correlation within every group of systems."""
    groups = sorted({group for group in study.cube.groups if group})
    group_places = {group: [i for i, name in enumerate(study.cube.groups) if name == group] for group in groups}
    group_places = {group: places for group, places in group_places.items() if len(places) >= 4}
    if len(group_places) < 2:
        return None
    rows = []
    for group, places in {**group_places, "all": list(range(len(study.cube.systems)))}.items():
        cube = study.cube.keep_systems(places)
        for result in correlate(cube, human=study.human, metrics=list(study.metrics), interval="fisher"):
            name = f"{group} (n = {len(places)})"
            row = {"metric": result.metric, "group": name, "value": result.value}
            rows.append({**row, "low": result.low, "high": result.high, "n": result.n_used})
    table = pd.DataFrame(rows)
    order = table[table["group"].str.startswith("all (")].sort_values("value", ascending=False)["metric"].tolist()
    table = table.sort_values("metric", key=lambda names: names.map(order.index), kind="stable")
    return Figure(
        "groups",
        Sentence("Does it hold for every kind of system?"),
        Sentence(
            "System-level Pearson correlation within each group and over all systems. All systems together can look "
            "better or worse than each of their groups."
        ),
        value_matrix(
            table,
            "metric",
            "group",
            "value",
            "Correlation by group of systems",
            "system level, Pearson; intervals in the table",
        ),
        table,
        command(study, "report", "--figure", "groups", "--out", "report"),
    )


def agreement_of_metrics_figure(study: Study) -> Figure:
    """Metrics against each other (SummEval, Figure 2)."""
    names = list(study.metrics)
    vectors = np.stack([study.cube.system_scores(name) for name in names])
    rows = [
        {"a": a, "b": b, "tau": float(kendall(vectors[i], vectors[j]))}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    ]
    table = pd.DataFrame(rows)
    return Figure(
        "metrics-among-themselves",
        Sentence("Which metrics say the same?"),
        Sentence("Kendall's tau-b between the metrics over the systems. Metrics that agree share their mistakes too."),
        value_matrix(table, "a", "b", "tau", "Agreement between metrics", "system level, Kendall τ-b"),
        table,
        command(study, "report", "--figure", "metrics-among-themselves", "--out", "report"),
    )
