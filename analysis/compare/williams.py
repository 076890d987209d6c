"""Williams' test for two correlations that share the human scores, and an interval for their difference.

1 is the human measure, 2 and 3 are the metrics. Everything works on arrays: 193 × 193 tests are one call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.correlate.coefficients import Floats, Interval, UnknownName, fisher_interval

ALTERNATIVES = ("greater", "less", "two-sided")


@dataclass(frozen=True)
class WilliamsResult:
    """Signed: positive t when metric 2 correlates better than metric 3. NaN where undefined."""

    t: Floats
    p: Floats


def williams(
    r12: npt.ArrayLike,
    r13: npt.ArrayLike,
    r23: npt.ArrayLike,
    n: npt.ArrayLike,
    alternative: str = "greater",
) -> WilliamsResult:
    """Williams (1959) as in Graham (2015): t with n − 3 degrees of freedom.

    The correlations keep their signs: a worse metric gets p > .5. Two metrics that order the systems in exactly the
    same way (r23 = 1) can't be told apart: undefined.
    """
    if alternative not in ALTERNATIVES:
        raise UnknownName("alternative", alternative, ALTERNATIVES)
    a, b, c, m = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (r12, r13, r23, n)))
    k = np.maximum(1 - a**2 - b**2 - c**2 + 2 * a * b * c, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = 2 * k * (m - 1) / (m - 3) + ((a + b) ** 2 / 4) * (1 - c) ** 3
        t = (a - b) * np.sqrt((m - 1) * (1 + c)) / np.sqrt(spread)
    defined = (m > 3) & (c < 1 - 1e-12) & np.isfinite(t)
    t = np.where(defined, t, np.nan)
    freedom = np.where(defined, m - 3, 1)
    if alternative == "two-sided":
        p = 2 * stats.t.sf(np.abs(t), freedom)
    else:
        p = stats.t.sf(t if alternative == "greater" else -t, freedom)
    return WilliamsResult(t, np.where(defined, p, np.nan))


def zou_interval(r12: float, r13: float, r23: float, n: int, confidence: float = 0.95) -> Interval:
    """Zou (2007): an interval for r12 − r13 when both share variable 1."""
    first = fisher_interval("pearson", r12, n, confidence)
    second = fisher_interval("pearson", r13, n, confidence)
    bound = (r23 - r12 * r13 / 2) * (1 - r12**2 - r13**2 - r23**2) + r23**3
    shared = bound / ((1 - r12**2) * (1 - r13**2))

    def reach(a: float, b: float) -> float:
        return float(np.sqrt(max(a * a + b * b - 2 * shared * a * b, 0)))

    difference = r12 - r13
    return Interval(
        difference - reach(r12 - first.low, second.high - r13),
        difference + reach(first.high - r12, r13 - second.low),
    )
