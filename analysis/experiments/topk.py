"""Do metrics still follow people among the best systems? (REALSumm, Exp-II)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.correlate import TooFewSystems, correlate
from analysis.correlate.coefficients import NO_INTERVAL as NONE
from analysis.correlate.coefficients import fisher_interval
from analysis.correlate.resample import snap
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.tables import AnalysisError

SMALLEST = 4
"""Below four systems a correlation says next to nothing; the paper stops there too."""
WITH_FISHER = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class TopK:
    """A system-level correlation among the k systems with the highest mean human score."""

    k: int
    metric: str
    coefficient: str
    value: float
    tied: bool
    """The k-th and the next system have the same human score, so that the choice was arbitrary."""
    low: float = math.nan
    high: float = math.nan
    """Fisher's interval for k systems; NaN for coefficients that have none."""


def top_k(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    coefficient: str = "pearson",
    ks: Sequence[int] | None = None,
    smallest: int = SMALLEST,
) -> list[TopK]:
    """Correlations among the top k systems, for every k from all systems down to `smallest`."""
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    human_scores = cube.system_scores(human)
    order = np.argsort(-snap(human_scores), kind="stable")
    order = order[np.isfinite(human_scores[order])]
    if len(order) < 3:
        raise TooFewSystems(f"{len(order)} systems have a score of {human}; top-k needs at least 3.")
    sizes = list(ks) if ks is not None else list(range(len(order), min(smallest, len(order)) - 1, -1))
    for k in sizes:
        if not 2 <= k <= len(order):
            raise AnalysisError(f"k = {k} is not possible with {len(order)} systems; take 2 to {len(order)}.")
    ranked = snap(human_scores)[order]
    results = []
    for k in sizes:
        tied = k < len(order) and ranked[k - 1] == ranked[k]
        top_systems = cube.keep_systems(order[:k])
        for result in correlate(top_systems, human=human, metrics=metrics, coefficient=coefficient):
            low, high = (
                fisher_interval(coefficient, result.value, result.n_used) if coefficient in WITH_FISHER else NONE
            )
            results.append(TopK(k, result.metric, coefficient, result.value, bool(tied), low, high))
    return results
