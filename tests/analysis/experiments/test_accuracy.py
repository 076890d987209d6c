"""Soft pairwise accuracy and acc*eq, as commands and on held-out documents."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.experiments.accuracy import pair_accuracy
from analysis.experiments.ties import calibrate_ties, soft_pairwise_accuracy
from tests.analysis._matrices import table


def test_the_threshold_is_fitted_on_other_documents() -> None:
    # People tie often and the metric never does: its gaps say nothing, so that fitted on the same pairs the threshold
    # flatters; on held-out documents it can't.
    rng = np.random.default_rng(1)
    human, metric = rng.integers(0, 3, (4, 12)).astype(float), rng.normal(size=(4, 12))
    (result,) = pair_accuracy(table(h=human, m=metric), human="h", folds=6)
    flattered = calibrate_ties(metric.T, human.T)
    assert result.accuracy < flattered.accuracy
    assert result.plain == pytest.approx(flattered.uncalibrated)
    assert result.pairs == 6 * 12
    assert result.soft == pytest.approx(soft_pairwise_accuracy(metric, human), abs=0.03)  # other swaps


def test_by_hand_with_a_threshold_that_all_folds_find() -> None:
    # Two systems; people tie on even documents and prefer the second elsewhere; the metric says .1 and 1.
    people = np.array([[0.0] * 6, [0.0, 1.0] * 3])
    metric = np.array([[0.0] * 6, [0.1, 1.0] * 3])
    (result,) = pair_accuracy(table(h=people, m=metric), human="h", folds=3)
    assert (result.accuracy, result.plain, result.epsilon) == (1.0, 0.5, 0.1)


def test_missing_cells_are_left_aside_and_one_document_is_refused() -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.random((4, 8)), rng.random((4, 8))
    metric[0, 3] = np.nan
    (result,) = pair_accuracy(table(h=human, m=metric).dropna(), human="h")
    assert result.pairs == 6 * 8 - 3
    with pytest.raises(ValueError, match="needs two documents"):
        pair_accuracy(table(h=human[:, :1], m=metric[:, :1]), human="h")


def test_the_command(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    human = rng.random((5, 10))
    table(h=human, good=human + rng.normal(0, 0.05, human.shape), bad=rng.random((5, 10))).to_csv(
        tmp_path / "scores.csv", index=False
    )
    assert main(["accuracy", str(tmp_path / "scores.csv"), "--human", "h", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [row["metric"] for row in rows] == ["good", "bad"]
    assert rows[0]["soft"] > 0.9 > rows[1]["soft"]
    assert "fitted on other documents (5 folds)" in err
    assert main(["accuracy", str(tmp_path / "scores.csv"), "--human", "h", "--folds", "1"]) == 2
