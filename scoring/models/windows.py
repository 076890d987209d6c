"""Texts longer than a model: windows of even length that overlap a little, each token read away from their edges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

OVERLAP = 64
"""Tokens that two windows share. Half of them is the least context that a token has on either side, inside a text."""


@dataclass(frozen=True)
class Window:
    """A stretch of a text that the model reads at once, and the part of it that is kept."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def windows(length: int, size: int) -> tuple[Window, ...]:
    """The fewest windows of at most `size` tokens that share OVERLAP (in small models half a window).

    They are as short as that allows, because a model's time grows faster than a window; their lengths differ by one
    at most. The parts kept follow each other without gap or overlap.
    """
    if size < 1:
        raise ValueError("A window holds at least one token.")
    shared = min(OVERLAP, size // 2)
    count = max(1, -(-(length - shared) // (size - shared)))
    starts = [(length - shared) * number // count for number in range(count)]
    ends = [*(start + shared for start in starts[1:]), length]
    # Neighbours part in the middle of what they share.
    cuts = [0, *(start + shared // 2 for start in starts[1:]), length]
    return tuple(Window(start, end, *bounds) for start, end, bounds in zip(starts, ends, pairwise(cuts), strict=True))
