"""Excel workbooks (.xlsx): each sheet is a table."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from analysis.tables import Problem, TableError
from annotation.common.errors import Refused

LONGEST_CELL = 32_767
"""Characters that Excel keeps in a cell; it cuts off what is longer without a word."""
MOST_ROWS, MOST_COLUMNS = 1_048_576, 200
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def check_workbook(path: Path) -> None:
    """Refused for workbooks that can't be read, with how to save them so that they can."""
    with path.open("rb") as stream:
        start = stream.read(4)
    if start == OLD_EXCEL or path.suffix.lower() in (".xls", ".ods"):
        raise Refused(
            _(
                "%(name)s is an old Excel file, one with a password, or another program's. Nothing was made: open it, "
                "choose File, Save As, “Excel Workbook (.xlsx)” without a password, and send that."
            )
            % {"name": path.name}
        )
    if start[:2] != b"PK":
        raise _damaged(path)


def sheets_of(path: Path) -> list[str]:
    """The sheets that hold at least a row."""
    with _open(path) as workbook:
        return [sheet.title for sheet in workbook.worksheets if _has_rows(sheet)]


def _has_rows(sheet: Any) -> bool:
    return any(cell is not None for row in sheet.iter_rows(max_row=1, values_only=True) for cell in row)


def read_sheet(path: Path, sheet: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their numbers in Excel, cells as text, without columns that have no name."""
    with _open(path) as workbook:
        width = 0
        for number, cells in enumerate(workbook[sheet].iter_rows(values_only=True), start=1):
            if number > MOST_ROWS or len(cells) > 16_384:
                raise Refused(_("%(name)s has more rows than Excel has. Nothing was made.") % {"name": path.name})
            row = [_text(cell) for cell in cells]
            if number == 1:
                width = len("".join("x" if cell else " " for cell in row).rstrip())
                if width > MOST_COLUMNS:
                    raise Refused(_("%(name)s has too many columns. Nothing was made.") % {"name": path.name})
            if any(row[:width]):
                _check_cells(path, number, row[:width])
                yield number, (row + [""] * width)[:width]


def _check_cells(path: Path, number: int, row: list[str]) -> None:
    for cell in row:
        if len(cell) > LONGEST_CELL:
            found = f"a cell of {len(cell):,} characters in row {number} of the sheet"
            expected = f"at most {LONGEST_CELL:,}, which Excel keeps; send longer texts as CSV or JSON lines"
            raise TableError([Problem(path.name, None, None, found, expected)])


def _text(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "1" if cell else "0"
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case datetime() | date() | time():
            return cell.isoformat()
        case _:
            return str(cell)


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise Refused(
            _("Excel files need openpyxl, which is not here yet. Nothing was made: wait a minute, or send CSV files.")
        ) from None
    workbook = None
    try:
        workbook = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        yield workbook
    except (Refused, TableError):
        raise
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        OSError,
        SyntaxError,
    ):
        raise _damaged(path) from None
    finally:
        if workbook is not None:
            workbook.close()


def _damaged(path: Path) -> Refused:
    return Refused(
        _(
            "%(name)s can't be read as an Excel workbook. Nothing was made: open it in Excel, choose File, Save As, "
            "“Excel Workbook (.xlsx)”, and send that."
        )
        % {"name": path.name}
    )
