"""Comparisons of two summaries as arrays: who was compared, what was preferred, on which document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.counts import Floats, Ints
from analysis.tables import AnalysisError
from analysis.tables.checks import Problems, show

TIE = "tie"


@dataclass(frozen=True)
class Comparisons:
    """One row per answer. `outcome` is 1 where `first` was preferred, 0 where `second` was, 0.5 for a tie."""

    first: Ints
    second: Ints
    outcome: Floats
    document: Ints
    systems: list[str]
    documents: list[str]

    @property
    def is_tie(self) -> np.ndarray:
        return np.asarray(self.outcome == 0.5)

    def tally(self) -> Floats:
        """How often the row's system was preferred to the column's; a tie counts half for each."""
        table = np.zeros((len(self.systems), len(self.systems)))
        np.add.at(table, (self.first, self.second), self.outcome)
        np.add.at(table, (self.second, self.first), 1 - self.outcome)
        return table


def comparisons(preferences: pd.DataFrame) -> Comparisons:
    """The rows of a preferences table as arrays. Raises AnalysisError for rows that compare nothing."""
    check_pairs(preferences)
    names = pd.concat([preferences["system_a"], preferences["system_b"]])
    codes, systems = pd.factorize(names, sort=True)
    document, documents = pd.factorize(preferences["doc_id"], sort=True)
    is_tie = preferences["preferred"] == TIE
    is_first = preferences["preferred"] == preferences["system_a"]
    outcome = np.where(is_tie, 0.5, is_first.astype(float))
    n = len(preferences)
    return Comparisons(
        codes[:n], codes[n:], outcome, document, [str(name) for name in systems], [str(name) for name in documents]
    )


def check_pairs(preferences: pd.DataFrame, name: str = "preferences") -> None:
    """A pair has two systems, and what was preferred is one of them or a tie."""
    if preferences.empty:
        raise AnalysisError("There are no preferences to work on.")
    problems = Problems(name)
    same = preferences["system_a"] == preferences["system_b"]
    known = preferences["preferred"].isin([TIE])
    for column in ("system_a", "system_b"):
        known |= preferences["preferred"] == preferences[column]
    for row in np.flatnonzero(same):
        system = show(preferences["system_b"].iloc[row])
        problems.add(int(row) + 1, "system_b", f"{system}, as in system_a", "another system")
    for row in np.flatnonzero(~known & ~same):
        pair = f"{preferences['system_a'].iloc[row]}, {preferences['system_b'].iloc[row]} or {TIE}"
        problems.add(int(row) + 1, "preferred", show(preferences["preferred"].iloc[row]), pair)
    problems.check()
