"""Cumulative logit with crossed random effects: P(rating ≤ k) = logistic(cut_k − system − document − worker − summary).

Systems, cuts and effects are at the mode of the penalised likelihood; the standard deviations of the effects maximise
Laplace's approximation there (as lme4's `nAGQ = 0`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.agreement.counts import Floats
from analysis.models.crossed import Crossed, Rows
from analysis.models.mixed import Fit, minimised
from analysis.tables import AnalysisError

STEPS = 60
_NOT_CONVERGED = "The ordinal model did not converge on these judgments, so it gives no numbers; use the linear one."
MOST_LEVELS = 20


@dataclass(frozen=True)
class _Mode:
    """Where the penalised likelihood is highest for given standard deviations."""

    fixed: Floats
    effects: Floats
    covariance: Floats
    value: float
    """Laplace's log likelihood."""


def fit_ordinal(rows: Rows) -> Fit:
    """Systems as log odds against their own mean, with the covariance of those differences."""
    levels = np.unique(rows.value)
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise AnalysisError(
            f"An ordinal model needs ratings in 2 to {MOST_LEVELS} steps, and {rows.measure} has {len(levels)}; "
            "use the linear one."
        )
    model = _Ordinal(rows, levels)
    try:
        ratios = minimised(lambda scales: -2 * model.mode(scales).value, len(rows.factors))
        mode = model.mode(ratios)
    except np.linalg.LinAlgError as error:  # a system that is always rated highest has no finite odds
        raise AnalysisError(_NOT_CONVERGED) from error
    n = len(rows.systems)
    centre = np.eye(n) - 1 / n
    systems = np.concatenate([[0.0], mode.fixed[len(levels) - 1 :]])
    covariance = np.zeros((n, n))
    covariance[1:, 1:] = mode.covariance[len(levels) - 1 :, len(levels) - 1 :]
    deviations = {factor: float(scale) for factor, scale in zip(rows.factors, ratios, strict=True)}
    return Fit(centre @ systems, centre @ covariance @ centre, {**deviations, "residual": float(np.pi / np.sqrt(3))})


class _Ordinal:
    """The likelihood of one data set; modes start from the last one found."""

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
        self._last: tuple[Floats, Floats] | None = None

    def mode(self, scales: Floats) -> _Mode:
        """Newton's steps, halved while they don't help; from the last mode, or from none where that is impossible."""
        crossed = Crossed(self._factors, scales)
        fixed, effects = self._last or (self._start, np.zeros(crossed.size))
        if not np.isfinite(self._height(crossed, fixed, effects)):
            fixed, effects = self._start, np.zeros(crossed.size)
        for _ in range(STEPS):
            height, step = self._height(crossed, fixed, effects), self._step(scales, fixed, effects)
            trials = ((fixed + size * step.fixed, effects + size * step.effects) for size in 0.5 ** np.arange(30))
            better = next((trial for trial in trials if self._height(crossed, *trial) > height), None)
            gain = self._height(crossed, *better) - height if better else 0.0
            if gain < 1e-9 * (1 + abs(height)):
                self._last = fixed, effects
                return _Mode(fixed, effects, step.covariance, height - 0.5 * step.value)
            fixed, effects = better or (fixed, effects)
        raise AnalysisError(_NOT_CONVERGED)

    def _height(self, crossed: Crossed, fixed: Floats, effects: Floats) -> float:
        shift = crossed.gather(effects)
        with np.errstate(divide="ignore"):
            chance = np.log(self._chance(fixed, shift)[0])
        total = float(chance.sum() - 0.5 * effects @ effects)
        return total if np.isfinite(total) else -np.inf

    def _chance(self, fixed: Floats, shift: Floats) -> tuple[Floats, Floats, Floats]:
        """P of every row's rating, and the logistic function at its upper and lower cut."""
        upper = np.where(self._has_upper, special.expit(self._upper @ fixed - shift), 1.0)
        lower = np.where(self._has_lower, special.expit(self._lower @ fixed - shift), 0.0)
        return np.maximum(upper - lower, 0.0), upper, lower

    def _step(self, scales: Floats, fixed: Floats, effects: Floats) -> _Mode:
        """Newton's step for cuts, systems and effects together; `value` is the effects' log determinant."""
        plain = Crossed(self._factors, scales)
        chance, upper, lower = self._chance(fixed, plain.gather(effects))
        chance = np.maximum(chance, 1e-300)
        f, g = upper * (1 - upper) / chance, lower * (1 - lower) / chance
        aa = f * f - f * (1 - 2 * upper)
        bb = g * g + g * (1 - 2 * lower)
        ab = -f * g
        row_upper, row_lower = aa + ab, ab + bb
        crossed = Crossed(self._factors, scales, row_upper + row_lower)
        fixed_slope = self._upper.T @ f - self._lower.T @ g
        effects_slope = -plain.spread((f - g)[:, None])[:, 0] - effects
        design = self._upper * row_upper[:, None] + self._lower * row_lower[:, None]
        across = -crossed.spread(design)
        inner = self._upper.T @ (self._upper * aa[:, None] + self._lower * ab[:, None]) + self._lower.T @ (
            self._upper * ab[:, None] + self._lower * bb[:, None]
        )
        solved = crossed.solve(np.column_stack([across, effects_slope]))
        covariance = np.asarray(np.linalg.inv(inner - across.T @ solved[:, :-1]), dtype=np.float64)
        fixed_step = covariance @ (fixed_slope - across.T @ solved[:, -1])
        return _Mode(fixed_step, solved[:, -1] - solved[:, :-1] @ fixed_step, covariance, crossed.log_determinant())
