"""Can a metric tell which of two systems is better? (REALSumm, Exp-III)

For every pair of systems a paired bootstrap over documents gives a verdict: the first is better, the second is
better, or undecided below 95 %. The level is two-sided, and the tails are those of the expanded percentile interval
(Hesterberg 2015): of two equal systems one is called better in 5 % of studies, by the paper's rule (`sides=1`) in 12 %.
The metric's verdicts are scored against the human ones by weighted F1. Resamples in which both systems have the same
mean count half for each, so two equal systems are undecided. Weighted F1 depends on which system of a pair is called
the first: the order is that of group and name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.correlate import TooFewSystems
from analysis.correlate.coefficients import Floats
from analysis.correlate.resample import draw_weights, tail_share
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.tables import AnalysisError

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairwiseF1:
    """How well one metric's verdicts match the human ones."""

    metric: str
    f1: float
    first: int
    """Pairs in which the metric finds the first system better."""
    second: int
    undecided: int
    pairs: int
    is_ceiling: bool
    """The human measure against itself, on other resamples: what a perfect metric would reach."""
    low: float = float("nan")
    high: float = float("nan")
    """95 % of resamples of the systems; the verdicts stay as they are."""


def verdicts(
    matrix: Floats, weights: Floats, confidence: float = 0.95, sides: int = 2, whatever_seed: bool = False
) -> Labels:
    """1 (first better), 2 (second better) or 0 (undecided) for every pair of rows.

    `sides=1` takes the share of won resamples itself as the confidence, as the paper does. `whatever_seed` leaves
    undecided what other draws could decide otherwise.
    """
    i, j = np.triu_indices(len(matrix), 1)
    gaps = np.nan_to_num(matrix[i] - matrix[j])
    means = weights @ gaps.T
    level = np.abs(gaps).sum(axis=1) * 1e-12
    wins = (means > level).mean(axis=0) + 0.5 * (np.abs(means) <= level).mean(axis=0)
    tail = tail_share(confidence, matrix.shape[1]) if sides == 2 else 1 - confidence
    if whatever_seed:
        tail -= 2.58 * (tail * (1 - tail) / len(weights)) ** 0.5
    return np.where(wins >= 1 - tail, 1, np.where(wins <= tail, 2, 0))


def weighted_f1(truth: Labels, predicted: Labels) -> float:
    """F1 per verdict, averaged with the number of true cases as weight."""
    total = 0.0
    for label in np.unique(truth):
        n_right = int(((truth == label) & (predicted == label)).sum())
        either = int((truth == label).sum() + (predicted == label).sum())
        total += 2 * n_right / either * int((truth == label).sum())
    return total / len(truth)


def f1_interval(truth: Labels, predicted: Labels, systems: int, seed: int, draws: int = 1000) -> tuple[float, float]:
    """Percentiles of weighted F1 over resamples of systems; a pair counts as often as both of its systems are drawn."""
    counts = np.random.default_rng(seed).multinomial(systems, np.full(systems, 1 / systems), draws)
    i, j = np.triu_indices(systems, 1)
    weights = (counts[:, i] * counts[:, j]).astype(np.float64)
    total = np.zeros(draws)
    for label in np.unique(truth):
        n_true = weights @ (truth == label)
        either = n_true + weights @ (predicted == label)
        n_right = weights @ ((truth == label) & (predicted == label))
        total += n_true * np.divide(2 * n_right, either, out=np.zeros(draws), where=either > 0)
    drawn = weights.sum(axis=1)
    shares = total[drawn > 0] / drawn[drawn > 0]
    low, high = np.percentile(shares, [2.5, 97.5]).tolist()
    return low, high


def pairwise_f1(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    sides: int = 2,
) -> list[PairwiseF1]:
    """F1 of every metric, and of the human measure against itself as the ceiling."""
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    human_scores = cube.matrix(human)
    systems = np.isfinite(human_scores).any(axis=1)
    documents = np.isfinite(human_scores).any(axis=0)
    if systems.sum() < 2 or documents.sum() < 2:
        raise TooFewSystems(
            f"{int(systems.sum())} systems and {int(documents.sum())} documents have a score of {human}; comparing "
            "systems pair by pair needs two of each."
        )
    scored_cells = np.ix_(systems, documents)
    first = draw_weights(seed, resamples, int(documents.sum()), 3)
    second = draw_weights(seed, resamples, int(documents.sum()), 4)
    truth = verdicts(human_scores[scored_cells], first, confidence, sides)
    names = cube.beside(human) if metrics is None else list(metrics)
    results = []
    for name in [*(name for name in names if not cube.is_whole(name)), human]:
        matrix = cube.matrix(name)[scored_cells]
        if not np.isfinite(matrix).any(axis=1).all():
            raise AnalysisError(
                f"{name} has no scores for some systems that {human} has; leave it out with --metrics or score them."
            )
        predicted = verdicts(matrix, second, confidence, sides)
        first_better, second_better, neither = (int((predicted == label).sum()) for label in (1, 2, 0))
        f1 = weighted_f1(truth, predicted)
        low, high = f1_interval(truth, predicted, int(systems.sum()), seed)
        results.append(
            PairwiseF1(name, f1, first_better, second_better, neither, len(predicted), name == human, low, high)
        )
    return results
