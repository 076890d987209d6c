"""Simulated studies of which the truth is known, and what the verdict says of them.

Systems are drawn from a normal population in which every metric has the true correlation r with the human measure; the
metrics share half of their error. Every score has noise over the documents of twice the systems' spread, of which
metric and human share a quarter. The sums that the rule needs are drawn directly: means, and the scatter about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from analysis.compare.stand_in import (
    ALPHA,
    REFUTED,
    SHOWN,
    THRESHOLD,
    answers,
    limits_without_each,
    study_answer,
    true_limits,
)
from analysis.correlate.noise import Noise

TRUE_R = (0.3, 0.6, 0.75, 0.9)
SYSTEMS = (4, 6, 10, 25)
METRICS = (1, 8, 14)
DOCUMENTS = (10, 100)
NOISE, SHARED, LIKE = 2.0, 0.5, 0.5


@dataclass(frozen=True)
class Cell:
    """One kind of study, and the share of each answer among the simulated ones."""

    r: float
    systems: int
    metrics: int
    documents: int
    shown: float
    refuted: float

    @property
    def false(self) -> float:
        """The share of answers that are wrong."""
        return self.shown if self.r < THRESHOLD else self.refuted

    @property
    def open(self) -> float:
        return 1 - self.shown - self.refuted


def grid(studies: int = 1000, seed: int = 0) -> list[Cell]:
    """Every cell of the grid."""
    rng = np.random.default_rng(seed)
    return [simulate(rng, studies, *cell) for cell in product(TRUE_R, SYSTEMS, METRICS, DOCUMENTS)]


def simulate(rng: np.random.Generator, studies: int, r: float, systems: int, metrics: int, documents: int) -> Cell:
    """The answers of so many studies of one kind."""
    means = _means(rng, studies, r, systems, metrics, documents)
    centred = means - means.mean(axis=-1, keepdims=True)
    variance = (centred**2).sum(axis=-1) / (systems - 1)
    spread = np.sqrt(variance[:, :1] * variance[:, 1:])
    observed = (centred[:, :1] * centred[:, 1:]).sum(axis=-1) / (systems - 1) / spread
    human, metric, shared = _scatter(rng, studies, systems, metrics, documents)
    sign = np.where(observed < 0, -1, 1)  # a metric that seems to run the other way is turned
    noise = Noise(metric / variance[:, 1:], human / variance[:, :1], sign * shared / spread)
    sides = sign[..., None] * means[:, 1:], np.broadcast_to(means[:, :1], means[:, 1:].shape)
    verdicts = study_answer(
        _holds(0, observed, sides, ALPHA / 2 / metrics, noise), _holds(1, observed, sides, ALPHA / 2, noise)
    )
    return Cell(r, systems, metrics, documents, float((verdicts == SHOWN).mean()), float((verdicts == REFUTED).mean()))


def _holds(
    which: int, observed: np.ndarray, sides: tuple[np.ndarray, np.ndarray], tail: float, noise: Noise
) -> np.ndarray:
    """Where a metric is shown (0) or refuted (1), and remains so whichever system is left out."""
    over_all = answers(*true_limits(np.abs(observed), sides[0].shape[-1], tail, noise))[which]
    without = answers(*limits_without_each(*sides, tail, noise))[which]
    return np.asarray(over_all & without.all(axis=-1))


def _means(rng: np.random.Generator, studies: int, r: float, systems: int, metrics: int, documents: int) -> np.ndarray:
    """studies × (human and metrics) × systems: observed means, noise included."""
    human, common = rng.normal(size=(2, studies, 1, systems))
    own = rng.normal(size=(studies, metrics, systems))
    error = np.sqrt(LIKE) * common + np.sqrt(1 - LIKE) * own
    true = np.concatenate([human, r * human + np.sqrt(1 - r * r) * error], axis=1)
    noise = rng.normal(size=true.shape)
    noise[:, 1:] = SHARED * noise[:, :1] + np.sqrt(1 - SHARED**2) * noise[:, 1:]
    return np.asarray(true + NOISE / np.sqrt(documents) * noise)


def _scatter(
    rng: np.random.Generator, studies: int, systems: int, metrics: int, documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Noise variances of human and metric means and their covariances, as scores by document would estimate them."""
    freedom = (systems - 1) * (documents - 1)
    human = rng.chisquare(freedom, (studies, 1))
    along = rng.normal(size=(studies, metrics))
    across = along**2 + rng.chisquare(freedom - 1, (studies, metrics))
    rest = np.sqrt(1 - SHARED**2)
    shared = SHARED * human + rest * np.sqrt(human) * along
    metric = SHARED**2 * human + 2 * SHARED * rest * np.sqrt(human) * along + rest**2 * across
    scale = NOISE**2 / documents / freedom
    return human * scale, metric * scale, shared * scale
