"""Scores with a column per measure, turned into the scores table with a row per measure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.tables import AnalysisError, Column, TableSpec, check_table
from analysis.tables.checks import Problems
from analysis.tables.files import read_frame

KEYS = ("doc_id", "system", "group")
_SPEC = TableSpec("scores", (Column("doc_id", "id"), Column("system", "id")), ("doc_id", "system"))


def read_wide(path: str | Path) -> pd.DataFrame:
    """Read a file with `doc_id`, `system`, [`group`] and a column of numbers for each measure."""
    path = Path(path)
    problems = Problems(path.name)
    frame, _ = read_frame(path, _SPEC, problems)
    problems.check()
    return lengthen(frame, path.name)


def lengthen(frame: pd.DataFrame, name: str = "scores") -> pd.DataFrame:
    """A row per document, system and measure; columns of words are left out, empty cells have no row.

    >>> wide = pd.DataFrame({"doc_id": ["1"], "system": ["a"], "recall": [0.5], "rouge-1-r": [0.4], "note": ["ok"]})
    >>> lengthen(wide)[["metric", "value"]].to_dict("records")
    [{'metric': 'recall', 'value': 0.5}, {'metric': 'rouge-1-r', 'value': 0.4}]
    """
    keys = [key for key in KEYS if key in frame.columns]
    missing = [key for key in KEYS[:2] if key not in frame.columns]
    if missing:
        columns = ", ".join(map(str, frame.columns))
        raise AnalysisError(f"A wide table needs the columns doc_id and system, and {name} has only {columns}.")
    numbers = {
        column: pd.to_numeric(frame[column], errors="coerce")
        for column in frame.columns
        if column not in keys and is_measure(frame[column])
    }
    if not numbers:
        raise AnalysisError(
            f"{name} has no column of numbers beside {', '.join(keys)}; a wide table has one per measure."
        )
    wide = frame[keys].assign(**numbers)
    long = wide.melt(id_vars=keys, var_name="metric", value_name="value").dropna(subset=["value"])
    return check_table(long.reset_index(drop=True), "scores", name)


def is_measure(column: pd.Series) -> bool:
    """Whether a column holds numbers (and empty cells) only, and at least one."""
    filled = column[column.notna() & (column.astype("str").str.strip() != "")]
    return bool(len(filled)) and bool(pd.to_numeric(filled, errors="coerce").notna().all())


def looks_wide(path: Path) -> bool:
    """Whether a file that is no scores table would be one with --wide."""
    try:
        return not read_wide(path).empty
    except (AnalysisError, OSError):
        return False
