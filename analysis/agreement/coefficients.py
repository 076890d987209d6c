"""Agreement coefficients, each for many weightings of the same answer patterns at once.

Every kernel takes `weights` (R × P: how often each pattern occurs in each of R data sets), the pattern counts
(P × V) and the values (V). The observed data is one row of weights, the items of a study are one row each, and a
bootstrap is one row per resample; the arithmetic is the same matrix products. An alpha by itself comes from the package
krippendorff (`alpha_of_table`); the kernel `alpha` serves the resamples, and a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable

import krippendorff
import numpy as np

from analysis.agreement.counts import Floats
from analysis.tables import AnalysisError

LEVELS = ("nominal", "ordinal", "interval", "ratio")
Kernel = Callable[[Floats, Floats, Floats, str], Floats]
PACKAGE_CELLS = 2**23
"""The package builds units × values × values numbers three times over: here 190 MB. A larger table is the kernel's."""


def alpha_of_table(table: Floats, values: Floats, level: str) -> float:
    """Krippendorff's alpha of units × values, by the package krippendorff; NaN when undefined, as in the kernel."""
    if level == "ratio":
        _refuse_negative(values)
    table = table[table.sum(axis=1) >= 2]
    is_used = table.any(axis=0)
    table, values = table[:, is_used], values[is_used]
    if len(values) < 2:
        return float("nan")
    if table.size * len(values) > PACKAGE_CELLS:
        return float(alpha(np.ones((1, len(table))), table, values, level)[0])
    return float(krippendorff.alpha(value_counts=table, value_domain=values, level_of_measurement=level))  # type: ignore[arg-type]


