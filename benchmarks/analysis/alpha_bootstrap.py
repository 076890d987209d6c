"""Claim: 1,000 bootstrap resamples of alpha are at least 100 times faster than looping over krippendorff.

The loop is measured on ten resamples and counted a hundred times; it does the same work every time.
"""

from __future__ import annotations

import krippendorff
import numpy as np

from analysis.agreement import agreement
from benchmarks import Measurement, seconds
from benchmarks.analysis._ratings import judgments, ratings

UNITS = 26_400
RESAMPLES = 1000
MEASURED = 10


def loop(matrix: np.ndarray, resamples: int) -> list[float]:
    rng = np.random.default_rng(0)
    return [
        krippendorff.alpha(reliability_data=matrix[:, rng.integers(0, UNITS, UNITS)], level_of_measurement="nominal")
        for _ in range(resamples)
    ]


def run() -> Measurement:
    matrix = ratings(UNITS)
    frame = judgments(matrix)
    our_seconds = seconds(lambda: agreement(frame, ci=RESAMPLES, cluster="unit"))
    peer_seconds = seconds(lambda: loop(matrix, MEASURED)) * RESAMPLES / MEASURED
    note = f"loop over krippendorff, {RESAMPLES} resamples of {UNITS:,} units"
    return Measurement(our_seconds, peer_seconds, 100, note=note)
