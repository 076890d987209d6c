"""Top-k correlations, by hand and by command."""

from __future__ import annotations

import json

import pytest

from analysis.cli import main
from analysis.experiments.topk import top_k
from tests.analysis._matrices import table

HUMAN = [[5], [4], [3], [2], [1]]
METRIC = [[4], [5], [3], [2], [1]]
SCORES = table(h=HUMAN, m=METRIC)


def test_the_best_systems_are_those_with_the_highest_human_score():
    values = {r.k: r.value for r in top_k(SCORES, human="h", coefficient="kendall", smallest=3)}
    # One of 10, of 6 and of 3 pairs is turned: (9 − 1)/10, (5 − 1)/6, (2 − 1)/3.
    assert values == pytest.approx({5: 0.8, 4: 4 / 6, 3: 1 / 3})


def test_a_tie_at_the_border_is_told():
    scores = table(h=[[5], [4], [3], [3]], m=[[1], [2], [3], [4]])
    assert [(r.k, r.tied) for r in top_k(scores, human="h", smallest=2)] == [
        (4, False),
        (3, True),
        (2, False),
    ]


def test_impossible_k_is_answered_with_what_is_possible():
    with pytest.raises(ValueError, match="take 2 to 5"):
        top_k(SCORES, human="h", ks=[9])


def test_too_few_judged_systems():
    with pytest.raises(ValueError, match="needs at least 3"):
        top_k(table(h=HUMAN[:2], m=METRIC[:2]), human="h")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    SCORES.to_csv(path, index=False)
    assert main(["topk", str(path), "--human", "h", "--json", "--plot", str(tmp_path / "k.svg")]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [list(row) for row in rows] == [["k", "metric", "coefficient", "value"]] * 2
    assert [row["k"] for row in rows] == [5, 4]
    assert (tmp_path / "k.svg").read_text().startswith("<svg")
    assert main(["topk", str(path), "--human", "h", "--k", "many"]) == 2
    assert "whole numbers" in capsys.readouterr().err
