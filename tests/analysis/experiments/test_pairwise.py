"""Verdicts on pairs of systems: ties by halves, F1 by hand, the ceiling."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.correlate.resample import draw_weights
from analysis.experiments.pairwise import pairwise_f1, verdicts, weighted_f1
from tests.analysis._matrices import table


def test_equal_systems_are_undecided():
    matrix = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4], [9, 9, 9, 9]])
    labels = verdicts(matrix, draw_weights(0, 500, 4))
    # Pairs 01, 02, 12: the first two systems are the same, the third beats both.
    assert labels.tolist() == [0, 2, 2]


def test_of_two_equal_systems_one_is_called_better_in_five_percent_of_studies():
    """By the share of won resamples alone, as the paper counts, it is about twice that."""
    rng = np.random.default_rng(0)
    weights = draw_weights(0, 400, 30)
    pairs = [rng.random((2, 30)) for _ in range(600)]
    decided, by_the_paper = ([bool(verdicts(pair, weights, sides=sides)[0]) for pair in pairs] for sides in (2, 1))
    assert np.mean(decided) < 0.07
    assert np.mean(by_the_paper) > 0.08


def test_weighted_f1_by_hand():
    truth, predicted = np.array([1, 1, 2, 0, 0, 0]), np.array([1, 2, 2, 0, 0, 1])
    # F1: label 1: 2·1/(2+2) = .5; label 2: 2·1/(1+2) = 2/3; label 0: 2·2/(3+2) = .8.
    assert weighted_f1(truth, predicted) == pytest.approx((2 * 0.5 + 1 * 2 / 3 + 3 * 0.8) / 6)
    assert weighted_f1(truth, truth) == 1


def test_a_copy_of_the_human_measure_reaches_the_ceiling():
    h = np.random.default_rng(0).random((8, 40)) + np.linspace(0, 0.5, 8)[:, None]
    results = {r.metric: r for r in pairwise_f1(table(h=h, same=h * 3, noise=-h), human="h", resamples=300)}
    assert results["same"].f1 == pytest.approx(results["h"].f1)
    assert results["h"].is_ceiling
    assert results["noise"].f1 < results["same"].f1


def test_documents_that_people_didnt_judge_dont_count():
    h = np.random.default_rng(0).random((5, 10))
    wide = np.hstack([h, np.full((5, 3), np.nan)])
    m = np.random.default_rng(1).random((5, 13))
    plain = pairwise_f1(table(h=h, m=m[:, :10]), human="h", resamples=200)
    padded = pairwise_f1(table(h=wide, m=m), human="h", resamples=200)
    assert plain == padded


def test_missing_scores_are_answered_with_a_sentence():
    h = np.random.default_rng(0).random((4, 5))
    m = h.copy()
    m[2] = np.nan
    with pytest.raises(ValueError, match="no scores for some systems"):
        pairwise_f1(table(h=h, m=m), human="h")
    with pytest.raises(ValueError, match="needs two of each"):
        pairwise_f1(table(h=h[:1], m=h[:1]), human="h")


def test_the_command(tmp_path, capsys):
    h = np.random.default_rng(0).random((5, 6))
    path = tmp_path / "scores.csv"
    table(h=h, m=h).to_csv(path, index=False)
    command = ["pairwise", str(path), "--human", "h", "--resamples", "100", "--plot", str(tmp_path / "f.svg")]
    assert main([*command, "--json", "--seed", "3"]) == 0
    out, err = capsys.readouterr()
    assert [list(row) for row in json.loads(out)] == [["metric", "f1"]] * 2
    assert "seed 3" in err
    assert (tmp_path / "f.svg").exists()


def test_a_verdict_that_other_draws_could_change_is_none():
    rng = np.random.default_rng(0)
    first = rng.normal(size=100)
    gap = rng.normal(size=100)
    gap = (gap - gap.mean()) / gap.std() + 0.203  # wins about Φ(2.03) of resamples, and as many are needed
    pair = np.stack([first + gap, first])
    answers = [
        {int(verdicts(pair, draw_weights(seed, 400, 100), whatever_seed=certain)[0]) for seed in range(12)}
        for certain in (False, True)
    ]
    assert 1 in answers[0]
    assert answers[1] == {0}
    far = np.stack([first + gap + 1, first])
    assert int(verdicts(far, draw_weights(0, 400, 100), whatever_seed=True)[0]) == 1
