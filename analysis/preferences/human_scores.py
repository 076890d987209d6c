"""Preferences as human scores: what correlate, compare and report take as they take any human measure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.correlate.score_cube import HUMAN
from analysis.preferences.comparisons import Comparisons
from analysis.preferences.strengths import Strengths

STRENGTH = "preference_strength"
WIN_RATE = "preference_win_rate"
WHOLE = "*"


def human_scores(comparisons: Comparisons, result: Strengths | None) -> pd.DataFrame:
    """A scores table: each summary's share of preferences in its document, and each system's strength (`doc_id` *)."""
    wins = np.zeros((len(comparisons.documents), len(comparisons.systems)))
    n = np.zeros_like(wins)
    for system, outcome in ((comparisons.first, comparisons.outcome), (comparisons.second, 1 - comparisons.outcome)):
        np.add.at(wins, (comparisons.document, system), outcome)
        np.add.at(n, (comparisons.document, system), 1)
    rows: list[tuple[str, str, str, float]] = [
        (comparisons.documents[d], comparisons.systems[s], WIN_RATE, float(wins[d, s] / n[d, s]))
        for d, s in zip(*np.nonzero(n), strict=True)
    ]
    if result is not None:
        rows += [(WHOLE, system.system, STRENGTH, system.strength) for system in result.systems]
    return pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"]).assign(role=HUMAN)
