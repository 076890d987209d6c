"""One engine for all bootstrap resampling of correlations.

A resample of systems or documents is a vector of weights (how often each was drawn), so that all resamples of
a correlation are a few matrix products instead of a loop (`resample_weighted`, `resample_cells`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.bootstrap import percentile_limits, tail_share
from analysis.correlate.coefficients import Floats, Interval, UnknownName, coefficient
from analysis.correlate.resample_cells import global_samples
from analysis.correlate.score_cube import over_documents
from analysis.correlate.weighted import kendall_columns, pearson_columns, weighted

__all__ = [
    "LEVELS",
    "SCHEMES",
    "draw",
    "draw_weights",
    "global_samples",
    "percentile_interval",
    "resampled_means",
    "snap",
    "summary_samples",
    "system_samples",
    "tail_share",
    "weighted",
    "weights_of",
]

SCHEMES = ("systems", "inputs", "both")
PAIRS_BELOW = 100
"""Up to so many systems the weights of all their pairs are held at once."""
LEVELS = ("system", "summary", "global")


def draw_weights(seed: int, resamples: int, size: int, stream: int = 0) -> Floats:
    """resamples × size: how often each of `size` items is drawn when `size` are drawn with replacement."""
    rng = np.random.default_rng([seed, stream])
    return rng.multinomial(size, np.full(size, 1 / size), size=resamples).astype(float)


def weights_of(indices: npt.ArrayLike, size: int) -> Floats:
    """The weights of resamples that are given as drawn positions."""
    positions = np.asarray(indices, dtype=int)
    weights = np.zeros((len(positions), size))
    np.add.at(weights, (np.arange(len(positions))[:, None], positions), 1)
    return weights


def draw(seed: int, resamples: int, scheme: str, systems: int, documents: int) -> tuple[Floats | None, Floats | None]:
    """The weights of systems and of documents for a scheme; None where nothing is resampled."""
    if scheme not in SCHEMES:
        raise UnknownName("way of resampling", scheme, SCHEMES)
    rows = draw_weights(seed, resamples, systems, 0) if scheme != "inputs" else None
    columns = draw_weights(seed, resamples, documents, 1) if scheme != "systems" and documents else None
    return rows, columns


def snap(means: Floats) -> Floats:
    """Means that differ only by the order of summation made equal again, so that ties stay ties."""
    largest = np.nanmax(np.abs(means), initial=0.0) if np.isfinite(means).any() else 0.0
    if largest == 0:
        return means
    return np.round(means, int(12 - np.ceil(np.log10(largest))))


def percentile_interval(samples: Floats, confidence: float = 0.95, n: int | None = None) -> Interval:
    """The percentile interval of the defined samples, expanded for samples of n items when n is given."""
    return Interval(*percentile_limits(samples, confidence, n))


def resampled_means(matrix: Floats, columns: Floats, score: str = "mean") -> Floats:
    """resamples × systems: the systems' scores over the drawn documents."""
    if score == "median":
        repeats = columns.astype(int)
        places = [np.repeat(np.arange(matrix.shape[1]), row) for row in repeats]
        return np.stack([over_documents(matrix[:, place], "median") for place in places])
    present = ~np.isnan(matrix)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (columns @ np.where(present, matrix, 0).T) / (columns @ present.T.astype(float))
    return np.asarray(means)


def system_samples(
    name: str,
    x: Floats,
    z: Floats,
    rows: Floats | None,
    columns: Floats | None,
    score: str = "mean",
    fixed: tuple[Floats | None, Floats | None] = (None, None),
) -> Floats:
    """Resampled system-level correlations. `fixed` holds whole-system scores, which stay as they are."""
    sides = []
    for matrix, system_scores in zip((x, z), fixed, strict=True):
        if system_scores is not None:
            sides.append(system_scores)
        elif columns is None:
            sides.append(over_documents(matrix, score))
        else:
            sides.append(resampled_means(matrix, columns, score))
    if name != "pearson":
        sides = [snap(side) for side in sides]
    a, b = np.broadcast_arrays(*sides)
    if rows is None:
        rows = np.ones((len(a) if a.ndim == 2 else 1, a.shape[-1]))
    return weighted(name, a, b, rows)


def summary_samples(
    name: str, x: Floats, z: Floats, rows: Floats | None, columns: Floats | None, undefined: str = "drop"
) -> Floats:
    """Resampled means of per-document correlations."""
    if rows is None:
        per_document = np.asarray(coefficient(name)(x.T, z.T))[None, :]
    elif name == "pearson":
        per_document = pearson_columns(x, z, rows)
    elif name == "kendall" and len(x) <= PAIRS_BELOW:
        per_document = kendall_columns(x, z, rows)
    else:
        per_document = np.stack([weighted(name, x[:, d], z[:, d], rows) for d in range(x.shape[1])], axis=1)
    if undefined == "zero":
        per_document = np.nan_to_num(per_document)
    defined = np.isfinite(per_document)
    weights = np.ones_like(per_document) if columns is None else columns
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights * np.where(defined, per_document, 0)).sum(axis=1) / (weights * defined).sum(axis=1))
