"""Texts, sentences, and memory that stays bounded."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.texts import Memo, as_references, as_text, is_empty, rouge_words, sentences


def test_a_text_is_a_string_or_sentences() -> None:
    assert as_text("a") == "a"
    assert as_text(["a", "b"]) == ("a", "b")
    assert as_text(np.array(["a", "b"])) == ("a", "b")
    assert as_references("a") == ("a",)
    assert as_references([["a", "b"], "c"]) == (("a", "b"), "c")
    assert as_references(None) == ()
    with pytest.raises(TypeError, match="int"):
        as_text(3)


def test_given_splits_win() -> None:
    assert sentences(("One. Two.", "Three.")) == ("One. Two.", "Three.")
    assert sentences("Dr. Smith came. He left.") == ("Dr. Smith came.", "He left.")
    assert sentences("a\nb", "lines") == ("a", "b")
    assert sentences("One. Two.", "none") == ("One. Two.",)


def test_words_of_rouge() -> None:
    assert rouge_words("U.S.-based E-mail, 3.5%_x") == ("u", "s", "based", "e", "mail", "3", "5", "x")


@pytest.mark.parametrize(("text", "empty"), [("", True), (" … ", True), ((), True), (("", "."), True), ("é", False)])
def test_empty_is_without_letters_and_digits(text: str, empty: bool) -> None:
    assert is_empty(text) is empty


def test_a_memo_forgets_when_it_is_full() -> None:
    computed: list[int] = []

    def square(n: int) -> int:
        computed.append(n)
        return n * n

    memo = Memo(square, limit=2)
    assert [memo[1], memo[1], memo[2], memo[3], memo[1]] == [1, 1, 4, 9, 1]
    assert computed == [1, 2, 3, 1]
    assert len(memo) <= 2
