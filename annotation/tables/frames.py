"""A study's tables as frames, as the analysis reads them: the same columns as the files have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.lazy import pandas as pd
from annotation.models import Study

from .judgments import judgments_table
from .stream import Table
from .texts import documents_table, scores_table, scus_table, summaries_table


def documents_frame(study: Study) -> pd.DataFrame:
    return frame_of(documents_table(study, raw_workers=True))


def summaries_frame(study: Study) -> pd.DataFrame:
    return frame_of(summaries_table(study, raw_workers=True))


def scus_frame(study: Study) -> pd.DataFrame:
    """The SCUs in force, and retired ones that somebody judged (`retired_in` says which version left them out)."""
    return frame_of(scus_table(study, raw_workers=True))


def judgments_frame(study: Study, *, raw_workers: bool = False) -> pd.DataFrame:
    """The current judgments that count (`models.work.counted`), one row each.

    Workers appear by pseudonym, unless an admin asks for their own ids.
    """
    return frame_of(judgments_table(study, raw_workers=raw_workers))


def scores_frame(study: Study) -> pd.DataFrame:
    return frame_of(scores_table(study, raw_workers=True))


def frame_of(table: Table) -> pd.DataFrame:
    """A stream as a frame, put together chunk by chunk: strings are compact long before all rows are there."""
    nothing: list[Sequence[Any]] = [()] * len(table.columns)
    frames = [_frame(table, list(zip(*rows, strict=True))) for rows in table.chunks() if rows]
    return pd.concat(frames, ignore_index=True) if frames else _frame(table, nothing)


def _frame(table: Table, cells: Sequence[Sequence[Any]]) -> pd.DataFrame:
    pairs = zip(table.columns, cells, strict=True)
    return pd.DataFrame({column.name: _series(values, column.type) for column, values in pairs})


def _series(values: Sequence[Any], kind: str) -> pd.Series:
    empty = None in values
    if kind == "number":
        numbers = pd.Series(values)
        return numbers if pd.api.types.is_numeric_dtype(numbers) else numbers.astype("float64")
    if kind == "integer":
        return pd.Series(values, dtype="Int64" if empty else "int64")
    return pd.Series(values, dtype="str" if kind == "string" else "bool" if kind == "flag" and not empty else "object")
