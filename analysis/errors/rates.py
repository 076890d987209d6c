"""How many errors there are: per 100 words, by system and category, with intervals that redraw whole documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.counts import Floats
from analysis.bootstrap import percentile_limits
from analysis.errors.marks import ANNOTATION, OVERALL, SUMMARY, Marks
from analysis.errors.weights import WEIGHTS
from analysis.tables import AnalysisError

BY = ("system", "category")
ALL = "all"


@dataclass(frozen=True)
class Rate:
    """The errors of one system, of one category, or of both."""

    system: str
    category: str
    n_errors: int
    n_minor: int
    n_major: int
    n_annotations: int
    """Summaries looked at, each once for everybody who did."""
    per_100_words: float
    low: float
    """NaN where nothing was marked, or in one document only: then nothing tells how sure it is."""
    high: float
    mqm: float
    """100 less the points per 100 words, the mean over summaries; of a category alone if there is one."""
    mqm_low: float
    mqm_high: float
    esa: float
    """NaN for a category, which has no score for the whole."""
    esa_low: float
    esa_high: float


def rates(
    marks: Marks,
    *,
    by: Sequence[str] = ("system",),
    weights: Mapping[str, float] = WEIGHTS,
    ci: int = 1000,
    seed: int = 0,
) -> list[Rate]:
    """A row for each value of the columns in `by`, in their order; no column: one row."""
    if unknown := sorted(set(by) - set(BY)):
        raise AnalysisError(f"Errors can't be told by {', '.join(unknown)}; there are {', '.join(BY)}.")
    if "words" not in marks.annotations.columns or marks.annotations["words"].isna().any():
        raise AnalysisError("The judgments have no column words, with the length of each summary in words.")
    table = _Table(marks, weights, ci, seed)
    systems = sorted(marks.annotations["system"].unique()) if "system" in by else [ALL]
    categories = list(marks.categories) if "category" in by else [ALL]
    return [table.rate(system, category) for system in systems for category in categories]


class _Table:
    """The marks with the draws of documents that all intervals share."""

    def __init__(self, marks: Marks, weights: Mapping[str, float], ci: int, seed: int) -> None:
        unknown = sorted(set(marks.errors["severity"]) - set(weights))
        if unknown:
            raise AnalysisError(
                f"There is no weight for the severity {', '.join(map(repr, unknown))}; there are {', '.join(weights)}."
            )
        points = np.array([weights[severity] for severity in marks.errors["severity"]], dtype=np.float64)
        self.annotations, self.errors = marks.annotations, marks.errors.assign(points=points)
        self.documents = sorted(self.annotations["doc_id"].unique())
        n = len(self.documents)
        self.draws: Floats = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=ci).astype(np.float64)

    def rate(self, system: str, category: str) -> Rate:
        annotations, errors = self.annotations, self.errors
        if system != ALL:
            annotations, errors = annotations[annotations["system"] == system], errors[errors["system"] == system]
        if category != ALL:
            errors = errors[errors["category"] == category]
        whole = annotations if category == ALL else annotations.iloc[:0]
        severities = errors["severity"].value_counts()
        words = annotations.groupby("doc_id")["words"].sum()
        return Rate(
            system,
            category,
            len(errors),
            int(severities.get("minor", 0)),
            int(severities.get("major", 0)),
            len(annotations),
            *self._ratio(100.0 * errors.groupby("doc_id").size(), words),
            *self._mean(_mqm(annotations, errors)),
            *self._mean(whole.dropna(subset=OVERALL).rename(columns={OVERALL: "value"})),
        )

    def _mean(self, values: pd.DataFrame) -> tuple[float, float, float]:
        """The mean over summaries of the mean over people."""
        by_summary = values.groupby(SUMMARY)["value"].mean()
        by_document = by_summary.groupby("doc_id")
        return self._ratio(by_document.sum(), by_document.size())

    def _ratio(self, above: pd.Series, below: pd.Series) -> tuple[float, float, float]:
        """Sum by sum over documents, and what redrawn documents make of it."""
        numerator = above.reindex(self.documents, fill_value=0.0).to_numpy(dtype=np.float64)
        denominator = below.reindex(self.documents, fill_value=0.0).to_numpy(dtype=np.float64)
        if not denominator.sum():
            return np.nan, np.nan, np.nan
        value = float(numerator.sum() / denominator.sum())
        n = int((denominator > 0).sum())
        if n < 2 or not len(self.draws) or not numerator.any():
            return value, np.nan, np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            samples = (self.draws @ numerator) / (self.draws @ denominator)
        return value, *percentile_limits(samples, n=n)


def _mqm(annotations: pd.DataFrame, errors: pd.DataFrame) -> pd.DataFrame:
    """What each person's marks leave of 100."""
    points = errors.groupby(ANNOTATION)["points"].sum().rename("points").reset_index()
    scored = annotations.merge(points, on=ANNOTATION, how="left")
    return scored.assign(value=100 - 100 * scored["points"].fillna(0.0) / scored["words"])
