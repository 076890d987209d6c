"""Tests between metrics: cases of independent packages, worked examples, and that they hold their level."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.compare import compare
from analysis.compare.adjust import adjust, clusters, optimal
from analysis.compare.permutation import (
    all_masks,
    p_values,
    standardise,
    swap_masks,
    swapped_differences,
    swapped_vectors,
)
from analysis.compare.williams import williams, zou_interval
from analysis.correlate import TooFewSystems
from analysis.correlate.coefficients import UnknownName, pearson
from tests.analysis._matrices import cases, matrix, table

LEVEL = {"system": "system", "input": "summary", "global": "global"}


def of(comparison, better, worse):
    return next(pair for pair in comparison.pairs if (pair.better, pair.worse) == (better, worse))


def test_williams_table():
    case = cases()["williams_table"]
    for row, expected in zip(case["inputs"], case["expected"], strict=True):
        for alternative, key in (("greater", "p_greater_signed"), ("two-sided", "two_sided")):
            result = williams(row["r12"], row["r13"], row["r23"], row["n"], alternative)
            t_and_p = [math.nan if expected[k] is None else expected[k] for k in ("t_signed", key)]
            assert [float(result.t), float(result.p)] == pytest.approx(t_and_p, abs=1e-10, nan_ok=True)


def test_williams_has_n_minus_3_degrees_of_freedom():
    # Graham's example; with n − 2 degrees of freedom p would be 0.209243…
    result = williams(0.65, 0.55, 0.3, 50)
    assert float(result.t) == pytest.approx(0.8160781865)
    assert float(result.p) == pytest.approx(0.209286172868)


def test_williams_from_matrices_agrees_with_nlpstats():
    case = cases()["williams_matrix_plain"]
    scores = table(**{name: matrix(case["inputs"][key]) for name, key in (("x", "X"), ("y", "Y"), ("h", "Z"))})
    for key, expected in case["expected"].items():
        level, name, alternative = key.split("/")
        options = {"level": LEVEL[level], "coefficient": name, "alternative": alternative}
        comparison = compare(scores, human="h", test="williams", **options)
        assert of(comparison, "x", "y").p == pytest.approx(expected, abs=case["tol"]), key


def test_zou_intervals():
    case = cases()["zou2007_ci"]
    for row, expected in zip(case["inputs"], case["expected"], strict=True):
        interval = zou_interval(row["r12"], row["r13"], row["r23"], row["n"])
        assert [interval.low, interval.high] == pytest.approx(expected, abs=case["tol"])


@pytest.mark.parametrize("variant", ["plain", "ties"])
def test_exact_perm_systems(variant):
    case = cases()[f"perm_systems_exact_{variant}"]
    scores = table(**{name: matrix(case["inputs"][key]) for name, key in (("x", "X"), ("y", "Y"), ("h", "Z"))})
    for key, expected in case["expected"].items():
        level, name = key.split("/")
        options = {"human": "h", "level": LEVEL[level], "coefficient": name}
        greater = compare(scores, **options)
        assert (greater.exact, greater.resamples) == (True, 128)
        pair = of(greater, "x", "y")
        assert pair.statistic == pytest.approx(expected["observed"], abs=case["tol"])
        assert pair.p == pytest.approx(expected["p_exact_greater"], abs=case["tol"]), key
        two_sided = compare(scores, alternative="two-sided", **options)
        assert of(two_sided, "x", "y").p == pytest.approx(expected["p_exact_two_sided"], abs=case["tol"]), key


@pytest.mark.parametrize("variant", ["plain", "ties"])
def test_perm_both_with_given_cells(variant):
    case = cases()[f"perm_cells_{variant}"]
    x, y, z = (matrix(case["inputs"][key]) for key in "XYZ")
    masks = np.array(case["inputs"]["masks"], dtype=bool)
    for key, expected in case["expected"].items():
        level, name = key.split("/")
        deltas = swapped_differences(name, LEVEL[level], standardise(x), standardise(y), z, masks)
        assert deltas == pytest.approx(expected["deltas"], abs=case["tol"]), key
        p = p_values(deltas, expected["observed"], exact=False)
        assert p["two-sided"] == pytest.approx(expected["p_two_sided_plus1"])
        assert p["greater"] == pytest.approx(expected["p_greater_plus1"])


@pytest.mark.parametrize("test", ["perm-systems", "perm-inputs"])
@pytest.mark.parametrize("level", ["system", "summary", "global"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_swaps_of_whole_rows_and_columns_equal_swaps_of_their_cells(test, level, name):
    rng = np.random.default_rng(4)
    x, y, z = rng.integers(0, 4, (3, 13, 14)).astype(float)
    masks, exact = swap_masks(test, 1, 9, 13, 14)
    assert not exact
    cells = np.broadcast_to(masks, (9, 13, 14)).copy()
    by_cells = swapped_differences(name, level, x, y, z, cells)
    if level == "system" and test == "perm-systems":
        quick = swapped_vectors(name, x.mean(axis=1), y.mean(axis=1), z.mean(axis=1), masks)
    else:
        quick = swapped_differences(name, level, x, y, z, masks)
    assert quick == pytest.approx(by_cells, abs=1e-12)


def test_corrections_agree_with_statsmodels():
    case = cases()["multiple_testing"]
    names = {"bonferroni": "bonferroni", "holm": "holm", "fdr_bh": "bh", "fdr_by": "by"}
    for statsmodels_name, correction in names.items():
        assert adjust(case["inputs"]["p"], correction) == pytest.approx(case["expected"][statsmodels_name], abs=1e-9)


def test_undefined_p_values_dont_count_among_the_comparisons():
    assert adjust([0.01, math.nan, 0.04], "holm") == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)


def test_optimal_and_clusters_by_hand():
    # a beats c and d, b beats d only: a and b aren't beaten. Nothing beats all below it until d.
    beats = np.zeros((4, 4), dtype=bool)
    beats[0, 2] = beats[0, 3] = beats[1, 3] = beats[2, 3] = True
    assert optimal(beats).tolist() == [True, True, False, False]
    assert clusters([0, 1, 2, 3], beats) == [1, 1, 1, 2]


def test_all_masks_hold_each_swap_once_and_start_with_none():
    masks = all_masks(3)
    assert masks.shape == (8, 3)
    assert not masks[0].any()
    assert len(np.unique(masks, axis=0)) == 8


def test_equal_metrics_are_no_better_than_each_other():
    rng = np.random.default_rng(0)
    h, x = rng.random((2, 20, 10))
    scores = table(h=h, a=x, b=x)
    for test in ("perm-systems", "bootstrap", "perm-both"):
        pair = of(compare(scores, human="h", test=test, resamples=200), "a", "b")
        assert (pair.difference, pair.p) == (0.0, 1.0)
    # The same metric twice: r23 = 1, so Williams' test is undefined, not 0.
    assert math.isnan(of(compare(scores, human="h", test="williams"), "a", "b").p)


def test_a_clearly_better_metric_wins_and_the_loser_has_p_above_half():
    rng = np.random.default_rng(1)
    h = rng.normal(size=(25, 1)) + rng.normal(size=(25, 30)) * 0.3
    better, noise = h + rng.normal(size=h.shape) * 0.3, rng.normal(size=h.shape)
    scores = table(h=h, bad=noise, good=better)
    for test in ("perm-systems", "williams", "bootstrap"):
        result = compare(scores, human="h", test=test, resamples=300)
        assert of(result, "good", "bad").p < 0.01
        assert of(result, "bad", "good").p > 0.5
        assert [(s.metric, s.optimal, s.cluster) for s in result.standings] == [("good", True, 1), ("bad", False, 2)]
        assert result.standings[1].beaten_by == ("good",)


def test_a_negative_metric_is_flipped_as_a_whole():
    rng = np.random.default_rng(2)
    h = rng.normal(size=(20, 6))
    up, down = h + rng.normal(size=h.shape), -(h + rng.normal(size=h.shape))
    plain = compare(table(h=h, down=down, up=up), human="h", test="williams")
    turned = compare(table(h=h, down=down, up=up), human="h", test="williams", flip=True)
    by_hand = compare(table(h=h, down=-down, up=up), human="h", test="williams")
    assert turned.flipped == ("down",)
    assert of(turned, "up", "down") == of(by_hand, "up", "down")
    assert of(plain, "up", "down").p < of(turned, "up", "down").p


def test_every_result_says_what_it_speaks_of():
    rng = np.random.default_rng(0)
    scores = table(**{name: rng.random((6, 5)) for name in ("h", "a", "b")})
    for test in ("perm-systems", "perm-inputs", "perm-both", "perm-both-xor", "williams", "bootstrap"):
        sentence = compare(scores, human="h", test=test, resamples=20).population
        assert "systems" in sentence or "cells" in sentence
        assert sentence.endswith(".")
    assert "document" in compare(scores, human="h", test="bootstrap", resample="inputs", resamples=20).population


def test_a_missing_system_is_left_out_of_that_pair():
    rng = np.random.default_rng(0)
    h, a, b = rng.random((3, 8, 4))
    a[2] = np.nan
    comparison = compare(table(h=h, a=a, b=b), human="h", test="williams")
    keep = [0, 1, 3, 4, 5, 6, 7]
    without_system = compare(table(h=h[keep], a=a[keep], b=b[keep]), human="h", test="williams")
    assert of(comparison, "a", "b").n == 7
    assert of(comparison, "a", "b").p == pytest.approx(of(without_system, "a", "b").p)


def test_whole_system_scores_can_be_compared():
    rng = np.random.default_rng(0)
    h, a = rng.random((2, 9, 4))
    bleu = pd.DataFrame(
        {"doc_id": "*", "system": [f"s{i}" for i in range(9)], "metric": "bleu", "value": h.mean(axis=1) * 30}
    )
    scores = pd.concat([table(h=h, a=a), bleu])
    for test in ("perm-systems", "williams", "bootstrap"):
        assert of(compare(scores, human="h", test=test), "bleu", "a").p < 0.1
    with pytest.raises(ValueError, match="use perm-systems"):
        compare(scores, human="h", test="perm-both")
    with pytest.raises(ValueError, match="system level only"):
        compare(scores, human="h", level="summary")


def test_processes_share_the_pairs_and_change_nothing():
    rng = np.random.default_rng(0)
    scores = table(**{name: rng.random((14, 5)) for name in ("h", "a", "b", "c", "d")})
    options = {"human": "h", "resamples": 50, "coefficient": "kendall"}
    assert compare(scores, jobs=2, **options) == compare(scores, **options)


@pytest.mark.parametrize(("study", "beaten"), [(30, ("m",)), (53, ())])
def test_the_number_of_draws_never_decides(study: int, beaten: tuple[str, ...]) -> None:
    """1,000 draws put p on either side of .05 from seed to seed: more are drawn; what they leave open is no order."""
    rng = np.random.default_rng(study)
    human = rng.normal(size=(20, 1))
    scores = table(h=human, m=human + 0.5 * rng.normal(size=(20, 1)), n=human + rng.normal(size=(20, 1)))
    few = [compare(scores, human="h", resamples=1000, seed=seed) for seed in range(4)]
    assert {min(pair.p_adjusted for pair in result.pairs) < 0.05 for result in few} == {True, False}
    assert all(not standing.beaten_by for result in few for standing in result.standings)
    assert "other random draws could decide otherwise" in few[0].left_to_chance()
    enough = [compare(scores, human="h", seed=seed) for seed in range(3)]
    assert {result.standings[-1].beaten_by for result in enough} == {beaten}
    assert min(result.resamples for result in enough) > 1000


def test_it_is_said_when_nothing_could_be_significant():
    rng = np.random.default_rng(0)
    comparison = compare(table(**{name: rng.random((6, 5)) for name in ("h", "a", "b", "c", "d")}), human="h")
    # 2⁶ swaps and 12 tests: the least adjusted p is 12/64.
    assert comparison.least_p == pytest.approx(12 / 64)
    assert "only 64 swaps exist" in comparison.too_coarse()
    scores = table(**{name: rng.random((14, 5)) for name in ("h", "a", "b", "c", "d")})
    assert "100 draws" in compare(scores, human="h", resamples=100).too_coarse()
    assert compare(scores, human="h").too_coarse() == ""
    assert compare(scores, human="h", test="williams").too_coarse() == ""


def test_too_little_is_answered_with_a_sentence():
    scores = table(h=[[1, 2], [3, 4]], a=[[1, 2], [3, 4]], b=[[2, 1], [4, 3]])
    with pytest.raises(TooFewSystems, match="2 systems; metrics can be compared on 3 systems or more"):
        compare(scores, human="h")
    with pytest.raises(ValueError, match="at least two metrics"):
        compare(scores, human="h", metrics=["a"])
    with pytest.raises(UnknownName, match="perm-systems, williams"):
        compare(scores, human="h", test="anova")


# ── the level of the tests, by simulation ──


def simulate(runs, rng, biased):
    """System scores of a human measure and of two equally good metrics, `runs` studies of 25 systems.

    The errors of both metrics have the same size. `biased` makes them personal to systems (a metric that favours
    some systems), as real metrics are, instead of noise that averages out over documents.
    """
    human = rng.normal(size=(runs, 25))
    error = rng.normal(size=(2, runs, 25)) * (1.0 if biased else 0.5)
    return human, human + error[0], human + error[1]


def test_williams_rejects_at_its_level():
    human, a, b = simulate(4000, np.random.default_rng(0), biased=True)
    result = williams(pearson(a, human), pearson(b, human), pearson(a, b), 25)
    # 4,000 runs: the standard error at 5 % is 0.34 points.
    assert np.mean(result.p < 0.05) <= 0.07
    two = williams(pearson(a, human), pearson(b, human), pearson(a, b), 25, "two-sided")
    assert np.mean(two.p < 0.05) <= 0.07


def test_perm_systems_rejects_at_its_level():
    rng = np.random.default_rng(1)
    human, a, b = simulate(600, rng, biased=True)
    masks, _ = swap_masks("perm-systems", 0, 400, 25, 1)
    rejected = {"greater": 0, "two-sided": 0}
    for h, x, y in zip(human, a, b, strict=True):
        x, y = standardise(x), standardise(y)
        observed = float(pearson(x, h) - pearson(y, h))
        p = p_values(swapped_vectors("pearson", x, y, h, masks), observed, exact=False)
        for alternative in rejected:
            rejected[alternative] += p[alternative] < 0.05
    # 600 runs: 5 % ± 0.9 points.
    assert rejected["greater"] / 600 <= 0.07
    assert rejected["two-sided"] / 600 <= 0.07


def test_perm_both_rejects_far_too_often_when_metrics_favour_systems():
    """Why PERM-BOTH isn't the default: swapping cells washes the systems' own errors out of the null."""
    rng = np.random.default_rng(2)
    masks, _ = swap_masks("perm-both", 0, 100, 12, 30)
    rejected = 0
    for _ in range(40):
        quality, bias = rng.normal(size=(12, 1)), rng.normal(size=(2, 12, 1))
        z = quality + rng.normal(size=(12, 30)) * 0.5
        x, y = (standardise(quality + side + rng.normal(size=(12, 30)) * 0.5) for side in bias)
        observed = float(pearson(x.mean(axis=1), z.mean(axis=1)) - pearson(y.mean(axis=1), z.mean(axis=1)))
        deltas = swapped_differences("pearson", "system", x, y, z, masks)
        rejected += p_values(deltas, observed, exact=False)["two-sided"] < 0.05
    assert rejected / 40 > 0.3


# ── the command ──


def test_the_command_prints_every_ordered_pair(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "scores.csv"
    table(**{name: rng.random((6, 5)) for name in ("h", "a", "b", "c")}).to_csv(path, index=False)
    command = ["compare", str(path), "--human", "h", "--test", "williams", "--json"]
    assert main([*command, "--correction", "holm"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert list(rows[0]) == ["better", "worse", "difference", "statistic", "p", "p_adjusted"]
    assert len(rows) == 6
    assert adjust([row["p"] for row in rows]) == pytest.approx([row["p_adjusted"] for row in rows])
    assert "other systems of this kind" in err
    assert main([*command, "--optimal"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows[0]) == ["metric", "value", "optimal", "cluster", "beaten_by"]
    assert rows[0]["value"] == max(row["value"] for row in rows)
