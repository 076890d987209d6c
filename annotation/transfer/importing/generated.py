"""Summaries that were bred (`analysis generate`), or any summaries table, as systems of their own in a study.

Of each document's summaries those are taken whose fitness lies in a range of quantiles: Peyrard (2019) asks for human
judgments of summaries that score high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.lazy import pandas as pd
from analysis.tables import read_table
from annotation.common.errors import Refused
from annotation.models import Study, Summary, System

from .column_lengths import check_system

FITNESS = "fitness"
MOST_EACH = 50


@dataclass(frozen=True)
class ImportedSystems:
    """What was taken: so many summaries for each new system."""

    systems: dict[str, int]
    documents: int
    left_out: int  # summaries of the file that were not taken


def import_generated(
    study: Study,
    path: Path,
    name: str,
    *,
    low: float = 0.8,
    high: float = 1.0,
    each: int = 1,
    group: str = "",
    write: bool = False,
) -> ImportedSystems:
    """Take `each` summaries of every document from that range of fitness, all or none; TableError for a bad file.

    One a document becomes the system of that name, more become `name-1`, `name-2` …, the fittest first.
    """
    check_system(name, group)
    if not (0 <= low < high <= 1 and 1 <= each <= MOST_EACH):
        raise Refused(f"A range lies within 0 and 100 %, and at most {MOST_EACH} are taken. Nothing was imported.")
    frame = read_table(path, "summaries")
    documents = dict(study.documents.values_list("doc_id", "pk"))
    if strangers := sorted(set(frame["doc_id"]) - set(documents)):
        raise Refused(
            f"{len(strangers)} documents of {path.name} are not in this study, such as {strangers[0]!r}. "
            "Nothing was imported."
        )
    rows = _chosen(frame, low, high, each)
    names = [name] if each == 1 else [f"{name}-{place}" for place in range(1, each + 1)]
    if taken := sorted(set(names) & set(study.systems.values_list("name", flat=True))):
        raise Refused(f"The study has a system {taken[0]!r} already. Nothing was imported: choose another name.")
    if write:
        _store(study, names, group, rows, documents)
    counts = {system: sum(len(texts) > place for texts in rows.values()) for place, system in enumerate(names)}
    n_taken = sum(counts.values())
    return ImportedSystems({system: n for system, n in counts.items() if n}, len(rows), len(frame) - n_taken)


def _chosen(frame: pd.DataFrame, low: float, high: float, each: int) -> dict[str, list[Any]]:
    """The texts to take, by document, the fittest first."""
    if FITNESS in frame:
        frame = frame.assign(**{FITNESS: pd.to_numeric(frame[FITNESS], errors="coerce")}).dropna(subset=[FITNESS])
        share = frame.groupby("doc_id")[FITNESS].rank(pct=True)
        frame = frame[(share >= low) & (share <= high)]
        frame = frame.sort_values(FITNESS, ascending=False, kind="stable")
    texts = {str(doc): rows["summary"].tolist() for doc, rows in frame.groupby("doc_id", sort=True)}
    if not texts:
        raise Refused("No summary of the file lies in that range. Nothing was imported: take a wider one.")
    return {doc: _spread(summaries, each) for doc, summaries in texts.items()}


def _spread(items: Sequence[Any], n: int) -> list[Any]:
    """So many of them over the whole range, the first among them."""
    if n >= len(items):
        return list(items)
    return [items[place * (len(items) - 1) // max(n - 1, 1)] for place in range(n)]


def _store(study: Study, names: list[str], group: str, rows: dict[str, list[Any]], documents: dict[str, int]) -> None:
    with transaction.atomic():
        for place, name in enumerate(names):
            texts = {doc: summaries[place] for doc, summaries in rows.items() if len(summaries) > place}
            if texts:
                system = System.objects.create(study=study, name=name, group=group)
                Summary.objects.bulk_create(
                    (Summary(document_id=documents[doc], system=system, text=text) for doc, text in texts.items()),
                    batch_size=2000,
                )
