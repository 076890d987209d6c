"""Claim: R-1, R-2 and R-L (P, R, F) of 11,490 documents × 25 systems take less than 3 minutes and 1 GB on 2 cores.

The corpus has the size of CNN/DailyMail's test set: REALSumm's texts repeated with one word in eight changed, so
that no two documents are alike. The whole command is measured, from files to a file, with the memory of all its
processes. The figure `ours` is the time; `peer` is the limit. A run above 1 GB fails.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks import Measurement
from benchmarks.scoring.rouge_perl import ROOT, load

DOCUMENTS = int(os.environ.get("CORPUS_RUN_DOCUMENTS", "11490"))
LIMIT_SECONDS = 180.0
LIMIT_BYTES = 10**9
METRICS = ",".join(f"rouge-{count}-{figure}" for count in ("1", "2", "l") for figure in "prf")
SEED = 7


def replace_words(rng: random.Random, sentences: list[str], number: int) -> list[str]:
    """The sentences with one word in eight replaced by a word of this document."""
    return [
        " ".join(f"w{number % 977}x{rng.randrange(50)}" if rng.random() < 0.125 else word for word in text.split())
        for text in sentences
    ]


def write_corpus(folder: Path) -> None:
    """System by system, as such corpora come: the documents of one system are far apart in the file."""
    summaries, documents = load()
    ids = documents["doc_id"].tolist()
    references = dict(zip(ids, documents["references"], strict=True))
    with gzip.open(folder / "documents.jsonl.gz", "wt", compresslevel=1, encoding="utf-8") as file:
        for number in range(DOCUMENTS):
            rng = random.Random(f"{SEED}-{number}")
            texts = [replace_words(rng, reference, number) for reference in references[ids[number % len(ids)]]]
            file.write(json.dumps({"doc_id": f"d{number}", "source": "", "references": texts}) + "\n")
    by_system = {
        system: dict(zip(rows["doc_id"], rows["summary"], strict=True)) for system, rows in summaries.groupby("system")
    }
    with (folder / "summaries.jsonl").open("w", encoding="utf-8") as file:
        for system, texts in by_system.items():
            for number in range(DOCUMENTS):
                rng = random.Random(f"{SEED}-{number}")
                text = replace_words(rng, texts[ids[number % len(ids)]], number)
                file.write(json.dumps({"doc_id": f"d{number}", "system": system, "summary": text}) + "\n")


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder)
        command = [sys.executable, "-m", "scoring", "run", "--summaries", str(folder / "summaries.jsonl")]
        command += ["--documents", str(folder / "documents.jsonl.gz"), "--metrics", METRICS, "--jobs", "2"]
        start = time.perf_counter()
        with subprocess.Popen([*command, "--out", str(folder / "scores.csv")], cwd=ROOT) as process:
            watch = _Watch(process.pid)
            watch.start()
            status = process.wait()
        wall_seconds = time.perf_counter() - start
        watch.done.set()
        with (folder / "scores.csv").open("rb") as file:
            rows = sum(1 for _ in file) - 1
    if status or rows != DOCUMENTS * 25 * 9:
        raise SystemExit(f"corpus_run: exit code {status}, {rows} rows.")
    if watch.peak > LIMIT_BYTES:
        raise SystemExit(f"corpus_run: {watch.peak / 1e6:.0f} MB of memory, more than 1 GB.")
    note = f"{DOCUMENTS} documents x 25 systems x 9 scores on 2 processes, {watch.peak / 1e6:.0f} MB at most"
    return Measurement(wall_seconds, LIMIT_SECONDS, 1.0, "s", note)


class _Watch(threading.Thread):
    """The largest memory that a process and its children had at one time (proportional set size)."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.done = threading.Event()
        self._pid = pid

    def run(self) -> None:
        while not self.done.wait(0.5):
            self.peak = max(self.peak, sum(map(_memory, [self._pid, *_children(self._pid)])))


def _children(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [deeper for child in children for deeper in _children(child)]


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
