"""Looking closer at ratings: how far annotators spread, and crowd against experts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.counts import UNIT, Floats, latest
from analysis.agreement.result import interval
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

CELL = list(UNIT)


@dataclass(frozen=True)
class SpreadHistogram:
    """How often the annotators of one dimension spread how far (SummEval, figure 1)."""

    dimension: str
    role: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float
    n_items: int


@dataclass(frozen=True)
class CrowdExpert:
    """Pearson correlation of crowd means and expert means, item by item."""

    dimension: str
    value: float
    """NaN when either side does not vary."""
    low: float
    high: float
    n_items: int
    resamples: int
    seed: int


def spread_histograms(judgments: pd.DataFrame, bins: int = 10) -> list[SpreadHistogram]:
    """The standard deviation across annotators per item (population form), as a histogram per dimension and role."""
    rows = latest(without_checks(judgments))
    if rows.empty:
        raise AnalysisError("There are no judgments to work on.")
    rows = rows.assign(role=rows["role"] if "role" in rows.columns else "")
    spread = (
        rows.groupby(["role", *CELL])["value"].agg(spread=lambda values: values.std(ddof=0), n="size").reset_index()
    )
    spread = spread[spread["n"] >= 2]
    if spread.empty:
        raise AnalysisError("No item was judged by two or more annotators, so there is no spread to show.")
    top = max(float(spread["spread"].max()), 1e-9)
    edges = np.linspace(0, top, bins + 1)
    histograms = []
    for (unit, role), group in spread.groupby(["unit", "role"], sort=True):
        counts, _ = np.histogram(group["spread"], edges)
        mean = float(group["spread"].mean())
        histograms.append(SpreadHistogram(str(unit), str(role), tuple(edges), tuple(counts.tolist()), mean, len(group)))
    return histograms


def crowd_against_experts(judgments: pd.DataFrame, ci: int = 1000, seed: int = 0) -> list[CrowdExpert]:
    """For each dimension how the crowd's means go with the experts', items resampled by document for the interval."""
    rows = latest(without_checks(judgments))
    roles = set(rows["role"]) if "role" in rows.columns else set()
    if not {"crowd", "expert"} <= roles:
        names = ", ".join(sorted(role for role in roles if role)) or "none"
        raise AnalysisError(f"Crowd and expert judgments are needed in the column role; there are: {names}.")
    means = rows.groupby([*CELL, "role"])["value"].mean().unstack("role").dropna(subset=["crowd", "expert"])
    if means.empty:
        raise AnalysisError("No item was judged by both the crowd and the experts.")
    return [
        _correlation(str(unit), items.reset_index(), ci, seed) for unit, items in means.groupby(level="unit", sort=True)
    ]


def _correlation(unit: str, items: pd.DataFrame, ci: int, seed: int) -> CrowdExpert:
    crowd, expert = (items[role].to_numpy(dtype=np.float64) for role in ("crowd", "expert"))
    value = float(_pearson(np.ones((1, len(items))), crowd, expert)[0])
    low = high = float("nan")
    if ci:
        document, names = pd.factorize(items["doc_id"], sort=True)
        size = len(names)
        draws = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=ci)
        low, high = interval(_pearson(draws[:, document].astype(np.float64), crowd, expert))
    return CrowdExpert(unit, value, low, high, len(items), ci, seed)


def _pearson(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Weighted Pearson for many weightings at once."""
    x, y = x - x.mean(), y - y.mean()
    total = weights.sum(axis=1)
    mean_x, mean_y = weights @ x / total, weights @ y / total
    covariance = weights @ (x * y) / total - mean_x * mean_y
    spread_x, spread_y = weights @ x**2 / total - mean_x**2, weights @ y**2 / total - mean_y**2
    defined = (spread_x > 1e-15) & (spread_y > 1e-15)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(defined, covariance / np.sqrt(spread_x * spread_y), np.nan), dtype=np.float64)
