"""Claim: reading 1,000,000 judgments takes at most twice what pandas alone takes, from CSV and from Parquet."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.tables import read_table
from benchmarks import Measurement, seconds

ROWS = 1_000_000


def judgments(rows: int = ROWS) -> pd.DataFrame:
    """Judgments such as a study of 25 systems gives: 1,600 documents, 10 units, up to 4 workers each."""
    row = np.arange(rows)
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "doc_id": (row // (25 * 10 * 4)).astype("str"),
            "system": np.char.add("system", (row // 40 % 25).astype("str")),
            "unit": np.char.add("scu0", (row % 10).astype("str")),
            "worker_id": np.char.add("w", (row // 10).astype("str")),
            "value": rng.integers(0, 2, rows),
            "is_check": 0,
        }
    )


def run() -> Measurement:
    frame = judgments()
    with tempfile.TemporaryDirectory() as folder:
        worst = None
        csv, parquet = Path(folder, "judgments.csv"), Path(folder, "judgments.parquet")
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet, index=False)
        for path, read_peer in ((csv, pd.read_csv), (parquet, pd.read_parquet)):
            our_seconds = peer_seconds = float("inf")
            for _ in range(12):  # in turn, so that a busy moment of the machine hits both
                our_seconds = min(our_seconds, seconds(lambda path=path: read_table(path, "judgments"), 1))
                peer_seconds = min(peer_seconds, seconds(lambda path=path, peer=read_peer: peer(path), 1))
            measurement = Measurement(our_seconds, peer_seconds, 0.5, note=f"pandas, {path.suffix[1:]}, {ROWS:,} rows")
            worst = measurement if worst is None or measurement.ratio < worst.ratio else worst
    assert worst is not None
    return worst
