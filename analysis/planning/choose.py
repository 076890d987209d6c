"""Choosing summaries to judge: where a metric's scores lie, or where metrics disagree most."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.tables import AnalysisError

Summary = tuple[str, str]
"""Document and system."""


def in_range(scores: pd.DataFrame, metric: str, low: float, high: float) -> list[Summary]:
    """The summaries between two quantiles of a metric's scores, both included: .8 and 1 are the best fifth.

    High-scoring summaries are where metrics disagree and human judgments are missing (Peyrard 2019).
    """
    if not 0 <= low < high <= 1:
        raise AnalysisError(f"The range goes from {low:g} to {high:g}, but must go up, from at least 0 to at most 1.")
    values = _wide(scores, [metric])[metric]
    inside = values[values.between(values.quantile(low), values.quantile(high))]
    return [(str(doc_id), str(system)) for doc_id, system in inside.index]


def most_disputed(scores: pd.DataFrame, metrics: Sequence[str], n: int) -> list[Summary]:
    """The n summaries whose ranks among all of them differ most from metric to metric; ties by name."""
    if len(set(metrics)) < 2:
        raise AnalysisError("Metrics can disagree where there are at least two of them.")
    ranks = _wide(scores, metrics).dropna().rank(pct=True)
    spread = (ranks.max(axis=1) - ranks.min(axis=1)).sort_index().sort_values(ascending=False, kind="stable")
    return [(str(doc_id), str(system)) for doc_id, system in spread.index[:n]]


def _wide(scores: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """A column for each metric, a row for each summary that has a score."""
    of_summaries = scores[scores["doc_id"] != "*"]
    known = sorted(of_summaries["metric"].unique())
    for metric in metrics:
        if metric not in known:
            raise AnalysisError(f"The scores have no metric {metric!r}; they have {', '.join(known) or 'none'}.")
    chosen = of_summaries[of_summaries["metric"].isin(metrics)]
    return chosen.pivot_table(index=["doc_id", "system"], columns="metric", values="value").dropna(how="all")
