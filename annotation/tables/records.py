"""A table of the analysis as rows for pages and files."""

from __future__ import annotations

from typing import Any

from analysis.lazy import pandas as pd


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column name."""
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]
