"""Claim: ROUGE-1 to 4 and L of the 2,500 REALSumm pairs are at least 10 times faster than with `rouge-score`.

The peer is rouge-score 0.1.2 without stemming (its faster way), rouge1 to rouge4 and rougeLsum, one scorer for all
pairs, texts joined beforehand. Ours computes the same five counts (P, R and F) in a fresh process with cold caches,
from data frames to a scores table. Processor seconds are measured on both sides.
"""

from __future__ import annotations

import importlib.util
import time

from benchmarks import Measurement
from benchmarks.scoring.rouge_perl import cold_seconds, load

CLAIM = 10.0
METRICS = ",".join(f"rouge-{count}-{figure}" for count in ("1", "2", "3", "4", "l") for figure in "prf")


def run() -> Measurement:
    if importlib.util.find_spec("rouge_score") is None:
        raise SystemExit("rouge-score is not installed; pip install rouge-score==0.1.2 brings it.")
    from rouge_score.rouge_scorer import RougeScorer

    summaries, documents = load()
    references = {
        doc_id: "\n".join(texts[0]) for doc_id, texts in zip(documents["doc_id"], documents["references"], strict=True)
    }
    pairs = [
        (references[doc_id], "\n".join(text))
        for doc_id, text in zip(summaries["doc_id"], summaries["summary"], strict=True)
    ]
    scorer = RougeScorer(["rouge1", "rouge2", "rouge3", "rouge4", "rougeLsum"], use_stemmer=False)
    start = time.process_time()
    for reference, summary in pairs:
        scorer.score(reference, summary)
    peer = time.process_time() - start
    return Measurement(cold_seconds(METRICS), peer, CLAIM, "s", f"R-1 to 4 and L of {len(pairs)} pairs")
