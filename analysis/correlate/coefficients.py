"""Correlation coefficients along the last axis of arrays, aware of ties, missing values and constant vectors.

Every function takes two arrays whose last axis runs over the observations (the systems, usually) and returns
one value per leading index. NaN in either array leaves that observation out of that row. A row is undefined
(NaN), never 0, when fewer than two observations are left or when one side is constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.tables import AnalysisError

Floats = npt.NDArray[np.float64]

PAIR_BUDGET = 8_000_000
"""How many pairs of observations are held in memory at once."""


class UnknownName(AnalysisError):
    """A name that isn't known here. The sentence lists the known ones."""

    def __init__(self, kind: str, name: str, choices: tuple[str, ...]) -> None:
        super().__init__(f"Unknown {kind} {name!r}. Known: {', '.join(choices)}.")


def complete(x: npt.ArrayLike, z: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Both arrays with NaN wherever either of them has it."""
    a, b = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(z, dtype=float))
    missing = np.isnan(a) | np.isnan(b)
    if not missing.any():
        return a, b
    return np.where(missing, np.nan, a), np.where(missing, np.nan, b)


def constant_rows(x: Floats) -> npt.NDArray[np.bool_]:
    """Rows with fewer than two different values, missing ones left aside."""
    if not np.isnan(x).any():
        return np.asarray((x == x[..., :1]).all(axis=-1))
    low = np.where(np.isnan(x), np.inf, x).min(axis=-1)
    high = np.where(np.isnan(x), -np.inf, x).max(axis=-1)
    return np.asarray(low >= high)


def midranks(x: Floats) -> Floats:
    """Ranks from 1, ties sharing the mean of their places, NaN staying NaN."""
    order = np.argsort(x, axis=-1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=-1)
    places = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
    is_first = np.ones(x.shape, dtype=bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.ones(x.shape, dtype=bool)
    is_last[..., :-1] = is_first[..., 1:]
    first_place = np.maximum.accumulate(np.where(is_first, places, 0), axis=-1)
    last_place = np.minimum.accumulate(np.where(is_last, places, x.shape[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, (first_place + last_place) / 2 + 1, axis=-1)
    return np.where(np.isnan(x), np.nan, ranks)


def pearson(x: npt.ArrayLike, z: npt.ArrayLike) -> Floats:
    """Pearson's r."""
    a, b = complete(x, z)
    undefined = constant_rows(a) | constant_rows(b)
    present = ~np.isnan(a)
    n = np.maximum(present.sum(axis=-1, keepdims=True), 1)
    da = np.where(present, a - np.where(present, a, 0).sum(axis=-1, keepdims=True) / n, 0)
    db = np.where(present, b - np.where(present, b, 0).sum(axis=-1, keepdims=True) / n, 0)
    spread = np.sqrt((da * da).sum(axis=-1)) * np.sqrt((db * db).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.clip((da * db).sum(axis=-1) / spread, -1, 1)
    return np.where(undefined, np.nan, r)


def spearman(x: npt.ArrayLike, z: npt.ArrayLike) -> Floats:
    """Spearman's rho: Pearson's r of the mid-ranks."""
    a, b = complete(x, z)
    return pearson(midranks(a), midranks(b))


@dataclass(frozen=True)
class PairCounts:
    """How the pairs of observations of each row fall out."""

    concordant: Floats
    discordant: Floats
    tied_x: Floats
    """Pairs tied in x only."""
    tied_z: Floats
    """Pairs tied in z only."""
    tied_both: Floats
    n: Floats
    """Observations in the row."""

    @property
    def total(self) -> Floats:
        return self.concordant + self.discordant + self.tied_x + self.tied_z + self.tied_both


def _signs(x: Floats, epsilon: float) -> npt.NDArray[np.int8]:
    with np.errstate(invalid="ignore"):
        difference = x[..., :, None] - x[..., None, :]
        signs = (difference > epsilon).astype(np.int8) - (difference < -epsilon).astype(np.int8)
    return np.asarray(signs)


def _count_block(a: Floats, b: Floats, epsilon: float) -> Floats:
    sa, sb = _signs(a, epsilon), _signs(b, 0.0)
    product = sa * sb
    axes = (-2, -1)
    concordant = (product > 0).sum(axis=axes)
    discordant = (product < 0).sum(axis=axes)
    present = (~np.isnan(a)).sum(axis=-1)
    uneven_a, uneven_b = (sa != 0).sum(axis=axes), (sb != 0).sum(axis=axes)
    untied = concordant + discordant
    tied_x, tied_z = uneven_b - untied, uneven_a - untied
    tied_both = present * (present - 1) - untied - tied_x - tied_z
    counts = np.stack([concordant, discordant, tied_x, tied_z, tied_both]).astype(float) / 2
    return np.concatenate([counts, present[None].astype(float)])


def pair_counts(x: npt.ArrayLike, z: npt.ArrayLike, epsilon: float = 0.0) -> PairCounts:
    """Concordant, discordant and tied pairs; |difference of x| ≤ epsilon is a tie of x; z ties if equal."""
    a, b = complete(x, z)
    lead, size = a.shape[:-1], a.shape[-1]
    rows = math.prod(lead)
    a, b = a.reshape(rows, size), b.reshape(rows, size)
    step = max(1, PAIR_BUDGET // max(1, size * size))
    if size * size > 4 * PAIR_BUDGET:
        blocks = [_count_long(a[i], b[i], epsilon)[:, None] for i in range(len(a))]
    else:
        blocks = [_count_block(a[i : i + step], b[i : i + step], epsilon) for i in range(0, len(a), step)]
    counts = np.concatenate(blocks, axis=1) if blocks else np.zeros((6, 0))
    return PairCounts(*(count.reshape(lead) for count in counts))


def _count_long(a: Floats, b: Floats, epsilon: float) -> Floats:
    """The same counts for one long row, a strip of the pairs at a time."""
    keep = ~np.isnan(a)
    a, b = a[keep], b[keep]
    totals = np.zeros(5)
    step = max(1, PAIR_BUDGET // len(a))
    for start in range(0, len(a), step):
        da = a[start : start + step, None] - a[None, :]
        sa = (da > epsilon).astype(np.int8) - (da < -epsilon).astype(np.int8)
        sb = np.sign(b[start : start + step, None] - b[None, :]).astype(np.int8)
        product = sa * sb
        totals += [
            (product > 0).sum(),
            (product < 0).sum(),
            ((sa == 0) & (sb != 0)).sum(),
            ((sa != 0) & (sb == 0)).sum(),
            ((sa == 0) & (sb == 0)).sum(),
        ]
    totals[4] -= len(a)
    return np.append(totals / 2, float(len(a)))


def kendall(x: npt.ArrayLike, z: npt.ArrayLike) -> Floats:
    """Kendall's tau-b, the one that corrects for ties on both sides."""
    a, b = complete(x, z)
    if a.ndim == 1 and a.size > 200:
        keep = ~np.isnan(a)
        if constant_rows(a) or constant_rows(b):
            return np.asarray(np.nan)
        return np.asarray(stats.kendalltau(a[keep], b[keep]).statistic)
    return tau_b(pair_counts(a, b))


def tau_b(counts: PairCounts) -> Floats:
    """Kendall's tau-b from pair counts."""
    untied = counts.concordant + counts.discordant
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (counts.concordant - counts.discordant) / (
            np.sqrt(untied + counts.tied_z) * np.sqrt(untied + counts.tied_x)
        )
    return np.where(np.isfinite(value), np.clip(value, -1, 1), np.nan)


def _distinct(x: Floats) -> Floats:
    ordered = np.sort(x, axis=-1)
    is_new = (ordered[..., 1:] != ordered[..., :-1]) & ~np.isnan(ordered[..., 1:])
    return np.asarray(is_new.sum(axis=-1) + (~np.isnan(x)).any(axis=-1), dtype=float)


def kendall_c(x: npt.ArrayLike, z: npt.ArrayLike) -> Floats:
    """Kendall's tau-c (Stuart), for scales with different numbers of steps."""
    a, b = complete(x, z)
    counts = pair_counts(a, b)
    fewest = np.minimum(_distinct(a), _distinct(b))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = 2 * (counts.concordant - counts.discordant) * fewest / (counts.n**2 * (fewest - 1))
    return np.where(fewest > 1, value, np.nan)


def accuracy(x: npt.ArrayLike, z: npt.ArrayLike, epsilon: float = 0.0) -> Floats:
    """Pairwise accuracy with ties: the share of pairs on which x and z say the same (greater, less or tied).

    x is the metric and z the human score. Defined for constant vectors too: those predict only ties.
    """
    counts = pair_counts(x, z, epsilon)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((counts.concordant + counts.tied_both) / counts.total)


COEFFICIENTS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall-c": kendall_c,
    "accuracy": accuracy,
}


def coefficient(name: str) -> Callable[[npt.ArrayLike, npt.ArrayLike], Floats]:
    """The function behind a coefficient's name."""
    if name not in COEFFICIENTS:
        raise UnknownName("coefficient", name, tuple(COEFFICIENTS))
    return COEFFICIENTS[name]


class Interval(NamedTuple):
    """A confidence interval; NaN where it can't be had."""

    low: float
    high: float


NO_INTERVAL = Interval(math.nan, math.nan)


RANK_STEP: dict[str, Callable[[int], float]] = {
    "spearman": lambda n: 6 / (n * (n * n - 1)),
    "kendall": lambda n: 2 / (n * (n - 1)),
}
"""Half the step from a perfect order to the next. Six systems are often in perfect order by chance, which is then taken
half a step lower: an interval of one point would be wrong every time."""


def fisher_interval(name: str, r: float, n: int, confidence: float = 0.95) -> Interval:
    """Fisher's z interval, with the standard errors of Bonett and Wright (2000) for the rank coefficients."""
    margin = {"pearson": 3, "spearman": 3, "kendall": 4}.get(name)
    if margin is None:
        raise UnknownName("coefficient for a Fisher interval", name, ("pearson", "spearman", "kendall"))
    if not math.isfinite(r) or n <= margin:
        return NO_INTERVAL
    if abs(r) >= 1:
        low = fisher_interval(name, abs(r) - RANK_STEP[name](n), n, confidence).low if name in RANK_STEP else 1.0
        return Interval(low, 1.0) if r > 0 else Interval(-1.0, -low)
    spread = {"pearson": 1.0, "spearman": math.sqrt(1 + r * r / 2), "kendall": math.sqrt(0.437)}[name]
    reach = float(stats.norm.ppf(0.5 + confidence / 2)) * spread / math.sqrt(n - margin)
    return Interval(math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))
