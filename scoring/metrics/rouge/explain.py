"""How a ROUGE score came about: the matched n-grams, or the common subsequence, in both texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.explain.explanation import Passage, Span, Unit, merge
from scoring.metrics.rouge.lcs import weight
from scoring.metrics.rouge.ngrams import SKIP
from scoring.metrics.rouge.perl155 import Hits, Score, to_scores
from scoring.metrics.rouge.perl155 import compare as compare_words
from scoring.metrics.rouge.texts import Reference, Words
from scoring.metrics.rouge.wordlists import smart_stop_words, stemmer
from scoring.texts import Text, sentences

_WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class Word:
    """A word as it is compared, and where it stands."""

    unit: str
    start: int
    end: int
    sentence: int


@dataclass(frozen=True)
class Located:
    """A text as it is shown, with the words that take part."""

    text: str
    words: tuple[Word, ...]

    def sentence(self, number: int) -> list[int]:
        """Indices of the words of one sentence."""
        return [i for i, word in enumerate(self.words) if word.sentence == number]

    @property
    def sentences(self) -> int:
        return self.words[-1].sentence + 1 if self.words else 0


def locate(text: Text, stem: str, stop: bool, split: str) -> Located:
    """Find the words of a text that ROUGE compares, with their places."""
    shown = text if isinstance(text, str) else "\n".join(text)
    starts = _sentence_starts(shown, sentences(text, split))
    change = stemmer(stem)
    left_out = smart_stop_words() if stop else frozenset()
    words = []
    for found in _WORD.finditer(shown):
        word = found.group().lower()
        if word not in left_out:
            number = bisect_right(starts, found.start()) - 1
            words.append(Word(change(word), found.start(), found.end(), max(number, 0)))
    return Located(shown, tuple(words))


def _sentence_starts(shown: str, found: Sequence[str]) -> list[int]:
    starts, place = [], 0
    for sentence in found:
        at = shown.find(sentence, place)
        at = place if at < 0 else at
        starts.append(at)
        place = at + len(sentence)
    return starts


@dataclass(frozen=True)
class Compared:
    """One reference compared with the summary: what matched, where."""

    hits: Hits
    units: tuple[Unit, ...]
    summary: tuple[Span, ...]
    reference: tuple[Span, ...]


def compare(count: str, summary: Located, reference: Located, plain: tuple[Words, Reference], title: str) -> Compared:
    """Matches of one count between two located texts; the number itself comes from the scorer."""
    found = compare_words(plain[1], [plain[0]], [count])
    if count in "lw":
        ours, theirs = _lcs_places(summary, reference, count == "w")
        spans = [merge([_span(text, (i,), "lcs") for i in places])
                 for text, places in ((summary, ours), (reference, theirs))]  # fmt: skip
        units = _count_units([summary.words[i].unit for i in ours], summary, reference, title)
        return Compared(found, units, spans[0], spans[1])
    ours_grams, their_grams = _grams(summary, count), _grams(reference, count)
    ours_counted = Counter(gram for gram, _ in ours_grams)
    theirs_counted = Counter(gram for gram, _ in their_grams)
    matched = ours_counted & theirs_counted
    names = dict.fromkeys([gram for gram, _ in their_grams] + [gram for gram, _ in ours_grams])
    units = tuple(Unit(g, ours_counted[g], theirs_counted[g], matched[g], title) for g in names)
    return Compared(found, units, _mark(summary, ours_grams, matched), _mark(reference, their_grams, matched))


def arithmetic(count: str, part: str, found: Hits, how: str) -> list[str]:
    """The way from hits to the score, in sentences."""
    score = Score(*to_scores(found, [count])[0, 0].tolist())
    matched, theirs, ours = (float(numbers[0, 0]) for numbers in found[:3])
    root = ", to the power 1/1.2" if count == "w" else ""
    recall = f"Recall = {matched:g} / {theirs:g}{root} = {score.r:.5f}."
    precision = f"Precision = {matched:g} / {ours:g}{root} = {score.p:.5f}."
    steps = [f"{how}: {matched:g} matched, {theirs:g} in the reference, {ours:g} in the summary."]
    if part in "rf":
        steps.append(recall)
    if part in "pf":
        steps.append(precision)
    if part == "f":
        steps.append(f"F = P · R / (P / 2 + R / 2) = {score.f:.5f}.")
    return steps


def walk(reference: Sequence[str], summary: Sequence[str], weighted: bool) -> list[tuple[int, int]]:
    """Pairs of places that the Perl program's table and walk match; the plain way, for one pair of sentences."""
    rows, columns = len(reference), len(summary)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    run = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if reference[i - 1] == summary[j - 1]:
                k = run[i - 1][j - 1] if weighted else 0
                best[i][j] = best[i - 1][j - 1] + weight(k + 1) - weight(k)
                run[i][j] = k + 1
            else:
                best[i][j] = max(best[i - 1][j], best[i][j - 1])
    pairs, i, j = [], rows, columns
    while i and j:
        if reference[i - 1] == summary[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif best[i - 1][j] >= best[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return pairs


def _lcs_places(summary: Located, reference: Located, weighted: bool) -> tuple[list[int], list[int]]:
    """Words of both texts that stand in the united subsequences, each of the summary's words used once."""
    left = Counter(word.unit for word in summary.words)
    ours: set[int] = set()
    theirs: list[int] = []
    for number in range(reference.sentences):
        rows = reference.sentence(number)
        marked: dict[int, list[int]] = {}
        for other in range(summary.sentences):
            columns = summary.sentence(other)
            pairs = walk([reference.words[i].unit for i in rows], [summary.words[j].unit for j in columns], weighted)
            for i, j in pairs:
                marked.setdefault(rows[i], []).append(columns[j])
        for place in sorted(marked):
            unit = reference.words[place].unit
            if left[unit] > 0:
                left[unit] -= 1
                theirs.append(place)
                free = [j for j in marked[place] if j not in ours]
                ours.update(free[:1])
    return sorted(ours), theirs


def _grams(text: Located, count: str) -> list[tuple[str, tuple[int, ...]]]:
    """Each unit with the words it is made of."""
    n = len(text.words)
    if count in ("s4", "su4"):
        groups = [(i, j) for i in range(n) for j in range(i + 1, min(i + SKIP + 2, n))]
        places: list[tuple[int, ...]] = [*groups]
        if count == "su4":
            places += [(i,) for i in range(n - 1)]
    else:
        size = int(count)
        places = [tuple(range(i, i + size)) for i in range(n - size + 1)]
    return [(" ".join(text.words[i].unit for i in group), group) for group in places]


def _mark(text: Located, grams: Sequence[tuple[str, tuple[int, ...]]], matched: Counter[str]) -> tuple[Span, ...]:
    """Stretches of matched units; of a unit that stands more often than it counts, the first ones."""
    left = Counter(matched)
    spans = []
    for gram, group in grams:
        if left[gram] > 0:
            left[gram] -= 1
            whole = group[-1] - group[0] == len(group) - 1
            spans += [_span(text, group)] if whole else [_span(text, (i,)) for i in group]
    return merge(spans)


def _span(text: Located, group: Sequence[int], kind: str = "match") -> Span:
    return Span(text.words[group[0]].start, text.words[group[-1]].end, kind)


def _count_units(found: Sequence[str], summary: Located, reference: Located, title: str) -> tuple[Unit, ...]:
    ours = Counter(word.unit for word in summary.words)
    theirs = Counter(word.unit for word in reference.words)
    return tuple(Unit(unit, ours[unit], theirs[unit], times, title) for unit, times in Counter(found).items())


def passage(title: str, text: Located, spans: Sequence[Span]) -> Passage:
    return Passage(title, text.text, merge(list(spans)))
