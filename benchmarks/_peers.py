"""The peers of the meta-evaluation benchmarks.

nlpstats (`pip install --no-deps nlpstats==0.0.1`) where it is installed; otherwise the same loop over scipy, written
here, which is what nlpstats does inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

LEVELS = {"system": "system", "summary": "input", "global": "global"}
FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def peer_bootstrap() -> tuple[str, Callable[..., Any]]:
    """Name of the peer and bootstrap(x, z, level, coefficient, scheme, resamples)."""
    try:
        from nlpstats.correlations import bootstrap
    except ImportError:
        return "a loop over scipy", _bootstrap

    def run(x: np.ndarray, z: np.ndarray, level: str, name: str, scheme: str, count: int) -> Any:
        return bootstrap(x, z, level, name, scheme, n_resamples=count)

    return "nlpstats", run


def peer_permutation() -> tuple[str, Callable[..., Any]]:
    """Name of the peer and permutation_test(x, y, z, level, coefficient, resamples), swapping systems."""
    try:
        from nlpstats.correlations import permutation_test
    except ImportError:
        return "a loop over scipy", _permutation

    def run(x: np.ndarray, y: np.ndarray, z: np.ndarray, level: str, name: str, count: int) -> Any:
        return permutation_test(x, y, z, level, name, "systems", n_resamples=count)

    return "nlpstats", run


def correlate(x: np.ndarray, z: np.ndarray, level: str, name: str) -> float:
    """One correlation of two matrices, with scipy."""
    function = FUNCTIONS[name]
    if level == "system":
        return float(function(np.nanmean(x, axis=1), np.nanmean(z, axis=1))[0])
    if level == "global":
        return float(function(x.ravel(), z.ravel())[0])
    values = [function(a, b)[0] for a, b in zip(x.T, z.T, strict=True)]
    return float(np.nanmean(values))


def _bootstrap(x: np.ndarray, z: np.ndarray, level: str, name: str, scheme: str, count: int) -> list[float]:
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(count):
        rows = rng.integers(0, len(x), len(x)) if scheme != "inputs" else np.arange(len(x))
        columns = rng.integers(0, x.shape[1], x.shape[1]) if scheme != "systems" else np.arange(x.shape[1])
        cells = np.ix_(rows, columns)
        samples.append(correlate(x[cells], z[cells], level, name))
    return samples


def _permutation(x: np.ndarray, y: np.ndarray, z: np.ndarray, level: str, name: str, count: int) -> list[float]:
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(count):
        swap = rng.random((len(x), 1)) < 0.5
        first, second = np.where(swap, y, x), np.where(swap, x, y)
        samples.append(correlate(first, z, level, name) - correlate(second, z, level, name))
    return samples
