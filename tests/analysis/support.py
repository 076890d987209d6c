"""What the tests of the analysis share: shared data, cases, small tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def shared(*path_parts: str) -> Path:
    """A file of the shared data, or a skipped test where the data is not at hand."""
    path = SHARED.joinpath(*path_parts)
    if not path.exists():
        pytest.skip(f"shared data is not at hand: {path}")
    return path


def cases(prefix: str) -> list[dict[str, Any]]:
    """The cases of `statistics/cases.json` whose id starts so; one that skips where the file is absent."""
    path = SHARED / "statistics" / "cases.json"
    if not path.exists():
        return []
    all_cases = json.loads(path.read_text())["cases"]
    return [case for case in all_cases if case["id"].startswith(prefix)]


def table(rows: Sequence[Sequence[Any]], columns: str = "doc_id system unit worker_id value") -> pd.DataFrame:
    """A small table, row by row."""
    return pd.DataFrame([list(row) for row in rows], columns=columns.split())


def from_matrix(raters_by_units: Sequence[Sequence[float | None]]) -> pd.DataFrame:
    """Judgments of one summary from a raters × units matrix; None is missing."""
    rows = [
        ["d", "s", f"u{unit:03}", f"w{rater}", value]
        for rater, answers in enumerate(raters_by_units)
        for unit, value in enumerate(answers)
        if value is not None and not np.isnan(value)
    ]
    return table(rows)
