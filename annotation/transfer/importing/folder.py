"""A study's folder: which files it has, what they hold, and whether they fit together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd
from analysis.tables import Problem, TableError, find_table, read_table
from analysis.tables.cells import decode_cell
from analysis.tables.checks import SHOWN, Problems
from annotation.models import WHOLE_SYSTEM

from .bulk_insert import Progress

KINDS = ("documents", "summaries", "scus", "judgments", "scores")
NEEDED = ("documents", "summaries")
BLANK = "BLANK"  # the filler of unused places in REALSumm's forms; its answer is always "not present"


@dataclass
class Folder:
    """The tables of a study, each None where its file is absent."""

    path: Path
    files: dict[str, Path]
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> pd.DataFrame | None:
        return self.tables.get(kind)

    def name_of(self, kind: str) -> str:
        return self.files[kind].name if kind in self.files else kind

    def fingerprint(self, options: str = "") -> str:
        """One hash over the names and bytes of all files, and over options that change what is stored."""
        fingerprint = hashlib.sha256(options.encode())
        for kind, path in sorted(self.files.items()):
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            fingerprint.update(f"{kind} {path.name} {digest}\n".encode())
        return fingerprint.hexdigest()


def open_folder(path: Path) -> Folder:
    """Find the files; a missing folder or a missing needed file is a TableError."""
    if not path.is_dir():
        raise _problem(path, "nothing, or not a folder", "a folder with documents.* and summaries.*")
    files = {kind: file for kind in KINDS if (file := find_table(path, kind))}
    missing = [f"{kind}.*" for kind in NEEDED if kind not in files]
    if missing:
        raise _problem(path, f"no {' and no '.join(missing)}", "documents.* and summaries.*")
    return Folder(path, files)


def read_folder(folder: Folder, progress: Progress = lambda *_: None) -> None:
    """Read and check every table by itself; all problems of all files at once."""
    problems: list[Problem] = []
    more = 0
    for kind, path in folder.files.items():
        try:
            folder.tables[kind] = read_table(path, kind)
            progress(f"reading {path.name}", len(folder.tables[kind]), len(folder.tables[kind]))
        except TableError as error:
            problems += error.problems
            more += error.total - len(error.problems)
    problems += [
        Problem(file=folder.name_of(kind), row=None, column=None, found="no rows", expected="at least one")
        for kind in NEEDED
        if kind in folder.tables and folder.tables[kind].empty
    ]
    if problems:
        raise TableError(problems, len(problems) + more)
    _decode_lists(folder, "summaries", "shown_to_workers", decode_cell)
    _decode_lists(folder, "judgments", "evidence", _json_list)


def _decode_lists(folder: Folder, kind: str, name: str, decode: Callable[[str], Any]) -> None:
    """Our own columns with lists, which CSV and Parquet hold as cells like any other text."""
    frame = folder[kind]
    if frame is not None and name in frame and ".jsonl" not in folder.name_of(kind):
        cells = [decode(cell) if isinstance(cell, str) else cell for cell in frame[name]]
        folder.tables[kind] = frame.assign(**{name: pd.Series(cells, index=frame.index, dtype=object)})


def _json_list(cell: str) -> Any:
    try:
        value = json.loads(cell) if cell.startswith("[") else cell
    except ValueError:
        return cell
    return value if isinstance(value, list) else cell


def check_references(folder: Folder) -> None:
    """Every row must speak of documents, summaries and units that are there."""
    documents, summaries = folder.tables["documents"], folder.tables["summaries"]
    known_docs = set(documents["doc_id"])
    pairs = pd.MultiIndex.from_frame(summaries[["doc_id", "system"]])
    problems = [_strangers(folder, "summaries", ~summaries["doc_id"].isin(known_docs), "doc_id", "a document")]
    if (scus := folder["scus"]) is not None:
        problems.append(_strangers(folder, "scus", ~scus["doc_id"].isin(known_docs), "doc_id", "a document"))
    if (judgments := folder["judgments"]) is not None:
        strange = ~pd.MultiIndex.from_frame(judgments[["doc_id", "system"]]).isin(pairs)
        problems.append(_strangers(folder, "judgments", strange, "doc_id, system", "a summary"))
    if (scores := folder["scores"]) is not None:
        is_whole_system = scores["doc_id"] == WHOLE_SYSTEM
        unknown: Any = ~is_whole_system & ~pd.MultiIndex.from_frame(scores[["doc_id", "system"]]).isin(pairs)
        unknown |= is_whole_system & ~scores["system"].isin(summaries["system"])
        problems.append(_strangers(folder, "scores", unknown, "doc_id, system", "a summary"))
    refuse(problems)


def _strangers(folder: Folder, kind: str, strange: Any, column: str, noun: str) -> Problems:
    names, expected = column.split(", "), f"{noun} of this study"
    return problems_in(folder.name_of(kind), folder.tables[kind], names, strange, expected)


def problems_in(name: str, frame: pd.DataFrame, columns: list[str], is_bad: Any, expected: str) -> Problems:
    """The problems of the marked rows: the first ones in words, and how many there are."""
    problems, rows = Problems(name), np.flatnonzero(is_bad)
    for row in rows[:SHOWN]:
        cells = ", ".join(repr(frame[column].iloc[row]) for column in columns)
        problems.add(int(row) + 1, ", ".join(columns), cells, expected)
    problems.total = len(rows)
    return problems


def refuse(all_problems: Iterable[Problems]) -> None:
    """TableError where there are any."""
    parts = list(all_problems)
    if any(problems.total for problems in parts):
        raise TableError([item for part in parts for item in part.items], sum(part.total for part in parts))


def _problem(path: Path, found: str, expected: str) -> TableError:
    return TableError([Problem(str(path), None, None, found, expected)])
