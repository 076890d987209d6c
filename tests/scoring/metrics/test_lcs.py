"""The fast walks mark what the plain table and walk mark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.metrics.rouge.explain import walk
from scoring.metrics.rouge.lcs import Pattern, find_marks, find_weighted_marks, weight
from scoring.metrics.rouge.perl155 import round_to_five
from scoring.metrics.rouge.texts import lay_out

# Few words make many ties; "x" and "y" stand on one side only, so that there are gaps of every length.
REFERENCE = st.lists(st.sampled_from(["a", "b", "c", "d", "x", "x2"]), max_size=14)
SUMMARY = st.lists(st.sampled_from(["a", "b", "c", "d", "y", "y2"]), max_size=14)


def plain_marks(reference: list[str], summary: list[str], weighted: bool) -> int:
    return sum(1 << i for i, _ in walk(reference, summary, weighted))


def pattern(reference: list[str], summary: list[str]) -> Pattern:
    return lay_out([tuple(reference)]).pattern(tuple(summary))


@given(st.integers(0, 400), st.integers(1, 400))
def test_rounding_is_pythons(numerator: int, denominator: int) -> None:
    values = [numerator / denominator, (2 * numerator + 1) / 200_000]  # the second is a tie
    assert round_to_five(np.array(values)).tolist() == [round(value, 5) for value in values]


@settings(max_examples=600, deadline=None)
@given(REFERENCE, SUMMARY)
def test_bit_parallel_walk_equals_the_table(reference: list[str], summary: list[str]) -> None:
    marks = find_marks(pattern(reference, summary))
    assert marks == plain_marks(reference, summary, False)


@settings(max_examples=300, deadline=None)
@given(st.lists(REFERENCE.filter(bool), min_size=1, max_size=4), SUMMARY)
def test_all_sentences_of_a_reference_at_once(reference: list[list[str]], summary: list[str]) -> None:
    reference_pattern = lay_out([tuple(row) for row in reference]).pattern(tuple(summary))
    starts = [sum(len(row) + 1 for row in reference[:number]) for number in range(len(reference))]
    for weighted, find in ((False, find_marks), (True, find_weighted_marks)):
        marks = [plain_marks(row, summary, weighted) << at for row, at in zip(reference, starts, strict=True)]
        assert find(reference_pattern) == sum(marks)


@settings(max_examples=600, deadline=None)
@given(REFERENCE, SUMMARY)
def test_compressed_weighted_walk_equals_the_table(reference: list[str], summary: list[str]) -> None:
    marks = find_weighted_marks(pattern(reference, summary))
    assert marks == plain_marks(reference, summary, True)


@settings(max_examples=300, deadline=None)
@given(REFERENCE, SUMMARY)
def test_without_common_neighbours_both_walks_are_the_same(reference: list[str], summary: list[str]) -> None:
    reference_pairs = set(pairwise(reference))
    if reference_pairs.isdisjoint(pairwise(summary)):
        assert plain_marks(reference, summary, True) == plain_marks(reference, summary, False)


def test_very_long_sentences_have_weights_too() -> None:
    words = [f"w{k}" for k in range(5000)]
    assert find_weighted_marks(pattern(words, words)) == (1 << 5000) - 1
    assert weight(5000) == 5000.0**1.2
