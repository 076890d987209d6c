"""From resamples to an interval: the one place where percentiles are taken."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def tail_share(confidence: float = 0.95, n: int | None = None) -> float:
    """The share of resamples beyond each end of an interval.

    With n, the number of items that are redrawn, it is Hesterberg's (2015) expanded percentile interval, which makes
    up for the bootstrap's too narrow spread in small samples: with 25 systems it covers 94 % where the plain
    percentile interval covers 92 %.
    """
    plain = (1 - confidence) / 2
    if n is None or n < 2:
        return plain
    return float(stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t.ppf(plain, n - 1)))


def percentile_limits(samples: Floats, confidence: float = 0.95, n: int | None = None) -> tuple[float, float]:
    """The percentile interval of the defined samples, expanded for samples of n items when n is given."""
    defined = samples[np.isfinite(samples)]
    if not defined.size:
        return math.nan, math.nan
    tail = tail_share(confidence, n)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)
