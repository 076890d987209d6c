"""Standard errors by formula (Gwet 2014), for those who want to compare with tables printed by other programs.

Each unit's contribution to the coefficient is linearised; the variance is that of the contributions. The bootstrap of
`analysis.agreement` makes fewer assumptions and knows clusters; use this for units that are a plain sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.agreement.coefficients import agreement_weights
from analysis.agreement.counts import Floats, count_matrix
from analysis.tables import AnalysisError

COEFFICIENTS = ("alpha", "ac1", "ac2", "fleiss", "brennan-prediger", "conger")


@dataclass(frozen=True)
class AnalyticResult:
    """A coefficient with its standard error and t-interval (cut at 1, as the programs do)."""

    value: float
    se: float
    low: float
    high: float
    n_units: int


def analytic(
    ratings: Floats, coefficient: str = "alpha", level: str = "nominal", confidence: float = 0.95
) -> AnalyticResult:
    """The coefficient of a raters × units matrix (NaN for missing), with a standard error by formula."""
    if coefficient not in COEFFICIENTS:
        raise AnalysisError(f"There is no formula for {coefficient!r}; there is one for {', '.join(COEFFICIENTS)}.")
    counts = count_matrix(ratings)
    size = counts.table.sum(axis=1)
    table, size = counts.table[size > 0], size[size > 0]
    close = agreement_weights(counts.values, "nominal" if coefficient == "ac1" else level)
    if len(counts.values) < 2 or not (size >= 2).any():
        nan = float("nan")
        return AnalyticResult(nan, nan, nan, nan, len(table))
    if coefficient == "alpha":
        value, unit_values = _alpha_parts(table[size >= 2], size[size >= 2], close)
    elif coefficient == "conger":
        value, unit_values = _conger_parts(ratings[:, ~np.isnan(ratings).all(axis=0)].T, counts.values, close)
    else:
        value, unit_values = _kappa_parts(table, size, close, coefficient)
    n = len(unit_values)
    se = float(np.sqrt(((unit_values - value) ** 2).sum() / (n * (n - 1))))
    reach = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * se
    return AnalyticResult(value, se, max(value - reach, -1.0), min(value + reach, 1.0), n)


def _kappa_parts(table: Floats, size: Floats, close: Floats, coefficient: str) -> tuple[float, Floats]:
    """Gwet's AC, Fleiss' kappa or Brennan–Prediger: the value, and each unit's share in it."""
    paired, steps = size >= 2, len(close)
    pairs = np.where(paired, size * (size - 1), 1)
    agree = np.where(paired, (table * (table @ close - 1)).sum(axis=1) / pairs, 0)
    observed = agree[paired].mean()
    shares = table / size[:, None]
    share = shares.mean(axis=0)
    if coefficient == "brennan-prediger":
        chance = float(close.sum()) / steps**2
        unit_chance = np.full(len(table), chance)
    elif coefficient == "fleiss":
        chance = float(share @ close @ share)
        unit_chance = shares @ ((close + close.T) / 2 @ share)
    else:
        factor = float(close.sum()) / (steps * (steps - 1))
        chance = factor * float((share * (1 - share)).sum())
        unit_chance = factor * (shares * (1 - share)).sum(axis=1)
    value = float((observed - chance) / (1 - chance))
    scale = len(table) / paired.sum()
    unit_values = scale * (agree - chance * paired) / (1 - chance)
    return value, unit_values - 2 * (1 - value) * (unit_chance - chance) / (1 - chance)


def _conger_parts(answers: Floats, values: Floats, close: Floats) -> tuple[float, Floats]:
    """Conger's kappa of units × raters: chance comes from each rater's own habits, also where answers are missing."""
    n, raters = answers.shape
    is_answer = np.stack([answers == value for value in values]).astype(np.float64)  # value × unit × rater
    table = is_answer.sum(axis=2).T
    size, rated = table.sum(axis=1), is_answer.sum(axis=(0, 1))
    paired = size >= 2
    agree = np.where(paired, (table * (table @ close - 1)).sum(axis=1) / np.where(paired, size * (size - 1), 1), 0)
    habits = is_answer.sum(axis=1) / rated  # value × rater
    share = habits.mean(axis=1)
    # The mean over pairs of different raters of what their habits alone would give.
    chance = float(raters * share @ close @ share * raters - np.einsum("kr,kl,lr->", habits, close, habits))
    chance /= raters * (raters - 1)
    value = float((agree[paired].mean() - chance) / (1 - chance))
    present = is_answer.sum(axis=0)
    moved = np.einsum("kl,lur->kur", close, is_answer - (present - rated / n) * habits[:, None, :]) * (n / rated)
    unit_chance = raters * np.einsum("kur,k->u", moved, share) - np.einsum("kur,kr->u", moved, habits)
    unit_chance /= raters * (raters - 1)
    unit_values = (n / paired.sum()) * (agree - chance * paired) / (1 - chance)
    return value, unit_values - 2 * (1 - value) * (unit_chance - chance) / (1 - chance)


def _alpha_parts(table: Floats, size: Floats, close: Floats) -> tuple[float, Floats]:
    """Krippendorff's alpha as chance-corrected agreement, with its small-sample term 1 / n in the value only."""
    mean, total = size.mean(), size.sum()
    share = table.mean(axis=0) / mean
    agree = (table * (table @ close - 1)).sum(axis=1) / (mean * (size - 1))
    chance = float(share @ close @ share)
    plain = (agree.mean() - chance) / (1 - chance)
    observed = (1 - 1 / total) * agree.mean() + 1 / total
    value = float((observed - chance) / (1 - chance))
    uneven = (size - mean) / mean
    unit_agree = agree - observed * uneven
    unit_chance = table @ ((close + close.T) / 2 @ share) / mean - chance * uneven
    unit_values = (unit_agree - chance) / (1 - chance) - 2 * (1 - plain) * (unit_chance - chance) / (1 - chance)
    return value, unit_values - plain + value
