"""What each table must look like, and the sentences for what does not. Used through `analysis.tables`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.lazy import has_arrow
from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd

SHOWN = 20
"""How many problems an error lists before it says how many more there are."""


class AnalysisError(ValueError):
    """Something a person can put right. Its text is one clear sentence."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one table."""

    file: str
    row: int | None
    """1-based number of the data row; None when the table as a whole is meant."""
    column: str | None
    found: str
    expected: str

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f", row {self.row}"
        if self.column is not None:
            place += f", column {self.column}"
        return f"{place}: found {self.found}, expected {self.expected}."


class TableError(AnalysisError):
    """A table that can't be used. `problems` holds the first twenty, `total` says how many there are."""

    def __init__(self, problems: Sequence[Problem], total: int | None = None) -> None:
        self.problems = list(problems)[:SHOWN]
        self.total = max(total or 0, len(problems))
        lines = [str(problem) for problem in self.problems]
        if self.total > len(lines):
            lines.append(f"… and {self.total - len(lines)} more.")
        super().__init__("\n".join(lines))


class Problems:
    """Collects problems of one file, keeps the first twenty and counts the rest."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.before = 0
        """Rows of the file before the first row that is looked at."""
        self.items: list[Problem] = []
        self.total = 0

    def add(self, row: int | None, column: str | None, found: str, expected: str) -> None:
        self.total += 1
        if len(self.items) < SHOWN:
            row = None if row is None else row + self.before
            self.items.append(Problem(self.file, row, column, found, expected))

    def fail(self, found: str, expected: str, row: int | None = None) -> TableError:
        """An error about the file as a whole, to be raised at once."""
        return TableError([Problem(self.file, row, None, found, expected)])

    def check(self) -> None:
        if self.items:
            in_order = sorted(self.items, key=lambda p: (p.row is not None, p.row or 0))
            raise TableError(in_order, self.total)


@dataclass(frozen=True)
class Column:
    """One column of a table. `type` is id, text, texts, label, number, score, integer or flag."""

    name: str
    type: str
    required: bool = True


@dataclass(frozen=True)
class TableSpec:
    """One of the tables: its columns, and the columns that name a row."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.required)

    @property
    def optional(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if not column.required)


def show(value: object, width: int = 60) -> str:
    """A found value, short enough for a sentence."""
    if is_missing(value) or value == "":
        return "nothing"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def check_arrow(path: Path) -> None:
    """Parquet needs pyarrow, which a light installation brings later than the rest."""
    if not has_arrow():
        raise AnalysisError(f"{path.name} is Parquet, which pyarrow reads and writes; pip install pyarrow brings it.")


def check_columns(frame: pd.DataFrame, spec: TableSpec, problems: Problems) -> None:
    """Missing columns and columns that stand there twice: nothing else can be checked before."""
    names = [str(name) for name in frame.columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(None, name, "the column more than once", "each column once")
    listing = f"only the columns {', '.join(names)}" if names else "no columns"
    for name in spec.required:
        if name not in names:
            problems.add(None, name, listing, f"a column {name} in a {spec.name} table")
    problems.check()
