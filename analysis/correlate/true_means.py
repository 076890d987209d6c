"""The correlation of these systems' true means: what endless documents would give.

Redrawing documents answers another question, for it adds their noise to means that carry it already. Here the true
means are drawn as the scores tell of them: systems are normal with a covariance V − N, V being that of the observed
means (inverse Wishart with n − 1 degrees of freedom, where it leaves room for N) and N the documents' noise; each
observed mean is its true mean plus that noise. The coefficient of every draw makes the interval, ranks included
(docs/statistics/coverage.md).
"""

from __future__ import annotations

import numpy as np

from analysis.correlate.coefficients import Floats, coefficient
from analysis.correlate.noise import mean_covariance
from analysis.correlate.score_cube import over_documents

LEAST = 4
"""With fewer systems the spread of means says nothing."""
TRIES = 30
STREAM = 3


def true_mean_samples(name: str, x: Floats, z: Floats, resamples: int, seed: int) -> Floats:
    """The coefficient of drawn true means; none where the means are nothing but noise.

    x and z are the systems × documents scores of metric and people.
    """
    observed = np.stack([over_documents(x), over_documents(z)], axis=1)
    scale = observed.std(axis=0, ddof=1)
    observed = (observed - observed.mean(axis=0)) / scale
    noise = mean_covariance(x, z) / np.outer(scale, scale)
    rng = np.random.default_rng([seed, STREAM])
    spread = _drawn_spread(observed, noise, resamples, rng)
    shrink = _shares(spread, noise)
    centre = _normal(rng, spread / len(observed), 1)
    means = centre + np.einsum("rij,rsj->rsi", shrink, observed[None] - centre)
    means += _normal(rng, shrink @ noise, len(observed))
    return np.asarray(coefficient(name)(means[:, :, 0], means[:, :, 1]))


def _drawn_spread(observed: Floats, noise: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Draws of the covariance of observed means that leave room for the noise."""
    root = np.linalg.cholesky(np.linalg.inv(observed.T @ observed + 1e-12 * np.eye(2)))
    draws = np.empty((0, 2, 2))
    for _ in range(TRIES):
        spread = _inverse_wishart(root, len(observed) - 1, resamples, rng)
        draws = np.concatenate([draws, spread[np.linalg.eigvalsh(spread - noise)[:, 0] > 0]])
        if len(draws) >= resamples:
            break
    return draws[:resamples]


def _inverse_wishart(root: Floats, freedom: int, resamples: int, rng: np.random.Generator) -> Floats:
    """By Bartlett's triangles."""
    triangle = np.zeros((resamples, 2, 2))
    triangle[:, 0, 0] = np.sqrt(rng.chisquare(freedom, resamples))
    triangle[:, 1, 1] = np.sqrt(rng.chisquare(freedom - 1, resamples))
    triangle[:, 1, 0] = rng.normal(size=resamples)
    half = root @ triangle
    return np.asarray(np.linalg.inv(half @ half.transpose(0, 2, 1)))


def _shares(spread: Floats, noise: Floats) -> Floats:
    """(V − N) V⁻¹: which part of a difference between observed means is true."""
    return np.asarray(np.eye(2) - noise @ np.linalg.inv(spread))


def _normal(rng: np.random.Generator, covariance: Floats, size: int) -> Floats:
    """Draws × size × 2: normal with one covariance per draw."""
    covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
    part, axes = np.linalg.eigh(covariance)
    half = axes * np.sqrt(np.clip(part, 0, None))[:, None, :]
    return np.asarray(np.einsum("rij,rsj->rsi", half, rng.normal(size=(len(covariance), size, 2))))
