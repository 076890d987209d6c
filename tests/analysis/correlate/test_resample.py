"""The bootstrap engine: the same numbers as a loop over resampled matrices, at every level."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.correlate import correlate
from analysis.correlate.coefficients import COEFFICIENTS, coefficient
from analysis.correlate.resample import (
    draw_weights,
    global_samples,
    percentile_interval,
    resampled_means,
    snap,
    summary_samples,
    system_samples,
    tail_share,
    weighted,
    weights_of,
)
from analysis.correlate.weighted import kendall_columns
from tests.analysis._matrices import cases, matrix, table


@pytest.mark.parametrize("variant", ["plain", "ties", "nan"])
@pytest.mark.parametrize("scheme", ["systems", "inputs", "both"])
def test_samples_and_intervals_of_given_indices(scheme, variant):
    case = cases()[f"bootstrap_{scheme}_{variant}"]
    x, z = matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"])
    inputs = case["inputs"]
    rows = None if inputs["rows"] is None else weights_of(inputs["rows"], x.shape[0])
    columns = None if inputs["cols"] is None else weights_of(inputs["cols"], x.shape[1])
    for key, expected in case["expected"].items():
        level, name = key.split("/")
        samples = (system_samples if level == "system" else summary_samples)(name, x, z, rows, columns)
        expected_samples = [np.nan if v is None else v for v in expected["samples"]]
        assert samples == pytest.approx(expected_samples, abs=case["tol"], nan_ok=True), key
        interval = percentile_interval(samples)
        assert [interval.low, interval.high] == pytest.approx(expected["ci95"], abs=case["tol"]), key


@pytest.mark.parametrize("name", sorted(set(COEFFICIENTS) - {"accuracy"}))
@pytest.mark.parametrize("missing", [False, True])
def test_global_samples_equal_a_loop_over_copies(name, missing):
    rng = np.random.default_rng(5)
    x, z = rng.integers(0, 4, (2, 5, 6)).astype(float)
    if missing:
        x[1, 2] = z[4, 0] = np.nan
    rows, columns = draw_weights(1, 7, 5, 0), draw_weights(1, 7, 6, 1)
    samples = global_samples(name, x, z, rows, columns)
    for r in range(7):
        i = np.repeat(np.arange(5), rows[r].astype(int))
        j = np.repeat(np.arange(6), columns[r].astype(int))
        a, b = x[np.ix_(i, j)].ravel(), z[np.ix_(i, j)].ravel()
        assert samples[r] == pytest.approx(float(coefficient(name)(a, b)), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("side", ["rows", "columns"])
def test_global_samples_with_one_side_redrawn(name, side):
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 5, (2, 6, 7)).astype(float)
    x[2, 3] = np.nan
    rows = draw_weights(1, 9, 6, 0) if side == "rows" else None
    columns = draw_weights(1, 9, 7, 1) if side == "columns" else None
    unweighted = np.ones((9, 7)) if side == "rows" else np.ones((9, 6))
    full = (rows, unweighted) if side == "rows" else (unweighted, columns)
    quick = global_samples(name, x, z, rows, columns)
    assert quick == pytest.approx(global_samples(name, x, z, *full), abs=1e-12)


def test_pearson_of_scores_far_from_zero_keeps_its_digits():
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 8, 5))
    rows = draw_weights(0, 50, 8)
    expected = summary_samples("pearson", x, z, rows, None)
    assert summary_samples("pearson", x + 1e6, z, rows, None) == pytest.approx(expected, abs=1e-8)


def test_resamples_of_one_system_only_are_undefined():
    x, z = np.random.default_rng(0).random((2, 3, 4))
    lone = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    for name in COEFFICIENTS:
        for sampler in (system_samples, summary_samples):
            samples = sampler(name, x, z, lone, None)
            assert np.isnan(samples[0]), (name, sampler)
            assert np.isfinite(samples[1])


@pytest.mark.parametrize("name", ["kendall-c", "spearman", "kendall"])
def test_system_samples_equal_a_loop_over_copies(name):
    rng = np.random.default_rng(2)
    x, z = rng.integers(0, 3, (2, 6, 4)).astype(float)
    rows, columns = draw_weights(3, 20, 6, 0), draw_weights(3, 20, 4, 1)
    samples = system_samples(name, x, z, rows, columns)
    for r in range(20):
        i = np.repeat(np.arange(6), rows[r].astype(int))
        j = np.repeat(np.arange(4), columns[r].astype(int))
        a, b = (side[np.ix_(i, j)].mean(axis=1) for side in (x, z))
        assert samples[r] == pytest.approx(float(coefficient(name)(a, b)), abs=1e-12, nan_ok=True)


def test_accuracy_leaves_out_pairs_of_a_system_with_itself():
    # Metric 1 2 3, human 1 2 0: of the pairs 01, 02, 12 only 01 is right. With system 2 drawn twice there are
    # 01, 02 twice and 12 twice: one right of five.
    x, z = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [0.0]])
    assert system_samples("accuracy", x, z, None, None)[0] == pytest.approx(1 / 3)
    assert system_samples("accuracy", x, z, np.array([[1.0, 1.0, 2.0]]), None)[0] == pytest.approx(1 / 5)


def test_equal_systems_stay_tied_under_resampling():
    rng = np.random.default_rng(0)
    x = rng.random((4, 9))
    x[3] = x[2]
    z = x.copy()
    samples = system_samples("kendall", x, z, None, draw_weights(0, 300, 9, 1))
    assert samples == pytest.approx(np.ones(300))


def test_snap_joins_what_differs_by_rounding_only():
    values = np.array([0.1 + 0.2, 0.3, 0.3000001])
    snapped = snap(values)
    assert snapped[0] == snapped[1] != snapped[2]


def test_the_seed_decides():
    rng = np.random.default_rng(0)
    scores = table(h=rng.random((8, 6)), m=rng.random((8, 6)))
    first, repeated, reseeded = (
        correlate(scores, human="h", ci=200, seed=seed, interval="bootstrap")[0] for seed in (4, 4, 5)
    )
    assert (first.low, first.high) == (repeated.low, repeated.high)
    assert (first.low, first.high) != (reseeded.low, reseeded.high)
    assert first.low <= first.value <= first.high


def test_an_interval_doesnt_depend_on_the_other_metrics():
    rng = np.random.default_rng(0)
    h, a, b = rng.random((3, 8, 6))
    by_itself = correlate(table(h=h, a=a), human="h", ci=100)[0]
    beside = correlate(table(h=h, a=a, b=b), human="h", ci=100)[0]
    assert by_itself == beside


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_intervals_over_systems_cover(name):
    """Of 400 studies with 25 systems drawn from a population with correlation .8, at least 92 % are covered."""
    rho = 0.8
    # What the coefficients are in a bivariate normal population.
    truth = {
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall": 2 / np.pi * np.arcsin(rho),
    }[name]
    rng = np.random.default_rng(1)
    weights = draw_weights(0, 600, 25)
    covered = 0
    for _ in range(400):
        x = rng.normal(size=25)
        z = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=25)
        interval = percentile_interval(weighted(name, x, z, weights), n=25)
        covered += interval.low <= truth <= interval.high
    assert covered / 400 >= 0.92


def test_the_expanded_percentile_by_hand():
    # n = 25: sqrt(25/24) · t(.025; 24) = 1.020621 · −2.063899 = −2.106458, and Φ(−2.106458) = .017582.
    assert tail_share(0.95, 25) == pytest.approx(0.017582, abs=1e-6)
    assert tail_share(0.95) == pytest.approx(0.025)


def test_intervals_of_system_means_cover():
    rng = np.random.default_rng(2)
    weights = draw_weights(0, 600, 60, 1)
    matrix = rng.normal(0.4, 0.2, size=(500, 60))
    tail = 100 * tail_share(n=60)
    low, high = np.percentile(resampled_means(matrix, weights), [tail, 100 - tail], axis=0)
    assert np.mean((low <= 0.4) & (high >= 0.4)) >= 0.92


def test_intervals_over_both_cover_new_systems_and_documents():
    """Population: systems with true quality q, human = q + noise, metric = .9 q + own error of the system + noise."""
    rng = np.random.default_rng(3)
    error = np.sqrt(1 / 0.9**2 - 1)  # true correlation of the systems' qualities: .9
    covered = 0
    for run in range(120):
        quality = rng.normal(size=(20, 1))
        z = quality + rng.normal(size=(20, 40)) * 0.8
        x = quality + error * rng.normal(size=(20, 1)) + rng.normal(size=(20, 40)) * 0.8
        rows, columns = draw_weights(run, 300, 20, 0), draw_weights(run, 300, 40, 1)
        interval = percentile_interval(system_samples("pearson", x, z, rows, columns), n=20)
        covered += interval.low <= 0.9 <= interval.high
    assert covered / 120 >= 0.92


def test_kendall_of_all_documents_at_once_is_that_of_each_alone():
    rng = np.random.default_rng(0)
    x, z = np.round(rng.normal(size=(2, 12, 30)), 1)
    x[rng.random(x.shape) < 0.2] = np.nan
    weights = draw_weights(0, 200, 12)
    alone = np.stack([weighted("kendall", x[:, d], z[:, d], weights) for d in range(30)], axis=1)
    assert np.array_equal(kendall_columns(x, z, weights), alone, equal_nan=True)
