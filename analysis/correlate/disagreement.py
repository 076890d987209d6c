"""Where a metric and the humans are apart: standardised differences per summary, and their mean per document."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.tables import AnalysisError


@dataclass(frozen=True)
class Scale:
    """What a measure's values are counted in."""

    mean: float
    sd: float
    """The standard deviation over all summaries, with n in the denominator."""

    def standardised(self, value: float) -> float:
        return (value - self.mean) / self.sd


@dataclass(frozen=True)
class Disagreements:
    """How far a metric and a human measure are apart."""

    human: Scale
    metric: Scale
    summaries: pd.DataFrame
    """The given rows with `difference`: positive where the metric likes a summary better than the humans do."""
    documents: pd.DataFrame
    """One row per document: `value`, the mean absolute difference of its summaries, and `n`, their number."""


def disagreement(pairs: pd.DataFrame) -> Disagreements:
    """Compare two scores of the same summaries: columns `doc_id`, `human` and `metric`.

    Both are standardised over all summaries that have both: z = (x - mean) / sd. A summary's difference is
    z(metric) - z(human); a document's disagreement is the mean of its summaries' absolute differences. A metric that is
    a rising straight line of the human scores disagrees nowhere.
    """
    rows = pairs.dropna(subset=["human", "metric"])
    scales = {}
    for name in ("human", "metric"):
        mean, sd = float(rows[name].mean()), float(rows[name].std(ddof=0))
        if len(rows) < 2 or not sd > 0:
            raise AnalysisError(
                f"There is nothing to compare: {len(rows)} summaries have both scores, and the {name} scores "
                "need at least two different values."
            )
        scales[name] = Scale(mean, sd)
    human, metric = scales["human"], scales["metric"]
    difference = (rows["metric"] - metric.mean) / metric.sd - (rows["human"] - human.mean) / human.sd
    summaries = rows.assign(difference=difference)
    sizes = summaries["difference"].abs().groupby(summaries["doc_id"]).agg(["mean", "count"])
    documents = sizes.rename(columns={"mean": "value", "count": "n"}).reset_index()
    return Disagreements(human, metric, summaries, documents)
