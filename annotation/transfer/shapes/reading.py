"""A file in somebody else's shape as a folder of tables, which `import_study` then takes like any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.lazy import pandas as pd
from analysis.tables import write_table
from annotation.common.errors import Refused

from . import SHAPES
from .texts import problem


def read_shape(name: str, paths: Sequence[Path], folder: Path) -> Path:
    """Write the tables that the files hold into the folder; TableError says what can't be read."""
    readable = [shape.name for shape in SHAPES.values() if shape.readable]
    if name not in readable:
        raise Refused(f"There is no importer for the shape {name!r}. Known: {', '.join(readable)}.")
    for path in paths:
        if not path.is_file():
            raise problem(path, None, None, "nothing, or not a file", f"a file in the shape {name}")
    try:
        tables = SHAPES[name].module.read(paths)
    except UnicodeDecodeError as error:
        raise problem(paths[0], None, None, f"byte {error.start} that is not UTF-8", "text in UTF-8") from None
    folder.mkdir(parents=True, exist_ok=True)
    for kind, rows in tables.items():
        if rows:
            write_table(pd.DataFrame(rows), folder / f"{kind}.jsonl", kind)
    return folder
