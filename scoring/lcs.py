"""Longest common subsequences as ROUGE-1.5.5 finds them, on machine words instead of tables.

ROUGE-L and ROUGE-W need more than a length: which positions of the reference sentence the Perl program marks when it
walks back through its table, because marks of several summary sentences are united. The walk is: diagonal on equal
words, else up when the cell above is at least as large as the cell to the left, else left.

Plain LCS. Column j of the table is held as an integer whose bit i says that cell (i, j) is one larger than the cell
above it (Hyyrö 2004). At unequal words the walk goes left exactly when that bit is set, so from row i it jumps to the
highest set bit of (matches | bits) at or below i. Columns of words that the reference sentence lacks equal their left
neighbour, and of a run of them only one can move the walk; the others are skipped.

Weighted LCS. The table holds floating-point sums, and ties are decided by their last bits, so the sums are made in the
Perl program's order. Rows and columns without any equal word are running maxima; of a run of them one is kept, by
the same argument. Where two sentences share no pair of neighbouring words, every match weighs one and the walk is
that of the plain LCS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

WEIGHT = 1.2
"""ROUGE-W's exponent, `-w 1.2`."""

_WEIGHTS: list[float] = [float(k) ** WEIGHT for k in range(4096)]


def weight(length: int) -> float:
    """The weight of a run of matched words."""
    return _WEIGHTS[length] if length < len(_WEIGHTS) else float(float(length) ** WEIGHT)


def positions(words: Sequence[str]) -> dict[str, int]:
    """For each word, an integer with a bit at each of its positions."""
    found: dict[str, int] = {}
    bit = 1
    for word in words:
        found[word] = found.get(word, 0) | bit
        bit <<= 1
    return found


def lcs_marks(at: Mapping[str, int], length: int, words: Sequence[str]) -> int:
    """Positions of a reference sentence, as bits, that one summary sentence marks."""
    same = (1 << length) - 1  # bit i: cell (i, j) equals the cell above
    everything = same
    columns: list[tuple[int, int]] = []
    gap = False
    for word in words:
        matches = at.get(word)
        if matches is None:
            gap = True
            continue
        if gap and columns:
            columns.append((0, everything & ~same))
        gap = False
        both = same & matches
        same = ((same + both) | (same - both)) & everything
        columns.append((matches, everything & ~same))
    if gap and columns:
        columns.append((0, everything & ~same))
    marks = 0
    below = everything
    for matches, larger in reversed(columns):
        reach = (matches | larger) & below
        if not reach:
            break
        top = 1 << (reach.bit_length() - 1)
        if matches & top:
            marks |= top
            below = top - 1
        else:
            below = (top << 1) - 1
    return marks


def weighted_lcs_marks(at: Mapping[str, int], sentence: Sequence[str], words: Sequence[str]) -> int:
    """The same for ROUGE-W, whose table prefers runs of neighbouring words."""
    common = at.keys() & set(words)
    if not common:
        return 0
    rows = _with_gaps(sentence, common)
    columns = [word for _, word in _with_gaps(words, common)]
    width = len(columns)
    zeros = [0.0] * (width + 1)
    table = [zeros]
    runs = [0] * (width + 1)
    for _, word in rows:
        above = table[-1]
        if word is None:
            table.append(list(accumulate(above, max)))
            runs = [0] * (width + 1)
            continue
        row = [0.0]
        lengths = [0]
        left = 0.0
        for j in range(width):
            if columns[j] == word:
                run = runs[j]
                left = above[j] + weight(run + 1) - weight(run)
                lengths.append(run + 1)
            else:
                if above[j + 1] >= left:
                    left = above[j + 1]
                lengths.append(0)
            row.append(left)
        table.append(row)
        runs = lengths
    return _walk_back(rows, columns, table)


def _with_gaps(words: Sequence[str], common: set[str]) -> list[tuple[int, str | None]]:
    """The shared words with their positions; each run of other words becomes one gap."""
    found: list[tuple[int, str | None]] = []
    for place, word in enumerate(words):
        if word in common:
            found.append((place, word))
        elif not found or found[-1][1] is not None:
            found.append((place, None))
    return found


def _walk_back(
    rows: Sequence[tuple[int, str | None]], columns: Sequence[str | None], table: Sequence[Sequence[float]]
) -> int:
    marks = 0
    i, j = len(rows), len(columns)
    while i and j:
        place, word = rows[i - 1]
        if word is not None and word == columns[j - 1]:
            marks |= 1 << place
            i -= 1
            j -= 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return marks
