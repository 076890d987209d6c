"""A share of answers, with an interval that knows which of them belong to one document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.agreement.counts import Floats


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval; undefined (NaN) ends where there is one document only."""

    value: float
    low: float
    high: float
    n: int


def clustered_share(values: Floats, documents: pd.Series) -> Share:
    """The mean of `values`, each 0 to 1, with the spread of documents' totals behind its interval."""
    value, n = float(values.mean()), len(values)
    document, names = pd.factorize(documents)
    if len(names) < 2:
        return Share(value, float("nan"), float("nan"), n)
    totals = np.bincount(document, weights=values - value)
    variance = len(names) / (len(names) - 1) * float((totals**2).sum()) / n**2
    reach = float(stats.t.ppf(0.975, len(names) - 1) * np.sqrt(variance))
    return Share(value, max(0.0, value - reach), min(1.0, value + reach), n)
