"""Preferences in the judgments table: a row says of `system` whether it is better than the one that `unit` names.

A value above 0 prefers the row's system, one below 0 the other, 0 is a tie. `position` is where the row's system stood:
1 first (left), 2 second. The unit of a pair is `vs NAME`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.preferences.comparisons import TIE, Comparisons, comparisons
from analysis.preferences.consistency import SHOWN_FIRST
from analysis.preferences.human_scores import STRENGTH, WHOLE, WIN_RATE, human_scores
from analysis.preferences.strengths import Strengths, strengths
from analysis.tables import AnalysisError

PROTOCOL = "preference"
VERSUS = "vs "


def preferences_of(judgments: pd.DataFrame) -> pd.DataFrame:
    """A preferences table from the rows of a judgments table that compare two summaries."""
    rows = judgments[judgments["protocol"] == PROTOCOL] if "protocol" in judgments else judgments
    rows = rows[rows["unit"].str.startswith(VERSUS)]
    other = rows["unit"].str.removeprefix(VERSUS)
    preferred = np.where(rows["value"] > 0, rows["system"], np.where(rows["value"] < 0, other, TIE))
    table = {"doc_id": rows["doc_id"], "system_a": rows["system"], "system_b": other, "worker_id": rows["worker_id"]}
    frame = pd.DataFrame({**table, "preferred": preferred})
    if "position" in rows:
        frame[SHOWN_FIRST] = rows["system"].where(rows["position"] == 1, other.where(rows["position"] == 2, ""))
    for name in ("role", "batch", "is_check"):
        if name in rows:
            frame[name] = rows[name]
    return frame.reset_index(drop=True)


def scores(judgments: pd.DataFrame) -> pd.DataFrame:
    """Human scores of such judgments: each summary's win rate, and each system's strength where it is finite."""
    preferences = preferences_of(judgments)
    compared = comparisons(preferences)
    result = _strengths(compared)
    frame = human_scores(compared, result).drop(columns="role")
    frame = frame.merge(_counts(preferences), on=["doc_id", "system"], how="left")
    limits = {row.system: (row.low, row.high) for row in result.systems} if result else {}
    is_whole = frame["metric"] == STRENGTH
    for place, name in enumerate(("low", "high")):
        of_system = frame["system"].map({system: pair[place] for system, pair in limits.items()})
        frame[name] = of_system.where(is_whole, np.nan).astype(float)
    if "group" in judgments:
        groups = judgments.drop_duplicates("system").set_index("system")["group"]
        frame["group"] = frame["system"].map(groups)
    return frame


def _strengths(compared: Comparisons) -> Strengths | None:
    """None where they are infinite: then there are win rates alone."""
    try:
        return strengths(compared)
    except AnalysisError:
        return None


def _counts(preferences: pd.DataFrame) -> pd.DataFrame:
    """Of each summary and each system (`doc_id` *): with how many others it was compared, how often, by how many."""
    sides = []
    for system, other in (("system_a", "system_b"), ("system_b", "system_a")):
        names = {system: "system", other: "other"}
        sides.append(preferences.rename(columns=names)[["doc_id", "system", "other", "worker_id"]])
    rows = pd.concat(sides, ignore_index=True)
    rows = pd.concat([rows, rows.assign(doc_id=WHOLE)], ignore_index=True)
    table = rows.groupby(["doc_id", "system"], sort=True).agg(
        n_units=("other", "nunique"), n_judgments=("other", "size"), n_workers=("worker_id", "nunique")
    )
    return table.reset_index()


__all__ = ["PROTOCOL", "STRENGTH", "VERSUS", "WIN_RATE", "preferences_of", "scores"]
