"""Cumulative logit with crossed random effects: P(rating ≤ k) = logistic(cut_k − system − document − worker − summary).

Cuts, systems and the standard deviations of the effects maximise Laplace's approximation of the likelihood; standard
errors come from its curvature there. In the tests all of them are those of R's `ordinal::clmm` (Christensen 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from analysis.agreement.counts import Floats, Ints
from analysis.models.crossed import Crossed, Rows
from analysis.models.mixed import Fit
from analysis.tables import AnalysisError

STEPS = 60
START = 0.5
"""The standard deviation of every effect that the search begins with."""
SMALLEST, LARGEST = 1e-3, 50.0
"""Standard deviations are sought between these; the smallest counts as none, the largest as not converged."""
MOST_LEVELS = 20
NEWTON, LEFT = 5, 0.01
"""So many steps end the search; it has converged when no estimate would move by more than .01 standard errors."""
TINY, BEYOND = 1e-300, 1e10
"""A chance that counts as none, and the deviance of a place that is impossible."""
_NOT_CONVERGED = "The ordinal model did not converge on these judgments, so it gives no numbers; use the linear one."


def fit_ordinal(rows: Rows) -> Fit:
    """Systems as log odds against their own mean, with the covariance of those differences."""
    levels = np.unique(rows.value)
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise AnalysisError(
            f"An ordinal model needs ratings in 2 to {MOST_LEVELS} steps, and {rows.measure} has {len(levels)}; "
            "use the linear one."
        )
    try:
        best = _maximum(_Ordinal(rows, levels), len(rows.factors))
    except np.linalg.LinAlgError as error:  # a system that is always rated highest has no finite odds
        raise AnalysisError(_NOT_CONVERGED) from error
    n, cuts = len(rows.systems), len(levels) - 1
    centre = np.eye(n) - 1 / n
    systems = np.concatenate([[0.0], best.fixed[cuts:]])
    covariance = np.zeros((n, n))
    covariance[1:, 1:] = best.covariance[cuts:, cuts:]
    deviations = {factor: float(scale) for factor, scale in zip(rows.factors, best.scales, strict=True)}
    return Fit(centre @ systems, centre @ covariance @ centre, {**deviations, "residual": float(np.pi / np.sqrt(3))})


@dataclass(frozen=True)
class _Maximum:
    """Where the likelihood is highest, with the covariance of cuts and systems."""

    fixed: Floats
    scales: Floats
    covariance: Floats


def _maximum(model: _Ordinal, factors: int) -> _Maximum:
    """Steps are those of the joint mode's standard errors and of log deviations, so that all directions are alike."""
    start, covariance = model.joint_mode(np.full(factors, START))
    root = np.linalg.cholesky(covariance)
    size = len(start)

    def deviance(x: Floats) -> tuple[float, Floats]:
        scales = np.exp(x[size:])
        value, slope = model.likelihood(start + root @ x[:size], scales)
        return -value, -np.concatenate([root.T @ slope[:size], scales * slope[size:]])

    x = _lowest(deviance, np.concatenate([np.zeros(size), np.full(factors, np.log(START))]), size)
    scales = np.where(x[size:] > np.log(1.01 * SMALLEST), np.exp(x[size:]), 0.0)
    free = np.concatenate([np.arange(size), size + np.flatnonzero(scales)])
    inverse = _polished(lambda at: deviance(at)[1], x, free)[:size, :size]
    scales[scales > 0] = np.exp(x[free[size:]])
    return _Maximum(start + root @ x[:size], scales, root @ inverse @ root.T)


def _polished(slope: Callable[[Floats], Floats], x: Floats, free: Ints) -> Floats:
    """Newton's steps in place until none is left to make; the inverse of the curvature there."""
    for _ in range(NEWTON):
        curvature = _curvature(slope, x, free)
        inverse = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
        left = inverse @ slope(x)[free]
        if np.linalg.eigvalsh(curvature)[0] <= 0 or np.abs(left).max() > 1:
            break
        if np.abs(left).max() < LEFT:
            return inverse
        x[free] -= left
    raise AnalysisError(_NOT_CONVERGED)


