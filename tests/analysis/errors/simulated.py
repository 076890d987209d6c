"""A crowd that marks errors, with known truth: who looks and who doesn't."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ("entity", "relation", "link", "grammar")
WORDS, CHARACTERS = 60, 330


def simulate_marking(
    seed: int, careful: int = 600, careless: int = 200, summaries: int = 12, per_summary: int = 4
) -> tuple[pd.DataFrame, set[str]]:
    """Judgments of people of whom everyone looks at `summaries` summaries, and who of them is careless.

    Of each kind a summary has an error with probability 0.3. A careful person sees it with 0.9, and sees one that isn't
    there with 0.05; the score for the whole follows the points. Half of the careless mark at random in no time, the
    others say that there is never an error and give every summary 95.
    """
    rng = np.random.default_rng(seed)
    n = careful + careless
    truth = rng.random((n * summaries // per_summary, len(KINDS))) < 0.3
    names, rows = [f"w{number:04}" for number in rng.permutation(n)], []
    order = np.concatenate([rng.permutation(len(truth)) for _ in range(per_summary)])
    for person, name in enumerate(names):
        own = order[person * summaries : (person + 1) * summaries]
        for summary in dict.fromkeys(own.tolist()):
            marked, overall, seconds = _answer(rng, truth[summary], person, careful)
            place = {"doc_id": f"d{summary // 5}", "system": f"s{summary % 5}", "worker_id": name, "protocol": "errors"}
            place |= {
                "seconds": seconds,
                "words": WORDS,
                "characters": CHARACTERS,
                "assignment_id": f"{name}/{summary}",
            }
            for kind, is_marked in zip(KINDS, marked, strict=True):
                spans = [{"start": 0, "end": 5, "severity": "major"}] if is_marked else []
                rows.append({**place, "unit": kind, "value": 5.0 * is_marked, "spans": spans})
            rows.append({**place, "unit": "overall", "value": overall, "spans": []})
    return pd.DataFrame(rows), set(names[careful:])


def _answer(rng: np.random.Generator, truth: np.ndarray, person: int, careful: int) -> tuple[np.ndarray, float, float]:
    if person < careful:
        marked = np.where(truth, rng.random(len(truth)) < 0.9, rng.random(len(truth)) < 0.05)
        overall = np.clip(95 - 15 * marked.sum() + rng.normal(0, 6), 0, 100)
        return marked, float(round(overall)), float(round(15 * np.exp(rng.normal(0, 0.35)), 1))
    seconds = float(round(2 * np.exp(rng.normal(0, 0.35)), 1))
    if person % 2:
        return np.zeros(len(truth), dtype=bool), 95.0, seconds
    return rng.random(len(truth)) < 0.3, float(rng.integers(0, 101)), seconds
