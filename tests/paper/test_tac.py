"""TAC 2008: agreement of metrics over the whole range (Peyrard 2019, Table 1, its first half)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from analysis.experiments.curves import consistency, disagreement
from analysis.experiments.ranges import range_correlations
from analysis.plot.ranges import disagreement_title
from analysis.tables import read_table

pytestmark = pytest.mark.paper
PATH = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "tac" / "tac2008a_scores.csv.gz"
METRICS = ["ROUGE_2", "ROUGE_WE", "ROUGE_L", "JS_2", "S3_Pyr"]

WHOLE = {
    ("ROUGE_2", "ROUGE_WE"): 0.7758,
    ("ROUGE_2", "ROUGE_L"): 0.7148,
    ("ROUGE_2", "JS_2"): 0.8971,
    ("ROUGE_2", "S3_Pyr"): 0.7976,
}
"""Given with the data."""
PUBLISHED = [0.774, 0.708, 0.871, 0.799, 0.692, 0.703, 0.824, 0.647, 0.709, 0.738]
"""Row W of the paper: the mean of TAC 2008 and 2009, of which 2009 isn't supplied."""


@cache
def scores() -> pd.DataFrame:
    if not PATH.exists():
        pytest.skip(f"the TAC scores are not here: {PATH}")
    return read_table(PATH, "scores")


def test_whole_range_and_its_fall_towards_the_top():
    results = range_correlations(scores(), metrics=METRICS, top="union", k=50)
    whole_range = {(r.a, r.b): r for r in results if r.range == "whole"}
    assert len(whole_range) == 10
    for pair, tau in WHOLE.items():
        assert whole_range[pair].tau == pytest.approx(tau, abs=5e-5)
        assert (whole_range[pair].topics, whole_range[pair].undefined) == (48, 0)
    # One of two years can't be far from their mean: the paper's ten values lie within .035.
    for result, published in zip(whole_range.values(), PUBLISHED, strict=True):
        assert result.tau == pytest.approx(published, abs=0.035)
    top = {(r.a, r.b): r.tau for r in results if r.range == "top"}
    assert all(top[pair] < result.tau - 0.4 for pair, result in whole_range.items())


def test_improvements_that_all_metrics_share_vanish_towards_the_top():
    points = consistency(scores(), metrics=METRICS, samples=600, seed=1)
    low = [p.ratio for p in points if p.score < 0.3]
    high = [p.ratio for p in points if p.score > 0.8]
    assert sum(low) / len(low) > 0.4
    assert sum(high) / len(high) < 0.1


def test_among_summaries_that_both_reach_a_score_disagreement_rises_with_it():
    points = disagreement(scores(), metrics=METRICS, pairs_per_topic=1000, seed=1, rule="threshold")
    assert disagreement_title(points) == "Metrics disagree more among better summaries"
    by_mean = disagreement(scores(), metrics=METRICS, pairs_per_topic=1000, seed=1)
    assert disagreement_title(by_mean) == "Metrics disagree least in the middle"


def test_disagreement_is_higher_at_the_top_than_in_the_middle():
    points = disagreement(scores(), metrics=METRICS, pairs_per_topic=1000, seed=1)
    for pair in {(p.a, p.b) for p in points}:
        curve = {p.score: p.share for p in points if (p.a, p.b) == pair}
        assert curve[0.85] > curve[0.55]