def _lowest(deviance: Callable[[Floats], tuple[float, Floats]], first: Floats, size: int) -> Floats:
    """L-BFGS; a deviation that it left on the border, where every slope is flat, gets a second chance."""
    border = np.log([SMALLEST, LARGEST])
    bounds = [(None, None)] * size + [tuple(border)] * (len(first) - size)
    options = {"ftol": 1e-13, "gtol": 1e-6, "maxiter": 500}
    for _ in range(3):
        best = optimize.minimize(deviance, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        x = np.asarray(best.x, dtype=np.float64)
        inside = np.where(x <= border[0] + 0.01, np.log(0.1), x)
        inside[:size] = x[:size]
        if (inside == x).all() or deviance(inside)[0] >= best.fun:
            break
        first = inside
    if not abs(best.fun) < BEYOND or (x[size:] > border[1] - 0.01).any():
        raise AnalysisError(_NOT_CONVERGED)
    return x


def _curvature(slope: Callable[[Floats], Floats], at: Floats, free: Ints, step: float = 1e-4) -> Floats:
    """Second derivatives by central differences of the first, in the directions that are free."""
    rows = [(slope(at + shift) - slope(at - shift))[free] / (2 * step) for shift in step * np.eye(len(at))[free]]
    return np.asarray((np.array(rows) + np.array(rows).T) / 2)


@dataclass(frozen=True)
class _Chances:
    """Of every row, at given cuts, systems and effects: P of its rating, and the curve at its two cuts."""

    chance: Floats
    upper: Floats
    lower: Floats

    @property
    def slopes(self) -> tuple[Floats, Floats]:
        """The logistic density at both cuts."""
        return self.upper * (1 - self.upper), self.lower * (1 - self.lower)

    @property
    def push(self) -> Floats:
        """By how much log P grows with the row's effects."""
        return np.asarray(self.upper + self.lower - 1)


class _Ordinal:
    """The likelihood of one data set; modes start from the last one reached."""

    def __init__(self, rows: Rows, levels: Floats) -> None:
        self._factors = rows.factors
        place, n_cuts, n = np.searchsorted(levels, rows.value), len(levels) - 1, len(rows.value)
        upper, lower = np.zeros((n, n_cuts)), np.zeros((n, n_cuts))
        self._has_upper, self._has_lower = place < n_cuts, place > 0
        upper[self._has_upper, place[self._has_upper]] = 1
        lower[self._has_lower, place[self._has_lower] - 1] = 1
        systems = -np.eye(len(rows.systems))[rows.system][:, 1:]
        self._upper, self._lower = np.hstack([upper, systems]), np.hstack([lower, systems])
        share = np.cumsum(np.bincount(place, minlength=n_cuts + 1))[:-1] / n
        self._start = np.concatenate([special.logit(share), np.zeros(len(rows.systems) - 1)])
        self._effects = np.zeros(sum(int(code.max()) + 1 for code in rows.factors.values()))

    def joint_mode(self, scales: Floats) -> tuple[Floats, Floats]:
        """Cuts and systems where the likelihood is highest together with the effects, and their covariance there."""
        plain, fixed = Crossed(self._factors, scales), self._start
        for _ in range(STEPS):
            step, effects_step, covariance = self._joint_step(plain, scales, fixed)
            better = self._climbed(plain, fixed, step, effects_step)
            if better is None or max(np.abs(step).max(), np.abs(effects_step).max()) < 1e-4:
                return fixed, covariance
            fixed = better
        raise AnalysisError(_NOT_CONVERGED)

    def _climbed(self, crossed: Crossed, fixed: Floats, step: Floats, effects_step: Floats) -> Floats | None:
        """Cuts and systems after a step, halved while it doesn't help; None when nothing is gained."""
        height = self._height(crossed, fixed, self._effects)
        for size in 0.5 ** np.arange(30):
            trial = fixed + size * step, self._effects + size * effects_step
            if self._height(crossed, *trial) > height:
                self._effects = trial[1]
                return np.asarray(trial[0])
        return None

    def _joint_step(self, plain: Crossed, scales: Floats, fixed: Floats) -> tuple[Floats, Floats, Floats]:
        """Newton's step for cuts and systems, the one for the effects, and the covariance of the first."""
        at = self._chances(fixed, plain.gather(self._effects))
        upper, lower = at.slopes
        crossed = Crossed(self._factors, scales, upper + lower)
        f, g = upper / at.chance, lower / at.chance
        aa, ab, bb = f * f - f * (1 - 2 * at.upper), -f * g, g * g + g * (1 - 2 * at.lower)
        inner = self._upper.T @ (self._upper * aa[:, None] + self._lower * ab[:, None]) + self._lower.T @ (
            self._upper * ab[:, None] + self._lower * bb[:, None]
        )
        across = -crossed.spread(self._upper * upper[:, None] + self._lower * lower[:, None])
        effects_slope = plain.spread(at.push[:, None])[:, 0] - self._effects
        solved = crossed.solve(np.column_stack([across, effects_slope]))
        covariance = np.asarray(np.linalg.inv(inner - across.T @ solved[:, :-1]), dtype=np.float64)
        step = covariance @ (self._upper.T @ f - self._lower.T @ g - across.T @ solved[:, -1])
        return step, solved[:, -1] - solved[:, :-1] @ step, covariance

    def _height(self, crossed: Crossed, fixed: Floats, effects: Floats) -> float:
        chance = self._chances(fixed, crossed.gather(effects)).chance
        return float(np.log(chance).sum() - 0.5 * effects @ effects) if (chance > TINY).all() else -np.inf

    def _chances(self, fixed: Floats, shift: Floats) -> _Chances:
        upper = np.where(self._has_upper, special.expit(self._upper @ fixed - shift), 1.0)
        lower = np.where(self._has_lower, special.expit(self._lower @ fixed - shift), 0.0)
        return _Chances(np.maximum(upper - lower, TINY), upper, lower)

    def likelihood(self, fixed: Floats, scales: Floats) -> tuple[float, Floats]:
        """Laplace's log likelihood, and its slope in cuts, systems and standard deviations."""
        plain = Crossed(self._factors, scales)
        crossed, at = self._settled(plain, scales, fixed)
        height = self._height(plain, fixed, self._effects)
        if not np.isfinite(height):
            return -BEYOND, np.zeros(len(fixed) + len(scales))
        upper, lower = at.slopes
        bend_upper, bend_lower = upper * (1 - 2 * at.upper), lower * (1 - 2 * at.lower)
        spread, levels = crossed.variances()
        # Whatever moves the mode moves the weights, and with them the determinant.
        moved = crossed.solve(crossed.spread((-spread * (bend_upper + bend_lower))[:, None]))[:, 0]
        pull = crossed.gather(moved)
        slope = self._upper.T @ (upper / at.chance - (spread * bend_upper + pull * upper) / 2)
        slope -= self._lower.T @ (lower / at.chance + (spread * bend_lower + pull * lower) / 2)
        row = at.push + (spread * (bend_upper + bend_lower) + pull * (upper + lower)) / 2
        by_scale = []
        sides = zip(self._factors.values(), plain.split(self._effects), plain.split(moved), strict=True)
        for (code, effects, shift), scale, level in zip(sides, scales, levels, strict=True):
            growth = float((1 - level).sum()) / scale if scale > 0 else 0.0
            by_scale.append(row @ effects[code] - 0.5 * shift @ np.bincount(code, at.push, len(effects)) - growth)
        return height - 0.5 * crossed.log_determinant(), np.concatenate([slope, by_scale])

    def _settled(self, plain: Crossed, scales: Floats, fixed: Floats) -> tuple[Crossed, _Chances]:
        """The effects at their mode for given cuts and systems; from none where the last mode is impossible."""
        if not np.isfinite(self._height(plain, fixed, self._effects)):
            self._effects = np.zeros_like(self._effects)
        still = np.zeros_like(fixed)
        for _ in range(STEPS):
            at = self._chances(fixed, plain.gather(self._effects))
            crossed = Crossed(self._factors, scales, np.add(*at.slopes))
            step = crossed.solve(plain.spread(at.push[:, None]) - self._effects[:, None])[:, 0]
            if np.abs(step).max() < 1e-8 or self._climbed(plain, fixed, still, step) is None:
                return crossed, at
        raise AnalysisError(_NOT_CONVERGED)
