"""Crossed random effects: the rows of a model, and the one linear system that all its quantities come from.

Every row belongs to one level of each factor (document, worker, summary). The block of one factor with itself is
diagonal, so the factor with the most levels is taken out first and only the others are factorised as a dense matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import linalg, sparse

from analysis.aggregate import SCALE, YES_NO, about_summaries, measure_kinds, measured
from analysis.agreement.counts import Floats, Ints, latest
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

CHUNK = 2000
"""Rows whose variance is worked out at once."""


@dataclass(frozen=True)
class Rows:
    """One row per worker and summary."""

    value: Floats
    system: Ints
    systems: tuple[str, ...]
    factors: dict[str, Ints]
    """The level of every row, by factor; the factor with the most levels first."""
    measure: str
    notes: tuple[str, ...]


def model_rows(judgments: pd.DataFrame, unit: str | None) -> Rows:
    """The rows of a judgments table: a worker's answer on one dimension, or the share of units found present."""
    rows, measure = _measured(latest(without_checks(judgments)), unit)
    rows = rows.groupby(["doc_id", "system", "worker_id"], sort=True)["value"].mean().reset_index()
    rows["summary"] = rows["doc_id"].astype(str) + "\x1f" + rows["system"].astype(str)
    system, systems = pd.factorize(rows["system"], sort=True)
    if len(systems) < 2:
        raise AnalysisError(f"There is one system only ({systems[0]}); a comparison needs two.")
    names = {"document": "doc_id", "worker": "worker_id", "summary": "summary"}
    factors, notes = {}, []
    for factor, column in names.items():
        reason = _why_not(rows, factor, column)
        if reason:
            notes.append(reason)
        else:
            factors[factor] = pd.factorize(rows[column], sort=True)[0].astype(np.int64)
    ordered = dict(sorted(factors.items(), key=lambda item: -int(item[1].max())))
    value = rows["value"].to_numpy(dtype=np.float64)
    return Rows(value, system.astype(np.int64), tuple(map(str, systems)), ordered, measure, tuple(notes))


def _measured(rows: pd.DataFrame, unit: str | None) -> tuple[pd.DataFrame, str]:
    if rows.empty:
        raise AnalysisError("There are no judgments to model.")
    rows = measured(about_summaries(rows))
    kinds = measure_kinds(rows)
    units = sorted(rows["unit"].unique())
    if unit is not None:
        if unit not in units:
            raise AnalysisError(f"There is no dimension {unit!r}; there are {', '.join(units[:20])}.")
        return rows[rows["unit"] == unit], unit
    if (kinds == YES_NO).all():
        return rows, "share of units present"
    dimensions = sorted(rows.loc[kinds == SCALE, "unit"].unique())
    if len(dimensions) == 1 and (kinds == SCALE).all():
        return rows, str(dimensions[0])
    raise AnalysisError(f"Choose the dimension to model with --unit: {', '.join(dimensions)}.")


def _why_not(rows: pd.DataFrame, factor: str, column: str) -> str:
    """Why a factor can have no effect of its own here; empty when it can."""
    if rows[column].nunique() < 2:
        return f"There is one {factor} only, so it has no effect of its own."
    if factor == "document" and rows.groupby("doc_id")["system"].nunique().max() == 1:
        return "Every document has summaries of one system only, so that its effect can't be told from the summary's."
    if factor == "worker" and rows.groupby("worker_id")["summary"].nunique().max() == 1:
        return "Every worker id is confined to one summary, so that workers have no effect of their own here."
    if factor == "summary" and rows.groupby("summary").size().max() == 1:
        return "No summary was judged twice, so that it has no effect of its own."
    return ""


