"""Claim: Williams tests of 193 × 193 metrics take at most 1/500 of a loop over scipy.

The peer works out three correlations and the t distribution for each pair, as a notebook would; it is measured on a
part of the pairs and scaled.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from analysis.compare.williams import williams
from analysis.correlate.coefficients import pearson
from benchmarks import Measurement, seconds

METRICS, SYSTEMS, PART = 193, 25, 300


def our_p_values(scores: np.ndarray, human: np.ndarray) -> np.ndarray:
    r = pearson(scores, human[None, :])
    centred = scores - scores.mean(axis=1, keepdims=True)
    unit = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return williams(r[:, None], r[None, :], np.clip(unit @ unit.T, -1, 1), SYSTEMS).p


def peer_p_value(scores: np.ndarray, human: np.ndarray, i: int, j: int) -> float:
    r12, r13, r23 = (
        stats.pearsonr(a, b)[0] for a, b in ((scores[i], human), (scores[j], human), (scores[i], scores[j]))
    )
    n = SYSTEMS
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + ((r12 + r13) ** 2 / 4) * (1 - r23) ** 3
    return float(stats.t.sf((r12 - r13) * math.sqrt((n - 1) * (1 + r23) / spread), n - 3))


def run() -> Measurement:
    rng = np.random.default_rng(0)
    human = rng.normal(size=SYSTEMS)
    scores = human + rng.normal(size=(METRICS, SYSTEMS))
    pairs = rng.integers(0, METRICS, (PART, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    table = our_p_values(scores, human)
    for i, j in pairs[:20]:
        assert abs(table[i, j] - peer_p_value(scores, human, i, j)) < 1e-9
    our_seconds = seconds(lambda: our_p_values(scores, human), repeats=7)
    loop = seconds(lambda: [peer_p_value(scores, human, i, j) for i, j in pairs], repeats=1)
    peer_seconds = loop * METRICS * (METRICS - 1) / len(pairs)
    note = f"193x193; loop measured on {len(pairs)} pairs and scaled"
    return Measurement(ours=our_seconds, peer=peer_seconds, claim=500, note=note)
