"""How much of a system's mean is noise: it was judged on some documents, and other documents would give another mean.

Noise on either side hides a correlation (Spearman 1904); noise that both sides share (a hard document lowers both
scores of one system) makes one up. Both are known from how a system's scores scatter over the documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.correlate.coefficients import Floats, complete


@dataclass(frozen=True)
class Noise:
    """The noise of two measures' system means, in units of the variance of those means."""

    metric: Floats
    """Noise variance / variance of the metric's means; 0 where nothing is known of it."""
    human: Floats
    shared: Floats
    """Noise covariance / product of the standard deviations: the part of r that shared noise makes up."""

    @property
    def ceiling(self) -> Floats:
        """What the true human means would reach with the observed ones: no metric should be expected to do better."""
        return np.asarray(np.sqrt(np.clip(1 - self.human, 0, 1)))

    @property
    def reach(self) -> Floats:
        """By which factor noise shrinks a true correlation; 0 when the means are nothing but noise."""
        return np.asarray(np.sqrt(np.clip(1 - self.metric, 0, 1) * np.clip(1 - self.human, 0, 1)))


QUIET = Noise(np.asarray(0.0), np.asarray(0.0), np.asarray(0.0))
"""Nothing is known of the noise: scores of whole systems."""


def mean_covariance(x: Floats, z: Floats) -> Floats:
    """2 × 2 (or many of them): the noise covariance of the system means of metric and human measure.

    What a document does to all systems alike doesn't matter to a correlation over systems and is taken out.
    """
    x, z = complete(x, z)
    rest = [_residuals(side) for side in (x, z)]
    present = ~np.isnan(x)
    systems, documents = present.any(axis=-1).sum(axis=-1), present.any(axis=-2).sum(axis=-1)
    freedom = np.maximum(present.sum(axis=(-1, -2)) - systems - documents + 1, 1)
    per_system = np.where(present.any(axis=-1), 1 / np.maximum(present.sum(axis=-1), 1), 0)
    share = per_system.sum(axis=-1) / np.maximum(systems, 1) / freedom
    pairs = [[(a * b).sum(axis=(-1, -2)) * share for b in rest] for a in rest]
    return np.asarray(np.moveaxis(np.array(pairs), (0, 1), (-2, -1)))


def _residuals(side: Floats) -> Floats:
    """Scores without the effects of their system and of their document; 0 where missing."""
    present = ~np.isnan(side)
    rest = np.where(present, side, 0.0)
    for _ in range(1 if present.all() else 20):  # with gaps the two effects are taken out in turn until they are gone
        for axis in (-1, -2):
            count = np.maximum(present.sum(axis=axis, keepdims=True), 1)
            rest = np.where(present, rest - rest.sum(axis=axis, keepdims=True) / count, 0.0)
    return rest


def noise_of(x: Floats, z: Floats, a: Floats, b: Floats) -> Noise:
    """The noise in the correlation of the means a and b, made of the cells x and z."""
    noise = mean_covariance(x, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        va, vb = np.nanvar(a, axis=-1, ddof=1), np.nanvar(b, axis=-1, ddof=1)
        return Noise(noise[..., 0, 0] / va, noise[..., 1, 1] / vb, noise[..., 0, 1] / np.sqrt(va * vb))
