"""ROUGE-1.5.5, digit for digit: what the Perl program computes, with every text taken apart once.

Each reference is counted once and serves all summaries of its document. A summary's n-grams are only looked up in
those counts, so those that match nothing cost one look-up each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, filterfalse, pairwise
from operator import add, or_
from typing import NamedTuple

from scoring.lcs import WEIGHT, lcs_marks, positions, weight, weighted_lcs_marks
from scoring.texts import Text, joined, rouge_words, sentences
from scoring.wordlists import smart_stop_words, stemmer

COUNTS = ("1", "2", "3", "4", "l", "w", "s4", "su4")
SKIP = 4
"""How many words may stand between the two of a skip bigram."""

Gram = tuple[str, ...] | str


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


class Words:
    """One text under one set of options: its sentences as words, its counts, each made when first asked for."""

    def __init__(self, text: Text, stem: str = "no", stop: bool = False, split: str = "auto") -> None:
        self._text, self._split = text, split
        self._stem = None if stem == "no" else stemmer(stem)
        self._stop = smart_stop_words() if stop else None
        self._counts: dict[str, Mapping[Gram, int]] = {}
        self._sentences: list[tuple[str, ...]] | None = None
        split_up = not isinstance(text, str)
        self.flat = tuple(chain.from_iterable(self.sentences)) if split_up else self._select(rouge_words(joined(text)))
        """All words in one row: n-grams reach over the ends of sentences, as in the Perl program."""

    def _select(self, words: tuple[str, ...]) -> tuple[str, ...]:
        # Stop words go before stemming, so a stem that looks like a stop word stays.
        if self._stop is not None:
            words = tuple(filterfalse(self._stop.__contains__, words))
        return words if self._stem is None else tuple(map(self._stem, words))

    @property
    def sentences(self) -> list[tuple[str, ...]]:
        if self._sentences is None:
            self._sentences = [self._select(rouge_words(text)) for text in sentences(self._text, self._split)]
        return self._sentences

    def grams(self, count: str) -> Iterable[Gram]:
        """The units that a count compares."""
        words = self.flat
        if count == "1":
            return words
        if count == "su1":
            # Unigrams of SU4: the Perl program's loop leaves out the last word.
            return words[:-1]
        if count == "s4":
            return chain.from_iterable(zip(words, words[k:], strict=False) for k in range(1, SKIP + 2))
        return zip(*(words[k:] for k in range(int(count))), strict=False)

    def total(self, count: str) -> int:
        """How many units there are."""
        n = len(self.flat)
        if count == "su1":
            return max(n - 1, 0)
        if count == "s4":
            return sum(max(n - k, 0) for k in range(1, SKIP + 2))
        return max(n - int(count) + 1, 0)

    def counts(self, count: str) -> Mapping[Gram, int]:
        if count not in self._counts:
            self._counts[count] = Counter(self.grams(count))
        return self._counts[count]


class Reference(Words):
    """A reference, with what its sentences need for the LCS counts and the marks found so far."""

    def __init__(self, text: Text, stem: str = "no", stop: bool = False, split: str = "auto") -> None:
        super().__init__(text, stem, stop, split)
        self._doubled: dict[str, Mapping[Gram, int]] = {}
        self._marks: dict[tuple[str, ...], int] = {}
        self._weighted: dict[tuple[str, ...], int] = {}

    def doubled(self, count: str) -> Mapping[Gram, int]:
        """The units that stand more than once, with their counts."""
        if count not in self._doubled:
            self._doubled[count] = {gram: n for gram, n in self.counts(count).items() if n > 1}
        return self._doubled[count]

    @cached_property
    def layout(self) -> Layout:
        return lay_out([words for words in self.sentences if words])

    def marks(self, words: tuple[str, ...]) -> int:
        """Marks of one summary sentence in all of our sentences; systems share many sentences."""
        found = self._marks.get(words)
        if found is None:
            found = self._marks[words] = lcs_marks(self.layout.at, self.layout.bits, words)
        return found

    def weighted_marks(self, words: tuple[str, ...]) -> int:
        """The same for ROUGE-W: it differs only in sentences that share a pair of neighbouring words."""
        found = self._weighted.get(words)
        if found is None:
            found = self.marks(words)
            layout = self.layout
            shared = filter(layout.pairs.__contains__, pairwise(words))
            for number in {number for pair in shared for number in layout.pairs[pair]}:
                own = weighted_lcs_marks(*layout.own[number], words)
                found = found & ~layout.bits[number] | own << layout.starts[number]
            self._weighted[words] = found
        return found


@dataclass(frozen=True)
class Layout:
    """The sentences of a reference as positions of one row, with an empty position behind each."""

    words: tuple[str | None, ...]
    at: dict[str, int]
    """Bits of all positions of a word."""
    bits: tuple[int, ...]
    """Bits of each sentence."""
    starts: tuple[int, ...]
    own: tuple[tuple[dict[str, int], list[int]], ...]
    """For each sentence, bits of a word's positions inside it, by word and by position."""
    pairs: dict[tuple[str, str], list[int]]
    """Sentences that hold a pair of neighbouring words."""


