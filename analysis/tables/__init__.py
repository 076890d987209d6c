"""The tables, the five file forms, one gate.

Every file and frame that enters the analysis or the scoring passes here. What comes out has ids as strings,
values as finite floats, missing labels as the empty string, `is_check` as booleans and `references` as lists.
What can't be read that way is answered with a `TableError` that names file, row, column, what was found and
what is expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import VERSION
from analysis.lazy import pandas as pd
from analysis.tables.bytes import SUFFIXES, check_target, check_writable, write_atomically
from analysis.tables.checks import AnalysisError, Column, Problem, Problems, TableError, TableSpec, check_columns

if TYPE_CHECKING:
    from analysis.tables.keys import Codes, key_codes

__all__ = [
    "SUFFIXES",
    "TABLES",
    "VERSION",
    "AnalysisError",
    "Column",
    "Problem",
    "TableError",
    "TableSpec",
    "check_table",
    "check_target",
    "check_writable",
    "find_table",
    "key_codes",
    "read_pieces",
    "read_table",
    "write_atomically",
    "write_table",
]


WHOLE = 16 * 2**20
"""Bytes of a file that `read_pieces` reads in one piece."""
PIECE = 4000
"""Rows per piece of a larger file."""


def __getattr__(name: str) -> Any:
    """`key_codes`, which needs the libraries that nothing else here loads."""
    if name == "key_codes":
        from analysis.tables.keys import key_codes

        return key_codes
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _spec(name: str, key: str, required: dict[str, str], optional: dict[str, str]) -> TableSpec:
    columns = [Column(column, kind) for column, kind in required.items()]
    columns += [Column(column, kind, required=False) for column, kind in optional.items()]
    return TableSpec(name, tuple(columns), tuple(key.split()))


TABLES: dict[str, TableSpec] = {
    spec.name: spec
    for spec in (
        _spec("documents", "doc_id", {"doc_id": "id", "source": "text", "references": "texts"}, {}),
        _spec(
            "summaries",
            "doc_id system",
            {"doc_id": "id", "system": "id", "summary": "text"},
            {"group": "label"},
        ),
        _spec(
            "scus",
            "doc_id scu_id",
            {"doc_id": "id", "scu_id": "id", "text": "label"},
            {
                "reference_index": "integer",
                "start": "integer",
                "end": "integer",
                "weight": "score",
                "author": "label",
                "is_check": "flag",
            },
        ),
        _spec(
            "judgments",
            "doc_id system unit worker_id round batch assignment_id",
            {"doc_id": "id", "system": "id", "unit": "id", "worker_id": "id", "value": "number"},
            {
                "assignment_id": "label",
                "batch": "label",
                "protocol": "label",
                "role": "label",
                "round": "integer",
                "seconds": "score",
                "position": "integer",
                "is_check": "flag",
                "submitted_at": "label",
                "group": "label",
            },
        ),
        _spec(
            "scores",
            "doc_id system metric",
            {"doc_id": "id", "system": "id", "metric": "id", "value": "score"},
            {"group": "label", "is_reference": "flag", "role": "label"},
        ),
    )
}
"""The five tables of a study by name. `TABLES["judgments"].required` and `.optional` give the columns."""

PREFERENCES = _spec(
    "preferences",
    "doc_id system_a system_b unit worker_id batch shown_first",
    {"doc_id": "id", "system_a": "id", "system_b": "id", "worker_id": "id", "preferred": "id"},
    {"unit": "label", "shown_first": "label", "role": "label", "batch": "label", "is_check": "flag"},
)
"""Answers that prefer one of two summaries: read by the library, not part of a study yet."""
_ALL = {**TABLES, PREFERENCES.name: PREFERENCES}


def table_spec(kind: str) -> TableSpec:
    """The table of that name."""
    if kind not in _ALL:
        raise AnalysisError(f"There is no table {kind!r}; there are {', '.join(_ALL)}.")
    return _ALL[kind]


def read_table(path: str | Path, kind: str) -> pd.DataFrame:
    """Read and check a file; the suffix tells its form."""
    from analysis.tables.files import read_frame

    spec, path = table_spec(kind), Path(path)
    problems = Problems(path.name)
    frame, codes = read_frame(path, spec, problems)
    return _checked(frame, spec, problems, codes)


def read_pieces(path: str | Path, kind: str, *, fill: Mapping[str, str] | None = None) -> Iterator[pd.DataFrame]:
    """Read and check a file that may be larger than memory: a small one whole, a large one in pieces.

    Rows that stand there twice are found within a piece only. `fill` gives the cells of a column that isn't there.
    """
    from analysis.tables.files import read_frame, read_frames

    spec, path = table_spec(kind), Path(path)
    problems = Problems(path.name)
    large = path.is_file() and path.stat().st_size > WHOLE
    for frame in read_frames(path, spec, problems, PIECE) if large else [read_frame(path, spec, problems)[0]]:
        missing = {name: cell for name, cell in (fill or {}).items() if name not in frame.columns}
        yield _checked(frame.assign(**missing), spec, problems, {})
        problems.before += len(frame)


def check_table(frame: pd.DataFrame, kind: str, name: str | None = None) -> pd.DataFrame:
    """A frame as `read_table` would give it; `name` stands in errors where a file's name would."""
    spec = table_spec(kind)
    return _checked(frame.copy(deep=False), spec, Problems(name or kind), {})


def write_table(frame: pd.DataFrame, path: str | Path, kind: str) -> None:
    """Check a frame and write it; equal frames give equal bytes, and the file appears whole or not at all."""
    from analysis.tables.writing import write_frame

    path = Path(path)
    write_frame(check_table(frame, kind, path.name), path, table_spec(kind))


def find_table(folder: str | Path, kind: str) -> Path | None:
    """The file of a table in a folder (`documents.csv`, `documents.jsonl.gz`, …), or None."""
    folder, name = Path(folder), table_spec(kind).name
    paths = [folder / f"{name}{suffix}" for suffix in SUFFIXES if (folder / f"{name}{suffix}").is_file()]
    if len(paths) > 1:
        names = " and ".join(path.name for path in paths)
        raise TableError([Problem(str(folder), None, None, names, f"one file with the {name} table")])
    return paths[0] if paths else None


def _checked(frame: pd.DataFrame, spec: TableSpec, problems: Problems, codes: dict[str, Codes]) -> pd.DataFrame:
    from analysis.tables.keys import check_duplicates
    from analysis.tables.values import check_values

    frame.columns = pd.Index([str(name) for name in frame.columns])
    frame = frame.reset_index(drop=True)
    if spec.name == "documents" and "references" not in frame.columns and "reference" in frame.columns:
        frame = _wrap_reference(frame)
    check_columns(frame, spec, problems)
    frame = frame.assign(**check_values(frame, spec, problems))
    problems.check()
    check_duplicates(frame, spec, problems, codes)
    problems.check()
    return frame


def _wrap_reference(frame: pd.DataFrame) -> pd.DataFrame:
    """A lone `reference` (a string or a list of sentences) is a list of one reference."""
    references = pd.Series([[reference] for reference in frame["reference"]], index=frame.index, dtype=object)
    names = ["references" if name == "reference" else name for name in frame.columns]
    return frame.assign(reference=references).set_axis(names, axis=1)
