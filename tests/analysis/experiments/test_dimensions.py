"""Metrics by dimension and systems by measure (SummEval)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.experiments.dimensions import metrics_by_dimension, metrics_by_metric, systems_by_measure
from tests.analysis._matrices import table

SCORES = table(
    coherence=[[1], [2], [3], [4]],
    fluency=[[4], [3], [2], [1]],
    up=[[1], [2], [3], [4]],
    down=[[4], [3], [2], [1]],
    mixed=[[1], [3], [2], [4]],
)


def test_metrics_by_dimension_marks_the_best_of_each():
    correlations = metrics_by_dimension(SCORES, dimensions=["coherence", "fluency"], best=1)
    by_pair = {(r.metric, r.dimension): r for r in correlations}
    assert by_pair["up", "coherence"].value == 1
    assert by_pair["mixed", "coherence"].value == pytest.approx(4 / 6)
    assert [key for key, r in by_pair.items() if r.best] == [("up", "coherence"), ("down", "fluency")]


def test_systems_by_measure_marks_ties_and_lowest():
    scores = table(quality=[[3], [3], [1]], length=[[9], [5], [7]])
    cells = systems_by_measure(scores, best=1, lowest=["length"])
    assert [(r.system, r.measure) for r in cells if r.best] == [("s1", "length"), ("s0", "quality"), ("s1", "quality")]


def test_metrics_by_metric():
    correlations = {(r.a, r.b): r.value for r in metrics_by_metric(SCORES, metrics=["up", "down", "mixed"])}
    assert correlations["up", "up"] == 1
    assert correlations["up", "down"] == -1
    assert correlations["mixed", "up"] == correlations["up", "mixed"] == pytest.approx(4 / 6)


@pytest.mark.parametrize("name", ["metrics", "systems", "scores", "agreement"])
def test_the_command(tmp_path, capsys, name):
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(0)
    table(coherence=rng.random((5, 3)), a=rng.random((5, 3)), b=rng.random((5, 3))).to_csv(path, index=False)
    plot = tmp_path / "t.svg"
    words = ["dimensions", str(path), "--dimensions", "coherence", "--table", name, "--json", "--plot", str(plot)]
    assert main(words) == 0
    count = {"metrics": 2, "systems": 5, "scores": 10, "agreement": 4}[name]
    assert len(json.loads(capsys.readouterr().out)) == count
    assert plot.exists()
    assert main(["dimensions", str(path), "--dimensions", "fluency"]) == 2
    assert "Measures there: a, b, coherence" in capsys.readouterr().err
