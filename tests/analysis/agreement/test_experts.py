"""Spread, and crowd against experts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.experts import crowd_against_experts, spread_histograms
from analysis.tables import AnalysisError
from tests.analysis.support import table


def scores(*values: float, doc: str = "d") -> pd.DataFrame:
    return table([(doc, "s", "coherence", f"e{i}", value) for i, value in enumerate(values)])


def test_the_spread_of_annotators_by_hand() -> None:
    # 1, 1, 4: mean 2, variance (1 + 1 + 4) / 3 = 2, deviation 1.4142; 3, 3, 3: 0
    (histogram,) = spread_histograms(pd.concat([scores(1, 1, 4), scores(3, 3, 3, doc="e")]), bins=2)
    assert histogram.counts == (1, 1)
    assert histogram.edges[-1] == pytest.approx(2**0.5)
    assert (histogram.mean, histogram.n_items) == (pytest.approx(2**0.5 / 2), 2)
    with pytest.raises(AnalysisError, match="two or more annotators"):
        spread_histograms(scores(1))


def mixed(noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for doc in range(40):
        quality = rng.uniform(1, 5)
        rows += [(f"d{doc:02}", "s", "fluency", f"c{i}", quality + rng.normal(0, noise), "crowd") for i in range(5)]
        rows += [(f"d{doc:02}", "s", "fluency", f"e{i}", quality, "expert") for i in range(3)]
    return table(rows, "doc_id system unit worker_id value role")


def test_crowd_and_experts_correlate_as_their_means_do() -> None:
    judgments = mixed(1.0)
    means = judgments.groupby(["doc_id", "role"])["value"].mean().unstack()
    (correlation,) = crowd_against_experts(judgments)
    assert correlation.value == pytest.approx(np.corrcoef(means["crowd"], means["expert"])[0, 1])
    assert correlation.low < correlation.value < correlation.high
    assert (correlation.n_items, correlation.resamples, correlation.seed) == (40, 1000, 0)


def test_without_experts_it_says_so() -> None:
    with pytest.raises(AnalysisError, match="there are: crowd"):
        crowd_against_experts(mixed(1.0).query("role == 'crowd'"))
