"""A result file of the old requester site as a table: cells by column, and what is wrong with them."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from analysis.tables import Problem, TableError

DANGEROUS = tuple("=+-@\t\r")  # a spreadsheet takes a cell that begins so for a formula
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4}
MOST_BYTES = 100 * 2**20
MOST_ROWS = 200_000


def defused(cell: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would run."""
    return f"'{cell}" if cell.startswith(DANGEROUS) else cell


def plain_words(cell: str) -> str:
    return " ".join(cell.split())


def same_words(cell: str, text: str) -> bool:
    """Whether a cell holds this text, give or take white space and the apostrophe of `defused`."""
    words = plain_words(text)
    return words in (plain_words(cell), plain_words(cell.removeprefix("'")))


@dataclass
class Sheet:
    """A result file: rows of cells by column, and the problems found so far."""

    name: str
    columns: list[str]
    rows: list[dict[str, str]]
    problems: list[Problem] = field(default_factory=list)

    def report(self, row: int | None, column: str | None, found: str, expected: str) -> None:
        self.problems.append(Problem(self.name, row, column, found, expected))

    def check(self) -> None:
        if self.problems:
            raise TableError(self.problems, len(self.problems))

    def numbered(self, pattern: re.Pattern[str]) -> dict[int, str]:
        """{1: "Input.statement_1", …}, by number."""
        by_number = {int(match[1]): name for name in self.columns if (match := pattern.fullmatch(name))}
        return dict(sorted(by_number.items()))


def read_sheet(content: bytes, name: str) -> Sheet:
    """The cells of a CSV file; TableError for what is no table."""
    if len(content) > MOST_BYTES:
        raise TableError([Problem(name, None, None, f"{len(content):,} bytes", f"at most {MOST_BYTES:,}")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError([Problem(name, None, None, f"byte {error.start} that is no UTF-8", "a UTF-8 file")]) from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    sheet = Sheet(name, [], [])
    try:
        sheet.columns = [column.strip() for column in next(lines, [])]
        _check_columns(sheet)  # before the rows are read: they may be many
        for number, cells in enumerate((line for line in lines if line), start=1):
            if number > MOST_ROWS:
                raise TableError([Problem(name, number, None, "another row", f"at most {MOST_ROWS:,}")])
            sheet.rows.append(_row(sheet, number, cells))
    except csv.Error as error:
        raise TableError([Problem(name, len(sheet.rows) + 1, None, str(error), "a CSV row")]) from None
    if not sheet.rows:
        sheet.report(None, None, "no row below the header", "at least one result")
    sheet.check()
    return sheet


def _row(sheet: Sheet, number: int, cells: list[str]) -> dict[str, str]:
    if len(cells) != len(sheet.columns):
        sheet.report(number, None, f"{len(cells)} cells", f"{len(sheet.columns)}, as many as there are columns")
    if any(cell and not column for column, cell in zip(sheet.columns, cells, strict=False)):
        sheet.report(number, None, "a cell below a column without a name", "a name for every column that is used")
    return {column: cell for column, cell in zip(sheet.columns, cells, strict=False) if column}


def _check_columns(sheet: Sheet) -> None:
    columns = [column for column in sheet.columns if column]
    for repeated in sorted({column for column in columns if columns.count(column) > 1}):
        sheet.report(None, repeated, "the column twice", "every column once")
    if not any(column.startswith("Input.") for column in columns):
        sheet.report(None, None, f"the columns {', '.join(columns[:5]) or '(none)'}", "columns named Input.…")
    elif not any(column.startswith("Answer.") for column in columns):
        sheet.report(None, None, "no column named Answer.…", "a result file, with the workers' answers")
    sheet.check()


def number_in(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def moment_in(sheet: Sheet, number: int, cells: Mapping[str, str], column: str) -> datetime | None:
    """A time as the requester site wrote it (Tue Mar 10 15:01:02 PDT 2020), or as ISO 8601."""
    text = cells.get(column, "").strip()
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except ValueError:
        pass
    words = text.split()
    if len(words) == 6 and words[4] in ZONES:
        try:
            zone = timezone(timedelta(hours=ZONES[words[4]]))
            return datetime.strptime(" ".join(words[:4] + words[5:]), "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone)
        except ValueError:
            pass
    sheet.report(number, column, f"{text[:40]!r}", "a time such as Tue Mar 10 15:01:02 PDT 2020")
    return None
