"""ROUGE-1.5.5, digit for digit: what the Perl program computes, with every text taken apart once.

All summaries of a document are compared with a reference together: its units are numbered once, and what the summaries
have of them is counted in one sweep. Scores come as arrays with a row per summary and a column per count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scoring.metrics.rouge.lcs import MARKS, WEIGHT, WEIGHTED_MARKS, Pattern, weight
from scoring.metrics.rouge.ngrams import SKIP
from scoring.metrics.rouge.texts import Reference, Words
from scoring.texts import Memo

COUNTS = ("1", "2", "3", "4", "l", "w", "s4", "su4")
MEASURES = ("p", "r", "f")

Floats = npt.NDArray[np.float64]


class Hits(NamedTuple):
    """Matched units, and units in the reference and in the summary (weighted for ROUGE-W)."""

    matches: Floats
    reference: Floats
    summary: Floats
    unweighted: Floats
    """ROUGE-W: the reference's base before it is weighted a second time; the best reference is chosen by it."""


class Score(NamedTuple):
    """Precision, recall and F1, each rounded to five digits as the Perl program prints them."""

    p: float
    r: float
    f: float


def compare(reference: Reference, summaries: Sequence[Words], counts: Sequence[str]) -> Hits:
    """Compare summaries with one reference by several counts."""
    matches = _count_matches(reference, summaries, counts)
    length, weighted = len(reference.flat), reference.weighted_length if "w" in counts else 0.0
    reference_bases = [weighted**WEIGHT if count == "w" else base(length, count) for count in counts]
    summary_bases = [[base(len(summary.flat), count) for count in counts] for summary in summaries]
    unit = np.ones_like(matches)
    return Hits(matches, unit * reference_bases, np.array(summary_bases, dtype=np.float64), unit * weighted)


@lru_cache(maxsize=20_000)
def base(length: int, count: str) -> float:
    """How many units a text of that many words has."""
    if count == "l":
        return length
    if count == "w":
        return weight(length)
    if count == "su4":  # without the unigram of the last word, which the Perl program leaves out
        return base(length, "s4") + max(length - 1, 0)
    if count == "s4":
        return sum(range(max(length - SKIP - 1, 0), length))
    return max(length - int(count) + 1, 0)


def _count_matches(reference: Reference, summaries: Sequence[Words], counts: Sequence[str]) -> Floats:
    units = {count: ("s4", "su1") if count == "su4" else (count,) for count in counts if count not in "lw"}
    unit_names = sorted({unit for unit_group in units.values() for unit in unit_group})
    grams = reference.grams.count_matches([summary.flat for summary in summaries], unit_names) if unit_names else {}
    columns = {count: sum(grams[unit] for unit in unit_group) for count, unit_group in units.items()}
    walks = [count for count in counts if count in "lw"]
    if walks:
        rows = [_walked(reference, summary, walks) for summary in summaries]
        columns |= {count: np.array([row[place] for row in rows]) for place, count in enumerate(walks)}
    return np.stack([columns[count] for count in counts], axis=1).astype(np.float64)


_REMEMBERED = 2_000
_WALKED: dict[tuple[tuple[Pattern, ...], tuple[str, ...]], list[float]] = {}


def _walked(reference: Reference, summary: Words, counts: Sequence[str]) -> list[float]:
    """Matches by ROUGE-L and ROUGE-W.

    They depend only on where the summary's words stand in the reference, not on which words they are. That is mostly
    the same for systems that copy the same sentences, and often with and without stemming, so it is remembered.
    """
    patterns = reference.layout.patterns(summary.sentences)
    key = (patterns, tuple(counts))
    matches = _WALKED.get(key)
    if matches is None:
        if len(_WALKED) >= _REMEMBERED:
            _WALKED.clear()
        walk = {"l": _lcs_matches, "w": _weighted_matches}
        matches = _WALKED[key] = [walk[count](reference, summary, patterns) for count in counts]
    return matches


def _united(marks: Memo[Pattern, int], patterns: Sequence[Pattern]) -> int:
    """The positions of the reference that any sentence of the summary marks."""
    return reduce(or_, map(marks.__getitem__, patterns), 0)


def _excess(reference: Reference, summary: Words, marks: int) -> int:
    """Marked words beyond what the summary has of their kind; only words that stand twice in the reference can be."""
    at = reference.layout.at
    beyond = 0
    for word in reference.doubled:
        mark_count = (marks & at[word]).bit_count()
        if mark_count > 1:
            beyond += max(mark_count - summary.flat.count(word), 0)
    return beyond


def _lcs_matches(reference: Reference, summary: Words, patterns: Sequence[Pattern]) -> float:
    # A marked word counts while the summary has one of its kind left. The Perl program also counts down the
    # reference's words, but a reference cannot mark a word more often than it has it.
    marks = _united(MARKS, patterns)
    return marks.bit_count() - _excess(reference, summary, marks)


