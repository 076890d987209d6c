"""Agreement on pairs as the machine-translation metrics tasks measure it, with its ways to treat ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.correlate.coefficients import Floats, accuracy, complete, pearson


@dataclass(frozen=True)
class TieCalibration:
    """Pairwise accuracy at the threshold below which two metric scores count as tied."""

    epsilon: float
    accuracy: float
    uncalibrated: float
    """Accuracy when only equal scores are tied."""
    note: str = "The threshold was fitted on the data it is reported for."


def calibrate_ties(metric: Floats, human: Floats) -> TieCalibration:
    """The threshold with the best accuracy (Deutsch et al. 2023). Rows of a matrix are compared within themselves."""
    x, z = complete(np.atleast_2d(metric), np.atleast_2d(human))
    i, j = np.triu_indices(x.shape[1], 1)
    gaps, truth = x[:, i] - x[:, j], np.sign(z[:, i] - z[:, j])
    is_defined = np.isfinite(gaps)
    size, agrees = np.abs(gaps[is_defined]), np.sign(gaps[is_defined]) == truth[is_defined]
    tied = truth[is_defined] == 0
    order = np.argsort(size, kind="stable")
    # With the threshold at the k-th gap the first k pairs are ties (right when people tie), the rest keep their order.
    hits = np.concatenate([[0], np.cumsum(tied[order])]) + np.concatenate([np.cumsum(agrees[order][::-1])[::-1], [0]])
    steps = np.concatenate([[0.0], size[order]])
    last = np.append(steps[1:] != steps[:-1], True)
    start = int(np.searchsorted(steps, 0.0, side="right")) - 1
    candidates = np.flatnonzero(last)
    best = candidates[int(np.argmax(hits[candidates]))]
    total = len(size)
    return TieCalibration(float(steps[best]), float(hits[best] / total), float(hits[start] / total))


def pairwise_difference_pearson(metric: Floats, human: Floats) -> float:
    """Pearson's r of all differences within items, pooled over items (rows: systems, columns: items)."""
    x, z = complete(metric, human)
    i, j = np.triu_indices(len(x), 1)
    gaps_x, gaps_z = (x[i] - x[j]).ravel(), (z[i] - z[j]).ravel()
    # Either sign of a difference is as good as the other: both are taken, which centres the differences at zero.
    return float(pearson(np.concatenate([gaps_x, -gaps_x]), np.concatenate([gaps_z, -gaps_z])))


def kendall_like(metric: Floats, human: Floats, threshold: float = 0.0) -> float:
    """Concordant minus discordant over pairs that people separate by more than a threshold; metric ties are wrong."""
    x, z = complete(metric, human)
    i, j = np.triu_indices(len(x), 1)
    gap = z[i] - z[j]
    is_separated = np.abs(gap) >= threshold if threshold else gap != 0
    product = np.sign(x[i] - x[j])[is_separated] * np.sign(gap)[is_separated]
    return float(np.mean(np.where(product > 0, 1, -1))) if is_separated.any() else float("nan")


def soft_pairwise_accuracy(metric: Floats, human: Floats, permutations: int = 1000, seed: int = 0) -> float:
    """1 − mean |p of the metric − p of the human| over pairs of systems (Thompson et al. 2024).

    p is that of a one-sided paired permutation test over documents; the same swaps serve both sides.
    """
    first, second = (pair_p_values(side, permutations, seed) for side in (metric, human))
    upper = np.triu_indices(len(first), 1)
    return float(1 - np.mean(np.abs(first[upper] - second[upper])))


def pair_p_values(matrix: Floats, permutations: int = 1000, seed: int = 0) -> Floats:
    """p of every ordered pair of systems: how often a random swap of documents does at least as well."""
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, (permutations, matrix.shape[1])) * 2 - 1
    i, j = np.triu_indices(len(matrix), 1)
    gaps = np.nan_to_num(matrix[i] - matrix[j])
    p = np.full((len(matrix), len(matrix)), np.nan)
    means = signs @ gaps.T
    p[i, j] = (means >= gaps.sum(axis=1) - 1e-12).mean(axis=0)
    return p


__all__ = [
    "TieCalibration",
    "accuracy",
    "calibrate_ties",
    "kendall_like",
    "pair_p_values",
    "pairwise_difference_pearson",
    "soft_pairwise_accuracy",
]
