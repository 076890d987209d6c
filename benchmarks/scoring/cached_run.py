"""Claim: adding a 26th system to a cached run costs less than 8 % of the first run (a ratio of 12.5).

All lexical metrics of the 2,500 REALSumm pairs (rouge-all, BLEU, chrF, METEOR, JS, copy statistics) are scored with
an empty cache; then a 26th system (another one's sentences in reverse order) is added and everything is asked again.
The peer is the first run; both are whole calls of `evaluate` in one process, in processor seconds.
"""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path

import pandas as pd

import scoring
from benchmarks import Measurement
from benchmarks.scoring.rouge_perl import load

CLAIM = 12.5
LEXICAL = (
    "rouge-all,bleu,chrf,js-1,js-2,meteor,coverage,density,compression,novel-1,novel-2,novel-3,"
    "repeated-1,repeated-2,repeated-3,length"
)


def measure(metrics: str) -> tuple[float, float]:
    """Processor seconds of the first run and of the run with one more system."""
    summaries, documents = load()
    t5_summaries = summaries[summaries["system"] == "t5_out_large"]
    added = t5_summaries.assign(system="reversed", summary=[list(reversed(text)) for text in t5_summaries["summary"]])
    extended = pd.concat([summaries, added], ignore_index=True)
    with tempfile.TemporaryDirectory() as folder:
        first, _ = _seconds(summaries, documents, metrics, Path(folder))
        second, scores = _seconds(extended, documents, metrics, Path(folder))
    if scores["system"].nunique() != 26:
        raise SystemExit("cached_run: the 26th system is missing.")
    return first, second


def _seconds(summaries: pd.DataFrame, documents: pd.DataFrame, metrics: str, cache: Path) -> tuple[float, pd.DataFrame]:
    gc.collect()  # neither run clears up after what came before it
    start = time.process_time()
    scores = scoring.evaluate(summaries, documents, metrics, cache=cache)
    return time.process_time() - start, scores


def run() -> Measurement:
    metrics = LEXICAL if scoring.registry.get("meteor").ready().ok else LEXICAL.replace("meteor,", "")
    first, second = measure(metrics)
    count = len(scoring.registry.parse(metrics))
    return Measurement(second, first, CLAIM, "s", f"{count} metrics, 25 systems cached, one added")
