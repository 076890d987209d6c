"""Text in CSV that a spreadsheet would run as a formula: defused with an apostrophe, and exactly back again.

A cell that begins with = + - @, a tab or a line break, behind any number of apostrophes, gets one apostrophe in front.
Plain numbers stay as they are. `undefuse` takes that one apostrophe away, so nothing is lost and nothing is guessed:
it is done only for files that a manifest beside them says were defused.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from analysis.lazy import pandas as pd

MANIFEST = "manifest.json"
MARK = "apostrophe"
"""What a manifest's `csv_formulas` says where this was done."""
STARTS = frozenset("=+-@\t\r\n'")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_DEFUSED = r"'+[=+\-@\t\r\n]"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_BIGGEST = 32 * 2**20


def defuse(cell: str) -> str:
    """The cell as it stands in a CSV file."""
    if cell[:1] not in STARTS or not cell or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def undefuse(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The texts and names of columns as they were before `defuse`; exports once left the names as they were."""
    if read_manifest(path.parent).get("csv_headers") == MARK:
        frame = frame.rename(columns=lambda name: name[1:] if re.match(_DEFUSED, name) else name)
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            is_defused_text = column.astype("str").str.match(_DEFUSED).fillna(False).astype(bool)
            if is_defused_text.any():
                frame[name] = column.where(~is_defused_text, column.str[1:])
    return frame


def read_manifest(folder: Path) -> dict[str, object]:
    """The manifest of an export in this folder, or an empty one."""
    path = folder / MANIFEST
    try:
        if not path.is_file() or path.stat().st_size > _BIGGEST:
            return {}
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) and manifest.get("format") == "pyramidion-export" else {}


def is_defused(path: Path) -> bool:
    """Whether a manifest beside this file says that its formulas were defused."""
    manifest = read_manifest(path.parent)
    files = manifest.get("files")
    if manifest.get("csv_formulas") != MARK or not isinstance(files, list):
        return False
    return any(isinstance(entry, dict) and entry.get("name") == path.name for entry in files)
