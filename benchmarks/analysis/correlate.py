"""Claim: bootstrap intervals at all levels, coefficients and schemes take at most 1/300 of nlpstats' time.

25 systems × 100 documents, 1,000 resamples, 3 levels × 3 coefficients × 3 schemes. nlpstats is measured on a few
resamples of each and scaled, for all of it takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from analysis.correlate.resample import draw, global_samples, percentile_interval, summary_samples, system_samples
from benchmarks import Measurement, seconds
from benchmarks._peers import LEVELS, peer_bootstrap

SYSTEMS, DOCUMENTS, RESAMPLES = 25, 100, 1000
PART = 4
COEFFICIENTS = ("pearson", "spearman", "kendall")
SCHEMES = ("systems", "inputs", "both")
SAMPLERS: dict[str, Callable[..., np.ndarray]] = {
    "system": system_samples,
    "summary": summary_samples,
    "global": global_samples,
}


def matrices(count: int = 2) -> np.ndarray:
    """Scores with many ties, as recall has: the case that costs most."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(SYSTEMS, 1))
    return np.round(quality + rng.normal(size=(count, SYSTEMS, DOCUMENTS)), 1)


def our_bootstrap(x: np.ndarray, z: np.ndarray) -> None:
    for level, name, scheme in product(SAMPLERS, COEFFICIENTS, SCHEMES):
        percentile_interval(SAMPLERS[level](name, x, z, *draw(0, RESAMPLES, scheme, SYSTEMS, DOCUMENTS)))


@threadpool_limits.wrap(limits=1)
def run() -> Measurement:
    x, z = matrices()
    peer_name, bootstrap = peer_bootstrap()

    def run_peer() -> None:
        for level, name, scheme in product(SAMPLERS, COEFFICIENTS, SCHEMES):
            bootstrap(x, z, LEVELS[level], name, scheme, PART)

    our_seconds = seconds(lambda: our_bootstrap(x, z), repeats=5)
    peer_seconds = seconds(run_peer, repeats=1) * RESAMPLES / PART
    note = f"one thread, 25x100, 1000 resamples, 27 intervals; {peer_name} measured on {PART} resamples and scaled"
    return Measurement(ours=our_seconds, peer=peer_seconds, claim=300, note=note)
