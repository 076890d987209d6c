"""ROUGE-1.5.5, digit for digit: what the Perl program computes, with every text taken apart once.

Each reference is counted once and serves all summaries of its document. A summary's n-grams are only looked up in
those counts, so those that match nothing cost one look-up each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import compress, pairwise
from itertools import count as count_up
from operator import or_
from typing import NamedTuple

from scoring.lcs import MARKS, WEIGHT, WEIGHTED_MARKS, Pattern, weight
from scoring.rouge_texts import SKIP, Gram, Reference, Words

COUNTS = ("1", "2", "3", "4", "l", "w", "s4", "su4")


class Hits(NamedTuple):
    """Matched units, and units in the reference and in the summary (weighted for ROUGE-W)."""

    matched: float
    reference: float
    summary: float
    unweighted: float = 0.0
    """ROUGE-W: the reference's base before it is weighted a second time; the best reference is chosen by it."""


class Score(NamedTuple):
    """Precision, recall and F1, each rounded to five digits as the Perl program prints them."""

    p: float
    r: float
    f: float


def compare(reference: Reference, summary: Words, counts: Sequence[str]) -> Mapping[str, Hits]:
    """Compare one summary with one reference by several counts.

    Hits depend only on where the summary's words stand in the reference, not on which words they are. That is mostly
    the same for systems that copy the same sentences, and often with and without stemming, so it is remembered.
    """
    if not summary.is_split and not {"l", "w"} & set(counts):
        return _compare(reference, summary, counts)  # sentences that nobody asks for need not be found
    key = (reference.layout.patterns(summary.sentences), tuple(counts))
    found = _COMPARED.get(key)
    if found is None:
        if len(_COMPARED) >= _REMEMBERED:
            _COMPARED.clear()
        found = _COMPARED[key] = _compare(reference, summary, counts)
    return found


_REMEMBERED = 2_000
_COMPARED: dict[tuple[tuple[Pattern, ...], tuple[str, ...]], Mapping[str, Hits]] = {}


def _compare(reference: Reference, summary: Words, counts: Sequence[str]) -> dict[str, Hits]:
    """N-grams share their work, and so do S4 and SU4."""
    found = _ngram_hits(reference, summary, [int(count) for count in counts if count.isdigit()])
    for count in counts:
        if count == "l":
            found[count] = _lcs_hits(reference, summary)
        elif count == "w":
            found[count] = _weighted_hits(reference, summary)
        elif count == "s4":
            found[count] = _skip_hits(reference, summary)
        elif count == "su4":
            pairs = found.get("s4") or _skip_hits(reference, summary)
            found[count] = pooled([pairs, _single_hits(reference, summary, found.get("1"))])
    return found


def _ngram_hits(reference: Reference, summary: Words, orders: Sequence[int]) -> dict[str, Hits]:
    """A longer n-gram can only match where the two shorter ones in it do."""
    words = summary.flat
    hits: dict[str, Hits] = {}
    starts: list[int] = []
    found: list[Gram] = []
    for n in range(1, max(orders, default=0) + 1):
        count = str(n)
        known = reference.counts(count)
        if n == 1:
            found = list(filter(known.__contains__, words))
        elif n == 2:
            starts = list(compress(count_up(), map(known.__contains__, pairwise(words)))) if found else []
        elif starts:
            before = set(starts)
            starts = [i for i in starts if i + 1 in before and words[i : i + n] in known]
        if n > 1:
            found = [words[i : i + n] for i in starts]
        if n in orders:
            matched = clipped(found, reference.doubled(count)) if found else 0
            hits[count] = Hits(matched, reference.total(count), summary.total(count))
    return hits


def _skip_hits(reference: Reference, summary: Words) -> Hits:
    """Most words start no pair of the reference; only those that do are looked at with the words behind them."""
    words, followers = summary.flat, reference.followers
    found: list[Gram] = []
    append = found.append
    for place, first in enumerate(map(followers.get, words), start=1):
        if first is not None:
            for second in words[place : place + SKIP + 1]:
                if second in first:
                    append((words[place - 1], second))
    return Hits(clipped(found, reference.doubled("s4")), reference.total("s4"), summary.total("s4"))


def _single_hits(reference: Reference, summary: Words, unigrams: Hits | None) -> Hits:
    """Unigrams of SU4: those of ROUGE-1 without each text's last word, which the Perl program leaves out."""
    ours, theirs = summary.flat, reference.flat
    if not ours or not theirs:
        return Hits(0, reference.total("su1"), summary.total("su1"))
    matched = (unigrams or _ngram_hits(reference, summary, [1])["1"]).matched
    known = reference.counts("1")
    for word in {ours[-1], theirs[-1]}:
        here, there = ours.count(word), known.get(word, 0)
        matched += min(here - (word == ours[-1]), there - (word == theirs[-1])) - min(here, there)
    return Hits(matched, reference.total("su1"), summary.total("su1"))


def clipped(found: list[Gram], doubled: Mapping[Gram, int]) -> int:
    """Matches, each unit at most as often as it stands in the reference; `doubled` are those it has more than once."""
    distinct = set(found)
    matched = len(distinct)
    if matched < len(found):
        for gram in doubled.keys() & distinct:
            matched += min(found.count(gram), doubled[gram]) - 1
    return matched


