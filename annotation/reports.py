"""The report of a study: can we trust the judges, how good are the systems, which metric follows them.

All statistics are `analysis`'s; this module fetches the tables, asks in the right order, and words the result.
"""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from .models import FilterDecision, Study
from .stored import stored
from .transfer.frames import judgments_frame, scores_frame, scus_frame

RESAMPLES = 1000
SEED = 0
FEW_SYSTEMS = 10


@dataclass(frozen=True)
class Report:
    """What the report page shows; `human` is empty while nothing has been judged."""

    human: str = ""
    verdict: str = ""
    agreement: list[Any] = field(default_factory=list)
    filter: dict[str, Any] = field(default_factory=dict)
    systems: list[dict[str, Any]] = field(default_factory=list)
    correlations: list[Any] = field(default_factory=list)
    charts: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


@stored("report")
def report_content(study: Study) -> dict[str, Any]:
    return asdict(study_report(study))


def study_report(study: Study) -> Report:
    """Filter, agree, aggregate, correlate: the whole thread."""
    from analysis.correlate import system_means

    judgments = judgments_frame(study)
    if judgments.empty:
        return Report()
    kept, decision = _filtered(study, judgments)
    human_scores = _human_scores(study, kept)
    human = str(human_scores["metric"].iloc[0])
    scores = _together(human_scores, scores_frame(study))
    means = system_means(human_scores, human, ci=RESAMPLES, seed=SEED)
    correlations = _correlations(scores, human, set(human_scores["metric"]))
    return Report(
        human=human,
        verdict=_verdict(human, correlations),
        agreement=_agreement(kept),
        filter=decision,
        systems=_records(means),
        correlations=correlations,
        charts=_charts(scores, means, human, correlations),
        warnings=_warnings(correlations),
        commands=_commands(study, human, decision),
    )


def _filtered(study: Study, judgments: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    decision = FilterDecision.objects.filter(study=study, undone_at__isnull=True).first()
    if decision is None:
        return judgments, {}
    from analysis.filters import apply_rules

    result = apply_rules(judgments, decision.rules, seed=decision.seed)
    facts = {
        "rules": decision.rules,
        "seed": decision.seed,
        "rows": len(result.dropped),
        "of": len(judgments),
        "assignments": result.dropped["assignment_id"].nunique() if len(result.dropped) else 0,
    }
    return result.kept, facts


def _without_checks(judgments: pd.DataFrame) -> pd.DataFrame:
    return judgments[~judgments["is_check"].astype(bool)] if "is_check" in judgments else judgments


def _agreement(judgments: pd.DataFrame) -> list[Any]:
    from analysis.agreement import agreement

    real = _without_checks(judgments)
    pooled = agreement(real, ci=RESAMPLES, cluster="doc_id", seed=SEED)
    per_task = agreement(real, per=["doc_id", "system"], undefined="one", ci=RESAMPLES, cluster="doc_id", seed=SEED)
    return [
        {"name": "pooled over all units", "result": pooled[0]},
        {"name": "mean over tasks, undefined as 1", "result": per_task[0]},
    ]


def _human_scores(study: Study, judgments: pd.DataFrame) -> pd.DataFrame:
    from analysis.aggregate import aggregate

    return aggregate(_without_checks(judgments), scus=scus_frame(study))


def _together(human: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """One scores table; what was computed here stands for an imported measure of the same name."""
    columns = [name for name in ("doc_id", "system", "group", "metric", "value") if name in human]
    rest = metrics[~metrics["metric"].isin(human["metric"])]
    return pd.concat([human[columns], rest[[name for name in columns if name in rest]]], ignore_index=True)


def _correlations(scores: pd.DataFrame, human: str, own: set[str]) -> list[Any]:
    from analysis.correlate import correlate

    metrics = sorted(set(scores["metric"]) - own)
    if not metrics or scores["system"].nunique() < 3:
        return []
    system = correlate(scores, human=human, metrics=metrics, ci=RESAMPLES, seed=SEED)
    summary = correlate(scores, human=human, metrics=metrics, level="summary", coefficient="kendall", seed=SEED)
    rows = [{"metric": a.metric, "system": a, "summary": b} for a, b in zip(system, summary, strict=True)]
    return sorted(rows, key=lambda row: -row["system"].value if math.isfinite(row["system"].value) else math.inf)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]


def _charts(scores: pd.DataFrame, means: pd.DataFrame, human: str, correlations: list[Any]) -> dict[str, str]:
    from analysis import plot

    charts = {"systems": plot.to_svg(plot.score_bars(means, title=f"{human} per system"))}
    if correlations:
        charts["scatter"] = plot.to_svg(plot.system_scatter(scores, human, correlations[0]["metric"]))
    return charts


def _verdict(human: str, correlations: list[Any]) -> str:
    if not correlations:
        return "People have judged; no metric has been scored yet, so there is nothing to compare them with."
    best = correlations[0]["system"]
    if not math.isfinite(best.value):
        return f"No metric's correlation with {human} is defined on these systems."
    sure = "and its interval stays above zero" if best.low > 0 else "but its interval includes zero"
    return (
        f"Among {len(correlations)} metrics, {best.metric} follows {human} best over {best.n_used} systems: "
        f"r = {best.value:.2f} [{best.low:.2f}, {best.high:.2f}], {sure}."
    )


def _warnings(correlations: list[Any]) -> list[str]:
    if correlations and correlations[0]["system"].n_used < FEW_SYSTEMS:
        n = correlations[0]["system"].n_used
        return [f"Only {n} systems: a correlation over so few points says little, whatever its size."]
    return []


def _commands(study: Study, human: str, decision: dict[str, Any]) -> list[str]:
    judgments, lines = (
        "judgments.csv",
        [f'python manage.py export_study STUDY --name "{study.name}"', "cd STUDY"],
    )
    if decision:
        rules = " ".join(f"--rule {rule}" for rule in decision["rules"])
        lines.append(
            f"python -m analysis filter {judgments} {rules} --seed {decision['seed']}"
            " --out kept.csv --dropped dropped.csv"
        )
        judgments = "kept.csv"
    return [
        *lines,
        f"python -m analysis agreement {judgments} --ci {RESAMPLES} --cluster doc_id --seed {SEED}",
        f"python -m analysis aggregate {judgments} --out human.csv",
        f"python -m analysis correlate scores.csv human.csv --human {human} --ci {RESAMPLES} --seed {SEED}",
    ]
