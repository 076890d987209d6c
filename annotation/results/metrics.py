"""What the Metrics pages show: which metrics there are, what each system scored, and how one score came about."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from annotation.common.errors import Refused
from annotation.models import WHOLE_SYSTEM, Job, Study, Summary
from annotation.tables.frames import scores_frame
from annotation.tables.records import records

RESAMPLES = 1000
SORTS = {"system": ("system", True), "mean": ("value", False), "n": ("n", False)}


@dataclass(frozen=True)
class Choice:
    """A family of metrics that can be ticked."""

    title: str
    names: tuple[str, ...]
    citation: str
    missing: str  # what this machine lacks for it; empty when ready


def choices() -> list[Choice]:
    """Every registered family, ready or not."""
    from scoring import registry

    families = {id(registry.get(name).family.description): registry.get(name) for name in registry.known()}
    return [
        Choice(
            metric.family.description.title,
            metric.family.description.names,
            metric.family.description.citation,
            "" if (ready := metric.ready()).ok else ready.missing,
        )
        for metric in families.values()
    ]


def checked_metrics(text: str, ticked: list[str]) -> list[str]:
    """The metrics a person asked for, in canonical form; Refused with the scoring's own sentence otherwise."""
    from scoring import ScoringError, registry

    names = [*ticked, *([text] if text.strip() else [])]
    if not names:
        raise Refused(gettext("Choose at least one metric. Nothing was started."))
    try:
        metrics = registry.parse(names)
        for metric in metrics:
            metric.require_ready()
    except ScoringError as error:
        raise Refused(gettext("%(error)s Nothing was started.") % {"error": error}) from None
    return [metric.name for metric in metrics]


def scored_metrics(study: Study) -> list[dict[str, Any]]:
    """The metrics that have scores, with signature and number of scores: two queries."""
    from django.db.models import Count

    runs = {run.metric: run for run in study.metric_runs.all()}
    counts = study.scores.values("metric").annotate(n=Count("pk"), defined=Count("value")).order_by("metric")
    return [{**row, "undefined": row["n"] - row["defined"], "run": runs.get(row["metric"])} for row in counts]


def current_job(study: Study) -> Job | None:
    """The newest scoring job, while it matters."""
    return study.jobs.filter(kind="score").first()


@dataclass(frozen=True)
class MetricPage:
    """One metric of a study: a row per system, and the distribution as a chart."""

    metric: str
    run: Any
    rows: list[dict[str, Any]]
    chart: str
    spread: str
    documents: list[str]


def metric_page(study: Study, metric: str, sort: str = "mean") -> MetricPage:
    from analysis.correlate import system_means
    from analysis.plot import score_bars, to_svg
    from analysis.plot.quality import score_distributions

    scores = scores_frame(study)
    scores = scores[scores["metric"] == metric]
    if scores.empty:
        scored = (
            ", ".join(study.scores.values_list("metric", flat=True).distinct().order_by("metric")[:30]) or "none yet"
        )
        raise Refused(
            gettext("This study has no scores of “%(metric)s”. It has: %(known)s.")
            % {"metric": metric[:100], "known": scored}
        )
    means = system_means(scores, metric, ci=RESAMPLES)
    column, ascending = SORTS.get(sort, SORTS["mean"])
    documents = sorted(set(scores["doc_id"]) - {WHOLE_SYSTEM})
    return MetricPage(
        metric=metric,
        run=study.metric_runs.filter(metric=metric).first(),
        rows=records(means.sort_values(column, ascending=ascending, kind="stable")),
        chart=to_svg(score_bars(means, title=metric)),
        spread=to_svg(score_distributions(scores, metric)) if documents else "",
        documents=documents,
    )


def explained(study: Study, metric: str, doc_id: str, system: str) -> tuple[Summary, Any]:
    """The summary, and how its score came about."""
    from scoring import ScoringError, explain

    summary = (
        Summary.objects.filter(document__study=study, document__doc_id=doc_id, system__name=system)
        .select_related("document", "system")
        .first()
    )
    if summary is None:
        raise Refused(gettext("There is no such summary in this study."))
    references = [reference.text for reference in summary.document.references.all()]
    try:
        return summary, explain(metric, summary.text, references, summary.document.source)
    except ScoringError as error:
        raise Refused(str(error)) from None