def _weighted_matches(reference: Reference, summary: Words, patterns: Sequence[Pattern]) -> float:
    marks = _united(WEIGHTED_MARKS, patterns)
    is_clipped = _excess(reference, summary, marks) > 0
    return _clipped_runs(reference, summary, marks) if is_clipped else _runs(marks)


def _runs(marks: int) -> float:
    """The weights of all runs of neighbouring marks, added up from the first to the last."""
    total = 0.0
    while marks:
        low = marks & -marks
        carried = marks + low  # the carry clears the run and sets the bit behind it
        total += weight((carried & -carried).bit_length() - low.bit_length())
        marks &= carried
    return total


def _clipped_runs(reference: Reference, summary: Words, marks: int) -> float:
    """The same where words are used up on the way."""
    words = reference.layout.words
    remaining = Counter(summary.flat)
    total, run, behind = 0.0, 0, 0
    while marks:
        low = marks & -marks
        place = low.bit_length() - 1
        marks ^= low
        word = words[place]
        if place >= behind:  # a new sentence: a run that stayed open is lost
            run = 0
            behind = words.index(None, place)
        if remaining[word] <= 0:  # type: ignore[index]
            # As in the Perl program: a run that ends on a used-up word stays open and is carried on by the
            # sentence's next counted word, or lost with the sentence.
            continue
        remaining[word] -= 1  # type: ignore[index]
        run += 1
        if not marks & (low << 1):
            total += weight(run)
            run = 0
    return total


def score(
    references: Sequence[Reference], summary: Words, counts: Sequence[str], best: bool = False
) -> dict[str, Score]:
    """One summary's scores by several counts."""
    (row,) = score_all(references, [summary], counts, best).tolist()
    return {count: Score(*measures) for count, measures in zip(counts, row, strict=True)}


def score_all(
    references: Sequence[Reference], summaries: Sequence[Words], counts: Sequence[str], best: bool = False
) -> Floats:
    """Summary × count × (P, R, F): hits and bases pooled over references (`-f A`), or those of the best (`-f B`)."""
    hits = [compare(reference, summaries, counts) for reference in references]
    return to_scores(best_of(hits, counts) if best else pool_hits(hits), counts)


def pool_hits(hits: Sequence[Hits]) -> Hits:
    """Hits and bases of several references together."""
    return hits[0] if len(hits) == 1 else Hits(*(np.sum(arrays, axis=0) for arrays in zip(*hits, strict=True)))


def best_of(hits: Sequence[Hits], counts: Sequence[str]) -> Hits:
    """For each summary and count the hits against the reference that `which_best` finds."""
    indices = which_best(hits, counts)[None]
    return Hits(*(np.take_along_axis(np.stack(arrays), indices, axis=0)[0] for arrays in zip(*hits, strict=True)))


def which_best(hits: Sequence[Hits], counts: Sequence[str]) -> npt.NDArray[np.intp]:
    """Which reference the Perl program's `-f B` takes: the first of those with the highest recall."""
    ranks = np.stack([_ranks(reference_hits, counts) for reference_hits in hits])
    best: npt.NDArray[np.intp] = ranks.argmax(axis=0)
    return best


def _ranks(hits: Hits, counts: Sequence[str]) -> Floats:
    """Recall as the Perl program compares references by it."""
    recall = _divided(hits.matches, hits.reference)
    ranks = round_to_five(recall)
    for column, count in enumerate(counts):
        if count == "l":
            ranks[:, column] = recall[:, column]
        elif count == "w":
            ranks[:, column] = _root(_divided(hits.matches[:, column], hits.unweighted[:, column]))
    return ranks


def to_scores(hits: Hits, counts: Sequence[str]) -> Floats:
    """P and R are rounded first, then F is made of the rounded ones."""
    recall = _divided(hits.matches, hits.reference)
    precision = _divided(hits.matches, hits.summary)
    if "w" in counts:
        column = counts.index("w")
        recall[:, column], precision[:, column] = _root(recall[:, column]), _root(precision[:, column])
    recall, precision = round_to_five(recall), round_to_five(precision)
    middle = 0.5 * precision + 0.5 * recall
    return np.stack([precision, recall, round_to_five(_divided(precision * recall, middle))], axis=2)


def _divided(above: Floats, below: Floats) -> Floats:
    """0 where there is nothing above."""
    return np.divide(above, below, out=np.zeros_like(above), where=above > 0)


def _root(values: Floats) -> list[float]:
    # By the C library as Perl does it; numpy's power differs in the last bit.
    return [value ** (1 / WEIGHT) for value in values.tolist()]


def round_to_five(values: Floats) -> Floats:
    """What `round(value, 5)` gives, without its way over decimal text wherever a value is not near a tie."""
    scaled = values * 100_000.0
    nearest = np.floor(scaled + 0.5)
    rounded = nearest / 100_000.0
    for place in np.argwhere(np.abs(scaled - nearest) >= 0.4999):
        rounded[tuple(place)] = round(float(values[tuple(place)]), 5)
    return rounded
