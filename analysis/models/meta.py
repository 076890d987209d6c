"""One metric, several studies: the correlation that they share, and how far they differ.

Random effects on Fisher's z of the system-level correlation: DerSimonian and Laird's variance between studies, Hartung
and Knapp's interval (which holds its level with few studies), and the interval that a further study is expected in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.correlate import correlate
from analysis.correlate.coefficients import Floats
from analysis.tables import AnalysisError


@dataclass(frozen=True)
class MetaCorrelation:
    """A metric's correlation over studies."""

    metric: str
    value: float
    low: float
    high: float
    expected_low: float
    expected_high: float
    """Where the true correlation of a further study of this kind is expected; NaN with fewer than three studies."""
    i_squared: float
    """Share of the scatter between studies that sampling does not explain."""
    p_heterogeneity: float
    studies: int
    systems: int


def meta_correlate(
    studies: Mapping[str, pd.DataFrame],
    *,
    human: str | Mapping[str, str],
    metrics: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> list[MetaCorrelation]:
    """Pool every metric that at least two of the studies have. `human` is one measure, or one by study.

    >>> def study(values):
    ...     rows = [("d", f"s{s}", name, float(v)) for name, column in values.items() for s, v in enumerate(column)]
    ...     return pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> first = study({"h": [1, 2, 3, 4, 5], "m": [1, 2, 3, 5, 4]})
    >>> second = study({"h": [1, 2, 3, 4, 5, 6], "m": [2, 1, 3, 4, 6, 5]})
    >>> [(one.metric, round(one.value, 3), one.studies) for one in meta_correlate({"a": first, "b": second}, human="h")]
    [('m', 0.892, 2)]
    """
    results: dict[str, list[tuple[float, int]]] = {}
    for name, scores in studies.items():
        measure = human if isinstance(human, str) else human[name]
        for result in correlate(scores, human=measure, metrics=None):
            if math.isfinite(result.value) and result.n_used > 3 and abs(result.value) < 1:
                results.setdefault(result.metric, []).append((result.value, result.n_used))
    names = sorted(results) if metrics is None else list(metrics)
    pooled = [_pool(name, results[name], confidence) for name in names if len(results.get(name, ())) > 1]
    if not pooled:
        raise AnalysisError(
            "No metric has a correlation in two of the studies, with four systems each; name metrics alike in all of "
            "them."
        )
    return pooled


def _pool(metric: str, values: Sequence[tuple[float, int]], confidence: float) -> MetaCorrelation:
    z = np.arctanh([value for value, _ in values])
    n = np.array([size for _, size in values])
    tau_squared, q = between_studies(z, 1 / (n - 3))
    k, weights = len(z), 1 / (1 / (n - 3) + tau_squared)
    mean = float(weights @ z / weights.sum())
    # Hartung and Knapp, never narrower than the scatter within studies allows (the correction of Röver 2015).
    scatter = max(1.0, float(weights @ (z - mean) ** 2) / (k - 1))
    se = math.sqrt(scatter / weights.sum())
    reach = float(stats.t.ppf((1 + confidence) / 2, k - 1)) * se
    wide = float(stats.t.ppf((1 + confidence) / 2, k - 2)) * math.sqrt(tau_squared + se**2) if k > 2 else math.nan
    value, low, high, expected_low, expected_high = (
        math.tanh(bound) for bound in (mean, mean - reach, mean + reach, mean - wide, mean + wide)
    )
    i_squared = max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0
    p = float(stats.chi2.sf(q, k - 1))
    return MetaCorrelation(metric, value, low, high, expected_low, expected_high, i_squared, p, k, int(n.sum()))


def between_studies(values: Floats, variances: Floats) -> tuple[float, float]:
    """DerSimonian and Laird's variance between studies, and Cochran's Q."""
    weights = 1 / variances
    mean = weights @ values / weights.sum()
    q = float(weights @ (values - mean) ** 2)
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    return max(0.0, (q - (len(values) - 1)) / float(scale)), q
