"""Texts as ROUGE-1.5.5 sees them, taken apart once for all counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, filterfalse
from operator import add

from scoring.metrics.rouge.lcs import Pattern, positions, weight
from scoring.metrics.rouge.ngrams import Grams
from scoring.metrics.rouge.wordlists import smart_stop_words, stemmer
from scoring.texts import Text, joined, rouge_words, sentences


class Words:
    """One text under one set of options: its sentences as words, its counts, each made when first asked for."""

    def __init__(self, text: Text, stem: str = "no", stop: bool = False, split: str = "auto") -> None:
        self._text, self._split = text, split
        self._stem = None if stem == "no" else stemmer(stem)
        self._stop = smart_stop_words() if stop else None
        self._sentences: list[tuple[str, ...]] | None = None
        self.is_split = not isinstance(text, str)
        """Whether its sentences were given."""
        self.flat = (
            tuple(chain.from_iterable(self.sentences)) if self.is_split else self._select(rouge_words(joined(text)))
        )
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


class Reference(Words):
    """A reference, with what its sentences need for the LCS counts and the marks found so far."""

    @cached_property
    def grams(self) -> Grams:
        return Grams(self.flat)

    @cached_property
    def doubled(self) -> list[str]:
        """The words that stand more than once."""
        return [word for word, count in Counter(self.flat).items() if count > 1]

    @cached_property
    def layout(self) -> Layout:
        return lay_out([words for words in self.sentences if words])

    @cached_property
    def weighted_length(self) -> float:
        """The base of ROUGE-W: the weights of all sentences, added up in order."""
        return reduce(add, (weight(len(row)) for row in self.sentences if row), 0.0)


@dataclass(frozen=True)
class Layout:
    """The sentences of a reference as positions of one row, with an empty position behind each."""

    words: tuple[str | None, ...]
    at: dict[str, int]
    """Bits of all positions of a word."""
    bits: tuple[int, ...]
    """Bits of each sentence."""

    def pattern(self, words: tuple[str, ...]) -> Pattern:
        return self.bits, tuple(map(self.at.get, words))

    def patterns(self, rows: Sequence[tuple[str, ...]]) -> tuple[Pattern, ...]:
        """Where the words of a summary's sentences stand."""
        return tuple([self.pattern(words) for words in rows])


def lay_out(rows: Sequence[tuple[str, ...]]) -> Layout:
    """Put sentences that have words into one row."""
    words: list[str | None] = []
    bits = []
    for row in rows:
        bits.append(((1 << len(row)) - 1) << len(words))
        words += [*row, None]
    return Layout(tuple(words), positions(words), tuple(bits))