def lay_out(rows: Sequence[tuple[str, ...]]) -> Layout:
    words: list[str | None] = []
    starts, bits = [], []
    pairs: dict[tuple[str, str], list[int]] = {}
    for number, row in enumerate(rows):
        starts.append(len(words))
        bits.append(((1 << len(row)) - 1) << len(words))
        words += [*row, None]
        for pair in set(pairwise(row)):
            pairs.setdefault(pair, []).append(number)
    own = tuple((at, [at[word] for word in row]) for row in rows for at in [positions(row)])
    return Layout(tuple(words), positions(words), tuple(bits), tuple(starts), own, pairs)


def compare(reference: Reference, summary: Words, counts: Sequence[str]) -> dict[str, Hits]:
    """Compare one summary with one reference by several counts; n-grams share their work, and so do S4 and SU4."""
    found = _ngram_hits(reference, summary, [int(count) for count in counts if count.isdigit()])
    for count in counts:
        if count == "l":
            found[count] = _lcs_hits(reference, summary)
        elif count == "w":
            found[count] = _weighted_hits(reference, summary)
        elif count == "s4":
            found[count] = _gram_hits(reference, summary, "s4")
        elif count == "su4":
            pairs = found.get("s4") or _gram_hits(reference, summary, "s4")
            found[count] = pooled([pairs, _gram_hits(reference, summary, "su1")])
    return found


def _ngram_hits(reference: Reference, summary: Words, orders: Sequence[int]) -> dict[str, Hits]:
    """A longer n-gram can only match where the two shorter ones in it do."""
    words = summary.flat
    hits: dict[str, Hits] = {}
    starts = list(range(len(words)))
    for n in range(1, max(orders, default=0) + 1):
        count = str(n)
        known = reference.counts(count)
        if n == 1:
            starts = [i for i in starts if words[i] in known]
            found: list[Gram] = [words[i] for i in starts]
        elif starts:
            before = set(starts)
            starts = [i for i in starts if i + 1 in before and words[i : i + n] in known]
            found = [words[i : i + n] for i in starts]
        if n in orders:
            matched = clipped(found, reference.doubled(count)) if starts else 0
            hits[count] = Hits(matched, reference.total(count), summary.total(count))
    return hits


def _gram_hits(reference: Reference, summary: Words, count: str) -> Hits:
    found = list(filter(reference.counts(count).__contains__, summary.grams(count)))
    return Hits(clipped(found, reference.doubled(count)), reference.total(count), summary.total(count))


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
    find = reference.weighted_marks if weighted else reference.marks
    return reduce(or_, map(find, summary.sentences), 0)


def _lcs_hits(reference: Reference, summary: Words) -> Hits:
    # A marked word counts while the summary has one of its kind left, so only words that the reference has more than
    # once can count too often. The Perl program also counts down the reference's words, but a reference cannot mark
    # a word more often than it has it.
    marks = united_marks(reference, summary, False)
    matched = marks.bit_count()
    at = reference.layout.at
    for word in reference.doubled("1"):
        marked = (marks & at[word]).bit_count()  # type: ignore[index]
        if marked > 1:
            matched -= max(marked - summary.flat.count(word), 0)
    return Hits(matched, len(reference.flat), len(summary.flat))


def _weighted_hits(reference: Reference, summary: Words) -> Hits:
    layout = reference.layout
    marks = united_marks(reference, summary, True)
    left = dict(summary.counts("1"))
    matched, run, behind = 0.0, 0, 0
    while marks:
        low = marks & -marks
        place = low.bit_length() - 1
        marks ^= low
        word = layout.words[place]
        if place >= behind:  # a new sentence: a run that stayed open is lost
            run = 0
            behind = layout.words.index(None, place)
        if left[word] <= 0:  # type: ignore[index]
            # As in the Perl program: a run that ends on a used-up word stays open and is carried on by the
            # sentence's next counted word, or lost with the sentence.
            continue
        left[word] -= 1  # type: ignore[index]
        run += 1
        if not marks & (low << 1):
            matched += weight(run)
            run = 0
    base = reduce(add, (weight(len(row)) for row in reference.sentences if row), 0.0)
    return Hits(matched, base**WEIGHT, weight(len(summary.flat)), base)


def score(
    references: Sequence[Reference], summary: Words, counts: Sequence[str], best: bool = False
) -> dict[str, Score]:
    """Several counts against all references: hits and bases pooled (`-f A`), or those of the best one (`-f B`)."""
    tables = [compare(reference, summary, counts) for reference in references]
    scores = {}
    for count in counts:
        found = [table[count] for table in tables]
        if len(found) > 1:
            found = [found[best_of(found, count)]] if best else [pooled(found)]
        scores[count] = to_score(found[0], count)
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
