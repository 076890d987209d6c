"""How many human judgments a model as judge would save, when systems are compared with its help (PPI++)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.counts import Floats, latest
from analysis.bootstrap import percentile_limits
from analysis.planning import Variances
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

CELL = ["doc_id", "system"]
FEW_DOCUMENTS = 5


@dataclass(frozen=True)
class JudgeQuality:
    """How a model's scores follow people's when documents and systems are taken out: what differences are made of."""

    correlation: float
    low: float
    high: float
    n_documents: int
    workers: float
    """People per summary of the pilot."""

    @property
    def is_of_use(self) -> bool:
        return self.low > 0


def judge_quality(people: pd.DataFrame, models: pd.DataFrame, *, resamples: int = 1000, seed: int = 0) -> JudgeQuality:
    """From a pilot in which people and models judged the same summaries; interval by documents."""
    rows = latest(without_checks(people).reset_index(drop=True))
    human = rows.groupby(CELL)["value"].mean().unstack("system")
    model = without_checks(models).groupby(CELL)["value"].mean().unstack("system")
    model = model.reindex(index=human.index, columns=human.columns)
    both = human.notna() & model.notna()
    keep = both.sum(axis=1) >= 2
    if keep.sum() < FEW_DOCUMENTS:
        raise AnalysisError(
            f"People and model judged two systems of {int(keep.sum())} documents; to say what it would save, "
            f"{FEW_DOCUMENTS} are needed."
        )
    x, y = (_centred(table.where(both)[keep].to_numpy(dtype=np.float64)) for table in (human, model))
    sums = np.stack([np.nansum(product, axis=1) for product in (x * x, y * y, x * y)])
    size = sums.shape[1]
    weights = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=max(1, resamples))
    low, high = percentile_limits(_correlation(sums @ weights.T.astype(float)), n=size)
    per_summary = float(rows.groupby(CELL)["worker_id"].nunique().mean())
    return JudgeQuality(float(_correlation(sums.sum(axis=1))), low, high, size, per_summary)


def _centred(table: Floats) -> Floats:
    """Without the documents' and the systems' means; each pass takes out one, and few are enough."""
    for _ in range(20):
        table = table - np.nanmean(table, axis=1, keepdims=True)
        table = table - np.nanmean(table, axis=0, keepdims=True)
    return table


def _correlation(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[2] / np.sqrt(sums[0] * sums[1]))


def documents_with_model(
    documents: int, quality: JudgeQuality, variances: Variances, workers: int, model_documents: int | None = None
) -> int:
    """How many documents people must judge instead, if the model judges `model_documents` in all (None: any number).

    PPI++ leaves 1 − r² (N − n) / N of the variance, with r as it is for so many workers per summary.
    """
    squared = _squared_correlation(quality, variances, workers)
    total = math.inf if model_documents is None else model_documents
    if total <= documents or not quality.is_of_use:
        return documents
    for n in range(2, documents):
        remaining = 1 - squared * (1 - n / total)
        if n >= documents * remaining:
            return n
    return documents


def _squared_correlation(quality: JudgeQuality, variances: Variances, workers: int) -> float:
    """r² for the mean of so many workers: their noise hides a part of what the model knows."""

    def reliability(count: float) -> float:
        total = variances.document + variances.worker / count
        return variances.document / total if total > 0 else 1.0

    in_pilot = reliability(quality.workers)
    true = min(1.0, quality.correlation**2 / in_pilot) if in_pilot > 0 else 0.0
    return true * reliability(workers)
