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
    judge_metrics,
    limits_without_each,
    study_answer,
    true_limits,
)
from analysis.correlate.noise import Noise
from analysis.correlate.score_cube import ScoreCube

TRUE_R = (0.3, 0.6, 0.75, 0.9)
SYSTEMS = (4, 6, 10, 25)
METRICS = (1, 8, 14)
DOCUMENTS = (10, 100)
NOISE, SHARED, LIKE = 2.0, 0.5, 0.5
GROUPS = (
    ((0.75, 0.75), (12, 13), 4.0),
    ((0.95, 0.75), (12, 13), 0.0),
    ((0.99, 0.75), (12, 13), 0.0),
    ((0.99, 0.75), (20, 10), 0.0),
    ((0.99, 0.79), (20, 20), 0.0),
    ((0.9, 0.9), (12, 13), 0.0),
    ((0.95, 0.95), (12, 13), 0.0),
    ((0.98, 0.98), (12, 13), 4.0),
)
"""True correlations within two groups, their numbers of systems, and how far apart they lie."""


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


@dataclass(frozen=True)
class GroupCell:
    """One kind of study with two groups of systems; "shown" is false where it isn't so in either of them."""

    r: tuple[float, ...]
    sizes: tuple[int, ...]
    metrics: int
    documents: int
    apart: float
    shown: float
    refuted: float

    @property
    def false(self) -> float:
        """The share of answers that are wrong."""
        return self.shown if min(self.r) < THRESHOLD else self.refuted


def grid(studies: int = 1000, seed: int = 0) -> list[Cell]:
    """Every cell of the grid."""
    rng = np.random.default_rng(seed)
    return [simulate(rng, studies, *cell) for cell in product(TRUE_R, SYSTEMS, METRICS, DOCUMENTS)]


def group_grid(studies: int = 500, seed: int = 0) -> list[GroupCell]:
    """Studies with two groups of systems, few and many documents, one metric and eight."""
    rng = np.random.default_rng(seed)
    kinds = product(GROUPS, (1, 8), DOCUMENTS)
    return [simulate_groups(rng, studies, r, n, metrics, many, apart) for (r, n, apart), metrics, many in kinds]


def simulate_groups(
    rng: np.random.Generator,
    studies: int,
    r: tuple[float, ...],
    sizes: tuple[int, ...],
    metrics: int,
    documents: int,
    apart: float = 0.0,
) -> GroupCell:
    """The answers of so many studies of one kind, each judged from its scores."""
    cubes = (_grouped(rng, r, sizes, metrics, documents, apart) for _ in range(studies))
    verdicts = np.array([judge_metrics(cube, "h", cube.metrics[1:]).answer for cube in cubes])
    shares = float((verdicts == SHOWN).mean()), float((verdicts == REFUTED).mean())
    return GroupCell(r, sizes, metrics, documents, apart, *shares)


def _grouped(
    rng: np.random.Generator, r: tuple[float, ...], sizes: tuple[int, ...], metrics: int, documents: int, apart: float
) -> ScoreCube:
    """A study's scores, systems and noise as above; groups lie so many standard deviations apart."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    follows = np.array(r)[group]
    human, common = rng.normal(size=(2, 1, len(group)))
    error = np.sqrt(LIKE) * common + np.sqrt(1 - LIKE) * rng.normal(size=(metrics, len(group)))
    true = np.concatenate([human, follows * human + np.sqrt(1 - follows**2) * error]) + apart * group
    noise = rng.normal(size=(*true.shape, documents))
    noise[1:] = SHARED * noise[:1] + np.sqrt(1 - SHARED**2) * noise[1:]
    names = [tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip("msd", noise.shape, strict=True)]
    groups = tuple(f"g{number}" for number in group)
    return ScoreCube(
        ("h", *names[0][1:]), names[1], names[2], groups, true[..., None] + NOISE * noise, np.full(true.shape, np.nan)
    )


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
