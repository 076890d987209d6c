"""Global-level resampling: thousands of cells, each weighing its system's weight times its document's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.correlate.coefficients import Floats, complete
from analysis.correlate.weighted import CELL_BUDGET, LOOP_ABOVE, from_moments, looped, ratio, weighted


def global_samples(name: str, x: Floats, z: Floats, rows: Floats | None, columns: Floats | None) -> Floats:
    """Resampled correlations over all cells."""
    x, z = complete(x, z)
    if rows is None and columns is None:
        rows = np.ones((1, x.shape[0]))
    if name == "kendall" and x.size <= 8 * LOOP_ABOVE:
        if rows is not None and columns is None:
            return _kendall_blocks(x, z, rows)
        if columns is not None and rows is None:
            return _kendall_blocks(x.T, z.T, columns)
    if name == "pearson":
        return _pearson(x, z, rows, columns)
    cells, keep = _cell_weights(x, rows, columns)
    a, b = x.ravel()[keep], z.ravel()[keep]
    if name == "spearman":
        return _spearman(a, b, cells)
    if name == "kendall" and a.size <= 8 * LOOP_ABOVE:
        return _kendall(a, b, cells)
    return looped(name, a, b, cells)


def _cell_weights(x: Floats, rows: Floats | None, columns: Floats | None) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """resamples × cells, of the cells that are there, and which these are."""
    weights = rows if rows is not None else columns
    count = len(weights) if weights is not None else 1
    w_rows = np.ones((count, x.shape[0])) if rows is None else rows
    w_columns = np.ones((count, x.shape[1])) if columns is None else columns
    keep = ~np.isnan(x).ravel()
    return (w_rows[:, :, None] * w_columns[:, None, :]).reshape(count, -1)[:, keep], keep


def _pearson(x: Floats, z: Floats, rows: Floats | None, columns: Floats | None) -> Floats:
    present = ~np.isnan(x)
    if not present.any():
        weights = rows if rows is not None else columns
        return np.full(len(weights) if weights is not None else 1, np.nan)
    a = np.where(present, x - x[present].mean(), 0)
    b = np.where(present, z - z[present].mean(), 0)

    def total(cells: Floats) -> Floats:
        across = cells.sum(axis=0)[None, :] if rows is None else rows @ cells
        return np.asarray((across if columns is None else across * columns).sum(axis=1))

    moments = [total(cells) for cells in (present.astype(float), a, b, a * a, b * b, a * b)]
    values, doubtful = from_moments(moments[0], moments[1], moments[2], moments[3], moments[4], moments[5])
    if doubtful.any():
        doubtful_rows = np.flatnonzero(doubtful)
        row_weights = None if rows is None else rows[doubtful_rows]
        cells, keep = _cell_weights(x, row_weights, None if columns is None else columns[doubtful_rows])
        values[doubtful_rows] = weighted("pearson", x.ravel()[keep], z.ravel()[keep], cells)
    return values


def _groups(x: Floats, cells: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """The weight of each distinct value, in rising order, and which of them each cell holds."""
    values, inverse = np.unique(x, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(values)))
    return np.add.reduceat(cells[:, order], starts, axis=1), inverse


def _centred_ranks(x: Floats, cells: Floats) -> Floats:
    weight, inverse = _groups(x, cells)
    below = np.cumsum(weight, axis=1) - weight
    middle = below + (weight - cells.sum(axis=1, keepdims=True)) / 2
    return np.asarray(middle[:, inverse])


def _spearman(a: Floats, b: Floats, cells: Floats) -> Floats:
    ra, rb = _centred_ranks(a, cells), _centred_ranks(b, cells)
    sums = [np.einsum("rn,rn,rn->r", cells, first, second) for first, second in ((ra, rb), (ra, ra), (rb, rb))]
    return ratio(sums[0], sums[1], sums[2])


def _kendall(a: Floats, b: Floats, cells: Floats) -> Floats:
    """Tau-b of many cells: concordance by strips of the sign matrix, ties from the weights of equal values.

    Single precision is exact here: every partial sum is a whole number below 2²⁴.
    """
    light = cells.astype(np.float32)
    top = np.zeros(len(cells))
    step = max(1, min(512, CELL_BUDGET // a.size))
    for start in range(0, a.size, step):
        strip, onward = slice(start, start + step), slice(start, None)
        product = np.sign(a[strip, None] - a[None, onward]) * np.sign(b[strip, None] - b[None, onward])
        # Pairs with later strips count twice, for they stand for both halves of the matrix.
        product[:, step:] *= 2
        top += (cells[:, strip] * (light[:, onward] @ product.T.astype(np.float32))).sum(axis=1)
    n = cells.sum(axis=1) ** 2
    free = [n - (_groups(side, cells)[0] ** 2).sum(axis=1) for side in (a, b)]
    return ratio(top, free[0], free[1])


def _kendall_blocks(x: Floats, z: Floats, weights: Floats) -> Floats:
    """Tau-b when whole rows are redrawn: the signs of all pairs of cells, summed once for each pair of rows."""
    size = len(x)
    tables = np.zeros((3, size, size))
    flat_x, flat_z = x.ravel(), z.ravel()
    for row in range(size):
        sx = np.sign(np.nan_to_num(x[row][:, None] - flat_x[None, :])).astype(np.int8)
        sz = np.sign(np.nan_to_num(z[row][:, None] - flat_z[None, :])).astype(np.int8)
        for number, signs in enumerate((sx * sz, np.abs(sx), np.abs(sz))):
            tables[number, row] = signs.sum(axis=0, dtype=np.int32).reshape(size, -1).sum(axis=1)
    sums = [(weights * (weights @ table)).sum(axis=1) for table in tables]
    return ratio(sums[0], sums[1], sums[2])
