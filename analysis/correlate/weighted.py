"""Correlation coefficients of weighted observations: one value per row of weights.

With the sign matrix S[i, j] = sign(x_i − x_j) the centred mid-rank of i under weights w is half of (S w)_i, and the
numerator of Kendall's tau is wᵀ (Sx ∘ Sz) w: resampled coefficients are matrix products.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.correlate.coefficients import Floats, UnknownName, coefficient, complete

CELL_BUDGET = 16_000_000
LOOP_ABOVE = 1500
"""Above so many observations a sign matrix costs more than sorting each resample."""
EXACT_BELOW = 1e-5
"""A variance that is such a small part of the mean square has lost digits: it is worked out again, centred."""


def _signs(x: Floats) -> Floats:
    return np.asarray(np.sign(np.nan_to_num(x[..., :, None] - x[..., None, :])))


def _apply(signs: Floats, weights: Floats) -> Floats:
    """(S w) for every resample; the signs are shared by all resamples or one matrix per resample."""
    if signs.ndim == 2:
        return np.asarray(weights @ signs.T)
    return np.asarray(np.einsum("rij,rj->ri", signs, weights))


def ratio(top: Floats, first: Floats, second: Floats) -> Floats:
    """top / sqrt(first · second), NaN where that is undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = top / (np.sqrt(first) * np.sqrt(second))
    return np.where(np.isfinite(value), np.clip(value, -1, 1), np.nan)


def _pearson(x: Floats, z: Floats, w: Floats) -> Floats:
    n = w.sum(axis=1, keepdims=True)
    x, z = np.nan_to_num(x), np.nan_to_num(z)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx = x - (w * x).sum(axis=1, keepdims=True) / n
        dz = z - (w * z).sum(axis=1, keepdims=True) / n
    value = ratio((w * dx * dz).sum(axis=1), (w * dx * dx).sum(axis=1), (w * dz * dz).sum(axis=1))
    return np.where(_constant(x, w) | _constant(z, w), np.nan, value)


def _constant(x: Floats, w: Floats) -> npt.NDArray[np.bool_]:
    is_drawn = w > 0
    return np.asarray(np.where(is_drawn, x, np.inf).min(axis=1) >= np.where(is_drawn, x, -np.inf).max(axis=1))


def _spearman(x: Floats, z: Floats, w: Floats) -> Floats:
    a, b = _apply(_signs(x), w), _apply(_signs(z), w)
    return ratio((w * a * b).sum(axis=1), (w * a * a).sum(axis=1), (w * b * b).sum(axis=1))


def _kendall(x: Floats, z: Floats, w: Floats) -> Floats:
    sx, sz = _signs(x), _signs(z)
    sums = [(w * _apply(matrix, w)).sum(axis=1) for matrix in (sx * sz, np.abs(sx), np.abs(sz))]
    return ratio(sums[0], sums[1], sums[2])


def _distinct(signs: Floats, w: Floats) -> Floats:
    """How many different values are drawn: those with no equal before them."""
    is_drawn = (w > 0).astype(float)
    before = np.tril(signs == 0, -1).astype(float)
    return np.asarray((is_drawn * (_apply(before, is_drawn) == 0)).sum(axis=1))


def _kendall_c(x: Floats, z: Floats, w: Floats) -> Floats:
    sx, sz = _signs(x), _signs(z)
    fewest = np.minimum(_distinct(sx, w), _distinct(sz, w))
    n = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (w * _apply(sx * sz, w)).sum(axis=1) * fewest / (n * n * (fewest - 1))
    return np.where(fewest > 1, value, np.nan)


def _accuracy(x: Floats, z: Floats, w: Floats) -> Floats:
    # An item drawn twice makes a pair with itself, on which every metric is right: such pairs don't count.
    same_order = (_signs(x) == _signs(z)).astype(float) * (1 - np.eye(x.shape[-1]))
    pairs = w.sum(axis=1) ** 2 - (w * w).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((w * _apply(same_order, w)).sum(axis=1) / pairs)


_WEIGHTED = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "kendall-c": _kendall_c,
    "accuracy": _accuracy,
}


def weighted(name: str, x: Floats, z: Floats, weights: Floats) -> Floats:
    """The coefficient of every resample. x and z: one vector for all resamples, or one row per resample."""
    if name not in _WEIGHTED:
        raise UnknownName("coefficient", name, tuple(_WEIGHTED))
    x, z = complete(x, z)
    weights = weights * ~np.isnan(x)
    if name == "pearson":
        # Centring first keeps the digits of scores that lie far from zero.
        shift = np.nanmean(x) if np.isfinite(x).any() else 0.0
        return _pearson(np.atleast_2d(x) - shift, np.atleast_2d(z), weights)
    if x.shape[-1] > LOOP_ABOVE:
        return looped(name, x, z, weights)
    if x.ndim == 1:
        return _WEIGHTED[name](x, z, weights)
    step = max(1, CELL_BUDGET // x.shape[-1] ** 2)
    blocks = range(0, len(weights), step)
    return np.concatenate([_WEIGHTED[name](x[i : i + step], z[i : i + step], weights[i : i + step]) for i in blocks])


def looped(name: str, x: Floats, z: Floats, weights: Floats) -> Floats:
    """The same with the observations written out, one resample at a time."""
    function = coefficient(name)
    samples = np.empty(len(weights))
    for r, row in enumerate(weights.astype(int)):
        a, b = (x, z) if x.ndim == 1 else (x[r], z[r])
        samples[r] = function(np.repeat(a, row), np.repeat(b, row))
    return samples


def pearson_columns(x: Floats, z: Floats, rows: Floats) -> Floats:
    """resamples × columns: Pearson's r of every column under the weights of its rows, by weighted moments."""
    x, z = complete(x, z)
    present = ~np.isnan(x)
    count = np.maximum(present.sum(axis=0), 1)
    a = np.where(present, x - np.where(present, x, 0).sum(axis=0) / count, 0)
    b = np.where(present, z - np.where(present, z, 0).sum(axis=0) / count, 0)
    n, sa, sb, saa, sbb, sab = (rows @ column for column in (present.astype(float), a, b, a * a, b * b, a * b))
    values, doubtful = from_moments(n, sa, sb, saa, sbb, sab)
    for column in np.flatnonzero(doubtful.any(axis=0)):
        is_doubtful = doubtful[:, column]
        values[is_doubtful, column] = weighted("pearson", x[:, column], z[:, column], rows[is_doubtful])
    return values


def kendall_columns(x: Floats, z: Floats, rows: Floats) -> Floats:
    """resamples × columns: Kendall's tau-b of every column, from the weights of all pairs of rows at once."""
    x, z = complete(x, z)
    first, second = np.triu_indices(len(x), 1)
    pairs = 2 * rows[:, first] * rows[:, second]  # each stands for both halves of the sign matrix
    sx, sz = (np.sign(np.nan_to_num(side[first] - side[second])) for side in (x, z))
    return ratio(*(pairs @ signs for signs in (sx * sz, np.abs(sx), np.abs(sz))))


def from_moments(
    n: Floats, sa: Floats, sb: Floats, saa: Floats, sbb: Floats, sab: Floats
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Pearson's r from weighted sums, and where it must be worked out again with more care."""
    with np.errstate(invalid="ignore", divide="ignore"):
        va, vb = saa - sa * sa / n, sbb - sb * sb / n
        value = np.clip((sab - sa * sb / n) / np.sqrt(va * vb), -1, 1)
        doubtful = ~((va > EXACT_BELOW * saa) & (vb > EXACT_BELOW * sbb))
    return value, np.asarray(doubtful)
