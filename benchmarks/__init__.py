"""One module per speed claim: each measures a peer and us in one run.

A benchmark module has a docstring that states its claim and a function ``run() -> Measurement``.
``python -m benchmarks NAME`` prints one line and exits 1 when the measured ratio is below the claimed one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """What one benchmark found. Smaller is better for both figures."""

    ours: float
    """What we need, in `unit`."""
    peer: float
    """What the peer needs for the same work (or the limit we promise to stay below), in `unit`."""
    claim: float
    """The least ratio peer / ours that the documentation promises."""
    unit: str = "s"
    """Unit of both figures: s, ms, MB."""
    note: str = ""
    """What was measured, in a few words: sizes, peer's name."""

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.ours > 0 else float("inf")

    @property
    def holds(self) -> bool:
        return self.ratio >= self.claim

    def line(self, name: str) -> str:
        """The one line that `python -m benchmarks` prints."""
        text = f"{name} ours={self.ours:.4g}{self.unit} peer={self.peer:.4g}{self.unit} ratio={self.ratio:.2f}"
        text += f" claim={self.claim:g}"
        return f"{text} ({self.note})" if self.note else text


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least wall-clock time of several runs: the one least disturbed by other processes."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
