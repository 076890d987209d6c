"""How often a metric prefers what people prefer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.preferences.comparisons import TIE, check_pairs
from analysis.preferences.shares import clustered_share


@dataclass(frozen=True)
class MetricAccuracy:
    """One metric on the pairs that people decided."""

    metric: str
    accuracy: float
    """Share of pairs in which it gives the preferred summary the higher score; equal scores count half."""
    low: float
    high: float
    n_pairs: int
    """Pairs with a majority of people and both scores; even votes are left out."""


def metric_accuracy(preferences: pd.DataFrame, scores: pd.DataFrame) -> list[MetricAccuracy]:
    """Every metric of the scores table that has scores of single summaries, the most accurate first."""
    majority = _majority(preferences)
    results = []
    for metric, rows in scores[scores["doc_id"] != "*"].groupby("metric", sort=True):
        value = rows.set_index(["doc_id", "system"])["value"]
        pairs = majority.assign(
            higher=value.reindex(pd.MultiIndex.from_frame(majority[["doc_id", "preferred"]])).to_numpy(),
            lower=value.reindex(pd.MultiIndex.from_frame(majority[["doc_id", "other"]])).to_numpy(),
        ).dropna(subset=["higher", "lower"])
        if pairs.empty:
            continue
        right = (np.sign(np.asarray(pairs["higher"] - pairs["lower"], dtype=np.float64)) + 1) / 2
        share = clustered_share(right, pairs["doc_id"])
        results.append(MetricAccuracy(str(metric), share.value, share.low, share.high, share.n))
    return sorted(results, key=lambda result: -result.accuracy)


def _majority(preferences: pd.DataFrame) -> pd.DataFrame:
    """The pairs that more people decided one way than the other: doc_id, preferred, other."""
    check_pairs(preferences)
    lower = preferences[["system_a", "system_b"]].min(axis=1)
    upper = preferences[["system_a", "system_b"]].max(axis=1)
    vote = np.where(preferences["preferred"] == TIE, 0, np.where(preferences["preferred"] == lower, 1, -1))
    rows = preferences.assign(lower=lower, upper=upper, vote=vote)
    keys = ["doc_id", *(["unit"] if "unit" in rows.columns else []), "lower", "upper"]
    votes = rows.groupby(keys, sort=True)["vote"].sum().reset_index()
    votes = votes[votes["vote"] != 0]
    is_lower = votes["vote"] > 0
    preferred, other = votes["lower"].where(is_lower, votes["upper"]), votes["upper"].where(is_lower, votes["lower"])
    return votes.assign(preferred=preferred, other=other)[["doc_id", "preferred", "other"]]
