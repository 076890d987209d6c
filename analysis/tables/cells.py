"""Lists in the cells of CSV and Parquet files, as JSON. Used through `analysis.tables`."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from analysis.lazy import pandas as pd
from analysis.tables.checks import Problems, TableSpec, show
from analysis.tables.values import one_text


def decode_cell(cell: str) -> str | list[str]:
    """A cell that is a JSON list of strings is a list of sentences; everything else is itself."""
    if cell[:1] not in {"[", '"'}:
        return cell
    value = _json(cell)
    if isinstance(value, list):
        with contextlib.suppress(ValueError):
            return one_text(value)
    # A text that looks like a list is written as a JSON string (see encode_cell).
    if isinstance(value, str) and decode_cell(value) != value:
        return value
    return cell


def encode_cell(text: str | list[str]) -> str:
    """The cell that `decode_cell` turns back into exactly this text."""
    if isinstance(text, str) and decode_cell(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)


def decode_cells(frame: pd.DataFrame, spec: TableSpec, problems: Problems) -> pd.DataFrame:
    types = {column.name: column.type for column in spec.columns} | {"reference": "text"}
    for name in frame.columns:
        kind = types.get(name)
        if kind == "text" and frame[name].str.startswith(("[", '"'), na=False).any():
            frame[name] = pd.Series([decode_cell(cell) for cell in frame[name]], index=frame.index, dtype=object)
        elif kind == "texts":
            cells = [_json_list(row, name, cell, problems) for row, cell in enumerate(frame[name], start=1)]
            frame[name] = pd.Series(cells, index=frame.index, dtype=object)
    problems.check()
    return frame


def _json(cell: str) -> Any:
    """What the cell says as JSON; None where it is none."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _json_list(row: int, column: str, cell: Any, problems: Problems) -> Any:
    if not isinstance(cell, str):
        return cell
    value = _json(cell)
    if not isinstance(value, list):
        problems.add(row, column, show(cell), 'a JSON list of texts such as ["one", "two"]')
    return value
