"""Claim: Dawid–Skene is at least 5 times faster than crowd-kit, with the same labels.

Both run the same number of iterations from the same start (crowd-kit's stopping rule is set out of reach).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.aggregate.worker_models import answers, fit
from benchmarks import Measurement, seconds

TASKS, WORKERS, PER_TASK, ITERATIONS = 10_000, 100, 4, 30


def crowd(seed: int = 0) -> pd.DataFrame:
    """Tasks with a hidden truth, workers right 55 to 95 times of 100."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, 2, TASKS), rng.uniform(0.55, 0.95, WORKERS)
    task = np.repeat(np.arange(TASKS), PER_TASK)
    worker = np.argsort(rng.random((TASKS, WORKERS)), axis=1)[:, :PER_TASK].ravel()
    is_right = rng.random(len(task)) < skill[worker]
    return pd.DataFrame({"task": task, "worker": worker, "label": np.where(is_right, truth[task], 1 - truth[task])})


def run() -> Measurement:
    from crowdkit.aggregation import DawidSkene

    data = crowd()

    def our_labels() -> list[object]:
        return fit("dawid-skene", answers(data["task"], data["worker"], data["label"]), ITERATIONS, 0).label()

    def peer_labels() -> list[object]:
        return list(DawidSkene(n_iter=ITERATIONS, tol=float("-inf")).fit_predict(data).sort_index())

    assert our_labels() == peer_labels(), "not the same labels"
    note = f"crowd-kit, {TASKS * PER_TASK:,} answers, {ITERATIONS} iterations, same labels"
    return Measurement(seconds(our_labels), seconds(peer_labels, 1), 5, note=note)
