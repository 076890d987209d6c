"""Longest common subsequences as ROUGE-1.5.5 finds them, on machine words instead of tables.

ROUGE-L and ROUGE-W need more than a length: which positions of the reference sentence the Perl program marks when it
walks back through its table, because marks of several summary sentences are united. The walk is: diagonal on equal
words, else up when the cell above is at least as large as the cell to the left, else left.

Plain LCS. Column j of the table is held as an integer whose bit i says that cell (i, j) is one larger than the cell
above it (Hyyrö 2004). At unequal words the walk goes left exactly when that bit is set, so from row i it jumps to the
highest set bit of (matches | bits) at or below i. Columns of words that the reference sentence lacks equal their left
neighbour, and of a run of them only one can move the walk; the others are skipped. All sentences of a reference
stand in one integer with an empty bit between them, which stops the carries of the addition: one pass serves them all.

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


def positions(words: Sequence[str | None]) -> dict[str, int]:
    """For each word, an integer with a bit at each of its positions; None leaves a position empty."""
    found: dict[str, int] = {}
    bit = 1
    for word in words:
        if word is not None:
            found[word] = found.get(word, 0) | bit
        bit <<= 1
    return found


def lcs_marks(at: Mapping[str, int], sentences: Sequence[int], words: Sequence[str]) -> int:
    """Positions of a reference, as bits, that one summary sentence marks in any of its sentences.

    `sentences` holds the bits of each reference sentence; between two of them one bit is empty.
    """
    everything = same = sum(sentences)  # bit i: cell (i, j) equals the cell above
    columns: list[tuple[int, int]] = []
    gap = False
    union = 0
    for matches in map(at.get, words):
        if matches is None:
            gap = True
            continue
        if gap:
            columns.append((0, same))
            gap = False
        both = same & matches
        same = ((same + both) | (same - both)) & everything
        columns.append((matches, same))
        union |= matches
    if gap:
        columns.append((0, same))
    columns.reverse()
    marks = 0
    larger = everything & ~same
    for sentence in sentences:
        mine = union & sentence
        if (larger & sentence).bit_count() == mine.bit_count():
            # As many words in the subsequence as positions that match at all: it takes every one of them.
            marks |= mine
            continue
        below = sentence
        for matches, same in columns:
            reach = (matches | ~same) & below
            if not reach:
                break
            top = 1 << (reach.bit_length() - 1)
            if matches & top:
                marks |= top
                below = sentence & (top - 1)
            else:
                below = sentence & ((top << 1) - 1)
    return marks


def _marks_in_order(at: Mapping[str, int], words: Sequence[str]) -> int | None:
    """The marks of both walks when they need no table: shared words stand once on each side, in the same order.

    Then every cell of a match is larger than its neighbours above and to the left, and the walk takes all matches.
    """
    if at.keys().isdisjoint(words):
        return 0
    union = 0
    for matches in map(at.get, words):
        if matches is not None:
            if matches < union or matches & (matches - 1) or matches & union:
                return None
            union |= matches
    return union


def weighted_lcs_marks(at: Mapping[str, int], rows: Sequence[int], words: Sequence[str]) -> int:
    """The same for ROUGE-W in one reference sentence; its table prefers runs of neighbouring words.

    `rows` holds, for each position of the sentence, all positions of its word.
    """
    simple = _marks_in_order(at, words)
    if simple is not None:
        return simple
    # A column is the positions of its word in the reference sentence, 0 for a run of words that it lacks. A row is
    # one position and the positions of its word, so that equal words are equal integers; (0, 0) is a gap.
    columns: list[int] = []
    union = 0
    for matches in map(at.get, words):
        if matches is not None:
            columns.append(matches)
            union |= matches
        elif columns and columns[-1]:
            columns.append(0)
    _extend_weights(union.bit_length())
    chosen: list[tuple[int, int]] = []
    table = [[0.0] * (len(columns) + 1)]
    runs: dict[int, int] = {}
    before = 0
    while union:
        bit = union & -union
        union ^= bit
        if chosen and before << 1 != bit:
            chosen.append((0, 0))
            table.append(list(accumulate(table[-1], max)))
            runs = {}
        matches = rows[bit.bit_length() - 1]
        row, runs = _next_row(matches, columns, table[-1], runs)
        chosen.append((bit, matches))
        table.append(row)
        before = bit
    if before != 1 << (len(rows) - 1):
        chosen.append((0, 0))
        table.append(list(accumulate(table[-1], max)))
    return _walk_back(chosen, columns, table)


def _next_row(
    matches: int, columns: Sequence[int], above: Sequence[float], runs: Mapping[int, int]
) -> tuple[list[float], dict[int, int]]:
    """One row of the table, and the lengths of the runs that end in it by column."""
    row = [0.0]
    append = row.append
    lengths: dict[int, int] = {}
    left = 0.0
    for j, column in enumerate(columns, start=1):
        if column == matches:
            run = runs.get(j - 1, 0)
            # Two operations, in this order: the Perl program's sums to the last bit.
            left = above[j - 1] + _WEIGHTS[run + 1] - _WEIGHTS[run]
            lengths[j] = run + 1
        elif (up := above[j]) >= left:
            left = up
        append(left)
    return row, lengths


def _walk_back(rows: Sequence[tuple[int, int]], columns: Sequence[int], table: Sequence[Sequence[float]]) -> int:
    marks = 0
    i, j = len(rows), len(columns)
    while i and j:
        bit, matches = rows[i - 1]
        if bit and matches == columns[j - 1]:
            marks |= bit
            i -= 1
            j -= 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return marks


def _extend_weights(length: int) -> None:
    if length >= len(_WEIGHTS) - 1:
        _WEIGHTS.extend(float(k) ** WEIGHT for k in range(len(_WEIGHTS), length + 2))
