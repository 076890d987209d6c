"""How sent files are to be read: looked into, and shown to their sender with the first texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from analysis.tables import SUFFIXES, TABLES, TableError
from annotation.common.middleware import NO_TEXT

from .columns import kind_of, known_names, map_columns, missing
from .text_files import ENCODINGS, SEPARATORS, encoding_of, open_text, read_rows, separator_of
from .workbooks import check_workbook, read_sheet, sheets_of

WORKBOOKS = (".xlsx", ".xlsm")
OTHER_SHEETS = (".xls", ".ods")
TEXTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
LINES = (".jsonl", ".jsonl.gz")
SHOWN_ROWS, SHOWN_LETTERS = 3, 240

Choices = Mapping[str, str]
"""What the sender chose otherwise: `kind:0`, `encoding:0`, `separator:0`, `column:0:doc_id`, by the table's place."""


@dataclass(frozen=True)
class SentTable:
    """A table in a sent file, and how it is read."""

    file: str
    sheet: str = ""
    form: str = "text"  # text, lines (of JSON) or workbook
    encoding: str = "utf-8"
    separator: str = ","
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)  # the first ones, shortened, to look at
    kind: str = ""  # which of the five tables; empty: left out
    mapping: dict[str, str] = field(default_factory=dict)  # our columns, each with the file's that holds it

    @property
    def is_plain(self) -> bool:
        """Whether the gate reads it as it is."""
        names = {f"{self.kind}{suffix}" for suffix in SUFFIXES}
        own_names = all(
            ours == theirs or (ours, theirs) == ("references", "reference") for ours, theirs in self.mapping.items()
        )
        return self.file in names and self.encoding == "utf-8" and self.separator == "," and own_names

    @property
    def title(self) -> str:
        return f"{self.file}, {self.sheet}" if self.sheet else self.file

    @property
    def separator_name(self) -> str:
        return SEPARATORS.get(self.separator, self.separator) if self.form == "text" else ""

    @property
    def separator_label(self) -> str:
        """The same in the reader's language."""
        return gettext(self.separator_name)

    @property
    def encoding_name(self) -> str:
        return ENCODINGS.get(self.encoding, self.encoding) if self.form == "text" else ""

    @property
    def missing(self) -> list[str]:
        return missing(self.kind, self.columns, self.mapping) if self.kind else []

    @property
    def slots(self) -> list[dict[str, Any]]:
        """Our columns for the form: the name, whether it is needed, and the file's column that is chosen."""
        columns = TABLES[self.kind].columns if self.kind else ()
        return [
            {"name": column.name, "required": column.required, "chosen": self.mapping.get(column.name, "")}
            for column in columns
        ]

    def stored(self) -> dict[str, Any]:
        return asdict(self)


def look_into(sent: Path, choices: Choices | None = None) -> list[SentTable]:
    """The tables in the files, as far as they can be told; what the sender chose comes before every guess."""
    choices = choices or {}
    tables: list[SentTable] = []
    for path in sorted(sent.iterdir()):
        for table in _tables_in(path, choices, len(tables)):
            tables.append(_named(table, choices, len(tables)))
    return _without_rivals(tables, choices)


def _without_rivals(tables: list[SentTable], choices: Choices) -> list[SentTable]:
    """A file that is called as its table is that table: others that only look like it are left out unless chosen."""
    plain = {table.kind for table in tables if table.is_plain}
    return [
        table if table.is_plain or table.kind not in plain or f"kind:{place}" in choices else replace(table, kind="")
        for place, table in enumerate(tables)
    ]


def _tables_in(path: Path, choices: Choices, place: int) -> Iterator[SentTable]:
    name = path.name.lower()
    if name.endswith((*WORKBOOKS, *OTHER_SHEETS)):
        check_workbook(path)
        for sheet in sheets_of(path):
            yield _with_rows(
                SentTable(path.name, sheet, "workbook", "", ""), (row for _, row in read_sheet(path, sheet))
            )
    elif name.endswith(LINES):
        yield _lines_table(path)
    elif name.endswith(TEXTS):
        yield _text_table(path, choices, place)
    else:
        yield SentTable(path.name, form="other")


def _text_table(path: Path, choices: Choices, place: int) -> SentTable:
    encoding = choices.get(f"encoding:{place}", "")
    encoding = encoding if encoding in ENCODINGS else encoding_of(path)
    separator = choices.get(f"separator:{place}", "")
    try:
        separator = separator if separator in SEPARATORS else separator_of(path, encoding, known_names())
        table = SentTable(path.name, "", "text", encoding, separator)
        return _with_rows(table, (row for _, row in read_rows(path, encoding, separator)))
    except (OSError, EOFError, UnicodeError, TableError):  # reading it in full tells what is wrong
        return SentTable(path.name, "", "text", encoding, separator if separator in SEPARATORS else ",")


def _lines_table(path: Path) -> SentTable:
    """Lines of JSON; what is none is for the gate to tell of."""
    table = SentTable(path.name, form="lines")
    try:
        with open_text(path, "utf-8") as text:
            objects = [json.loads(line) for line in islice(text, 50) if line.strip()]
    except (OSError, EOFError, ValueError, RecursionError):
        return table
    objects = [value for value in objects if isinstance(value, dict)]
    columns = list(dict.fromkeys(_storable(name) for value in objects for name in value))
    rows = [[_shown(value.get(name, "")) for name in columns] for value in objects[:SHOWN_ROWS]]
    return replace(table, columns=columns, rows=rows)


def _with_rows(table: SentTable, rows: Iterator[list[str]]) -> SentTable:
    header = next(rows, [])
    header = [_storable(name) for name in header]
    return replace(table, columns=header, rows=[[_shown(cell) for cell in row] for row in islice(rows, SHOWN_ROWS)])


def _shown(cell: Any) -> str:
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return _storable(text if len(text) <= SHOWN_LETTERS else f"{text[:SHOWN_LETTERS]}…")


def _storable(text: str) -> str:
    """Without what no database stores; a file with such letters is refused when it is read."""
    return NO_TEXT.sub("\ufffd", text)


def _named(table: SentTable, choices: Choices, place: int) -> SentTable:
    """With its kind and columns: as chosen, or as their names tell."""
    kind = choices.get(f"kind:{place}")
    if kind is None or (kind and kind not in TABLES):
        kind = (
            kind_of(table.sheet, table.columns) or kind_of(table.file, table.columns) if table.form != "other" else ""
        )
    mapping = map_columns(kind, table.columns)
    if choices.get(f"kind:{place}", "") == kind:  # the columns that were shown were those of this table
        for name in (column.name for column in TABLES[kind].columns) if kind else ():
            if (chosen := choices.get(f"column:{place}:{name}")) is not None:
                mapping = {**mapping, name: chosen} if chosen in table.columns else _without(mapping, name)
    return replace(table, kind=kind, mapping=mapping)


def _without(mapping: Mapping[str, str], name: str) -> dict[str, str]:
    return {ours: theirs for ours, theirs in mapping.items() if ours != name}


def needs_asking(tables: Sequence[SentTable], needed: Sequence[str]) -> bool:
    """Whether anything was guessed that the sender should see first."""
    is_guess = any(table.kind and not table.is_plain for table in tables)
    lacks = set(needed) - {table.kind for table in tables}
    return is_guess or (bool(lacks) and any(not table.kind and table.columns for table in tables))
