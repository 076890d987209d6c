"""Metrics against several human dimensions, and systems by every measure (SummEval, Tables 2 to 4 and Figure 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.correlate import correlate, system_value
from analysis.correlate.resample import snap
from analysis.correlate.score_cube import ScoreCube, build_cube


@dataclass(frozen=True)
class DimensionCorrelation:
    """One metric against one dimension."""

    metric: str
    dimension: str
    value: float
    n: int
    best: bool
    """Among the best of its dimension (five in the paper)."""


@dataclass(frozen=True)
class SystemScore:
    """One system by one measure."""

    system: str
    group: str
    measure: str
    value: float
    best: bool
    """Among the best of its measure."""


@dataclass(frozen=True)
class MetricPair:
    """Agreement of two metrics over the systems."""

    a: str
    b: str
    value: float


def _best(values: Sequence[float], count: int, lowest: bool = False) -> list[bool]:
    """Which values are among the best; all that tie with the last of them are."""
    signed = np.asarray([-v if lowest else v for v in values], dtype=float)
    defined = np.sort(snap(signed[np.isfinite(signed)]))[::-1]
    if not defined.size:
        return [False] * len(signed)
    bar = defined[min(count, defined.size) - 1]
    return [bool(math.isfinite(v) and v >= bar) for v in snap(signed)]


def metrics_by_dimension(
    scores: pd.DataFrame | ScoreCube,
    *,
    dimensions: Sequence[str],
    metrics: Sequence[str] | None = None,
    coefficient: str = "kendall",
    best: int = 5,
) -> list[DimensionCorrelation]:
    """System-level correlations of every metric with every dimension, the best of each dimension marked (Table 2)."""
    cube = scores if isinstance(scores, ScoreCube) else build_cube(scores)
    for name in dimensions:
        cube.index(name)
    names = [m for m in cube.metrics if m not in dimensions] if metrics is None else list(metrics)
    rows = []
    for dimension in dimensions:
        results = correlate(cube, human=dimension, metrics=names, coefficient=coefficient)
        marks = _best([result.value for result in results], best)
        rows += [
            DimensionCorrelation(result.metric, dimension, result.value, result.n_used, mark)
            for result, mark in zip(results, marks, strict=True)
        ]
    return rows


def systems_by_measure(
    scores: pd.DataFrame | ScoreCube,
    *,
    measures: Sequence[str] | None = None,
    best: int = 3,
    lowest: Sequence[str] = (),
) -> list[SystemScore]:
    """Every system's mean by every measure, the best marked; `lowest` names measures where less is better (3, 4)."""
    cube = scores if isinstance(scores, ScoreCube) else build_cube(scores)
    rows = []
    for measure in measures if measures is not None else cube.metrics:
        values = cube.system_scores(measure).tolist()
        marks = _best(values, best, measure in lowest)
        rows += [
            SystemScore(system, group, measure, value, mark)
            for system, group, value, mark in zip(cube.systems, cube.groups, values, marks, strict=True)
        ]
    return rows


def metrics_by_metric(
    scores: pd.DataFrame | ScoreCube, *, metrics: Sequence[str] | None = None, coefficient: str = "kendall"
) -> list[MetricPair]:
    """Correlation of every metric with every other over the systems (Figure 2)."""
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    names = list(cube.metrics) if metrics is None else list(metrics)
    vectors = {name: cube.system_scores(name) for name in names}
    return [MetricPair(a, b, system_value(coefficient, vectors[a], vectors[b])) for a in names for b in names]
