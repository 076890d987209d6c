"""Each worker in figures: what a person looks at before choosing rules."""

from __future__ import annotations

import pandas as pd

from analysis.agreement import agreement
from analysis.agreement.counts import UNIT
from analysis.filters.behaviour import expected_answers
from analysis.tables.where import without_checks

FAST = 1 / 3
"""Below this share of the workers' median time an answer came too fast."""
FAILED = 0.25
"""A larger share of failed checks is worth a look; an honest slip is not."""
FIGURES = ["worker_id", "answers", "seconds", "checks", "failed", "agreement"]


def worker_figures(judgments: pd.DataFrame, level: str = "nominal") -> pd.DataFrame:
    """A row per worker, worst agreement first; no row where there are only checks.

    `answers`, `seconds` (median per answer), `checks`, `failed` (of the checks) and `agreement` (with the others, at
    the given level; NaN when undefined). Checks count as nothing else.
    """
    real = without_checks(judgments)
    checks = judgments[judgments["is_check"].astype(bool)] if "is_check" in judgments else judgments.iloc[:0]
    if real.empty:
        return pd.DataFrame(columns=FIGURES)
    figures = pd.DataFrame({"answers": real.groupby("worker_id").size()})
    figures["seconds"] = real.groupby("worker_id")["seconds"].median() if "seconds" in real else float("nan")
    failed = pd.Series(checks["value"].to_numpy() != expected_answers(checks), index=checks.index)
    figures["checks"] = checks.groupby("worker_id").size()
    figures["failed"] = failed.groupby(checks["worker_id"]).sum()
    figures[["checks", "failed"]] = figures[["checks", "failed"]].fillna(0).astype(int)
    alphas = {str(result.group): result.value for result in agreement(real, level=level, by="worker_id")}
    figures["agreement"] = pd.Series(alphas, dtype=float)
    return figures.rename_axis("worker_id").reset_index().sort_values(["agreement", "worker_id"], ignore_index=True)


def standing_out(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures with two flags: `is_fast` (beside the median worker) and `fails_checks`."""
    median_seconds = figures["seconds"].median()
    return figures.assign(
        is_fast=figures["seconds"] < FAST * median_seconds, fails_checks=figures["failed"] > FAILED * figures["checks"]
    )


def beside_others(judgments: pd.DataFrame, worker: str) -> pd.DataFrame:
    """One worker's judgments, each with `mean` and `count` of what the others answered there."""
    is_worker = judgments["worker_id"] == worker
    other_answers = judgments[~is_worker].groupby(list(UNIT))["value"].agg(["mean", "count"]).reset_index()
    return judgments[is_worker].merge(other_answers, how="left", on=list(UNIT))
