"""Ratings that the benchmarks of alpha share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def ratings(units: int, workers: int = 4, values: int = 2, seed: int = 0) -> np.ndarray:
    """Workers × units: a truth per unit, each worker right 85 times of 100, a quarter of the answers missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, values, units)
    answers = np.where(rng.random((workers, units)) < 0.85, truth, rng.integers(0, values, (workers, units)))
    matrix = answers.astype(float)
    matrix[rng.random(matrix.shape) < 0.25] = np.nan
    return matrix


def judgments(matrix: np.ndarray) -> pd.DataFrame:
    """The same as a table, 264 units a document."""
    worker, unit = np.nonzero(~np.isnan(matrix))
    return pd.DataFrame(
        {
            "doc_id": (unit // 264).astype("str"),
            "system": "s",
            "unit": (unit % 264).astype("str"),
            "worker_id": worker.astype("str"),
            "value": matrix[worker, unit],
        }
    )
