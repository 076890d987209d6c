"""Power curves as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.planning import MetricPower, Variances, system_power
from analysis.plot import altair, themed


def power_curve(
    difference: float, variances: Variances, workers: Sequence[int], max_documents: int, alpha: float
) -> pd.DataFrame:
    """Power over documents, one curve per number of workers: documents, workers, power."""
    documents = np.unique(np.linspace(2, max(max_documents, 10), 40).round().astype(int))
    return pd.DataFrame(
        [
            {"documents": int(n), "workers": k, "power": system_power(difference, variances, int(n), k, alpha)}
            for k in workers
            for n in documents
        ]
    )


def system_power_chart(curve: pd.DataFrame, target: float, difference: float) -> Any:
    """Power against documents; the dashed line is the power that is wanted."""
    alt = altair()
    lines = (
        alt.Chart(curve)
        .mark_line()
        .encode(
            x=alt.X("documents:Q", title="documents"),
            y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("workers:O", title="workers per summary"),
            tooltip=["documents", "workers", alt.Tooltip("power:Q", format=".3f")],
        )
    )
    rule = alt.Chart(pd.DataFrame({"power": [target]})).mark_rule(strokeDash=[4, 3]).encode(y="power:Q")
    return themed(
        (lines + rule).properties(width=420, height=260, title=f"Telling systems apart that differ by {difference:g}")
    )


def metric_power_chart(points: Sequence[MetricPower], target: float) -> Any:
    """Power of Williams' test against the number of systems."""
    alt = altair()
    frame = pd.DataFrame([{"systems": point.systems, "power": point.power} for point in points])
    line = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("systems:Q", title="systems"), y=alt.Y("power:Q", title="power", scale=alt.Scale(domain=[0, 1]))
        )
    )
    rule = alt.Chart(pd.DataFrame({"power": [target]})).mark_rule(strokeDash=[4, 3]).encode(y="power:Q")
    return themed((line + rule).properties(width=420, height=260, title="Telling two metrics apart"))
