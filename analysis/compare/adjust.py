"""Corrections for many comparisons, and what follows from them: optimal metrics and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.correlate.coefficients import Floats, UnknownName


@dataclass(frozen=True)
class Pair:
    """The better and the worse of two systems, and how sure that is."""

    better: str
    worse: str
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float


CORRECTIONS = ("holm", "bh", "by", "bonferroni", "none")


def adjust(p: npt.ArrayLike, correction: str = "holm") -> Floats:
    """Adjusted p-values. Undefined ones (NaN) stay undefined and don't count among the comparisons."""
    if correction not in CORRECTIONS:
        raise UnknownName("correction", correction, CORRECTIONS)
    values = np.asarray(p, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    is_defined = np.isfinite(values)
    adjusted[is_defined] = np.minimum(_adjust_defined(values[is_defined], correction), 1)
    return adjusted


def _adjust_defined(p: Floats, correction: str) -> Floats:
    m = len(p)
    if correction == "none" or m == 0:
        return p
    if correction == "bonferroni":
        return p * m
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, m + 1)
    adjusted = np.empty(m)
    if correction == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * (m - rank + 1))
        return adjusted
    factor = m * (np.sum(1 / rank) if correction == "by" else 1.0)
    adjusted[order] = np.minimum.accumulate((p[order] * factor / rank)[::-1])[::-1]
    return adjusted


def beaten(places: Sequence[tuple[int, int]], adjusted: Floats, size: int, alpha: float) -> npt.NDArray[np.bool_]:
    """beats[i, j]: i is significantly better than j, by the adjusted p-values of (better, worse) places."""
    beats = np.zeros((size, size), dtype=bool)
    for (better, worse), p in zip(places, adjusted, strict=True):
        beats[better, worse] = p < alpha
    return beats


def optimal(beats: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Metrics that no other beats significantly (Graham 2015). beats[i, j]: i is significantly better than j."""
    return np.asarray(~beats.any(axis=0))


def letters(order: Sequence[int], beats: npt.NDArray[np.bool_]) -> list[str]:
    """A compact letter display (Piepho 2004): two items share a letter exactly if neither beats the other.

    It starts with one group of all and splits every group that holds a pair which differs; groups within others go.
    """
    groups = [frozenset(order)]
    for better, worse in zip(*np.nonzero(beats), strict=True):
        pieces = [
            piece
            for group in groups
            for piece in ([group - {better}, group - {worse}] if {better, worse} <= group else [group])
        ]
        unique = list(dict.fromkeys(pieces))
        groups = [piece for piece in unique if not any(piece < other for other in unique)]
    place = {item: number for number, item in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[item] for item in group))
    display = [""] * len(order)
    for number, group in enumerate(groups):
        for item in group:
            display[item] += _letter(number)
    return display


def _letter(number: int) -> str:
    """a to z, then a2 to z2 and so on."""
    turn, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(turn + 1) if turn else "")


def clusters(order: Sequence[int], beats: npt.NDArray[np.bool_]) -> list[int]:
    """The cluster (from 1) of each metric: a new one starts where all above beat all below.

    `order` lists the metrics from best to worst; metrics of one cluster can't all be told apart.
    """
    cluster = [0] * len(order)
    current = 1
    for place, metric in enumerate(order):
        above, below = list(order[:place]), list(order[place:])
        if place and beats[np.ix_(above, below)].all():
            current += 1
        cluster[metric] = current
    return cluster
