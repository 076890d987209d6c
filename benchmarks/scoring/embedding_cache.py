"""Claim: a second run of all encoder metrics from the cache is at least 20 times faster than the first.

The 2,500 pairs of REALSumm, each run in a process of its own; the bytes of both scores files must be equal.
The time of a third run that has only the embeddings (the scores were deleted) stands in the note.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import Measurement
from benchmarks.scoring._encoder import run_ours, write_tables
from benchmarks.scoring.encoder_metrics import METRICS

CLAIM = 20.0


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name) / "cache"
        summaries, _ = write_tables(folder)
        files, times = [], []
        for number in range(3):
            if number == 2:
                for file in cache.glob("scores-*"):
                    file.unlink()
            times.append(run_ours(folder, METRICS, cache).seconds)
            files.append((folder / "scores.csv").read_bytes())
    if len(set(files)) != 1:
        raise SystemExit("embedding_cache: the runs gave different bytes.")
    note = f"{len(summaries)} pairs, 7 scores; from embeddings alone {times[2]:.3g}s"
    return Measurement(times[1], times[0], CLAIM, "s", note)
