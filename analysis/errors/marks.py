"""Marked errors as they stand in a judgments table (docs/tables.md): a row per category of errors, with its spans.

Somebody who marks nothing of a category says so with a row whose value is 0; `overall` is the score of the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.agreement.counts import latest
from analysis.tables import AnalysisError, TableError
from analysis.tables.checks import Problems, show

PROTOCOL = "errors"
OVERALL = "overall"
"""The unit of the 0 to 100 for the whole summary; every other unit is a category of errors."""
ANNOTATION = ["doc_id", "system", "worker_id"]
SUMMARY = ["doc_id", "system"]


@dataclass(frozen=True)
class Marks:
    """What was marked, taken apart."""

    annotations: pd.DataFrame
    """What one person said of one summary: ANNOTATION, `words`, `characters`, `overall` (NaN where it wasn't asked)."""
    errors: pd.DataFrame
    """One row per marked error: ANNOTATION, `category`, `severity`, `start`, `end` (NaN: it has no place)."""
    categories: tuple[str, ...]

    @property
    def n_placed(self) -> int:
        return int(self.errors["start"].notna().sum())


def error_rows(judgments: pd.DataFrame) -> pd.DataFrame:
    """The judgments of this protocol; without a column `protocol`, all of them."""
    if "protocol" not in judgments.columns:
        return judgments
    return judgments[judgments["protocol"] == PROTOCOL].reset_index(drop=True)


def read_marks(judgments: pd.DataFrame, name: str = "judgments") -> Marks:
    """The marks in a judgments table; TableError names spans that can't be read or lie outside their text."""
    rows = latest(error_rows(judgments))
    if rows.empty:
        raise AnalysisError(f"There are no marked errors here: no row of {name} has the protocol {PROTOCOL}.")
    for column, meaning in (("spans", "the places of marked errors"), ("characters", "the length of each summary")):
        if column not in rows.columns:
            raise AnalysisError(f"The judgments have no column {column}, with {meaning}; docs/tables.md describes it.")
    of_category = rows[rows["unit"] != OVERALL].reset_index(drop=True)
    problems = Problems(name)
    errors = [error for row in of_category.to_dict("records") for error in _errors(row, problems)]
    if problems.items:
        raise TableError(problems.items, problems.total)
    columns = [*ANNOTATION, "category", "severity", "start", "end"]
    categories = tuple(sorted(of_category["unit"].unique()))
    return Marks(_annotations(rows), pd.DataFrame(errors, columns=columns), categories)


def _annotations(rows: pd.DataFrame) -> pd.DataFrame:
    sizes = {name: (name, "max") for name in ("words", "characters") if name in rows.columns}
    numbers = rows.assign(**{name: pd.to_numeric(rows[name], errors="coerce") for name in sizes})
    annotations = numbers.groupby(ANNOTATION, sort=True).agg(**sizes).reset_index()
    overall = rows.loc[rows["unit"] == OVERALL, [*ANNOTATION, "value"]].rename(columns={"value": OVERALL})
    return annotations.merge(overall, on=ANNOTATION, how="left")


def _errors(row: Mapping[Any, Any], problems: Problems) -> Iterator[tuple[Any, ...]]:
    place = f"document {row['doc_id']}, system {row['system']}, worker {row['worker_id']}"
    marks = span_list(row["spans"])
    if marks is None:
        problems.add(None, "spans", f"{show(row['spans'])} ({place})", 'a JSON list such as [{"start": 0, "end": 4}]')
        return
    if row["value"] > 0 and not marks:
        problems.add(None, "spans", f"nothing ({place})", f"the errors behind the value {row['value']:g}")
    for mark in marks:
        start, end = mark.get("start"), mark.get("end")
        if (start is None) != (end is None) or (start is not None and not _fits(start, end, row["characters"])):
            span = f"{show(start)} to {show(end)} ({place})"
            problems.add(None, "spans", span, f"a span inside the {show(row['characters'])} characters of the summary")
        elif not isinstance(mark.get("severity"), str):
            problems.add(None, "spans", f"the severity {show(mark.get('severity'))} ({place})", "minor or major")
        else:
            yield (*(row[name] for name in ANNOTATION), row["unit"], mark["severity"], start, end)


def _fits(start: Any, end: Any, characters: Any) -> bool:
    are_places = all(type(place) is int for place in (start, end))
    return are_places and 0 <= start < end and not (float(characters) < end)


def span_list(cell: Any) -> list[dict[str, Any]] | None:
    """The marks in a cell: a list (from JSON or Parquet) or its text (from CSV); None for anything else."""
    if isinstance(cell, str) and cell.strip():
        try:
            cell = json.loads(cell)
        except ValueError:
            return None
    if cell is None or isinstance(cell, float | str):  # an empty cell
        return []
    marks = list(cell) if hasattr(cell, "__iter__") else None
    return marks if marks is not None and all(isinstance(mark, dict) for mark in marks) else None
