"""Choosing documents to judge: REALSumm's Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.tables import AnalysisError


@dataclass(frozen=True)
class Sampled:
    """One chosen document and the cell it stands for."""

    doc_id: str
    metric: str
    bin: int
    """From 1, documents with the lowest mean score."""
    slice: int
    """From 1, documents whose systems differ least."""
    mean: float
    deviation: float
    redrawn: bool
    """Whether the first draw was a document chosen before."""


@dataclass(frozen=True)
class DocumentSample:
    """The chosen documents; `short` counts cells all of whose documents had been chosen before."""

    documents: tuple[Sampled, ...]
    short: int
    seed: int


def sample_documents(
    scores: pd.DataFrame, metrics: Sequence[str] | None = None, *, bins: int = 5, slices: int = 4, seed: int = 0
) -> DocumentSample:
    """For each metric sort documents by mean score into bins, each bin by deviation into slices, and draw from each.

    A document that was chosen before is redrawn from the same cell, so that the documents are distinct; a cell with
    nothing left gives none.
    """
    scores = scores[scores["doc_id"] != "*"]  # scores of whole systems say nothing about documents
    measures = sorted(scores["metric"].unique())
    if not measures:
        raise AnalysisError("The scores are of whole systems only; choosing documents needs scores of summaries.")
    metrics = list(metrics or measures)
    for metric in metrics:
        if metric not in measures:
            raise AnalysisError(f"The scores have no metric {metric!r}; they have {', '.join(measures)}.")
    rng = np.random.default_rng(seed)
    sampled: dict[str, Sampled] = {}
    short = 0
    for metric in metrics:
        for bin_, slice_, cell in _cells(scores[scores["metric"] == metric], bins, slices):
            order = rng.permutation(len(cell))
            free = [place for place in order.tolist() if str(cell.index[place]) not in sampled]
            if not free:
                short += 1
                continue
            row = cell.iloc[free[0]]
            name = str(cell.index[free[0]])
            redrawn = free[0] != int(order[0])
            sampled[name] = Sampled(name, metric, bin_, slice_, float(row["mean"]), float(row["deviation"]), redrawn)
    return DocumentSample(tuple(sampled.values()), short, seed)


def _cells(scores: pd.DataFrame, bins: int, slices: int) -> list[tuple[int, int, pd.DataFrame]]:
    values_by_document = scores.groupby("doc_id")["value"]
    table = pd.DataFrame({"mean": values_by_document.mean(), "deviation": values_by_document.std(ddof=0)}).dropna()
    if len(table) < bins * slices:
        raise AnalysisError(
            f"{len(table)} documents can't fill {bins} bins of {slices} slices; choose fewer, or score more documents."
        )
    cells = []
    ordered = table.sort_values(["mean", "deviation"], kind="stable")
    for bin_, places in enumerate(np.array_split(np.arange(len(ordered)), bins), start=1):
        inside = ordered.iloc[places].sort_values(["deviation", "mean"], kind="stable")
        for slice_, rows in enumerate(np.array_split(np.arange(len(inside)), slices), start=1):
            cells.append((bin_, slice_, inside.iloc[rows]))
    return cells
