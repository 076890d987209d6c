"""Scores of data frames: the library's one call for many metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.tables import check_table
from scoring import registry
from scoring.errors import MissingInput
from scoring.run import DocumentScores, Progress, Run
from scoring.run.engines import check_engine
from scoring.run.own_references import mark_signature
from scoring.run.plan import Task, fit, make_plan
from scoring.texts import Document, as_references, as_text

SYSTEM_LEVEL = "*"
"""The doc_id of a score of a whole system."""


def evaluate(
    summaries: pd.DataFrame,
    documents: pd.DataFrame,
    metrics: Sequence[str] | str,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    engine: str = "local",
    progress: Progress | None = None,
    references: str = "all",
    skip_missing: bool = False,
) -> pd.DataFrame:
    """Score all summaries with all metrics: a scores table sorted by doc_id, system and metric.

    Pairing is by `doc_id`. The result doesn't depend on `jobs`, `cache` or `engine`; its `attrs["signatures"]` says
    how each metric's scores were made. `progress` is called with the summaries done and their total. A summary that is
    one of its document's references is told of and marked in a column `is_reference`; `references="leave-one-out"`
    leaves each reference out in turn and averages, so that such a summary is scored against the others. With
    `skip_missing` a metric that can't run here is left out with a warning instead of refusing them all.
    """
    check_engine(engine, jobs)
    plan = make_plan(registry.parse(metrics), skip_missing)
    by_id = check_documents(documents)
    checked = check_table(summaries, "summaries")
    check_pairing(checked["doc_id"].tolist(), by_id)
    texts = checked["summary"].tolist()
    run = Run(
        fit(plan, lambda: (by_id[key] for key in sorted(by_id)), lambda: map(as_text, texts), cache),
        jobs=jobs,
        cache=None if cache is None else Path(cache),
        engine=engine,
        progress=progress,
        total=len(checked),
        references=references,
    )
    scored = list(run.scores(_tasks(checked, by_id)))
    run.warn()
    frame = assemble(run, scored, "group" in checked.columns)
    frame.attrs["signatures"] = signatures(run)
    return frame


def check_documents(documents: pd.DataFrame) -> dict[str, Document]:
    """Documents by id. A frame without sources is fine as long as no metric needs them."""
    if "source" not in documents.columns:
        documents = documents.assign(source="")
    checked = check_table(documents, "documents")
    rows = zip(checked["doc_id"], checked["references"], checked["source"], strict=True)
    return {key: Document(key, as_references(refs), as_text(source)) for key, refs, source in rows}


def check_pairing(doc_ids: Sequence[str], documents: dict[str, Document]) -> None:
    """Refuse summaries whose document isn't there."""
    missing = sorted(set(doc_ids) - documents.keys())
    if missing:
        raise MissingInput(missing_documents(missing))


def missing_documents(missing: Sequence[str]) -> str:
    examples = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
    return (
        f"{len(missing)} document(s) of the summaries are not among the documents: {examples}; "
        "add them or leave their summaries out."
    )


def signatures(run: Run) -> dict[str, str]:
    """How each metric of a run was computed, by its name."""
    by_metric = {
        metric.name: mark_signature(step.family.signature(metric.base), run.references)
        for step in run.plan
        for metric in step.metrics
    }
    return dict(sorted(by_metric.items()))


def _tasks(summaries: pd.DataFrame, documents: dict[str, Document]) -> Iterator[Task]:
    """One task per document, documents and systems in order of their ids."""
    groups = summaries["group"].tolist() if "group" in summaries.columns else None
    order: dict[str, list[tuple[str, int]]] = {}
    for row, (doc_id, system) in enumerate(zip(summaries["doc_id"], summaries["system"], strict=True)):
        order.setdefault(doc_id, []).append((system, row))
    texts = summaries["summary"].tolist()
    for doc_id in sorted(order):
        rows = sorted(order[doc_id])
        yield Task(
            documents[doc_id],
            tuple(system for system, _ in rows),
            tuple(as_text(texts[row]) for _, row in rows),
            tuple(groups[row] for _, row in rows) if groups is not None else (),
        )


def assemble(run: Run, scored: Sequence[DocumentScores], with_group: bool, with_systems: bool = True) -> pd.DataFrame:
    """A scores table of these documents, with the system-level rows in their place."""
    preceding = [document for document in scored if document.doc_id < SYSTEM_LEVEL]
    following = [document for document in scored if document.doc_id > SYSTEM_LEVEL]
    frames = [_frame(run.names, preceding, with_group)]
    if with_systems:
        frames.append(pooled_frame(run, with_group))
    frames.append(_frame(run.names, following, with_group))
    full = [frame for frame in frames if len(frame)]
    if not full:
        return frames[0]
    table = pd.concat(full, ignore_index=True)
    if "is_reference" in table:
        table["is_reference"] = table["is_reference"].eq(True)
    return table


def pooled_frame(run: Run, with_group: bool) -> pd.DataFrame:
    """The system-level rows of a run."""
    rows = run.system_scores()
    columns = {
        "doc_id": pd.Series([SYSTEM_LEVEL] * len(rows), dtype="str"),
        "system": pd.Series([row[0] for row in rows], dtype="str"),
        "metric": pd.Series([row[2] for row in rows], dtype="str"),
        "value": np.array([row[3] for row in rows], dtype=np.float64),
    }
    if with_group:
        columns["group"] = pd.Series([row[1] for row in rows], dtype="str")
    return pd.DataFrame(columns)


def _frame(names: Sequence[str], scored: Sequence[DocumentScores], with_group: bool) -> pd.DataFrame:
    width = len(names)
    systems = [system for document in scored for system in document.systems]
    values = [document.values.ravel() for document in scored]
    columns = {
        "doc_id": _repeat([document.doc_id for document in scored for _ in document.systems], width),
        "system": _repeat(systems, width),
        "metric": _take(names, np.tile(np.arange(width), len(systems))),
        "value": np.concatenate(values) if values else np.empty(0),
    }
    if with_group:
        columns["group"] = _repeat([group for document in scored for group in document.groups], width)
    if any(document.is_reference for document in scored):
        flags = [flag for document in scored for flag in document.is_reference or (False,) * len(document.systems)]
        columns["is_reference"] = pd.Series(np.repeat(flags, width))
    return pd.DataFrame(columns)


def _repeat(items: Sequence[str], times: int) -> pd.Series:
    """Each item several times in a row."""
    return _take(items, np.repeat(np.arange(len(items)), times))


def _take(items: Sequence[str], places: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> pd.Series:
    if not len(items):
        return pd.Series([], dtype="str")
    return pd.Series(pd.array(list(items), dtype="str").take(places))
