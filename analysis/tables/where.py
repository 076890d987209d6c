"""`--where column=value`: the rows a person asked for."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd
from analysis.tables import AnalysisError


class UsageError(AnalysisError):
    """An argument that can't be right; the text says what is expected."""


def keep_where(frame: pd.DataFrame, conditions: Sequence[str], name: str = "the table") -> pd.DataFrame:
    """Rows that fulfil the conditions: any value given for a column, and every column given."""
    values_by_column: dict[str, list[str]] = {}
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not equals:
            raise UsageError(f"--where {condition} has no '='; write --where column=value.")
        values_by_column.setdefault(column, []).append(value)
    for column, values in values_by_column.items():
        frame = _keep(frame, column, values, name)
    return frame


def _keep(frame: pd.DataFrame, column: str, values: list[str], name: str) -> pd.DataFrame:
    if column not in frame.columns:
        raise UsageError(f"{name} has no column {column!r} for --where; it has {', '.join(frame.columns)}.")
    mask = np.zeros(len(frame), dtype=bool)
    for value in values:
        mask |= _equal(frame[column], value)
    if not mask.any():
        raise UsageError(f"No row of {name} has {column}={' or '.join(values)}; {column} holds {_some(frame[column])}.")
    return frame[mask].reset_index(drop=True)


def _equal(series: pd.Series, value: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if pd.api.types.is_bool_dtype(series.dtype):
        flag = {"1": True, "true": True, "0": False, "false": False}.get(value.lower())
        return np.asarray(series == flag, dtype=bool)
    if pd.api.types.is_numeric_dtype(series.dtype):
        try:
            return np.asarray((series == float(value)).fillna(False), dtype=bool)
        except ValueError:
            return np.zeros(len(series), dtype=bool)
    return np.asarray(series.astype("str") == value, dtype=bool)


def _some(series: pd.Series, limit: int = 10) -> str:
    values = [str(value) for value in series.drop_duplicates()]
    remainder = f" and {len(values) - limit} more" if len(values) > limit else ""
    return ", ".join(values[:limit]) + remainder if values else "nothing"


def without_checks(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are not attention checks."""
    if "is_check" not in frame.columns or not frame["is_check"].any():
        return frame
    return frame[~frame["is_check"].astype(bool)].reset_index(drop=True)
