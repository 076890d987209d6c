"""Copying, novelty, repetition and length, worked out by hand and against the published search."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import explain, registry
from scoring.metrics.statistics import fragments

SOURCE = "The cat sat on the mat. The dog sat on the cat."


def value(metric: str, summary: str, source: str | None = SOURCE) -> float:
    (score,) = registry.get(metric).evaluate_example(summary, None, source).values()
    return score


def test_by_hand() -> None:
    # the dog | ran | on the mat .: fragments of 2 and 4 in 7 tokens; the source has 14 tokens.
    summary = "The dog ran on the mat."
    assert value("coverage", summary) == 6 / 7
    assert value("density", summary) == (2**2 + 4**2) / 7
    assert value("compression", summary) == 14 / 7
    # the dog ran on mat . are six different tokens, ran is new; of the bigrams "dog ran" and "ran on" are new.
    assert value("novel-1", summary) == 1 / 6
    assert value("novel-2", summary) == 2 / 6
    assert value("novel-3", summary) == 3 / 5
    assert value("length", summary) == 7
    assert value("repeated-1", summary) == 1 / 6  # the
    assert value("repeated-2", summary) == 0.0
    # a b c a b: of the bigrams ab bc ca, ab is repeated.
    assert value("repeated-2", "a b c a b") == 1 / 3
    assert value("repeated-3", "a b c a b c") == 1 / 3


@pytest.mark.parametrize("name", ["coverage", "density", "compression", "novel-1", "repeated-1"])
def test_an_empty_summary_has_no_share_of_anything(name: str) -> None:
    assert math.isnan(value(name, " "))


def test_an_empty_summary_has_length_zero() -> None:
    assert value("length", "", None) == 0.0


def published(summary: list[str], source: list[str]) -> list[tuple[int, int]]:
    """Figure 3 of Grusky et al. 2018, step by step."""
    stretches, i, j = [], 0, 0
    while i < len(summary):
        best = 0
        while j < len(source):
            if summary[i] == source[j]:
                ii, jj = i, j
                while ii < len(summary) and jj < len(source) and summary[ii] == source[jj]:
                    ii, jj = ii + 1, jj + 1
                best = max(best, ii - i)
                j = jj
            else:
                j += 1
        if best:
            stretches.append((i, best))
        i, j = i + max(best, 1), 0
    return stretches


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=16))
def test_fragments_equal_the_published_search(summary: list[str], source: list[str]) -> None:
    assert [(fragment.start, fragment.length) for fragment in fragments(summary, source)] == published(summary, source)


@pytest.mark.parametrize("name", ["coverage", "novel-1", "novel-2"])
def test_a_letter_that_grows_when_lower_cased_can_be_explained(name: str) -> None:
    # "İ" is two characters in lower case, an i and a dot that is no part of a word.
    summary = "İstanbul got rain"
    assert value(name, summary, "İstanbul got rain. It fell.") == (1.0 if name == "coverage" else 0.0)
    explanation = explain(name, summary, source="İstanbul got snow.")
    assert [summary[mark.start : mark.end] for mark in explanation.passages[0].spans] == {
        "coverage": ["İstanbul got"],
        "novel-1": ["rain"],
        "novel-2": ["got rain"],
    }[name]