def alpha(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """Krippendorff's alpha, 1 - D_o / D_e (Krippendorff 2011). Undefined (NaN) without pairs or with one value.

    Units answered once drop out. With n_uc the count of value c in unit u, m_u = sum_c n_uc and n_c = sum_u n_uc:
    D_o = sum_u sum_ck n_uc n_uk d(c,k) / (m_u - 1) and D_e = sum_ck n_c n_k d(c,k) / (n - 1).
    """
    size = table @ np.ones(table.shape[1])
    weights = weights * (size >= 2)
    share = 1 / np.maximum(size - 1, 1)
    marginal = weights @ table
    total = marginal.sum(axis=1)
    if level == "ordinal":
        observed, expected = _ordinal(weights, table, size, share, marginal)
    elif level == "interval":
        observed = weights @ (_spread(table, size, values) * share)
        expected = _spread(marginal, total, values)
    elif level == "ratio":
        distance = ratio_distance(values)
        observed = weights @ (np.einsum("pc,pc->p", table @ distance, table) * share)
        expected = np.einsum("rc,rc->r", marginal @ distance, marginal)
    else:
        observed = weights @ ((size**2 - np.einsum("pc,pc->p", table, table)) * share)
        expected = total**2 - np.einsum("rc,rc->r", marginal, marginal)
    defined = (marginal > 0).sum(axis=1) >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 1 - (total - 1) * observed / expected
    return np.asarray(np.where(defined, value, np.nan), dtype=np.float64)


def _spread(counts: Floats, size: Floats, values: Floats) -> Floats:
    """The sum of squared differences over ordered pairs: 2 (m sum x^2 - (sum x)^2), about a centre for precision."""
    centred = values - values.mean() if len(values) else values
    spread = size * (counts @ centred**2) - (counts @ centred) ** 2
    return np.asarray(2 * spread, dtype=np.float64)


def _ordinal(weights: Floats, table: Floats, size: Floats, share: Floats, marginal: Floats) -> tuple[Floats, Floats]:
    """Ordinal distance is the squared difference of mid-ranks, and the ranks change with every weighting."""
    ranks = np.cumsum(marginal, axis=1) - marginal / 2
    ranks -= marginal.sum(axis=1, keepdims=True) / 2
    first = ((weights * (size * share)) @ table * ranks**2).sum(axis=1)
    second = np.einsum("rp,rp->r", weights * share, (ranks @ table.T) ** 2)
    total = marginal.sum(axis=1)
    expected = total * (marginal * ranks**2).sum(axis=1) - (marginal * ranks).sum(axis=1) ** 2
    return 2 * (first - second), 2 * expected


def ratio_distance(values: Floats) -> Floats:
    """((a - b) / (a + b))², for values that count from zero."""
    _refuse_negative(values)
    sums = np.abs(values[:, None] + values[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = ((values[:, None] - values[None, :]) / sums) ** 2
    return np.where(sums == 0, 0.0, distance)


def _refuse_negative(values: Floats) -> None:
    if (values < 0).any():
        raise AnalysisError(
            f"The ratio level needs values of 0 or more, and there is {values.min():g}; take the level interval."
        )


def agreement_weights(values: Floats, level: str) -> Floats:
    """How far two values count as agreement: 1 when equal, down to 0 for the ends of the scale (Gwet 2014)."""
    steps = len(values)
    if level == "nominal" or steps < 2:
        return np.eye(steps)
    if level == "ordinal":
        apart = np.abs(np.arange(steps)[:, None] - np.arange(steps)[None, :])
        return np.asarray(1 - (apart + 1) * apart / (steps * (steps - 1)), dtype=np.float64)
    distance = (values[:, None] - values[None, :]) ** 2 if level == "interval" else ratio_distance(values)
    return np.asarray(1 - distance / distance.max(), dtype=np.float64)


def _shares(weights: Floats, table: Floats, closeness: Floats) -> tuple[Floats, Floats]:
    """Observed agreement over units answered twice or more, and each value's mean share over all units."""
    size = table.sum(axis=1)
    paired, is_answered = size >= 2, size >= 1
    close = table @ closeness
    agree = (table * (close - 1)).sum(axis=1)[paired] / (size * (size - 1))[paired]
    share = table[is_answered] / size[is_answered, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = weights[:, paired] @ agree / weights[:, paired].sum(axis=1)
        mean_share = weights[:, is_answered] @ share / weights[:, is_answered].sum(axis=1, keepdims=True)
    return observed, mean_share


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan)


def raw(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """The share of pairs of answers that agree, per unit, then averaged over units."""
    return _shares(weights, table, agreement_weights(values, level))[0]


def ac2(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """Gwet's AC2 (AC1 when nominal): chance is sum_kl w_kl * sum_k pi_k (1 - pi_k) / (q (q - 1))."""
    closeness = agreement_weights(values, level)
    observed, share = _shares(weights, table, closeness)
    steps = len(values)
    if steps < 2:
        return np.full(len(weights), np.nan)
    chance = closeness.sum() / (steps * (steps - 1)) * (share * (1 - share)).sum(axis=1)
    return _beyond_chance(observed, chance)


def ac1(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """Gwet's AC1: AC2 that counts only equal answers as agreement, whatever the level."""
    return ac2(weights, table, values, "nominal")


def fleiss(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """Fleiss' kappa, with units that have different numbers of answers (Gwet 2014); weighted by the level."""
    closeness = agreement_weights(values, level)
    observed, share = _shares(weights, table, closeness)
    return _beyond_chance(observed, ((share @ closeness) * share).sum(axis=1))


def brennan_prediger(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """Chance-corrected with every value equally likely; Randolph's free-marginal kappa."""
    closeness = agreement_weights(values, level)
    observed, _ = _shares(weights, table, closeness)
    return _beyond_chance(observed, np.full(len(weights), closeness.sum() / max(len(values), 1) ** 2))


def icc(weights: Floats, table: Floats, values: Floats, level: str) -> Floats:
    """ICC(1): one-way random effects, workers differ between units (Shrout and Fleiss 1979), unequal sizes allowed."""
    size = table.sum(axis=1)
    is_answered = size >= 1
    weights, table, size = weights[:, is_answered], table[is_answered], size[is_answered]
    centred = values - values.mean() if len(values) else values
    sums, squares = table @ centred, table @ centred**2
    units, total = weights.sum(axis=1), weights @ size
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (weights @ (squares - sums**2 / size)) / (total - units)
        between = (weights @ (sums**2 / size) - (weights @ sums) ** 2 / total) / (units - 1)
        typical = (total - weights @ size**2 / total) / (units - 1)
        value = (between - within) / (between + (typical - 1) * within)
    return np.where(np.isfinite(value), value, np.nan)


KERNELS: dict[str, Kernel] = {
    "alpha": alpha,
    "ac1": ac1,
    "ac2": ac2,
    "fleiss": fleiss,
    "brennan-prediger": brennan_prediger,
    "raw": raw,
    "icc": icc,
}
"""The coefficients that need only value counts, by the name the command line gives them."""
