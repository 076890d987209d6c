"""A table of the analysis as rows for pages and files."""

from typing import Any

import pandas as pd


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column name."""
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]
