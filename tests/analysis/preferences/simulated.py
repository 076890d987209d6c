"""Simulated people who compare the summaries of four systems; documents differ in what they like."""

import numpy as np
import pandas as pd

TRUE = np.array([0.6, 0.1, 0.0, -0.7])
COLUMNS = ["doc_id", "system_a", "system_b", "worker_id", "preferred"]


def simulate(rng: np.random.Generator, documents: int, workers: int = 3, spread: float = 0.5) -> pd.DataFrame:
    theta = TRUE + rng.normal(0, spread, (documents, len(TRUE)))
    rows = []
    for d in range(documents):
        for a in range(len(TRUE)):
            for b in range(a + 1, len(TRUE)):
                utility = np.array([theta[d, a], theta[d, b], -0.7 + (theta[d, a] + theta[d, b]) / 2])
                chance = np.exp(utility) / np.exp(utility).sum()
                answers = rng.choice([f"s{a}", f"s{b}", "tie"], size=workers, p=chance)
                rows += [(f"d{d}", f"s{a}", f"s{b}", f"w{w}", answer) for w, answer in enumerate(answers)]
    return pd.DataFrame(rows, columns=COLUMNS)


def covered(runs: int, documents: int, seed: int = 0) -> float:
    """How often the interval of a difference holds what endless documents would give."""
    from analysis.preferences import comparisons, strengths

    rng = np.random.default_rng(seed)
    limit = {row.system: row.strength for row in strengths(comparisons(simulate(rng, 20_000, 1))).systems}
    hits = []
    for _ in range(runs):
        for pair in strengths(comparisons(simulate(rng, documents))).pairs:
            hits.append(pair.low <= limit[pair.better] - limit[pair.worse] <= pair.high)
    return float(np.mean(hits))
