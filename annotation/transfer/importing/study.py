"""`import_study`: a folder of tables becomes a study, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext_noop

from analysis.lazy import pandas as pd
from annotation.common.errors import Refused
from annotation.models import (
    WHOLE_SYSTEM,
    ContentUnit,
    Document,
    Judgment,
    Membership,
    Reference,
    Role,
    Score,
    Study,
    Summary,
    System,
    User,
)
from annotation.tables.stream import names_of
from annotation.tables.texts import DOCUMENTS, SCORES, SCUS, SUMMARIES

from .bulk_insert import CHUNK, Progress, insert_rows
from .column_lengths import check_lengths, check_name
from .folder import BLANK, Folder, check_references, open_folder, read_folder
from .judgments import check_judgments, check_keys, store_judgments
from .truecase import NO_CHANGES, Showing, add_shown
from .warnings import findings, same_texts


@dataclass(frozen=True)
class Imported:
    """What an import found and did."""

    study: str
    counts: dict[str, int]
    findings: list[str]
    changed: bool  # False: a dry run, or the same folder as before
    same_texts: list[str] = field(default_factory=list)
    """The pairs of systems that the findings sum up in one sentence, where there are several."""


def import_study(
    path: Path,
    name: str,
    *,
    dry_run: bool = False,
    scale: tuple[float, float] = (1, 5),
    showing: Showing = NO_CHANGES,
    progress: Progress = lambda *_: None,
    admin: User | None = None,
    salt: str = "",
) -> Imported:
    """Import a folder as a study of that name; `admin` becomes its first member.

    The same folder again changes nothing. Raises TableError for bad files and Refused for a name that is empty, too
    long, or taken by another study; then nothing is changed either. `scale` is that of Likert judgments; `showing` is
    how workers see the summaries; with a `salt` of its own the workers get the same pseudonyms each time.
    """
    check_name(name)
    folder = open_folder(path)
    fingerprint = folder.fingerprint(showing.name() if showing.changes else "")
    existing = Study.objects.filter(name=name).first()
    if existing and admin is not None and existing.role_of(admin) not in (Role.ADMIN, Role.ANALYST):
        # What such a study holds, and whether it is the same as in these files, is for its own people to know.
        raise Refused(f"A study named {name!r} is here already. Nothing was changed: choose another name.")
    if existing and existing.fingerprint == fingerprint:
        return Imported(name, study_counts(existing), [], changed=False)
    if existing:
        raise Refused(
            f"A study named {name!r} is here already, with other content. Nothing was changed: choose another name."
        )
    read_folder(folder, progress)
    check_lengths(folder, folder.tables)
    check_references(folder)
    judgments = check_judgments(folder, scale)
    if judgments is not None:
        check_lengths(folder, {"judgments": judgments})  # again, now that assignments without an id have one
        check_keys(folder, judgments)
    same = same_texts(folder)
    report = [*findings(folder), *_show(folder, showing)]
    if dry_run:
        return Imported(name, folder_counts(folder), report, changed=False, same_texts=same)
    with transaction.atomic():
        study = Study.objects.create(name=name, fingerprint=fingerprint, **({"salt": salt} if salt else {}))
        if admin is not None:
            Membership.objects.create(study=study, user=admin, role=Role.ADMIN)
        summaries = _store_texts(study, folder, progress)
        _store_scores(study, folder, summaries, progress)
        if judgments is not None:
            store_judgments(study, judgments, summaries, progress)
    return Imported(name, folder_counts(folder), report, changed=True, same_texts=same)


def _show(folder: Folder, showing: Showing) -> list[str]:
    """Fill in the texts as workers see them; says how many differ."""
    if not showing.changes:
        return []
    folder.tables["summaries"], n_changed = add_shown(folder.tables["summaries"], showing)
    total = len(folder.tables["summaries"])
    return [f"{n_changed} of {total} summaries are shown to workers otherwise than they stand in the file."]


@dataclass(frozen=True)
class Stored:
    """The rows that later tables point to, by their ids."""

    documents: dict[str, int]
    summaries: dict[tuple[str, str], Summary]


def save_all(rows: Iterable[models.Model], total: int, label: str, progress: Progress) -> None:
    """Insert rows in chunks, telling how far it is."""
    n_done, stream = 0, iter(rows)
    while chunk := list(islice(stream, CHUNK)):
        type(chunk[0])._default_manager.bulk_create(chunk)
        n_done += len(chunk)
        progress(label, n_done, total)


def extras(frame: pd.DataFrame, fields: Sequence[str]) -> list[dict[str, Any]]:
    """The columns that the model has no field for, one dictionary per row, empty cells left out."""
    names = [name for name in frame.columns if name not in fields]
    if not names:
        return [{}] * len(frame)
    columns = [frame[name].tolist() for name in names]
    return [
        {name: cell for name, cell in zip(names, row, strict=True) if _filled(cell)}
        for row in zip(*columns, strict=True)
    ]


def _filled(cell: Any) -> bool:
    return isinstance(cell, list | dict) or not (pd.isna(cell) or cell == "")


def optional(frame: pd.DataFrame, name: str, default: Any = None) -> list[Any]:
    """A column's cells, with `default` for empty ones and for a column that isn't there."""
    if name not in frame:
        return [default] * len(frame)
    return [cell if _filled(cell) else default for cell in frame[name].tolist()]


def _store_texts(study: Study, folder: Folder, progress: Progress) -> Stored:
    documents, summaries, scus = folder.tables["documents"], folder.tables["summaries"], folder["scus"]
    cells = zip(documents["doc_id"], documents["source"], extras(documents, names_of(DOCUMENTS)), strict=True)
    rows = [Document(study=study, doc_id=doc, source=source, extra=extra) for doc, source, extra in cells]
    save_all(rows, len(rows), "documents", progress)
    by_doc = dict(Document.objects.filter(study=study).values_list("doc_id", "pk"))
    references = (
        Reference(document_id=by_doc[doc], index=index, text=text)
        for doc, texts in zip(documents["doc_id"], documents["references"], strict=True)
        for index, text in enumerate(texts)
    )
    save_all(references, int(documents["references"].map(len).sum()), "references", progress)
    texts = Stored(by_doc, _store_summaries(study, summaries, by_doc, progress))
    if scus is not None:
        save_all(_units(scus, by_doc), len(scus), "SCUs", progress)
    return texts


def _store_summaries(
    study: Study, frame: pd.DataFrame, by_doc: dict[str, int], progress: Progress
) -> dict[tuple[str, str], Summary]:
    groups = optional(frame, "group", "")
    names = sorted(set(zip(frame["system"], groups, strict=True)))
    System.objects.bulk_create(System(study=study, name=name, group=group) for name, group in names)
    by_system = {(row.name, row.group): row for row in System.objects.filter(study=study)}
    shown_texts, extra_cells = optional(frame, "shown_to_workers"), extras(frame, names_of(SUMMARIES))
    cells = zip(frame["doc_id"], frame["system"], groups, frame["summary"], shown_texts, extra_cells, strict=True)
    new_summaries = (
        Summary(document_id=by_doc[doc], system=by_system[name, group], text=text, shown=text_shown, extra=extra)
        for doc, name, group, text, text_shown, extra in cells
    )
    save_all(new_summaries, len(frame), "summaries", progress)
    rows = Summary.objects.filter(document__study=study).select_related("document", "system")
    return {(row.document.doc_id, row.system.name): row for row in rows.defer("text", "shown", "document__source")}


# The optional columns of an SCU and what stands for an empty cell.
UNIT: dict[str, Any] = {
    **dict.fromkeys(("reference_index", "start", "end", "weight")),
    **{"author": "", "is_check": False, "expected": None, "order": 0, "version": 1, "retired_in": None},
}


def _units(frame: pd.DataFrame, by_doc: dict[str, int]) -> Iterator[ContentUnit]:
    columns = {name: optional(frame, name, default) for name, default in UNIT.items()}
    extra_cells = extras(frame, names_of(SCUS))
    for row, (doc, scu_id, text) in enumerate(zip(frame["doc_id"], frame["scu_id"], frame["text"], strict=True)):
        values: dict[str, Any] = {name: cells[row] for name, cells in columns.items()}
        blank = text.strip() == BLANK
        values["is_check"] = bool(values["is_check"]) or blank
        values["expected"] = 0.0 if blank else None if values["expected"] is None else float(values["expected"])
        values |= {
            name: None if values[name] is None else int(values[name]) for name in ("order", "version", "retired_in")
        }
        yield ContentUnit(document_id=by_doc[doc], scu_id=scu_id, text=text, extra=extra_cells[row], **values)


def _store_scores(study: Study, folder: Folder, texts: Stored, progress: Progress) -> None:
    frame = folder["scores"]
    if frame is None:
        return
    systems = {summary.system.name: summary.system_id for summary in texts.summaries.values()}
    owners = {pair: summary.system_id for pair, summary in texts.summaries.items()}
    documents: dict[str, int | None] = {**texts.documents, WHOLE_SYSTEM: None}
    pairs = list(zip(frame["doc_id"], frame["system"], strict=True))
    rows = zip(
        repeat(study.pk, len(frame)),
        (documents[doc] for doc, _ in pairs),
        (systems[pair[1]] if pair[0] == WHOLE_SYSTEM else owners[pair] for pair in pairs),
        frame["metric"],
        optional(frame, "value"),
        extras(frame, names_of(SCORES)),
        strict=True,
    )
    fields = ("study_id", "document_id", "system_id", "metric", "value", "extra")
    insert_rows(Score, fields, rows, len(frame), progress)


def folder_counts(folder: Folder) -> dict[str, int]:
    """How much of everything a folder holds; check units apart from SCUs."""
    documents, summaries, scus = folder.tables["documents"], folder.tables["summaries"], folder["scus"]
    checks = 0
    if scus is not None:
        is_check = scus["is_check"].astype(bool) if "is_check" in scus else pd.Series(False, index=scus.index)
        checks = int((is_check | (scus["text"].str.strip() == BLANK)).sum())
    return {
        gettext_noop("documents"): len(documents),
        gettext_noop("systems"): len(summaries.filter(["system", "group"]).drop_duplicates()),
        gettext_noop("summaries"): len(summaries),
        gettext_noop("SCUs"): 0 if scus is None else len(scus) - checks,
        gettext_noop("check units"): checks,
        gettext_noop("judgments"): 0 if folder["judgments"] is None else len(folder.tables["judgments"]),
        gettext_noop("scores"): 0 if folder["scores"] is None else len(folder.tables["scores"]),
    }


def study_counts(study: Study) -> dict[str, int]:
    """The same counts, of a study in the database."""
    units = ContentUnit.objects.filter(document__study=study)
    return {
        "documents": study.documents.count(),
        "systems": study.systems.count(),
        "summaries": Summary.objects.filter(document__study=study).count(),
        "SCUs": units.filter(is_check=False).count(),
        "check units": units.filter(is_check=True).count(),
        "judgments": Judgment.objects.filter(summary__document__study=study, is_current=True).count(),
        "scores": study.scores.count(),
    }
