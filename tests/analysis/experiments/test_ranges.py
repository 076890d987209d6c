"""Scoring ranges: the rules for the top, averages over topics, F/N and disagreement by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.experiments.curves import Disagreement, consistency, disagreement
from analysis.experiments.ranges import range_correlations, top_rows, topics
from analysis.plot.ranges import disagreement_lines

# One topic, five summaries; a and b agree at the bottom and turn round at the top.
A = [1, 2, 3, 4, 5]
B = [1, 2, 5, 4, 3]


def scores(judged_systems=(0, 1, 2)):
    rows = [("t1", f"s{i}", name, v) for name, side in (("a", A), ("b", B)) for i, v in enumerate(side)]
    rows += [("t1", f"s{i}", "human", 1.0) for i in judged_systems]
    return pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])


def test_whole_average_and_top_by_hand():
    results = {r.range: r for r in range_correlations(scores(), human="human", top="union", k=2)}
    # Whole: of 10 pairs the three among s2, s3, s4 are turned: (7 − 3)/10.
    assert results["whole"].tau == pytest.approx(0.4)
    # Average: s0, s1, s2 in order.
    assert results["average"].tau == pytest.approx(1.0)
    # Top 2 of a: s4, s3; of b: s2, s3. Union s2, s3, s4: all turned.
    assert results["top"].tau == pytest.approx(-1.0)
    assert results["top"].summaries == 3


def test_three_rules_for_the_top():
    _, (topic,) = topics(scores(), ["a", "b"])
    assert sorted(top_rows(topic, (0, 1), "topk", 2, None)) == [2, 3, 3, 4]
    assert sorted(top_rows(topic, (0, 1), "union", 2, None)) == [2, 3, 4]
    # Better than s3 = (4, 4) for at least one: s2 by b, s4 by a.
    assert sorted(top_rows(topic, (0, 1), "baseline", 2, "s3")) == [2, 4]
    with pytest.raises(ValueError, match="baseline, topk, union"):
        top_rows(topic, (0, 1), "best", 2, None)
    with pytest.raises(ValueError, match="no complete scores of the baseline"):
        top_rows(topic, (0, 1), "baseline", 2, "lexrank")


def test_mean_over_topics_leaves_undefined_ones_out_and_counts_them():
    second = scores(())[lambda rows: rows["metric"] != "human"].assign(doc_id="t2", value=7.0)
    whole_range = next(r for r in range_correlations(pd.concat([scores(()), second])) if r.range == "whole")
    assert (whole_range.tau, whole_range.topics, whole_range.undefined) == (pytest.approx(0.4), 1, 1)


def test_equal_texts_within_a_topic_count_once():
    texts = pd.DataFrame(
        {"doc_id": "t1", "system": [f"s{i}" for i in range(5)], "summary": ["x", ["y"], "z", "z", ["z"]]}
    )
    _, (topic,) = topics(scores(), ["a", "b"], texts=texts)
    assert topic.systems == ("s0", "s1", "s2")
    _, (with_baseline,) = topics(scores(), ["a", "b"], texts=texts, baseline="s4")
    assert with_baseline.systems == ("s0", "s1", "s4")


def test_metrics_stand_in_the_order_of_the_table():
    turned = scores()[::-1]
    assert topics(turned, None, "human")[0] == ("b", "a")


def test_f_over_n_by_hand():
    points = {p.system: p for p in consistency(scores(()), metrics=["a", "b"])}
    # Better than s1 = (2, 2): s2, s3, s4 for one and for both. Than s2 = (3, 5): s3 and s4 for a, none for both.
    assert (points["s1"].ratio, points["s1"].better_for_one) == (1.0, 3)
    assert (points["s2"].ratio, points["s2"].better_for_one) == (0.0, 2)
    # s3 = (4, 4): s4 by a, s2 by b; s4 = (5, 3): s2 and s3 by b.
    assert points["s3"].ratio == points["s4"].ratio == 0.0
    assert points["s0"].score == 0.0


def test_disagreement_by_hand():
    bins = disagreement(scores(()), metrics=["a", "b"], bins=2, pairs_per_topic=4000, seed=0)
    # Turned pairs are those among s2, s3, s4; their mean normalised score is .75, all in the upper half. The other
    # pairs there: none of s0 and s1 reach a mean of .5 but s0 or s1 with the best do: below or at the middle.
    low, high = bins
    assert low.share == 0
    assert high.share > 0.5


def test_the_threshold_rule_takes_pairs_that_both_reach_the_score():
    bins = {
        p.score: p for p in disagreement(scores(()), metrics=["a", "b"], bins=2, pairs_per_topic=4000, rule="threshold")
    }
    # Both at .5 or more: s2 = (3, 5), s3 = (4, 4), s4 = (5, 3), normalised means .75; a and b turn all pairs.
    assert bins[0.5].share == 1
    # All ten pairs: three of them are turned.
    assert bins[0.0].share == pytest.approx(0.3, abs=0.03)
    with pytest.raises(ValueError, match="mean, threshold"):
        disagreement(scores(()), metrics=["a", "b"], rule="median")


@pytest.mark.parametrize(
    ("shares", "title"),
    [
        ([0.3, 0.2, 0.1, 0.1, 0.2, 0.3], "Metrics disagree least in the middle"),
        ([0.1, 0.1, 0.2, 0.3, 0.4, 0.6], "Metrics disagree more among better summaries"),
        ([0.6, 0.4, 0.3, 0.2, 0.1, 0.1], "Metrics disagree more among worse summaries"),
        ([0.2, 0.2, 0.2, 0.21, 0.2, 0.2], "Disagreement of metrics by score"),
    ],
)
def test_the_title_says_what_the_curve_does(shares, title):
    curve = [Disagreement("a", "b", (i + 0.5) / 6, share, 100) for i, share in enumerate(shares)]
    chart = disagreement_lines(curve).to_dict()
    assert chart["title"]["text"] == title


def test_one_metric_is_not_enough():
    with pytest.raises(ValueError, match="needs two of them"):
        range_correlations(scores(()), metrics=["a"])


def test_the_command(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    scores().to_csv(path, index=False)
    assert main(["ranges", str(path), "--human", "human", "--baseline", "s1", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [list(row) for row in rows] == [["a", "b", "range", "tau"]] * 3
    assert [row["range"] for row in rows] == ["whole", "average", "top"]
    assert "better than s1 for at least one metric" in err
    assert main(["ranges", str(path), "--top", "baseline"]) == 2
    assert "needs the name of the baseline" in capsys.readouterr().err


@pytest.mark.parametrize("figure", ["whole", "top", "disagreement", "consistency", "scatter", "distributions"])
def test_every_figure_is_drawn(tmp_path, figure, capsys):
    rng = np.random.default_rng(0)
    rows = [(f"t{t}", f"s{i}", m, rng.random()) for t in range(2) for i in range(12) for m in ("a", "b", "c")]
    path = tmp_path / "scores.csv"
    pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"]).to_csv(path, index=False)
    assert main(["ranges", str(path), "--figure", figure, "--plot", str(tmp_path / "f.svg")]) == 0
    assert "<svg" in (tmp_path / "f.svg").read_text()
