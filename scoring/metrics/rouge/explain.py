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
from scoring.texts import Text, in_lines, sentences

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
    full_text = in_lines(text)
    starts = _sentence_starts(full_text, sentences(text, split))
    change = stemmer(stem)
    left_out = smart_stop_words() if stop else frozenset()
    words = []
    for match in _WORD.finditer(full_text):
        word = match.group().lower()
        if word not in left_out:
            number = bisect_right(starts, match.start()) - 1
            words.append(Word(change(word), match.start(), match.end(), max(number, 0)))
    return Located(full_text, tuple(words))


def _sentence_starts(text: str, split_sentences: Sequence[str]) -> list[int]:
    starts, place = [], 0
    for sentence in split_sentences:
        at = text.find(sentence, place)
        at = place if at < 0 else at
        starts.append(at)
        place = at + len(sentence)
    return starts


@dataclass(frozen=True)
class Comparison:
    """One reference compared with the summary: what matched, where."""

    hits: Hits
    units: tuple[Unit, ...]
    summary: tuple[Span, ...]
    reference: tuple[Span, ...]


def compare(count: str, summary: Located, reference: Located, plain: tuple[Words, Reference], title: str) -> Comparison:
    """Matches of one count between two located texts; the number itself comes from the scorer."""
    hits = compare_words(plain[1], [plain[0]], [count])
    if count in "lw":
        summary_places, reference_places = _lcs_places(summary, reference, count == "w")
        spans = [merge([_span(text, (i,), "lcs") for i in places])
                 for text, places in ((summary, summary_places), (reference, reference_places))]  # fmt: skip
        units = _count_units([summary.words[i].unit for i in summary_places], summary, reference, title)
        return Comparison(hits, units, spans[0], spans[1])
    summary_grams, reference_grams = _grams(summary, count), _grams(reference, count)
    summary_counts = Counter(gram for gram, _ in summary_grams)
    reference_counts = Counter(gram for gram, _ in reference_grams)
    shared = summary_counts & reference_counts
    names = dict.fromkeys([gram for gram, _ in reference_grams] + [gram for gram, _ in summary_grams])
    units = tuple(Unit(g, summary_counts[g], reference_counts[g], shared[g], title) for g in names)
    return Comparison(hits, units, _mark(summary, summary_grams, shared), _mark(reference, reference_grams, shared))


def arithmetic(count: str, measure: str, hits: Hits, introduction: str) -> list[str]:
    """The way from hits to the score, in sentences."""
    score = Score(*to_scores(hits, [count])[0, 0].tolist())
    matches, in_reference, in_summary = (float(numbers[0, 0]) for numbers in hits[:3])
    root = ", to the power 1/1.2" if count == "w" else ""
    recall = f"Recall = {matches:g} / {in_reference:g}{root} = {score.r:.5f}."
    precision = f"Precision = {matches:g} / {in_summary:g}{root} = {score.p:.5f}."
    steps = [f"{introduction}: {matches:g} matched, {in_reference:g} in the reference, {in_summary:g} in the summary."]
    if measure in "rf":
        steps.append(recall)
    if measure in "pf":
        steps.append(precision)
    if measure == "f":
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
    remaining = Counter(word.unit for word in summary.words)
    summary_places: set[int] = set()
    reference_places: list[int] = []
    for number in range(reference.sentences):
        rows = reference.sentence(number)
        matches: dict[int, list[int]] = {}
        for summary_number in range(summary.sentences):
            columns = summary.sentence(summary_number)
            pairs = walk([reference.words[i].unit for i in rows], [summary.words[j].unit for j in columns], weighted)
            for i, j in pairs:
                matches.setdefault(rows[i], []).append(columns[j])
        for place in sorted(matches):
            unit = reference.words[place].unit
            if remaining[unit] > 0:
                remaining[unit] -= 1
                reference_places.append(place)
                free = [j for j in matches[place] if j not in summary_places]
                summary_places.update(free[:1])
    return sorted(summary_places), reference_places


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


def _mark(text: Located, grams: Sequence[tuple[str, tuple[int, ...]]], match_counts: Counter[str]) -> tuple[Span, ...]:
    """Stretches of matched units; of a unit that stands more often than it counts, the first ones."""
    remaining = Counter(match_counts)
    spans = []
    for gram, group in grams:
        if remaining[gram] > 0:
            remaining[gram] -= 1
            is_unbroken = group[-1] - group[0] == len(group) - 1
            spans += [_span(text, group)] if is_unbroken else [_span(text, (i,)) for i in group]
    return merge(spans)


def _span(text: Located, group: Sequence[int], kind: str = "match") -> Span:
    return Span(text.words[group[0]].start, text.words[group[-1]].end, kind)


def _count_units(units: Sequence[str], summary: Located, reference: Located, title: str) -> tuple[Unit, ...]:
    in_summary = Counter(word.unit for word in summary.words)
    in_reference = Counter(word.unit for word in reference.words)
    return tuple(Unit(unit, in_summary[unit], in_reference[unit], n, title) for unit, n in Counter(units).items())


def passage(title: str, text: Located, spans: Sequence[Span]) -> Passage:
    return Passage(title, text.text, merge(list(spans)))
