"""Claim: the whole REALSumm report (25 systems, 100 documents, 14 metrics, 123,888 judgments) takes under 60 s."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

from analysis.cli import main
from benchmarks import Measurement

LIMIT = 60.0
FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "realsumm"


def run() -> Measurement:
    if not FOLDER.exists():
        sys.exit(f"The REALSumm data is not here: {FOLDER}.")
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        start = time.perf_counter()
        words = ["report", str(FOLDER / "scores.csv.gz"), "--human", "litepyramid_recall", "--out", folder]
        words += ["--judgments", str(FOLDER / "judgments.csv.gz"), "--summaries", str(FOLDER / "summaries.jsonl.gz")]
        code = main([*words, "--json"])
        took = time.perf_counter() - start
    assert code == 0
    return Measurement(ours=took, peer=LIMIT, claim=1, note="peer is the limit")
