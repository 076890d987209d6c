"""What moves a judge's answers away from the people's: length, position, the kind of system, its own kin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from analysis.bootstrap import percentile_limits

Floats = npt.NDArray[np.float64]

FEW_ROWS = 10


@dataclass(frozen=True)
class Bias:
    """How far one circumstance goes with answers above the people's mean; interval by documents."""

    name: str
    """`length`, `position`, `group NAME` or `kin NAME`."""
    kind: str
    """`correlation` (Spearman's rho of difference and circumstance) or `points` (of the scale, beyond the others)."""
    value: float
    low: float
    high: float
    n: int

    @property
    def is_clear(self) -> bool:
        return self.low > 0 or self.high < 0


def biases(rows: pd.DataFrame, kin: str | None, resamples: int, seed: int) -> tuple[Bias, ...]:
    """Every bias that can be told from rows with `difference` and the columns that they have."""
    results = [_moved(rows, name, resamples, seed) for name in ("length", "position") if name in rows.columns]
    groups = sorted(set(rows["group"]) - {""}) if "group" in rows.columns else []
    for name in groups if len(groups) > 1 else []:
        results.append(_contrast(f"group {name}", rows, rows["group"] == name, resamples, seed))
    if kin is not None:
        results.append(_contrast(f"kin {kin}", rows, rows["system"] == kin, resamples, seed))
    return tuple(result for result in results if result is not None)


def _moved(rows: pd.DataFrame, column: str, resamples: int, seed: int) -> Bias | None:
    x = pd.to_numeric(rows[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    keep = np.isfinite(x)
    if keep.sum() < FEW_ROWS:
        return None
    ranks = stats.rankdata(x[keep]), stats.rankdata(rows["difference"].to_numpy()[keep])
    return _bias(column, "correlation", *ranks, rows["doc_id"][keep], resamples, seed)


def _contrast(name: str, rows: pd.DataFrame, inside: pd.Series, resamples: int, seed: int) -> Bias | None:
    """How much higher the judge goes here than elsewhere, both against the people's means."""
    if not 0 < inside.sum() < len(rows) or len(rows) < FEW_ROWS:
        return None
    x, y = inside.to_numpy(dtype=np.float64), rows["difference"].to_numpy(dtype=np.float64)
    return _bias(name, "points", x, y, rows["doc_id"], resamples, seed)


def _bias(name: str, kind: str, x: Floats, y: Floats, documents: pd.Series, resamples: int, seed: int) -> Bias:
    """The slope (for a yes or no, a difference of means) or the correlation, with resampled documents around it."""
    codes = pd.factorize(documents)[0]
    size = int(codes.max()) + 1
    x, y = x - x.mean(), y - y.mean()
    moments = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums = np.stack([np.bincount(codes, weights=moment, minlength=size) for moment in moments])
    weights = (
        np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=max(1, resamples)).astype(float)
    )
    value = float(_effect(sums.sum(axis=1, keepdims=True), kind)[0])
    samples = _effect(sums @ weights.T, kind) if resamples and size > 1 else np.full(1, np.nan)
    return Bias(name, kind, value, *percentile_limits(samples, n=size), len(x))


def _effect(sums: Floats, kind: str) -> Floats:
    n, x, y, xx, yy, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance, vx, vy = xy - x * y / n, xx - x * x / n, yy - y * y / n
        return np.asarray(covariance / vx if kind == "points" else covariance / np.sqrt(vx * vy))
