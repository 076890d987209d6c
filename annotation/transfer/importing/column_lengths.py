"""Whether ids and names fit their columns. PostgreSQL refuses longer ones halfway through, and SQLite keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import cast

from django.db.models import CharField, Model

from analysis.lazy import pandas as pd
from analysis.tables import Problem, TableError
from annotation.common.errors import Refused
from annotation.models import Assignment, Batch, ContentUnit, Document, Judgment, Score, Study, System, Worker

from .folder import Folder

# Which column of which table is kept in which field.
KEPT: dict[str, dict[str, tuple[type[Model], str]]] = {
    "documents": {"doc_id": (Document, "doc_id")},
    "summaries": {"system": (System, "name"), "group": (System, "group")},
    "scus": {"scu_id": (ContentUnit, "scu_id"), "author": (ContentUnit, "author")},
    "judgments": {
        "unit": (Judgment, "unit"),
        "worker_id": (Worker, "external_id"),
        "assignment_id": (Assignment, "key"),
        "role": (Batch, "role"),
        "batch": (Batch, "name"),
    },
    "scores": {"metric": (Score, "metric")},
}
SHOWN = 40  # letters of what is too long


def check_name(name: str) -> None:
    """A study's name is Refused when it is empty or too long."""
    limit = longest(Study, "name")
    if not name.strip():
        raise Refused("A study needs a name. Nothing was changed: give one with --name.")
    if len(name) > limit:
        raise Refused(
            f"The name has {len(name)} characters, and a study's may have {limit}. Nothing was changed: "
            "choose a shorter --name."
        )


def check_system(name: str, group: str) -> None:
    """A system's name is Refused when it is empty or too long, its group when it is too long."""
    if not name.strip():
        raise Refused("A system needs a name. Nothing was imported: give one with --system.")
    for option, text, field in (("--system", name, "name"), ("--group", group, "group")):
        if len(text) > (limit := longest(System, field)):
            raise Refused(
                f"{option} has {len(text)} characters, and may have {limit}. Nothing was imported: make it shorter."
            )


def check_lengths(folder: Folder, tables: Mapping[str, pd.DataFrame]) -> None:
    """TableError for cells of the folder's tables that are longer than their columns."""
    problems = []
    for kind, frame in tables.items():
        for column, (model, name) in KEPT[kind].items():
            if column in frame:
                problems += _too_long(folder.name_of(kind), frame[column], column, longest(model, name))
    if problems:
        raise TableError(problems)


def longest(model: type[Model], name: str) -> int:
    """How many characters a field holds."""
    return cast(int, cast(CharField[str, str], model._meta.get_field(name)).max_length)


def _too_long(file: str, cells: pd.Series, column: str, limit: int) -> list[Problem]:
    rows = ((row, cell) for row, cell in enumerate(cells, start=1) if isinstance(cell, str) and len(cell) > limit)
    return [
        Problem(file, row, column, f"{len(cell)} characters, {cell[:SHOWN]!r}…", f"at most {limit} characters")
        for row, cell in islice(rows, 100)
    ]
