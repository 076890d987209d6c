"""Scores of files: the corpus streams from disk to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scoring import registry
from scoring.run import DocumentScores, Run
from scoring.run.corpus_on_disk import CorpusOnDisk
from scoring.run.engines import check_engine
from scoring.run.evaluate import SYSTEM_LEVEL, assemble, pooled_frame, signatures
from scoring.run.plan import fit, make_plan
from scoring.run.scores_writer import ScoresWriter

ROWS = 50_000
"""Rows of scores that are held before they are written."""


@dataclass(frozen=True)
class MetricTotals:
    """One metric of a finished run."""

    metric: str
    n: int
    """Summaries with a score."""
    undefined: int
    mean: float
    signature: str


def score_files(
    summaries: Path,
    documents: Path,
    metrics: Sequence[str] | str,
    out: Path,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    engine: str = "local",
    progress: Callable[[int, int], None] | None = None,
    references: str = "all",
    skip_missing: bool = False,
) -> list[MetricTotals]:
    """Score a file of summaries and write the scores table; one line per metric says what came of it."""
    check_engine(engine, jobs)
    plan = make_plan(registry.parse(metrics), skip_missing)
    with ScoresWriter(out) as writer, CorpusOnDisk() as corpus:
        corpus.load(summaries, documents)
        fitted = fit(plan, corpus.documents, corpus.summaries, cache)
        run = Run(
            fitted,
            jobs=jobs,
            cache=cache,
            engine=engine,
            progress=progress,
            total=corpus.size,
            references=references,
        )
        totals = np.zeros((2, len(run.names)))
        buffer: list[DocumentScores] = []
        size = 0
        for document in run.scores(corpus.tasks()):
            totals += np.array([np.nansum(document.values, axis=0), np.isfinite(document.values).sum(axis=0)])
            # Rows of whole systems are known last but stand between documents before and after "*".
            if size >= ROWS or (buffer and (buffer[-1].doc_id < SYSTEM_LEVEL) != (document.doc_id < SYSTEM_LEVEL)):
                _write(writer, run, buffer, corpus.with_group)
                buffer, size = [], 0
            buffer.append(document)
            size += document.values.size
        _write(writer, run, buffer, corpus.with_group)
        system_frame = pooled_frame(run, corpus.with_group)
        if len(system_frame):
            writer.add(system_frame, place=1)
        writer.finish()
        run.warn()
        return _lines(run, totals, corpus.size)


def _write(writer: ScoresWriter, run: Run, scored: Sequence[DocumentScores], with_group: bool) -> None:
    place = 0 if not scored or scored[0].doc_id < SYSTEM_LEVEL else 2
    writer.add(assemble(run, scored, with_group, with_systems=False), place)


def _lines(run: Run, totals: np.ndarray[tuple[int, ...], np.dtype[np.float64]], size: int) -> list[MetricTotals]:
    by_name = signatures(run)
    lines = []
    for name, total, count in zip(run.names, totals[0], totals[1], strict=True):
        n = int(count)
        lines.append(MetricTotals(name, n, size - n, float(total / n) if n else float("nan"), by_name[name]))
    return lines
