"""A crowd with known truth: who is careful and who is not, to see what the filters find.

Every unit has a true answer; careful workers see it nearly always, careless ones often answer without looking,
always-yes workers say yes to everything, random ones toss a coin. Check items are BLANK statements (right answer 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.filters import apply_rules

RULES_TOGETHER = ("checks", "time", "straightlining", "worker-agreement")


@dataclass(frozen=True)
class Kind:
    """One kind of worker."""

    name: str
    workers: int
    attention: float
    """How often the worker looks; a look gives the truth in 95 of 100 cases."""
    otherwise: float
    """The probability of yes when it does not look."""
    seconds: float
    """Median seconds per answer."""


CROWD = (
    Kind("careful", 45, 0.95, 0.5, 12.0),
    Kind("careless", 5, 0.30, 0.5, 5.0),
    Kind("always-yes", 5, 0.0, 1.0, 3.0),
    Kind("random", 5, 0.0, 0.5, 4.0),
)


@dataclass(frozen=True)
class Detection:
    """How many workers of a kind the filters dropped."""

    kind: str
    answers: int
    workers: int
    dropped: int


def simulate_crowd(
    seed: int, answers: int = 20, checks: int = 8, per_unit: int = 5, crowd: Sequence[Kind] = CROWD
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Judgments of a simulated crowd, and the kind of each worker."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in crowd for _ in range(kind.workers)]
    workers = [f"w{number:03}" for number in rng.permutation(len(kinds))]
    units = -(-len(kinds) * answers // per_unit)
    truth = rng.integers(0, 2, units)
    # Deal the units round by round, so that each worker gets different ones and each unit about per_unit workers.
    deal = np.concatenate([rng.permutation(units) for _ in range(per_unit)])
    rows = []
    for number, (worker, kind) in enumerate(zip(workers, kinds, strict=True)):
        worker_units = list(dict.fromkeys(deal[number * answers : (number + 1) * answers].tolist()))
        for unit in worker_units:
            rows.append(_answer(rng, f"d{unit // 10:03}", f"scu{unit % 10:02}", worker, kind, int(truth[unit]), False))
        for check in range(checks):
            rows.append(_answer(rng, f"d{check:03}", f"blank{number:03}-{check}", worker, kind, 0, True))
    return pd.DataFrame(rows), dict(zip(workers, (kind.name for kind in kinds), strict=True))


def _answer(
    rng: np.random.Generator, doc: str, unit: str, worker: str, kind: Kind, truth: int, is_check: bool
) -> dict[str, object]:
    looks = rng.random() < kind.attention
    is_right = rng.random() < (0.99 if is_check else 0.95)
    value = (truth if is_right else 1 - truth) if looks else int(rng.random() < kind.otherwise)
    return {
        "doc_id": doc,
        "system": "s",
        "unit": unit,
        "worker_id": worker,
        "value": float(value),
        "is_check": is_check,
        "seconds": float(kind.seconds * np.exp(rng.normal(0, 0.4))),
    }


def detection(seeds: Sequence[int], answers: int, rules: Sequence[str] = RULES_TOGETHER) -> list[Detection]:
    """What the rules together drop, by kind of worker, over several simulated crowds."""
    n_dropped: dict[str, int] = {}
    for seed in seeds:
        judgments, kinds = simulate_crowd(seed, answers)
        dropped = {decision.worker_id for decision in apply_rules(judgments, rules, seed).decisions}
        for worker in dropped:
            n_dropped[kinds[worker]] = n_dropped.get(kinds[worker], 0) + 1
    return [Detection(kind.name, answers, kind.workers * len(seeds), n_dropped.get(kind.name, 0)) for kind in CROWD]
