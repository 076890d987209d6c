"""Claim: BERTScore, MoverScore, AncR and SUPERT together cost at most twice one `bert_score.score` of all pairs.

The 2,500 pairs of REALSumm with their 100 sources, the embedded model (a ratio of 0.5 or more). bert-score encodes
summaries and references only; ours encodes the sources too, and all six scores come from one pass.
The memory of our run stays below 3 GB, or the benchmark fails.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import Measurement
from benchmarks.scoring._encoder import pairs, run_ours, run_peer, write_tables

CLAIM = 0.5
LIMIT_BYTES = 3 * 10**9
METRICS = "bertscore-p,bertscore-r,bertscore-f,moverscore,ancr-1,ancr-2,supert"


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        summaries, documents = write_tables(folder)
        our_run = run_ours(folder, METRICS)
        peer_run = run_peer(folder, [pairs(summaries, documents)])
    if our_run.bytes > LIMIT_BYTES:
        raise SystemExit(f"encoder_metrics: {our_run.bytes / 1e6:.0f} MB of memory, more than 3 GB.")
    note = f"{len(summaries)} pairs, 7 scores against bert-score's P, R, F; {our_run.bytes / 1e6:.0f} MB at most"
    return Measurement(our_run.seconds, peer_run.seconds, CLAIM, "s", note)
