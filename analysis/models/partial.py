"""Does a metric follow people beyond what a third measure, such as length, already says?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.correlate.coefficients import COEFFICIENTS, Floats, UnknownName, coefficient
from analysis.correlate.score_cube import ScoreCube, build_cube

LEVELS = ("system", "summary")


@dataclass(frozen=True)
class PartialCorrelation:
    """The correlation of a metric with people, plain and given a third measure."""

    metric: str
    level: str
    coefficient: str
    plain: float
    value: float
    """Given the third measure."""
    with_given: float
    """The metric's own correlation with the third measure."""
    low: float
    high: float
    """Fisher's interval of a partial correlation of systems (n − 4); NaN at summary level and for few systems."""
    n_used: int


def partial_correlate(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    given: str,
    metrics: Sequence[str] | None = None,
    level: str = "system",
    name: str = "pearson",
    confidence: float = 0.95,
) -> list[PartialCorrelation]:
    """First-order partial correlation r(hm.g) = (r_hm − r_hg r_mg) / sqrt((1 − r_hg²)(1 − r_mg²)) for every metric.

    >>> means = {"h": [1, 2, 3, 4, 5], "m": [1, 3, 2, 5, 4], "length": [1, 2, 2, 4, 4]}
    >>> rows = [("d", f"s{s}", metric, float(v)) for metric, values in means.items() for s, v in enumerate(values)]
    >>> scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> (result,) = partial_correlate(scores, human="h", given="length")
    >>> round(result.plain, 3), round(result.value, 3)
    (0.8, -0.8)
    """
    if level not in LEVELS:
        raise UnknownName("level", level, LEVELS)
    if name not in COEFFICIENTS:
        raise UnknownName("coefficient", name, tuple(COEFFICIENTS))
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    names = [metric for metric in cube.metrics if metric not in (human, given)] if metrics is None else list(metrics)
    return [_partial(cube, human, given, metric, level, name, confidence) for metric in names]


def _partial(
    cube: ScoreCube, human: str, given: str, metric: str, level: str, name: str, confidence: float
) -> PartialCorrelation:
    measures = (human, metric, given)
    if level == "system":
        columns = [np.stack([cube.system_scores(measure) for measure in measures])]
    else:
        columns = list(np.stack([cube.matrix(measure) for measure in measures]).transpose(2, 0, 1))
    triples = [block[:, np.isfinite(block).all(axis=0)] for block in columns]
    values = np.array([_one(block, name) for block in triples if block.shape[1] > 3]).reshape(-1, 3)
    values = values[np.isfinite(values).all(axis=1)]
    if not len(values):
        return PartialCorrelation(metric, level, name, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    plain, partial, with_given = (float(mean) for mean in values.mean(axis=0))
    n = triples[0].shape[1] if level == "system" else len(values)
    low, high = _fisher(partial, n, confidence) if level == "system" else (math.nan, math.nan)
    return PartialCorrelation(metric, level, name, plain, partial, with_given, low, high, n)


def _one(block: Floats, name: str) -> tuple[float, float, float]:
    correlate = coefficient(name)
    people, metric, given = block
    plain, with_people, with_metric = (
        float(correlate(people, metric)),
        float(correlate(people, given)),
        float(correlate(metric, given)),
    )
    below = (1 - with_people**2) * (1 - with_metric**2)
    partial = (plain - with_people * with_metric) / math.sqrt(below) if below > 1e-12 else math.nan
    return plain, partial, with_metric


def _fisher(r: float, n: int, confidence: float) -> tuple[float, float]:
    if n < 6 or abs(r) >= 1:
        return math.nan, math.nan
    reach = float(stats.norm.ppf((1 + confidence) / 2)) / math.sqrt(n - 4)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
