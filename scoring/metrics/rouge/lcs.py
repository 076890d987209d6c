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

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from scoring.texts import Memo

WEIGHT = 1.2
"""ROUGE-W's exponent, `-w 1.2`."""

_WEIGHTS: list[float] = [float(k) ** WEIGHT for k in range(4096)]


def weight(length: int) -> float:
    """The weight of a run of matched words."""
    return _WEIGHTS[length] if length < len(_WEIGHTS) else float(float(length) ** WEIGHT)


def positions(words: Sequence[str | None]) -> dict[str, int]:
    """For each word, an integer with a bit at each of its positions; None leaves a position empty."""
    bits_by_word: dict[str, int] = {}
    bit = 1
    for word in words:
        if word is not None:
            bits_by_word[word] = bits_by_word.get(word, 0) | bit
        bit <<= 1
    return bits_by_word


Pattern = tuple[tuple[int, ...], tuple[int | None, ...]]
"""All that the walks look at: the bits of each reference sentence, between two of which one bit is empty, and for each
word of a summary sentence the bits of its positions in the reference, None for a word that the reference lacks."""


def find_marks(pattern: Pattern) -> int:
    """Positions of a reference, as bits, that one summary sentence marks in any of its sentences."""
    sentences, words = pattern
    everything = equal_above = sum(sentences)  # bit i: cell (i, j) equals the cell above
    columns: list[tuple[int, int]] = []
    gap = False
    union = 0
    for matches in words:
        if matches is None:
            gap = True
            continue
        if gap:
            columns.append((0, equal_above))
            gap = False
        shared_bits = equal_above & matches
        equal_above = ((equal_above + shared_bits) | (equal_above - shared_bits)) & everything
        columns.append((matches, equal_above))
        union |= matches
    if gap:
        columns.append((0, equal_above))
    columns.reverse()
    marks = 0
    larger = everything & ~equal_above
    for sentence in sentences:
        matched_bits = union & sentence
        if (larger & sentence).bit_count() == matched_bits.bit_count():
            # As many words in the subsequence as positions that match at all: it takes every one of them.
            marks |= matched_bits
        else:
            marks |= _walk_columns(columns, sentence)
    return marks


def _walk_columns(columns: Sequence[tuple[int, int]], sentence: int) -> int:
    marks = 0
    below = sentence
    for matches, equal_above in columns:
        reach = (matches | ~equal_above) & below
        if not reach:
            break
        top = 1 << (reach.bit_length() - 1)
        if matches & top:
            marks |= top
            below = sentence & (top - 1)
        else:
            below = sentence & ((top << 1) - 1)
    return marks


def find_weighted_marks(pattern: Pattern) -> int:
    """The same for ROUGE-W, whose table prefers runs of neighbouring words; it differs only where there are any."""
    sentences, words = pattern
    marks = MARKS[pattern]
    neighbours = 0
    before = 0
    for matches in words:
        matches = matches or 0
        neighbours |= before << 1 & matches
        before = matches
    for sentence in sentences:
        if neighbours & sentence:
            marks = marks & ~sentence | _weighted_sentence(sentence, words)
    return marks


MARKS: Memo[Pattern, int] = Memo(find_marks, limit=10_000)
WEIGHTED_MARKS: Memo[Pattern, int] = Memo(find_weighted_marks, limit=10_000)
"""Walks are remembered by their pattern: which words they are doesn't matter, and with and without stemming it is
mostly the same."""


def _weighted_sentence(sentence: int, words: Sequence[int | None]) -> int:
    """Marks of the weighted walk in one reference sentence."""
    # A column is the positions of its word in the reference sentence, 0 for a run of words that it lacks.
    columns: list[int] = []
    union = 0
    in_order = True
    for word_bits in words:
        matches = word_bits & sentence if word_bits else 0
        if matches:
            if matches <= union or matches & (matches - 1):
                in_order = False
            columns.append(matches)
            union |= matches
        elif columns and columns[-1]:
            columns.append(0)
    if in_order:
        # Shared words stand once on each side and in the same order: every cell of a match is larger than its
        # neighbours above and to the left, and the walk takes all matches.
        return union
    return _weighted_walk(columns, sentence)


def _weighted_walk(columns: Sequence[int], sentence: int) -> int:
    _extend_weights(len(columns))
    places: dict[int, list[int]] = {}
    for j, matches in enumerate(columns, start=1):
        places.setdefault(matches, []).append(j)
    places.pop(0, None)
    table_rows: list[tuple[int, int]] = []
    table = [[0.0] * (len(columns) + 1)]
    runs: dict[int, int] = {}
    rising = True
    before = 0
    for bit, matches in _rows(places):
        if table_rows and before << 1 != bit:
            table_rows.append((0, 0))
            table.append(table[-1] if rising else list(accumulate(table[-1], max)))
            runs, rising = {}, True
        row, runs, rising = _next_row(places[matches], table[-1], runs, rising)
        table_rows.append((bit, matches))
        table.append(row)
        before = bit
    if before << 1 & sentence:
        table_rows.append((0, 0))
        table.append(list(accumulate(table[-1], max)))
    return _walk_back(table_rows, columns, table)


def _rows(match_sets: Iterable[int]) -> list[tuple[int, int]]:
    """Each shared position in order, with all positions of its word."""
    rows = []
    for matches in match_sets:
        remaining = matches
        while remaining:
            low = remaining & -remaining
            rows.append((low, matches))
            remaining ^= low
    rows.sort()
    return rows


def _next_row(
    places: Sequence[int], above: list[float], runs: Mapping[int, int], rising: bool
) -> tuple[list[float], dict[int, int], bool]:
    """One row of the table, the lengths of the runs that end in it by column, and whether it never falls.

    `places` are the columns that match. Elsewhere a cell is the larger of the one above and the one to the left:
    where the row above never falls, that is the one above until a match has put something larger to the left.
    """
    row = above.copy() if rising else list(accumulate(above, max))
    lengths: dict[int, int] = {}
    is_rising = True
    ends = [*places[1:], len(above)]
    for j, end in zip(places, ends, strict=True):
        run = runs.get(j - 1, 0)
        # Two operations, in this order: the Perl program's sums to the last bit.
        value = above[j - 1] + _WEIGHTS[run + 1] - _WEIGHTS[run]
        lengths[j] = run + 1
        is_rising = is_rising and value >= row[j - 1]
        row[j] = value
        for k in range(j + 1, end):
            up = above[k]
            if up >= value:
                if rising:
                    break
                value = up
            row[k] = value
    return row, lengths, is_rising


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
