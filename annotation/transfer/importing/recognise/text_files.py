"""Text files with rows: in which letters they are written and what separates their cells."""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from django.utils.translation import gettext_noop

from analysis.tables import Problem, TableError

SEPARATORS = {
    ",": gettext_noop("commas"),
    ";": gettext_noop("semicolons"),
    "\t": gettext_noop("tabs"),
    "|": gettext_noop("bars"),
}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Latin-1 (Windows-1252)",
    "cp1250": "Central European (Windows-1250)",
    "cp1251": "Cyrillic (Windows-1251)",
    "mac-roman": "Mac Roman",
    "gb18030": "Chinese (GB 18030)",
    "shift-jis": "Japanese (Shift JIS)",
}
SAMPLE = 2**18
LONGEST_CELL = 16 * 2**20  # as long as a line of a table may be
SAVE_ANEW = "in Excel: File, Save As, “CSV UTF-8 (comma delimited)”, or send the workbook (.xlsx) as it is"
_DECLARED = re.compile(r"sep=(.)\r?\n")  # Excel's own first line


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
        yield cast(BinaryIO, stream)


def encoding_of(path: Path) -> str:
    """UTF-16 by its mark or its zeros, UTF-8 where all bytes fit, otherwise the usual letters of Windows."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_bytes(path) as stream:
            chunk = stream.read(2**20)
            if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            if (name := _utf16_without_mark(chunk)) is not None:
                return name
            while chunk:
                decoder.decode(chunk)
                chunk = stream.read(2**20)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    except (OSError, EOFError, zlib.error):
        pass  # a damaged file is for its reader to tell of
    return "utf-8"


def _utf16_without_mark(chunk: bytes) -> str | None:
    """Western text in UTF-16 has a zero in every second byte."""
    start = chunk[:2000]
    half = len(start) // 2
    if half < 10:
        return None
    if start[1::2].count(0) > 0.7 * half:
        return "utf-16-le"
    return "utf-16-be" if start[::2].count(0) > 0.7 * half else None


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[io.TextIOWrapper]:
    with open_bytes(path) as stream:
        name = "utf-8-sig" if encoding == "utf-8" else encoding
        text = io.TextIOWrapper(stream, encoding=name, errors="strict", newline="")
        yield text
        text.detach()


def separator_of(path: Path, encoding: str, known: Iterable[str]) -> str:
    """The separator by which the first line has most columns that we know; of equal ones the one with most columns."""
    with open_text(path, encoding) as text:
        sample = text.read(SAMPLE)
    if match := _DECLARED.match(sample):
        return match.group(1)
    names = set(known)

    def score(separator: str) -> tuple[int, int]:
        header = next(csv.reader(io.StringIO(sample), delimiter=separator), [])
        return sum(plain_name(name) in names for name in header), len(header)

    return max(SEPARATORS, key=score)


def plain_name(name: str) -> str:
    """A column's name without what people write it with: `Doc ID` is `docid`."""
    return re.sub(r"[\W_]+", "", name).casefold()


def read_rows(path: Path, encoding: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the line on which each ends; TableError says which line can't be read."""
    csv.field_size_limit(LONGEST_CELL)
    before = line = 0
    try:
        with open_text(path, encoding) as text:
            if _DECLARED.match(text.readline()):
                before = 1
            else:
                text.seek(0)
            reader = csv.reader(text, delimiter=separator, strict=True)
            for row in reader:
                line = reader.line_num + before
                if row:
                    yield line, row
    except csv.Error as error:
        raise broken_line(path.name, line + 1, _reason(error)) from None
    except (UnicodeDecodeError, UnicodeError):
        letters = ENCODINGS.get(encoding, encoding)
        raise broken_line(path.name, line + 1, f"letters that are not {letters}") from None
    except (OSError, EOFError, zlib.error):
        raise TableError([Problem(path.name, None, None, "a file that breaks off", "a whole file")]) from None


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "field limit" in text:
        return f"a cell longer than {LONGEST_CELL // 2**20} MiB"
    if "end of data" in text:
        return "a quotation mark that is never closed"
    if "expected after" in text:
        return "letters behind a closing quotation mark"
    return text


def broken_line(file: str, line: int, reason: str) -> TableError:
    found, expected = f"{reason} in line {line} or behind it", f"rows that can be read; save it anew {SAVE_ANEW}"
    return TableError([Problem(file, None, None, found, expected)])


def ragged_lines(path: Path, encoding: str, separator: str, most: int = 20) -> list[Problem]:
    """The rows that have more or fewer cells than the first, by their lines."""
    rows = read_rows(path, encoding, separator)
    width = len(next(rows, (0, []))[1])
    problems: list[Problem] = []
    for line, row in rows:
        if len(row) != width and len(problems) < most:
            expected = f"{width}, one for each column; save it anew {SAVE_ANEW}"
            problems.append(Problem(path.name, None, None, f"{len(row)} cells in line {line}", expected))
    return problems
