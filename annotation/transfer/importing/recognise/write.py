"""Tables as they were sent, written as plain ones that the gate reads; and what is to be said of that."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from analysis.tables import TABLES, Problem, TableError

from .plan import SentTable
from .text_files import open_text, ragged_lines, read_rows
from .workbooks import LONGEST_CELL, read_sheet

_DECIMAL = re.compile(r"-?\d+,\d+")


def write_tables(tables: Sequence[SentTable], sent: Path, target: Path) -> Path:
    """A folder that the gate reads: the files' own where they are plain, otherwise one with plain copies."""
    _refuse_doubled(tables)
    if all(table.is_plain or not table.kind for table in tables):
        return sent
    target.mkdir(parents=True)
    for table in tables:
        if table.kind and not table.is_plain:
            _write(table, sent / table.file, target)
        elif not any(other.kind and other.file == table.file and not other.is_plain for other in tables):
            shutil.copyfile(sent / table.file, target / table.file)
    return target


def _refuse_doubled(tables: Sequence[SentTable]) -> None:
    for kind in TABLES:
        names = [table.title for table in tables if table.kind == kind]
        if len(names) > 1:
            found, expected = " and ".join(names), f"one file with the {kind} table"
            raise TableError([Problem("the files", None, None, found, expected)])


def _write(table: SentTable, path: Path, target: Path) -> None:
    problems = ragged_lines(path, table.encoding, table.separator) if table.form == "text" else []
    if problems:
        raise TableError(problems)
    if table.missing:
        names = ", ".join(table.missing)
        raise TableError([Problem(table.title, None, names, "no column for it", f"a column for {names}")])
    if table.form == "lines":
        _write_lines(table, path, target / f"{table.kind}.jsonl")
        return
    is_workbook = table.form == "workbook"
    rows = read_sheet(path, table.sheet) if is_workbook else read_rows(path, table.encoding, table.separator)
    with (target / f"{table.kind}.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for number, (_line, row) in enumerate(rows):
            writer.writerow(_renamed(table) if number == 0 else _plain_cells(row, _decimal_places(table)))


def _renamed(table: SentTable) -> list[str]:
    """The file's header with our names where they were mapped."""
    ours = {theirs: name for name, theirs in table.mapping.items()}
    if "references" in table.mapping and not _holds_lists(table):
        ours[table.mapping["references"]] = "reference"
    taken = set(ours.values())
    return [ours.get(name) or (f"{name}_" if name in taken else name) for name in table.columns]


def _holds_lists(table: SentTable) -> bool:
    place = table.columns.index(table.mapping["references"])
    return any(row[place].startswith("[") for row in table.rows if len(row) > place)


def _decimal_places(table: SentTable) -> list[int]:
    """Columns of numbers, in which 0,5 is a half where commas separate nothing."""
    if table.separator == ",":
        return []
    types = {column.name: column.type for column in TABLES[table.kind].columns}
    numbers = {theirs for ours, theirs in table.mapping.items() if types[ours] in ("number", "score")}
    return [place for place, name in enumerate(table.columns) if name in numbers]


def _plain_cells(row: list[str], decimals: Sequence[int]) -> list[str]:
    for place in decimals:
        if _DECIMAL.fullmatch(row[place]):
            row[place] = row[place].replace(",", ".")
    return row


def _write_lines(table: SentTable, path: Path, target: Path) -> None:
    ours = dict(zip(table.columns, _renamed(table), strict=True))
    with open_text(path, "utf-8") as text, target.open("w", encoding="utf-8") as stream:
        for number, line in enumerate(text, start=1):
            try:
                value = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                raise TableError(
                    [Problem(path.name, None, None, f"line {number} that is not JSON", "one JSON object per line")]
                ) from None
            if isinstance(value, dict):
                stream.write(json.dumps({ours.get(name, name): cell for name, cell in value.items()}) + "\n")


def with_lines(error: TableError, tables: Sequence[SentTable], sent: Path) -> TableError:
    """The same error, but by lines and with how to save the file anew, where a CSV file has ragged rows."""
    if not any("one for each column" in problem.expected for problem in error.problems):
        return error
    plain = [table for table in tables if table.kind and table.form == "text"]
    problems = [
        problem for table in plain for problem in ragged_lines(sent / table.file, table.encoding, table.separator)
    ]
    return TableError(problems, error.total) if problems else error


def remarks(tables: Sequence[SentTable]) -> list[str]:
    """What was read otherwise than it stands, and texts that Excel may have cut off: a sentence each."""
    sentences = []
    for table in tables:
        if not table.kind or table.is_plain:
            continue
        how = f", separated by {table.separator_name}, in {table.encoding_name}" if table.form == "text" else ""
        renamed = [f"{theirs} as {ours}" for ours, theirs in table.mapping.items() if ours != theirs]
        names = f"; {', '.join(renamed)}" if renamed else ""
        sentences.append(f"{table.title} is read as the {table.kind} table{how}{names}.")
    return sentences


def cut_off(tables: Sequence[SentTable], sent: Path) -> list[str]:
    """Cells that are exactly as long as Excel lets them be: what was behind is gone."""
    sentences = []
    for table in (table for table in tables if table.kind and table.form == "workbook"):
        rows = [number for number, row in read_sheet(sent / table.file, table.sheet) if LONGEST_CELL in map(len, row)]
        if rows:
            sentences.append(
                f"{table.title}: {len(rows)} cells are as long as Excel lets them be, the first in row {rows[0]}: "
                "their texts are probably cut off. Send long texts as CSV or JSON lines."
            )
    return sentences
