"""Texts longer than a model: overlapping windows, each token read where it has most context on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Window:
    """A stretch of a text that the model reads at once, and the part of it that is kept."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def windows(length: int, size: int) -> tuple[Window, ...]:
    """Windows of `size` tokens that overlap by half; the parts kept follow each other without gap or overlap."""
    if size < 1:
        raise ValueError("A window holds at least one token.")
    if length <= size:
        return (Window(0, length, 0, length),)
    step = max(1, size // 2)
    starts = [*range(0, length - size, step), length - size]
    # Two neighbours share the tokens between the later start and the earlier end; they part in the middle.
    cuts = [0, *(_middle(a, b, size) for a, b in pairwise(starts)), length]
    return tuple(
        Window(start, start + size, keep, until) for start, keep, until in zip(starts, cuts[:-1], cuts[1:], strict=True)
    )


def _middle(start: int, following: int, size: int) -> int:
    return (following + start + size) // 2
