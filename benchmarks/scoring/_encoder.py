"""What the benchmarks of the encoder share: REALSumm, bert-score as the peer, and runs in fresh processes.

Both sides run with one thread (torch is single-threaded, ours uses one of its own) and are measured in processor
seconds, so that other work on the machine weighs on neither; imports are left out on both sides, loading models is not.
ENCODER_DOCUMENTS takes fewer than all 100 documents to try a benchmark out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.scoring.corpus_run import _Watch
from benchmarks.scoring.rouge_perl import ROOT, load

DOCUMENTS = int(os.environ.get("ENCODER_DOCUMENTS", "100"))
LAYER = 5
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

_PEER = """
import json, sys, time
import bert_score, torch, transformers
from transformers.models.bert import modeling_bert, tokenization_bert
from scoring import models
torch.set_num_threads(1)
calls = json.load(open(sys.argv[1]))
folder = str(models.require(models.DEFAULT).folder)
start = time.process_time()
scores = []
for candidates, references in calls:
    _, _, f = bert_score.score(candidates, references, model_type=folder, num_layers=%d, device="cpu")
    scores.append(f.tolist())
print(json.dumps([time.process_time() - start, scores]))
"""
_OURS = """
import json, sys, time, warnings
from pathlib import Path
import torch, transformers
from transformers.models.bert import modeling_bert, tokenization_bert
from scoring import threads
from scoring.run.files import score_files
warnings.simplefilter("ignore")
threads.use(1)
folder, metrics, cache = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) > 3 else None
start = time.process_time()
score_files(folder / "summaries.jsonl", folder / "documents.jsonl", metrics, folder / "scores.csv", cache=cache)
print(json.dumps([time.process_time() - start, None]))
"""


@dataclass(frozen=True)
class Timed:
    """One run in a process of its own."""

    seconds: float
    bytes: int
    """The most memory it had at a time."""
    scores: list[list[float]]


def write_tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The summaries and documents, also as files."""
    summaries, documents = load()
    documents = documents.iloc[:DOCUMENTS]
    summaries = summaries[summaries["doc_id"].isin(documents["doc_id"])].sort_values(["system", "doc_id"])
    documents[["doc_id", "source", "references"]].to_json(folder / "documents.jsonl", orient="records", lines=True)
    summaries[["doc_id", "system", "summary"]].to_json(folder / "summaries.jsonl", orient="records", lines=True)
    return summaries, documents


def run_ours(folder: Path, metrics: str, cache: Path | None = None) -> Timed:
    """Our `run` on the tables of the folder."""
    return _timed([_OURS, str(folder), metrics, *([str(cache)] if cache else [])])


def run_peer(folder: Path, calls: Sequence[tuple[list[str], list[str]]]) -> Timed:
    """One `bert_score.score` per list of pairs."""
    (folder / "peer.json").write_text(json.dumps(calls))
    return _timed([_PEER % LAYER, str(folder / "peer.json")])


def pairs(summaries: pd.DataFrame, documents: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Summaries and their references as strings, as bert-score takes them."""
    references = {row.doc_id: " ".join(row.references[0]) for row in documents.itertuples()}
    return [" ".join(text) for text in summaries["summary"]], [references[key] for key in summaries["doc_id"]]


def _timed(arguments: list[str]) -> Timed:
    command = [sys.executable, "-c", *arguments]
    env = {**os.environ, **_ONE_THREAD}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        watch = _Watch(process.pid)
        watch.start()
        output, _ = process.communicate()
    watch.done.set()
    if process.returncode:
        raise SystemExit(f"A run of the benchmark ended with code {process.returncode}.")
    seconds, scores = json.loads(output.splitlines()[-1])
    return Timed(seconds, watch.peak, scores)
