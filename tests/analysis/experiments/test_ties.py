"""Pairwise accuracy with ties, soft accuracy and kin, against mt-metrics-eval."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.correlate.coefficients import accuracy
from analysis.experiments.ties import (
    calibrate_ties,
    kendall_like,
    pair_p_values,
    pairwise_difference_pearson,
    soft_pairwise_accuracy,
)
from tests.analysis._matrices import cases, matrix


@pytest.mark.parametrize("variant", ["plain", "ties"])
def test_pairwise_difference_pearson(variant):
    case = cases()[f"mtme_corr_{variant}"]
    correlation = pairwise_difference_pearson(matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"]))
    assert correlation == pytest.approx(case["expected"]["pdp/item"], abs=1e-9)


@pytest.mark.parametrize("variant", ["ties", "noties", "constm"])
def test_kendall_like(variant):
    case = cases()[f"kendall_variants_{variant}"]
    gold, metric = (np.array(case["inputs"][side], dtype=float) for side in ("gold", "metric"))
    assert kendall_like(metric, gold, 1.0) == pytest.approx(case["expected"]["kendall_like_thresh1"])


def test_soft_pairwise_accuracy():
    case = cases()["pce_soft_pairwise_accuracy"]
    gold, metric = matrix(case["inputs"]["gold"]), matrix(case["inputs"]["metric"])
    p = pair_p_values(gold, 20_000)
    for i, row in enumerate(case["expected"]["gold_p"]):
        for j, expected in enumerate(row):
            if expected is not None:
                # Theirs has 1,000 permutations: a standard error of up to .016.
                assert p[i, j] == pytest.approx(expected, abs=0.05)
    accuracy = soft_pairwise_accuracy(metric, gold, 20_000)
    assert accuracy == pytest.approx(case["expected"]["one_minus_pce"], abs=case["tol"])


def test_calibration_finds_the_best_threshold_by_trying_all():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 3, 14).astype(float)
    metric = human + rng.normal(0, 0.4, 14)
    calibration = calibrate_ties(metric, human)
    gaps = np.abs(metric[:, None] - metric[None, :])[np.triu_indices(14, 1)]
    tried = max(float(accuracy(metric, human, epsilon)) for epsilon in [0.0, *gaps])
    assert calibration.accuracy == pytest.approx(tried)
    assert float(accuracy(metric, human, calibration.epsilon)) == pytest.approx(calibration.accuracy)
    assert calibration.uncalibrated == pytest.approx(float(accuracy(metric, human)))
    assert "fitted on the data" in calibration.note


def test_calibration_within_items():
    # Two items; people tie the first pair of each, and the metric separates it by .1 and .2.
    human = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 1.0]])
    metric = np.array([[0.5, 0.6, 0.9], [0.8, 1.0, 0.1]])
    calibration = calibrate_ties(metric, human)
    assert (calibration.epsilon, calibration.accuracy) == (pytest.approx(0.2), 1.0)
    assert calibration.uncalibrated == pytest.approx(4 / 6)
