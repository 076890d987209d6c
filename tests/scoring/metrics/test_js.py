"""Jensen–Shannon divergence by hand."""

from __future__ import annotations

from math import isnan, log

import pytest

from scoring import registry
from scoring.texts_english import STOP_WORDS


def value(metric: str, summary: str, references: object) -> float:
    (score,) = registry.get(metric).evaluate_example(summary, references).values()
    return score


def test_the_stop_list_has_179_words() -> None:
    assert len(STOP_WORDS) == 179


def test_by_hand() -> None:
    # {cat: 1} against {cat: 1/2, dog: 1/2}: (1 · ln(1 / .75) + .5 · ln(.5 / .75) + .5 · ln(.5 / .25)) / 2.
    expected = (log(1 / 0.75) + 0.5 * log(0.5 / 0.75) + 0.5 * log(2)) / 2
    assert value("js-1", "The cats", "a cat and a dog") == pytest.approx(-expected)
    # Equal texts have no divergence; texts that share nothing have ln 2.
    assert value("js-2", "black cat", "black cats") == 0.0
    assert value("js-2", "black cat", "white dog") == pytest.approx(-log(2))


def test_bigrams_of_two_stop_words_are_left_out() -> None:
    # "of the" goes, "the cat" stays.
    assert value("js-2", "of the cat", "the cat") == 0.0


def test_the_mean_over_references() -> None:
    assert value("js-2", "black cat", ["black cat", "white dog"]) == pytest.approx(-log(2) / 2)


def test_nothing_to_count_is_undefined() -> None:
    assert isnan(value("js-2", "", "black cat"))
    assert isnan(value("js-2", "black cat", "the"))
