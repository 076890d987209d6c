"""Whether people mark the same places: Krippendorff's alpha, each character of a summary a unit.

A text is cut where somebody's span begins or ends; a piece weighs as many units as it has characters, which is the same
as asking at every character and takes a thousandth of the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.agreement.coefficients import alpha
from analysis.agreement.counts import Floats
from analysis.bootstrap import percentile_limits
from analysis.errors.marks import SUMMARY, Marks
from analysis.tables import AnalysisError

PLACE = ["start", "end", "category"]
ANY, CATEGORY = "any error", "category"
Label = Callable[[frozenset[str]], object]


@dataclass(frozen=True)
class PlaceAgreement:
    """How far people agree on where errors are."""

    of: str
    """`any error`: marked or not. `category`: which ones stand there. Otherwise the category that is marked or not."""
    coefficient: str
    value: float
    low: float
    high: float
    n_summaries: int
    """Summaries that two or more people looked at."""
    n_characters: int


@dataclass(frozen=True)
class _Piece:
    """Characters of a summary at which everybody has the same marks throughout."""

    document: str
    length: int
    marks: list[frozenset[str]]
    """For each person the categories that stand there."""


def place_agreement(marks: Marks, *, ci: int = 1000, seed: int = 0) -> list[PlaceAgreement]:
    """Alpha for errors of any kind, for the categories, and for each category alone; intervals redraw documents."""
    summaries = list(_shared_summaries(marks))
    if not summaries:
        raise AnalysisError("No summary was marked by two people; agreement needs at least two of the same summary.")
    pieces = [piece for group in summaries for piece in group]
    readings: dict[str, Label] = {ANY: bool, CATEGORY: lambda names: names}
    readings |= {name: lambda names, name=name: name in names for name in marks.categories}  # type: ignore[misc]
    n_characters = sum(piece.length for piece in pieces)
    return [
        PlaceAgreement(of, "alpha", *_alpha(pieces, label, ci, seed), len(summaries), n_characters)
        for of, label in readings.items()
    ]


def shared(marks: Marks) -> Iterator[tuple[tuple[str, str], pd.DataFrame, pd.DataFrame]]:
    """The summaries that two or more people looked at: who did, and the errors that have a place."""
    placed = marks.errors[marks.errors["start"].notna()]
    by_summary = dict(list(placed.groupby(SUMMARY)))
    for key, people in marks.annotations.groupby(SUMMARY, sort=True):
        if len(people) > 1:
            yield (str(key[0]), str(key[1])), people, by_summary.get(key, placed.iloc[:0])


def _shared_summaries(marks: Marks) -> Iterator[list[_Piece]]:
    for (document, _system), people, errors in shared(marks):
        length = int(people["characters"].max())
        cuts = sorted({0, length, *errors["start"].astype(int), *errors["end"].astype(int)})
        spans = {
            worker: [(int(start), int(end), str(kind)) for start, end, kind in rows[PLACE].itertuples(index=False)]
            for worker, rows in errors.groupby("worker_id")
        }
        yield [
            _Piece(document, end - start, [_marks_at(start, spans.get(worker, [])) for worker in people["worker_id"]])
            for start, end in pairwise(cuts)
        ]


def _marks_at(place: int, spans: list[tuple[int, int, str]]) -> frozenset[str]:
    return frozenset(category for start, end, category in spans if start <= place < end)


def _alpha(pieces: list[_Piece], label: Label, ci: int, seed: int) -> tuple[float, float, float]:
    values: dict[object, int] = {}
    cells = [[values.setdefault(label(names), len(values)) for names in piece.marks] for piece in pieces]
    table: Floats = np.zeros((len(pieces), len(values)))
    for row, places in enumerate(cells):
        np.add.at(table[row], places, 1)
    lengths = np.array([piece.length for piece in pieces], dtype=np.float64)
    codes, documents = pd.factorize(np.array([piece.document for piece in pieces], dtype=object), sort=True)
    domain = np.arange(len(values), dtype=np.float64)
    value = float(alpha(lengths[None, :], table, domain, "nominal")[0])
    if not ci or len(documents) < 2 or np.isnan(value):
        return value, np.nan, np.nan
    n = len(documents)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=ci).astype(np.float64)
    samples = alpha(draws[:, codes] * lengths, table, domain, "nominal")
    return value, *percentile_limits(samples, n=n)
