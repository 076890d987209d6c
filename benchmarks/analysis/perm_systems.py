"""Claim: PERM-SYSTEMS at all levels and coefficients takes at most 1/50 of nlpstats' time.

25 systems × 100 documents, 1,000 swaps, system, summary and global level, Pearson, Spearman and Kendall.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from analysis.compare.permutation import p_values, standardise, swap_masks, swapped_differences, swapped_vectors
from benchmarks import Measurement, seconds
from benchmarks._peers import LEVELS, peer_permutation
from benchmarks.analysis.correlate import COEFFICIENTS, DOCUMENTS, RESAMPLES, SYSTEMS, matrices

PART = 4


def our_tests(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
    x, y, z = standardise(x), standardise(y), standardise(z)
    masks, _ = swap_masks("perm-systems", 0, RESAMPLES, SYSTEMS, DOCUMENTS)
    for level, name in product(LEVELS, COEFFICIENTS):
        if level == "system":
            samples = swapped_vectors(name, x.mean(axis=1), y.mean(axis=1), z.mean(axis=1), masks)
        else:
            samples = swapped_differences(name, level, x, y, z, masks)
        p_values(samples, 0.1, exact=False)


@threadpool_limits.wrap(limits=1)
def run() -> Measurement:
    x, y, z = matrices(3)
    peer_name, permutation = peer_permutation()

    def run_peer() -> None:
        for level, name in product(LEVELS, COEFFICIENTS):
            permutation(x, y, z, LEVELS[level], name, PART)

    our_seconds = seconds(lambda: our_tests(x, y, z), repeats=5)
    peer_seconds = seconds(run_peer, repeats=1) * RESAMPLES / PART
    note = f"one thread, 25x100, 1000 swaps, 9 tests; {peer_name} measured on {PART} swaps and scaled"
    return Measurement(ours=our_seconds, peer=peer_seconds, claim=50, note=note)
