"""How well scores follow a human measure, at the level of systems and of summaries, with bootstrap intervals.

Arrays have one row per document and one column per system; a cell without a score is NaN in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

LEVELS = ("system", "summary")
COEFFICIENTS = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class Level:
    """The correlations of several metrics at one level, with samples to make intervals of."""

    name: str
    values: Values
    """One per metric."""
    samples: Values
    """One row per resample of documents and systems, one column per metric."""
    used: int
    """Systems, or documents with a defined correlation of the first metric."""

    def interval(self, samples: Values) -> tuple[float, float]:
        """The middle 95 per cent of samples, without the undefined ones."""
        defined = samples[np.isfinite(samples)]
        if not len(defined):
            return float("nan"), float("nan")
        low, high = np.percentile(defined, [2.5, 97.5])
        return float(low), float(high)


def follow(metrics: Values, human: Values, coefficient: str, resamples: int, seed: int) -> list[Level]:
    """Correlations of metrics (first axis) with the human measure, at both levels."""
    rng = np.random.default_rng(seed)
    documents, systems = human.shape
    samples = np.full((len(LEVELS), resamples, len(metrics)), np.nan)
    for number in range(resamples):
        rows, columns = rng.integers(0, documents, documents), rng.integers(0, systems, systems)
        part, target = metrics[:, rows][:, :, columns], human[np.ix_(rows, columns)]
        samples[0, number] = _system(part, target, coefficient)
        samples[1, number] = _mean(_summary(part, target, coefficient))
    by_document = _summary(metrics, human, coefficient)
    used = int(np.isfinite(by_document[0]).sum())
    return [
        Level("system", _system(metrics, human, coefficient), samples[0], systems),
        Level("summary", _mean(by_document), samples[1], used),
    ]


def _system(metrics: Values, human: Values, coefficient: str) -> Values:
    """The correlation of the systems' means."""
    there = np.isfinite(human)
    counts = np.maximum(there.sum(axis=0), 1)
    means = np.where(there, metrics, 0.0).sum(axis=1) / counts
    target = np.where(there, human, 0.0).sum(axis=0) / counts
    judged: npt.NDArray[np.bool_] = np.any(there, axis=0)
    return correlate(means, target, judged, coefficient)


def _summary(metrics: Values, human: Values, coefficient: str) -> Values:
    """The correlation inside each document, one row per metric."""
    return correlate(metrics, human, np.isfinite(human), coefficient)


def _mean(values: Values) -> Values:
    defined = np.isfinite(values)
    counts = defined.sum(axis=1)
    sums = np.where(defined, values, 0.0).sum(axis=1)
    means: Values = np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
    return means


def correlate(x: Values, z: Values, there: npt.NDArray[np.bool_], coefficient: str) -> Values:
    """Along the last axis, over the cells that are there; undefined where a side is constant."""
    if coefficient == "spearman":
        x, z = _ranks(x, there), _ranks(z, there)
    if coefficient == "kendall":
        pairs = there[..., :, None] & there[..., None, :]
        dx, dz = _signs(x, pairs), _signs(z, pairs)
    else:
        dx, dz = _centred(x, there), _centred(z, there)
    norm = np.sqrt((dx * dx).sum(axis=-1) * (dz * dz).sum(axis=-1))
    dot = (dx * dz).sum(axis=-1)
    found: Values = np.divide(dot, norm, out=np.full(dot.shape, np.nan), where=norm > 1e-18)
    return found


def _centred(x: Values, there: npt.NDArray[np.bool_]) -> Values:
    counts = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    kept = np.where(there, x, 0.0)
    centred = np.where(there, kept - kept.sum(axis=-1, keepdims=True) / counts, 0.0)
    # What rounding leaves of a constant row is nothing.
    scale = np.abs(kept).max(axis=-1, keepdims=True)
    return np.where(np.abs(centred) <= 1e-12 * scale, 0.0, centred)


def _ranks(x: Values, there: npt.NDArray[np.bool_]) -> Values:
    from scipy.stats import rankdata

    # Missing cells rank last, so the ranks of the others are what they are without them.
    ranks: Values = rankdata(np.where(there, x, np.inf), axis=-1)
    return ranks


def _signs(x: Values, pairs: npt.NDArray[np.bool_]) -> Values:
    with np.errstate(invalid="ignore"):
        signs = np.where(pairs, np.sign(x[..., :, None] - x[..., None, :]), 0.0)
    return signs.reshape(*signs.shape[:-2], -1)
