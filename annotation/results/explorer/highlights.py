"""Everything that people marked in one summary, over its text and as a list."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from annotation.protocols.descriptions import Highlight

DEEPEST = 3  # how many marks one above the other look different


@dataclass(frozen=True)
class Piece:
    """A part of the text at which the same marks stand throughout."""

    text: str
    labels: str
    """What the marks there say; empty where nothing is marked."""
    depth: int
    is_strong: bool


@dataclass(frozen=True)
class Line:
    """One mark in words."""

    words: str
    label: str
    degree: str
    rater: str


@dataclass(frozen=True)
class MarkedText:
    pieces: list[Piece]
    lines: list[Line]


def marked_text(text: str, marks: Iterable[tuple[str, Highlight]]) -> MarkedText | None:
    """The text with (rater, highlight) pairs laid over it; None where nobody marked anything. What lies outside the
    text, as an imported file may have it, stands in the list alone."""
    pairs = sorted(marks, key=lambda pair: (pair[1].start is None, pair[1].start or 0, pair[1].end or 0, pair[0]))
    if not pairs:
        return None
    placed = [(rater, mark) for rater, mark in pairs if _fits(mark, len(text))]
    cuts = sorted({0, len(text), *(place for _, mark in placed for place in (mark.start or 0, mark.end or 0))})
    pieces = [_piece(text[start:end], start, placed) for start, end in pairwise(cuts)]
    lines = [
        Line(
            text[mark.start : mark.end] if _fits(mark, len(text)) else "",
            mark.label,
            mark.degree,
            rater,
        )
        for rater, mark in pairs
    ]
    return MarkedText(pieces, lines)


def _fits(mark: Highlight, length: int) -> bool:
    places = (mark.start, mark.end)
    return all(isinstance(place, int) for place in places) and 0 <= (mark.start or 0) < (mark.end or 0) <= length


def _piece(text: str, start: int, placed: list[tuple[str, Highlight]]) -> Piece:
    own = [(rater, mark) for rater, mark in placed if (mark.start or 0) <= start < (mark.end or 0)]
    labels = "; ".join(", ".join(filter(None, (mark.label, mark.degree, rater))) for rater, mark in own)
    return Piece(text, labels, min(len(own), DEEPEST), any(mark.is_strong for _rater, mark in own))
