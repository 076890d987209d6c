"""Permutation tests between two metrics: what happens to the difference when their scores are swapped.

A swapped metric is a choice between the scores of the two, so it is a resample of both stacked, with weights 0 and
1, and the bootstrap engine serves here too. Both metrics are standardised first, by the mean and standard deviation
of all their cells; otherwise swapping would mix their scales. Systems with equal scores stay tied; systems whose
different scores happen to have equal means may not, for standardising rounds each cell. The packages in use do the
same, and the test stays valid, since the observed difference and the swapped ones are treated alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.correlate.coefficients import Floats, UnknownName, coefficient
from analysis.correlate.resample import global_samples, resampled_means, summary_samples, weighted

Masks = npt.NDArray[np.bool_]
SWAPS = ("perm-systems", "perm-inputs", "perm-both", "perm-both-xor")
EXACT_UP_TO = 12
"""2¹² swaps are enumerated rather than drawn."""
SLACK = 1e-12
CHUNK = 8_000_000


def standardise(matrix: Floats) -> Floats:
    """Mean 0 and standard deviation 1 over all cells; constant scores become 0."""
    spread = np.nanstd(matrix)
    centred = matrix - np.nanmean(matrix)
    return np.asarray(centred / spread) if spread > 0 else np.asarray(np.zeros_like(matrix) * matrix)


def all_masks(size: int) -> Masks:
    """Every way to swap `size` items, 2^size rows; the first swaps nothing."""
    return np.asarray((np.arange(2**size)[:, None] >> np.arange(size)) & 1 == 1)


def swap_masks(test: str, seed: int, resamples: int, systems: int, documents: int) -> tuple[Masks, bool]:
    """resamples × systems × documents (1 where an axis is swapped as a whole), and whether they are all there are."""
    if test not in SWAPS:
        raise UnknownName("permutation test", test, SWAPS)
    rng = np.random.default_rng([seed, 7])
    if test == "perm-systems":
        if systems <= EXACT_UP_TO:
            return all_masks(systems)[:, :, None], True
        return rng.random((resamples, systems, 1)) < 0.5, False
    if test == "perm-inputs":
        if documents <= EXACT_UP_TO:
            return all_masks(documents)[:, None, :], True
        return rng.random((resamples, 1, documents)) < 0.5, False
    if test == "perm-both":
        return rng.random((resamples, systems, documents)) < 0.5, False
    rows, columns = rng.random((resamples, systems, 1)) < 0.5, rng.random((resamples, 1, documents)) < 0.5
    return rows ^ columns, False


def swapped_differences(
    name: str, level: str, x: Floats, y: Floats, z: Floats, masks: Masks, undefined: str = "drop"
) -> Floats:
    """Correlation of the first metric minus that of the second, after each swap."""
    if masks.shape[2] == 1 and x.shape[1] != 1:
        pick = _by_rows
    elif masks.shape[1] == 1 and x.shape[0] != 1:
        pick = _by_columns
    else:
        pick = _by_cells
    return pick(name, level, x, y, z, masks, undefined) - pick(name, level, x, y, z, ~masks, undefined)


def swapped_vectors(name: str, a: Floats, b: Floats, human: Floats, masks: Masks) -> Floats:
    """The same for one score per system."""
    stacked, doubled = np.concatenate([a, b]), np.concatenate([human, human])
    mask = masks[:, :, 0]
    first = weighted(name, stacked, doubled, np.hstack([~mask, mask]).astype(float))
    return first - weighted(name, stacked, doubled, np.hstack([mask, ~mask]).astype(float))


def _by_rows(name: str, level: str, x: Floats, y: Floats, z: Floats, masks: Masks, undefined: str) -> Floats:
    mask = masks[:, :, 0]
    weights = np.hstack([~mask, mask]).astype(float)
    stacked, doubled = np.vstack([x, y]), np.vstack([z, z])
    if level == "summary":
        return summary_samples(name, stacked, doubled, weights, None, undefined)
    return global_samples(name, stacked, doubled, weights, None)


def _by_columns(name: str, level: str, x: Floats, y: Floats, z: Floats, masks: Masks, undefined: str) -> Floats:
    mask = masks[:, 0, :]
    weights = np.hstack([~mask, mask]).astype(float)
    stacked, doubled = np.hstack([x, y]), np.hstack([z, z])
    if level == "summary":
        return summary_samples(name, stacked, doubled, None, weights, undefined)
    if level == "global":
        return global_samples(name, stacked, doubled, None, weights)
    return _from_means(name, resampled_means(stacked, weights), np.nanmean(z, axis=1))


def _by_cells(name: str, level: str, x: Floats, y: Floats, z: Floats, masks: Masks, undefined: str) -> Floats:
    step = max(1, CHUNK // x.size)
    blocks = []
    for start in range(0, len(masks), step):
        swapped = np.where(masks[start : start + step], y, x)
        if level == "system":
            blocks.append(_from_means(name, np.nanmean(swapped, axis=2), np.nanmean(z, axis=1)))
        elif level == "global":
            flat = swapped.reshape(len(swapped), -1)
            blocks.append(np.array([float(coefficient(name)(row, z.ravel())) for row in flat]))
        else:
            values = np.asarray(coefficient(name)(swapped.transpose(0, 2, 1), z.T))
            values = np.nan_to_num(values) if undefined == "zero" else values
            blocks.append(_mean_defined(values))
    return np.concatenate(blocks)


def _mean_defined(values: Floats) -> Floats:
    defined = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(axis=1) / defined.sum(axis=1))


def _from_means(name: str, means: Floats, human: Floats) -> Floats:
    return np.asarray(coefficient(name)(means, human[None, :]))


def p_values(samples: Floats, observed: float, exact: bool) -> dict[str, float]:
    """p of each alternative: (c + 1) / (n + 1) for drawn swaps, c / n when all swaps were enumerated."""
    defined = samples[np.isfinite(samples)]
    if not np.isfinite(observed) or not defined.size:
        return {"greater": np.nan, "less": np.nan, "two-sided": np.nan}
    counts = {
        "greater": int((defined >= observed - SLACK).sum()),
        "less": int((defined <= observed + SLACK).sum()),
        "two-sided": int((np.abs(defined) >= abs(observed) - SLACK).sum()),
    }
    if exact:
        return {name: count / defined.size for name, count in counts.items()}
    return {name: (count + 1) / (defined.size + 1) for name, count in counts.items()}
