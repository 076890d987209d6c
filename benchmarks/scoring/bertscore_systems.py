"""Claim: BERTScore of 25 systems through our `run` is at least 1.8 times faster than one `bert_score.score` per system.

The 2,500 pairs of REALSumm, the embedded model, layer 5. bert-score loads the model and encodes the references anew in
each call; ours loads once and encodes each distinct text once. All F scores of both are compared.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import Measurement
from benchmarks.scoring._encoder import LAYER, pairs, run_ours, run_peer, write_tables

CLAIM = 1.8


def run() -> Measurement:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        summaries, documents = write_tables(folder)
        calls = [pairs(rows, documents) for _, rows in summaries.groupby("system")]
        our_run = run_ours(folder, f"bertscore-f[layer={LAYER}]")
        peer_run = run_peer(folder, calls)
        table = pd.read_csv(folder / "scores.csv", dtype={"doc_id": str})
    ordered = table.set_index(["system", "doc_id"])["value"]
    keys = list(zip(summaries["system"], summaries["doc_id"], strict=True))
    difference = np.abs(ordered.loc[keys].to_numpy() - np.concatenate(peer_run.scores)).max()
    if difference > 1e-5:
        raise SystemExit(f"bertscore_systems: the scores differ by {difference:g}.")
    note = f"{len(summaries)} pairs, {len(calls)} systems, largest difference {difference:.0e}"
    return Measurement(our_run.seconds, peer_run.seconds, CLAIM, "s", note)
