"""Clipped matches of n-grams and skip bigrams, for all summaries of a document at once.

Words become their numbers in the reference, and an n-gram becomes the number of a pair of shorter ones, so that one
look-up per reference serves every summary. Words that the reference lacks drop out at the first step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

SKIP = 4
"""How many words may stand between the two of a skip bigram."""
_REACH = np.arange(1, SKIP + 2)
_LACKING = -1
_SMALL = 200_000
"""Cells of a table of all units by all summaries that is still cheaper than sorting what was found."""


class PairIndex(NamedTuple):
    """The distinct pairs of a reference in the order of their codes, and how often each stands there."""

    codes: Numbers
    counts: Numbers
    places: Numbers
    """The reference's own pairs, as places in the index."""

    def find(self, codes: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """For each code its place in the index, and whether it is there at all."""
        if not len(self.codes):
            return codes, np.zeros(len(codes), dtype=bool)
        places = np.searchsorted(self.codes, codes)
        places[places == len(self.codes)] = 0
        return places, self.codes[places] == codes


def _index_pairs(codes: Numbers) -> PairIndex:
    # What np.unique does, without the detours that cost more than the work itself on texts of this size.
    order = codes.argsort(kind="stable")
    ranked = codes[order]
    is_new = np.ones(len(codes), dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=is_new[1:])
    places = np.empty_like(codes)
    places[order] = is_new.cumsum() - 1
    return PairIndex(ranked[is_new], np.bincount(places), places)


class Grams:
    """The units of a reference."""

    def __init__(self, words: Sequence[str]) -> None:
        self._numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        self._size = len(self._numbers)
        numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
        self._orders = [PairIndex(np.arange(self._size), np.bincount(numbers, minlength=self._size), numbers)]

    def _order(self, n: int) -> PairIndex:
        """N-grams as pairs of those one word shorter."""
        while len(self._orders) < n:
            before = self._orders[-1]
            self._orders.append(_index_pairs(before.places[:-1] * len(before.codes) + before.places[1:]))
        return self._orders[n - 1]

    @cached_property
    def _skips(self) -> PairIndex:
        words = self._orders[0].places
        pairs = [words[:-k] * self._size + words[k:] for k in _REACH.tolist() if k < len(words)]
        return _index_pairs(np.concatenate(pairs) if pairs else words[:0])

    def count_matches(self, summaries: Sequence[Sequence[str]], counts: Sequence[str]) -> dict[str, Numbers]:
        """Matches of each summary by each count, every unit at most as often as the reference has it.

        `su1` are the unigrams of SU4: the Perl program leaves out each text's last word.
        """
        rows = _Rows(self._numbers, summaries)
        matches: dict[str, Numbers] = {}
        places, grams = rows.places, rows.words[rows.places]
        for n in range(1, max([int(count) for count in counts if count.isdigit()], default=0) + 1):
            index = self._order(n)
            if n > 1:
                follow = np.flatnonzero(places[1:] == places[:-1] + 1)
                codes = grams[follow] * len(self._order(n - 1).codes) + grams[follow + 1]
                grams, is_found = index.find(codes)
                places, grams = places[follow[is_found]], grams[is_found]
            matches[str(n)] = rows.clip(places, grams, index.counts)
        if "su1" in counts:
            matches["su1"] = self._without_last(rows)
        if "s4" in counts:
            matches["s4"] = self._skipping(rows)
        return matches

    def _without_last(self, rows: _Rows) -> Numbers:
        without_last = rows.words.copy()
        without_last[rows.lasts] = _LACKING
        places = np.flatnonzero(without_last != _LACKING)
        index = self._orders[0]
        counts = index.counts.copy()
        counts[index.places[-1:]] -= 1
        return rows.clip(places, rows.words[places], counts)

    def _skipping(self, rows: _Rows) -> Numbers:
        seconds = rows.words[rows.places[:, None] + _REACH]
        starts, steps = np.nonzero(seconds != _LACKING)
        codes = rows.words[rows.places[starts]] * self._size + seconds[starts, steps]
        grams, is_found = self._skips.find(codes)
        return rows.clip(rows.places[starts[is_found]], grams[is_found], self._skips.counts)


class _Rows:
    """Several summaries in one row, so far apart that no unit reaches from one into the next."""

    def __init__(self, numbers: dict[str, int], summaries: Sequence[Sequence[str]]) -> None:
        gap = [""] * (SKIP + 1)
        self._size = len(summaries)
        lengths = np.fromiter(map(len, summaries), np.int64, self._size)
        row = list(chain.from_iterable(chain.from_iterable(zip(summaries, repeat(gap)))))
        self.words = np.fromiter(map(numbers.get, row, repeat(_LACKING)), np.int64, len(row))
        """The number of each word in the reference."""
        self.places = np.flatnonzero(self.words != _LACKING)
        """Where words stand that the reference has."""
        self._owners = np.repeat(np.arange(self._size), lengths + len(gap))
        ends = np.cumsum(lengths + len(gap)) - len(gap)
        self.lasts = (ends - 1)[lengths > 0]
        """Where the last word of each summary stands."""

    def clip(self, places: Numbers, grams: Numbers, counts: Numbers) -> Numbers:
        """Per summary, its units that match, each at most as often as the reference has it."""
        kinds = max(len(counts), 1)
        keys = self._owners[places] * kinds + grams
        if self._size * kinds <= _SMALL:
            table = np.bincount(keys, minlength=self._size * kinds).reshape(self._size, kinds)
            match_counts: Numbers = np.minimum(table[:, : len(counts)], counts).sum(axis=1)
            return match_counts
        distinct, times = np.unique(keys, return_counts=True)
        owners, grams = np.divmod(distinct, kinds)
        return np.bincount(owners, np.minimum(times, counts[grams]), self._size).astype(np.int64)
