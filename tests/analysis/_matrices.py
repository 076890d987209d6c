"""Helpers for tests that start from systems × documents matrices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def table(**matrices: object) -> pd.DataFrame:
    """A scores table of matrices, rows being systems s0, s1, … and columns documents d0, d1, …"""
    rows = []
    for metric, values in matrices.items():
        for s, row in enumerate(np.asarray(values, dtype=float)):
            rows += [(f"d{d}", f"s{s}", metric, value) for d, value in enumerate(row)]
    return pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])


def cases() -> dict[str, dict]:
    """The shared cases by id."""
    path = SHARED / "statistics" / "cases.json"
    if not path.exists():
        pytest.skip(f"the shared cases are not here: {path}")
    return {case["id"]: case for case in json.loads(path.read_text())["cases"]}


def matrix(values: object) -> np.ndarray:
    """A matrix of JSON lists, null being missing."""
    return np.array([[np.nan if v is None else v for v in row] for row in values], dtype=float)
