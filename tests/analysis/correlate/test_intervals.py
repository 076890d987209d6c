"""Intervals cover what they speak of: simulated studies of which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from analysis.correlate import correlate, interval_caution
from analysis.correlate.coefficients import coefficient as coefficient_of
from analysis.correlate.coefficients import fisher_interval
from analysis.correlate.exact import _series, exact_interval, exact_limits
from analysis.correlate.noise import noise_of
from analysis.correlate.true_means import true_mean_samples
from analysis.tables import AnalysisError
from benchmarks.analysis._coverage import _correlation, cube_of, share
from tests.analysis._matrices import table


def test_the_exact_interval_has_the_tails_it_claims():
    """Also far out, where 14 metrics need them: Fisher's z says "above" there twice too often."""
    rng = np.random.default_rng(0)
    for n in (4, 10):
        a = rng.normal(size=(60_000, n))
        b = 0.8 * a + 0.6 * rng.normal(size=a.shape)
        a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
        r = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        for tail in (0.025, 0.025 / 14):
            low, high = exact_limits(r, n, tail)
            assert (low > 0.8).mean() == pytest.approx(tail, rel=0.3)
            assert (high < 0.8).mean() == pytest.approx(tail, rel=0.3)


@pytest.mark.parametrize("n", [3, 4, 5, 8, 28, 300])
def test_the_series_in_the_density_is_the_hypergeometric_function(n):
    u = np.linspace(0.001, 1, 1000)
    np.testing.assert_allclose(_series(n)(u), special.hyp2f1(0.5, 0.5, n - 0.5, 1 - u**2), rtol=1e-12)


def test_the_exact_interval_is_odd_and_close_to_fishers_for_many_systems():
    for n in (50, 100, 1000):
        interval, turned = exact_interval(0.8, n), exact_interval(-0.8, n)
        assert (turned.low, turned.high) == pytest.approx((-interval.high, -interval.low))
        fisher = fisher_interval("pearson", 0.8, n)
        assert (interval.low, interval.high) == pytest.approx((fisher.low, fisher.high), abs=0.5 / n)
    assert np.isnan(exact_interval(1.0, 2).low)


def test_redrawn_documents_dont_count_their_noise_twice():
    """25 systems on 100 documents: plain percentiles cover the true means' correlation in 20 to 80 % of studies."""
    assert share(_correlation("pearson", 25, 100, "inputs", noise=4.0), 120) >= 0.92
    assert share(_correlation("pearson", 25, 10, "both"), 120) >= 0.92


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_ranks_of_true_means_are_covered_too(name):
    """25 systems on 10 documents: resamples of documents cover in 55 % of studies."""
    assert share(_correlation(name, 25, 10, "inputs"), 120) >= 0.9


def test_drawn_true_means_follow_the_posterior():
    # One metric without noise and people with noise .25 about true means that equal the metric's: y = t + e, so that
    # r = 1 for the true means, and 25 systems say it within a tenth.
    rng = np.random.default_rng(1)
    x = np.repeat(rng.normal(size=(25, 1)), 40, axis=1) + 1e-6 * rng.normal(size=(25, 40))
    z = x + 1.5 * rng.normal(size=(25, 40))
    samples = true_mean_samples("pearson", x, z, 400, 0)
    assert np.quantile(samples, 0.025) > 0.9
    assert float(coefficient_of("pearson")(x.mean(axis=1), z.mean(axis=1))) < 0.98
    # Means that are nothing but noise leave nearly every correlation of the true means possible.
    noise = table(h=rng.normal(size=(5, 4)), m=rng.normal(size=(5, 4)))
    result = correlate(noise, human="h", ci=200, resample="inputs")[0]
    assert result.high - result.low > 1.4


def test_true_means_are_drawn_where_their_noise_is_known_and_nowhere_else():
    rng = np.random.default_rng(0)
    scores = table(h=rng.random((6, 5)), m=rng.random((6, 5)))
    kinds = [
        correlate(scores, human="h", ci=20, resample="inputs", **options)[0].interval
        for options in ({}, {"score": "median"}, {"level": "summary"})
    ]
    assert kinds == ["true-means", "bootstrap", "bootstrap"]
    with pytest.raises(AnalysisError, match="at system level with inputs"):
        correlate(scores, human="h", ci=20, interval="true-means")


def test_a_perfect_order_of_six_systems_is_no_certainty():
    for name, step in (("spearman", 6 / 210), ("kendall", 2 / 30)):
        interval = fisher_interval(name, 1.0, 6)
        assert interval == (fisher_interval(name, 1 - step, 6).low, 1.0)
        assert interval.low < 0.8
        assert fisher_interval(name, -1.0, 6) == (-1.0, -interval.low)
    assert fisher_interval("pearson", 1.0, 6) == (1.0, 1.0)


def test_every_interval_that_misses_its_level_says_so():
    rng = np.random.default_rng(0)
    few, many = (table(h=rng.random((n, 8)), m=rng.random((n, 8))) for n in (6, 12))

    def caution(scores, systems, **options):
        return interval_caution(correlate(scores, human="h", ci=20, **options)[0], systems)

    assert "wider than need be" in caution(few, 6, coefficient="kendall")
    assert "too alike" in caution(few, 6, level="summary")
    assert "a second time" in caution(many, 12, coefficient="kendall", resample="inputs", interval="bootstrap")
    for options in ({}, {"coefficient": "kendall"}, {"level": "summary"}, {"resample": "inputs"}):
        assert caution(many, 12, **options) == ""


def test_the_interval_over_documents_isnt_below_what_was_observed():
    """.961 in [.864, .963]: the plain percentiles of redrawn documents lie almost wholly below the value itself."""
    cube, _ = cube_of(np.random.default_rng(0), 25, 100, 4.0, skewed=False)
    plain, corrected = (
        correlate(cube, human="h", ci=500, resample="inputs", interval=interval)[0]
        for interval in ("percentile", "auto")
    )
    assert plain.high - plain.value < 0.5 * (plain.value - plain.low)
    assert corrected.high - corrected.value > 0.8 * (corrected.value - corrected.low)


def test_by_default_the_interval_over_systems_needs_no_draws():
    rng = np.random.default_rng(0)
    scores = table(h=rng.random((6, 5)), m=rng.random((6, 5)))
    results = [correlate(scores, human="h", ci=n, seed=n)[0] for n in (10, 999)]
    assert results[0].interval == "exact"
    assert (results[0].low, results[0].high) == (results[1].low, results[1].high)
    assert correlate(scores, human="h", ci=10, coefficient="kendall")[0].interval == "fisher"
    assert correlate(scores, human="h", ci=10, level="summary")[0].interval == "bootstrap"
    assert correlate(scores, human="h")[0].interval == ""


def test_noise_is_measured_with_gaps_too():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 60, 1)) + 2 * rng.normal(size=(2, 60, 80))
    whole = noise_of(x, z, x.mean(axis=1), z.mean(axis=1))
    x[rng.random(x.shape) < 0.3] = np.nan
    gappy = noise_of(x, z, np.nanmean(x, axis=1), z.mean(axis=1))
    assert float(whole.metric) == pytest.approx(4 / 80 / (1 + 4 / 80), rel=0.4)
    # What is missing of the metric is left aside on both sides: 56 documents remain.
    assert float(gappy.metric) == pytest.approx(float(whole.metric) / 0.7, rel=0.25)
    assert float(whole.ceiling) == pytest.approx(np.sqrt(1 - float(whole.human)))
