"""Systems compared by a mixed-effects model: documents, workers and summaries as crossed random effects.

Linear: value = system + document + worker + summary + error, by restricted maximum likelihood (Bates et al. 2015).
Ordinal: a cumulative logit with the same effects, for ratings in steps (`analysis/models/ordinal.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats

from analysis.agreement.counts import Floats
from analysis.compare.adjust import CORRECTIONS, adjust
from analysis.models.crossed import Crossed, Rows, model_rows
from analysis.tables import AnalysisError

MODELS = ("linear", "ordinal")


@dataclass(frozen=True)
class Effect:
    """A system's level: its mean (linear), or its log odds of a higher rating against the mean of systems (ordinal)."""

    system: str
    value: float
    se: float
    low: float
    high: float


@dataclass(frozen=True)
class Contrast:
    """Two systems, the better one first."""

    better: str
    worse: str
    difference: float
    se: float
    low: float
    high: float
    p: float
    p_adjusted: float
    effect: float
    """The difference in standard deviations of a single judgment (Westfall, Kenny and Judd 2014)."""


@dataclass(frozen=True)
class MixedModel:
    """What a model says of all systems and pairs."""

    kind: str
    measure: str
    systems: tuple[Effect, ...]
    pairs: tuple[Contrast, ...]
    deviations: dict[str, float]
    """Standard deviation of each random effect, and of the error (`residual`; π/√3 for logits)."""
    n: int
    correction: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """Estimates of the systems with their covariance, and the random effects' standard deviations."""

    estimates: Floats
    covariance: Floats
    deviations: dict[str, float]


def mixed_model(
    judgments: pd.DataFrame,
    *,
    kind: str = "linear",
    unit: str | None = None,
    correction: str = "holm",
    confidence: float = 0.95,
) -> MixedModel:
    """Compare systems on a judgments table. A model that does not converge is refused, not reported.

    >>> rows = [(f"d{d}", f"s{s}", "coherence", f"w{w}", s + d % 3 + 0.1 * ((d * 7 + s * 3 + w * 5) % 4))
    ...         for d in range(6) for s in range(2) for w in range(3)]
    >>> judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    >>> model = mixed_model(judgments)
    >>> [(pair.better, pair.worse, round(pair.difference, 2)) for pair in model.pairs]
    [('s1', 's0', 1.01)]
    """
    for name, choices, option in ((kind, MODELS, "model"), (correction, CORRECTIONS, "correction")):
        if name not in choices:
            raise AnalysisError(f"There is no {option} {name!r}; there are {', '.join(choices)}.")
    rows = model_rows(judgments, unit)
    if not rows.factors:
        raise AnalysisError(f"A mixed model needs documents or workers that judgments share. {' '.join(rows.notes)}")
    if kind == "ordinal":
        from analysis.models.ordinal import fit_ordinal

        fit = fit_ordinal(rows)
    else:
        fit = fit_linear(rows)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    return MixedModel(
        kind,
        rows.measure,
        _effects(rows, fit, z),
        _contrasts(rows, fit, z, correction),
        fit.deviations,
        len(rows.value),
        correction,
        rows.notes,
    )


def fit_linear(rows: Rows) -> Fit:
    """Restricted maximum likelihood, profiled to the ratios of the standard deviations to the error's."""
    value = rows.value - rows.value.mean()
    if not value.any():
        raise AnalysisError("All judgments are the same; there is nothing to model.")
    columns = np.column_stack([np.eye(len(rows.systems))[rows.system], value / value.std()])
    product = columns.T @ columns
    free = len(rows.value) - len(rows.systems)

    def parts(ratios: Floats) -> tuple[Crossed, Floats]:
        crossed = Crossed(rows.factors, ratios)
        spread = crossed.spread(columns)
        return crossed, product - spread.T @ crossed.solve(spread)

    def deviance(ratios: Floats) -> float:
        crossed, left = parts(ratios)
        inner, cross = left[:-1, :-1], left[:-1, -1]
        squares = left[-1, -1] - cross @ np.linalg.solve(inner, cross)
        return float(crossed.log_determinant() + np.linalg.slogdet(inner)[1] + free * np.log(max(squares, 1e-300)))

    ratios = minimised(deviance, len(rows.factors))
    _, left = parts(ratios)
    inverse = np.linalg.inv(left[:-1, :-1])
    estimates = inverse @ left[:-1, -1]
    variance = float(left[-1, -1] - left[:-1, -1] @ estimates) / free * value.std() ** 2
    sd = float(np.sqrt(variance))
    deviations = {factor: float(ratio) * sd for factor, ratio in zip(rows.factors, ratios, strict=True)}
    mean = rows.value.mean()
    return Fit(estimates * value.std() + mean, inverse * variance, {**deviations, "residual": sd})


def minimised(deviance: Callable[[Floats], float], size: int) -> Floats:
    """The ratios with the least deviance; a search that ends elsewhere gives no numbers."""
    best = optimize.minimize(deviance, np.full(size, 0.5), method="L-BFGS-B", bounds=[(0, 1e3)] * size)
    if not (best.success and np.isfinite(best.fun)) or (best.x > 999).any():
        raise AnalysisError("The model did not converge on these judgments, so it gives no numbers; use `systems`.")
    return np.asarray(best.x, dtype=np.float64)


def _effects(rows: Rows, fit: Fit, z: float) -> tuple[Effect, ...]:
    errors = np.sqrt(np.diag(fit.covariance))
    table = zip(rows.systems, fit.estimates.tolist(), errors.tolist(), strict=True)
    effects = [Effect(name, value, se, value - z * se, value + z * se) for name, value, se in table]
    return tuple(sorted(effects, key=lambda effect: -effect.value))


def _contrasts(rows: Rows, fit: Fit, z: float, correction: str) -> tuple[Contrast, ...]:
    order = np.argsort(-fit.estimates, kind="stable")
    i, j = (order[side] for side in np.triu_indices(len(order), 1))
    difference = fit.estimates[i] - fit.estimates[j]
    variance = fit.covariance[i, i] + fit.covariance[j, j] - 2 * fit.covariance[i, j]
    se = np.sqrt(np.maximum(variance, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(se > 0, 2 * stats.norm.sf(np.abs(difference / se)), 1.0)
    adjusted = adjust(p, correction)
    total = float(np.sqrt(sum(deviation**2 for deviation in fit.deviations.values())))
    columns = (difference, se, difference - z * se, difference + z * se, p, adjusted, difference / total)
    return tuple(
        Contrast(rows.systems[a], rows.systems[b], *numbers)
        for a, b, numbers in zip(i, j, np.column_stack(columns).tolist(), strict=True)
    )
