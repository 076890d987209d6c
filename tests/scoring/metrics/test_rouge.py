"""ROUGE worked out by hand, and the traps of the Perl program."""

from __future__ import annotations

import pytest

from scoring import registry
from scoring.errors import BadOption, MissingInput
from scoring.metrics.rouge.porter import porter
from scoring.metrics.rouge.wordlists import smart_stop_words, stemmer, wordnet_exceptions


def value(metric: str, summary: object, references: object) -> float:
    (score,) = registry.get(metric).evaluate_example(summary, references).values()
    return score


def test_unigrams_by_hand() -> None:
    # the cat sat | the cat was here: 2 of 4 reference words, 2 of 3 summary words.
    assert value("rouge-1-r", "the cat sat", "the cat was here") == 0.5
    assert value("rouge-1-p", "the cat sat", "the cat was here") == 0.66667
    # From the rounded ones: .66667 · .5 / (.333335 + .25) = .571429…
    assert value("rouge-1-f", "the cat sat", "the cat was here") == 0.57143


def test_bigrams_reach_over_sentence_ends() -> None:
    # a b | c d has the bigrams ab, bc, cd.
    assert value("rouge-2-r", ["a b", "c d"], [["b c"]]) == 1.0
    assert value("rouge-2-p", ["a b", "c d"], [["b c"]]) == 0.33333


def test_su4_leaves_out_the_last_word() -> None:
    # a b c: pairs ab ac bc and the words a b, five units; c b a shares only b (a is its last word).
    assert value("rouge-su4-r", "a b c", "c b a") == 0.2
    assert value("rouge-s4-r", "a b c", "c b a") == 0.0


def test_rouge_l_unites_the_subsequences_of_all_summary_sentences() -> None:
    # Lin 2004, section 3.2: reference w1 w2 w3 w4 w5; sentences w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5 unite to 4 of 5.
    sentences = ["w1 w2 w6 w7 w8", "w1 w3 w8 w9 w5"]
    assert value("rouge-l-r", sentences, [["w1 w2 w3 w4 w5"]]) == 0.8
    assert value("rouge-l-p", sentences, [["w1 w2 w3 w4 w5"]]) == 0.4


def test_rouge_w_prefers_runs() -> None:
    # After Lin 2004, section 3.3: both references share an LCS of 4 with the summary, the first one in a row.
    # Hits 4^1.2 = 5.278 and 4 · 1^1.2 = 4; the recall base is (7^1.2)^1.2 = 16.4794.
    # (5.2780 / 16.4794)^(1/1.2) = .38721, (4 / 16.4794)^(1/1.2) = .30733.
    assert value("rouge-w-r", "a b c d", "a b c d e f g") == pytest.approx(0.38721, abs=2e-5)
    assert value("rouge-w-r", "a b c d", "a e b f c g d") == pytest.approx(0.30733, abs=2e-5)


def test_several_references_average_or_best() -> None:
    # 1 of 2 and 2 of 2 words: pooled 3/4, best 1.
    references = ["a x", "a b"]
    assert value("rouge-1-r", "a b", references) == 0.75
    assert value("rouge-1-r[best]", "a b", references) == 1.0
    assert registry.get("rouge-1-r[best]").name == "rouge-1-r[multi=best]"


def test_words_are_ascii_letters_and_digits_only() -> None:
    # The Kelvin sign lower-cases to an ASCII k and İ to an ASCII i plus a dot; the Perl program sees neither.
    assert value("rouge-1-r", "k i", "\u212a \u0130 z") == 0.0
    assert value("rouge-1-r", "e mail", "e-mail") == 1.0
    assert value("rouge-1-r", "na ve", "naïve") == 1.0


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("tournament", "tournam"),
        ("professional", "profess"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("hoping", "hope"),
        ("relational", "relat"),
        ("yelling", "yell"),
        ("sky", "sky"),
        ("1990s", "1990"),
    ],
)
def test_stems(word: str, stem: str) -> None:
    # tournament and professional: facts of the Perl program; the others are in Porter's paper of 1980.
    assert porter(word) == stem


def test_exceptions_come_before_the_stemmer_and_short_words_stay() -> None:
    stem = stemmer("wordnet")
    assert stem("geese") == "goose"
    assert stemmer("porter")("geese") == "gees"
    assert stem("ran") == "ran"  # three letters
    # Keys of several files, in the order noun, adv, verb, adj: the later file wins.
    assert [stem(word) for word in ("best", "better", "offer", "testes")] == ["good", "good", "offer", "testes"]
    assert len(wordnet_exceptions()) == 5930  # keys of the properly built database
    assert "the" in smart_stop_words()


def test_stop_words_go_before_stemming() -> None:
    # "using" is a stop word, "use" is one too; "uses" as well. "user" stays and is stemmed.
    assert value("rouge-1-p[stop]", "using the cat", "cat") == 1.0
    assert value("rouge-1-p[stem,stop]", "cats", "cat") == 1.0
    assert value("rouge-1-p[stem=porter]", "geese", "goose") == 0.0


def test_a_string_is_split_into_sentences_for_rouge_l() -> None:
    # Reference: one sentence a b c d. As two sentences the summary marks c d and a b: 4; as one only 2.
    text, reference = "C d went home. A b slept here.", "a b c d"
    assert value("rouge-l-r", text, reference) == 1.0
    assert value("rouge-l-r[split=none]", text, reference) == 0.5
    assert value("rouge-l-r[split=lines]", text.replace(". ", ".\n"), reference) == 1.0


@pytest.mark.parametrize("name", ["rouge-1-f", "rouge-l-f", "rouge-w-f", "rouge-su4-f", "rouge-4-p"])
@pytest.mark.parametrize(("summary", "reference"), [("", "a b"), ("a b", ""), ("", ""), ("...", "—")])
def test_empty_texts_score_zero(name: str, summary: str, reference: str) -> None:
    assert value(name, summary, reference) == 0.0


def test_no_reference_is_refused() -> None:
    with pytest.raises(MissingInput, match="references"):
        registry.get("rouge-1-f").evaluate_example("a b")


def test_a_bad_option_lists_the_possible_ones() -> None:
    with pytest.raises(BadOption, match="no, wordnet, porter"):
        registry.get("rouge-1-f[stem=lancaster]")