def united_marks(reference: Reference, summary: Words, weighted: bool) -> int:
    """The positions of the reference that any sentence of the summary marks."""
    find = WEIGHTED_MARKS if weighted else MARKS
    patterns = reference.layout.patterns(summary.sentences)
    return reduce(or_, map(find.__getitem__, patterns), 0)


def _excess(reference: Reference, summary: Words, marks: int) -> int:
    """Marked words beyond what the summary has of their kind; only words that stand twice in the reference can be."""
    at = reference.layout.at
    beyond = 0
    for word in reference.doubled("1"):
        marked = (marks & at[word]).bit_count()  # type: ignore[index]
        if marked > 1:
            beyond += max(marked - summary.flat.count(word), 0)
    return beyond


def _lcs_hits(reference: Reference, summary: Words) -> Hits:
    # A marked word counts while the summary has one of its kind left. The Perl program also counts down the
    # reference's words, but a reference cannot mark a word more often than it has it.
    marks = united_marks(reference, summary, False)
    matched = marks.bit_count() - _excess(reference, summary, marks)
    return Hits(matched, len(reference.flat), len(summary.flat))


def _weighted_hits(reference: Reference, summary: Words) -> Hits:
    marks = united_marks(reference, summary, True)
    clip = _excess(reference, summary, marks)
    matched = _clipped_runs(reference, summary, marks) if clip else _runs(marks)
    base = reference.weighted_length
    return Hits(matched, base**WEIGHT, weight(len(summary.flat)), base)


def _runs(marks: int) -> float:
    """The weights of all runs of neighbouring marks, added up from the first to the last."""
    matched = 0.0
    while marks:
        low = marks & -marks
        filled = marks + low  # the carry clears the run and sets the bit behind it
        matched += weight((filled & -filled).bit_length() - low.bit_length())
        marks &= filled
    return matched


def _clipped_runs(reference: Reference, summary: Words, marks: int) -> float:
    """The same where words are used up on the way."""
    words = reference.layout.words
    left = Counter(summary.flat)
    matched, run, behind = 0.0, 0, 0
    while marks:
        low = marks & -marks
        place = low.bit_length() - 1
        marks ^= low
        word = words[place]
        if place >= behind:  # a new sentence: a run that stayed open is lost
            run = 0
            behind = words.index(None, place)
        if left[word] <= 0:  # type: ignore[index]
            # As in the Perl program: a run that ends on a used-up word stays open and is carried on by the
            # sentence's next counted word, or lost with the sentence.
            continue
        left[word] -= 1  # type: ignore[index]
        run += 1
        if not marks & (low << 1):
            matched += weight(run)
            run = 0
    return matched


def score(
    references: Sequence[Reference], summary: Words, counts: Sequence[str], best: bool = False
) -> dict[str, Score]:
    """Several counts against all references: hits and bases pooled (`-f A`), or those of the best one (`-f B`)."""
    if len(references) == 1:
        return {count: to_score(found, count) for count, found in compare(references[0], summary, counts).items()}
    tables = [compare(reference, summary, counts) for reference in references]
    scores = {}
    for count in counts:
        hits = [table[count] for table in tables]
        scores[count] = to_score(hits[best_of(hits, count)] if best else pooled(hits), count)
    return scores


def pooled(found: Sequence[Hits]) -> Hits:
    """Hits and bases of several references together."""
    return Hits(
        sum(one.matched for one in found),
        sum(one.reference for one in found),
        sum(one.summary for one in found),
    )


def best_of(found: Sequence[Hits], count: str) -> int:
    """Which reference the Perl program's `-f B` takes: the first of those with the highest recall."""
    ranks = [_rank(one, count) for one in found]
    return ranks.index(max(ranks))


def to_score(found: Hits, count: str) -> Score:
    """P and R are rounded first, then F is made of the rounded ones."""
    matched, reference, summary, _ = found
    if not matched:
        return _NOTHING
    recall = matched / reference
    precision = matched / summary
    if count == "w":
        recall, precision = recall ** (1 / WEIGHT), precision ** (1 / WEIGHT)
    recall, precision = round_to_five(recall), round_to_five(precision)
    middle = 0.5 * precision + 0.5 * recall
    return Score(precision, recall, round_to_five(precision * recall / middle) if middle > 0 else 0.0)


_NOTHING = Score(0.0, 0.0, 0.0)


def round_to_five(value: float) -> float:
    """What `round(value, 5)` gives, without its way over decimal text wherever the value is not near a tie."""
    scaled = value * 100_000.0
    whole = int(scaled + 0.5)
    return whole / 100_000.0 if abs(scaled - whole) < 0.4999 else round(value, 5)


def _rank(found: Hits, count: str) -> float:
    """Recall as the Perl program compares references by it."""
    if not found.reference:
        return 0.0
    if count == "w":
        return float((found.matched / found.unweighted) ** (1 / WEIGHT))
    recall = found.matched / found.reference
    return recall if count == "l" else round(recall, 5)
