"""How well each scored metric follows the people of a study: the picture at the top of the Metrics page."""

from __future__ import annotations

from typing import Any

from annotation.jobs.page_cache import cached_page
from annotation.models import Study
from annotation.tables.frames import scores_frame

from .report import human_measures_of

RESAMPLES, SEED = 1000, 0


@cached_page("metrics")
def correlations(study: Study) -> dict[str, Any]:
    """Each metric's correlation over systems with the leading human measure, and a chart; empty without people."""
    from analysis.correlate import correlate
    from analysis.correlate.score_cube import human_measures, without_references
    from analysis.plot import to_svg
    from analysis.plot.metrics import correlation_bars
    from analysis.tables import AnalysisError

    scores, measures = human_measures_of(study)
    if not measures:
        return {}
    human = measures[0]
    scores, references = without_references(scores)
    metrics = sorted(set(scores["metric"]) - set(measures) - set(human_measures(scores_frame(study))))
    try:
        results = correlate(scores, human=human, metrics=metrics, coefficient="kendall", ci=RESAMPLES, seed=SEED)
    except AnalysisError as error:
        return {"human": human, "problem": str(error), "references": references, "rows": {}, "svg": ""}
    rows = {
        result.metric: {"value": result.value, "low": result.low, "high": result.high, "n": result.n_used}
        for result in results
    }
    svg = to_svg(correlation_bars(results, human)) if results else ""
    return {"human": human, "references": references, "rows": rows, "svg": svg}


def with_correlations(scored: list[dict[str, Any]], content: dict[str, Any]) -> list[dict[str, Any]]:
    """The scored metrics, each with its correlation; those that follow people best first."""
    rows = content.get("rows", {})
    joined = [{**row, "correlation": rows.get(row["metric"])} for row in scored]
    return sorted(joined, key=lambda row: -_value(row))


def _value(row: dict[str, Any]) -> float:
    """For sorting: what has no correlation comes last."""
    value = (row["correlation"] or {}).get("value")
    return -2.0 if value is None else float(value)