class Crossed:
    """Λ Zᵀ W Z Λ + I for given weights and standard deviations of the factors."""

    def __init__(self, factors: dict[str, Ints], scales: Floats, weights: Floats | None = None) -> None:
        codes = list(factors.values())
        self._sizes = [int(code.max()) + 1 for code in codes]
        self._codes, self._scales = codes, np.asarray(scales, dtype=np.float64)
        self._weights = np.ones(len(codes[0])) if weights is None else weights
        self._factorise()

    def _factorise(self) -> None:
        first, other_codes = self._codes[0], self._codes[1:]
        self._diagonal = 1 + self._scales[0] ** 2 * np.bincount(first, self._weights, self._sizes[0])
        starts = np.concatenate([[0], np.cumsum(self._sizes[1:])]).astype(int)
        width = int(starts[-1])
        rows = np.tile(np.arange(len(first)), len(other_codes))
        columns = np.concatenate(
            [code + start for code, start in zip(other_codes, starts, strict=False)] or [np.zeros(0, int)]
        )
        cells = np.repeat(self._scales[1:], len(first))
        self._rest = sparse.csr_matrix((cells, (rows, columns)), shape=(len(first), width))
        weighted = self._rest.multiply(self._weights[:, None]).tocsr()
        by_first = sparse.csr_matrix(
            (np.full(len(first), self._scales[0]), (first, np.arange(len(first)))), shape=(self._sizes[0], len(first))
        )
        self._cross = (by_first @ weighted).tocsr()
        shrunk = self._cross.multiply(1 / self._diagonal[:, None]).tocsr()
        self._schur = np.asarray((self._rest.T @ weighted - self._cross.T @ shrunk).todense()) + np.eye(width)
        self._factor = linalg.cho_factor(self._schur, lower=True) if width else None

    def log_determinant(self) -> float:
        others_share = 2 * np.log(np.diag(self._factor[0])).sum() if self._factor else 0.0
        return float(np.log(self._diagonal).sum() + others_share)

    def spread(self, columns: Floats) -> Floats:
        """Λ Zᵀ times columns of rows."""
        first = np.stack([np.bincount(self._codes[0], column, self._sizes[0]) for column in columns.T], axis=1)
        return np.concatenate([self._scales[0] * first, self._rest.T @ columns])

    def gather(self, effects: Floats) -> Floats:
        """Z Λ times effects: what they add to every row."""
        size = self._sizes[0]
        return np.asarray(self._scales[0] * effects[:size][self._codes[0]] + self._rest @ effects[size:])

    def solve(self, columns: Floats) -> Floats:
        """The inverse times columns of effects."""
        size = self._sizes[0]
        head, tail = columns[:size] / self._diagonal[:, None], columns[size:]
        if self._factor is None:
            return np.asarray(head)
        tail = linalg.cho_solve(self._factor, tail - self._cross.T @ head)
        return np.asarray(np.concatenate([head - (self._cross @ tail) / self._diagonal[:, None], tail]))

    def variances(self) -> tuple[Floats, list[Floats]]:
        """What the effects' covariance (the inverse) gives every row, and its diagonal for every factor."""
        first, scale = self._codes[0], self._scales[0]
        shrunk = self._cross.multiply(1 / self._diagonal[:, None]).tocsr()
        levels = 1 / self._diagonal + self._length(shrunk)
        rows = scale**2 / self._diagonal[first]
        for start in range(0, len(first), CHUNK):
            part = slice(start, start + CHUNK)
            rows[part] += self._length(self._rest[part] - scale * shrunk[first[part]])
        tail = np.diag(linalg.cho_solve(self._factor, np.eye(len(self._schur)))) if self._factor else np.zeros(0)
        return rows, [levels, *np.split(tail, np.cumsum(self._sizes[1:-1]))][: len(self._codes)]

    def _length(self, vectors: sparse.csr_matrix) -> Floats:
        """xᵀ S⁻¹ x for every row x, S being what is left when the first factor is taken out."""
        if self._factor is None:
            return np.zeros(vectors.shape[0])
        half = linalg.solve_triangular(self._factor[0], vectors.toarray().T, lower=True)
        return np.asarray((half * half).sum(axis=0))

    @property
    def size(self) -> int:
        return sum(self._sizes)

    def split(self, effects: Floats) -> list[Floats]:
        """Effects by factor."""
        return np.split(effects, np.cumsum(self._sizes)[:-1])
