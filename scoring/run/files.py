"""Scores of files: the corpus streams from disk to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scoring import registry
from scoring.run import Run, Scored
from scoring.run.corpus_on_disk import Spool
from scoring.run.engines import check_engine
from scoring.run.evaluate import SYSTEM_LEVEL, assemble, pooled_frame, signatures
from scoring.run.plan import fit, make_plan
from scoring.run.scores_writer import Sink

ROWS = 50_000
"""Rows of scores that are held before they are written."""


@dataclass(frozen=True)
class Line:
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
) -> list[Line]:
    """Score a file of summaries and write the scores table; one line per metric says what came of it."""
    check_engine(engine, jobs)
    plan = make_plan(registry.parse(metrics))
    with Sink(out) as sink, Spool() as spool:
        spool.load(summaries, documents)
        fitted = fit(plan, spool.documents, spool.summaries, cache)
        run = Run(fitted, jobs=jobs, cache=cache, engine=engine, progress=progress, total=spool.size)
        totals = np.zeros((2, len(run.names)))
        waiting: list[Scored] = []
        size = 0
        for one in run.scores(spool.tasks()):
            totals += np.array([np.nansum(one.values, axis=0), np.isfinite(one.values).sum(axis=0)])
            # Rows of whole systems are known last but stand between documents before and after "*".
            if size >= ROWS or (waiting and (waiting[-1].doc_id < SYSTEM_LEVEL) != (one.doc_id < SYSTEM_LEVEL)):
                _write(sink, run, waiting, spool.with_group)
                waiting, size = [], 0
            waiting.append(one)
            size += one.values.size
        _write(sink, run, waiting, spool.with_group)
        pooled = pooled_frame(run, spool.with_group)
        if len(pooled):
            sink.add(pooled, place=1)
        sink.finish()
        run.warn()
        return _lines(run, totals, spool.size)


def _write(sink: Sink, run: Run, scored: Sequence[Scored], with_group: bool) -> None:
    place = 0 if not scored or scored[0].doc_id < SYSTEM_LEVEL else 2
    sink.add(assemble(run, scored, with_group, pooled=False), place)


def _lines(run: Run, totals: np.ndarray[tuple[int, ...], np.dtype[np.float64]], size: int) -> list[Line]:
    made = signatures(run)
    lines = []
    for name, total, count in zip(run.names, totals[0], totals[1], strict=True):
        n = int(count)
        lines.append(Line(name, n, size - n, float(total / n) if n else float("nan"), made[name]))
    return lines
