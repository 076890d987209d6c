"""What a measurement of agreement says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from analysis.agreement.counts import Floats
from analysis.bootstrap import percentile_limits as interval

__all__ = ["AgreementResult", "Watch", "interval", "lost_note", "unwatched"]

Watch = Callable[[Iterable[int], int], Iterable[int]]
"""Sees a long loop go by (its items and how many there are), to show progress."""


def unwatched(items: Iterable[int], total: int) -> Iterable[int]:
    """Nobody looks."""
    return items


@dataclass(frozen=True)
class AgreementResult:
    """One coefficient of one set of judgments."""

    coefficient: str
    level: str
    value: float
    """NaN when undefined."""
    n_units: int
    """Units that two or more workers judged; with `per`, the items that were averaged or left out."""
    n_undefined: int
    """Coefficients that are undefined: items with `per`, otherwise 0 or 1."""
    low: float = float("nan")
    high: float = float("nan")
    group: str | None = None
    per: tuple[str, ...] = ()
    undefined: str = "drop"
    cluster: str | None = None
    """What was resampled for the interval."""
    resamples: int = 0
    seed: int = 0
    n_judgments: int = 0
    n_workers: int = 0
    notes: tuple[str, ...] = field(default=())


def lost_note(samples: Floats) -> tuple[str, ...]:
    """A sentence on the resamples that are undefined, if any are."""
    n_lost = int(np.isnan(samples).sum())
    return (f"{n_lost} of {len(samples)} resamples were undefined and left out of the interval.",) if n_lost else ()
