"""Explanations: what is marked is what was counted."""

from __future__ import annotations

import math

import pytest

import scoring
from scoring import registry
from scoring.explain.explanation import Explanation, Passage, Span, merge
from scoring.texts import Document
from tests.scoring.conftest import skip_if_missing

SUMMARY = "The cats sat on the mat. A dog barked."
REFERENCES = ["The cat sat on a mat.", ["A dog was there.", "It barked at the cats."]]
SOURCE = "The cats sat on the mat, said the neighbour. A dog barked twice."


def marked_texts(passage: Passage) -> list[str]:
    return [passage.text[span.start : span.end] for span in passage.spans]


# They need a model that only the user has; their own tests build or train a tiny one.
OWN_MODEL = {"blanc-help", "blanc-tune", "learned", "s3-pyr", "s3-resp", "summaqa-f", "summaqa-prob"}


@pytest.mark.parametrize("name", sorted(set(registry.known()) - OWN_MODEL))
def test_every_metric_explains_the_value_it_gives(name: str) -> None:
    metric = registry.get(name)
    skip_if_missing(metric.ready().missing or None)
    explanation = scoring.explain(name, SUMMARY, REFERENCES, SOURCE)
    (value,) = metric.evaluate_example(SUMMARY, REFERENCES, SOURCE).values()
    assert explanation.value == value or math.isnan(value)
    assert explanation.metric == name
    assert explanation.signature == metric.signature
    assert explanation.steps
    for passage in explanation.passages:
        ends = [0] + [place for span in passage.spans for place in (span.start, span.end)]
        assert ends == sorted(ends)
        assert ends[-1] <= len(passage.text)
    assert name in explanation.to_terminal()
    assert "<html" in explanation.to_html()


def test_bigrams_are_marked_in_both_texts() -> None:
    explanation = scoring.explain("rouge-2-f[stem]", SUMMARY, REFERENCES)
    assert marked_texts(explanation.passages[1]) == ["The cat sat on"]
    assert marked_texts(explanation.passages[2]) == ["A dog", "the cats"]
    match_counts = {(unit.text, unit.passage): unit.matched for unit in explanation.units if unit.matched}
    assert match_counts == {
        ("the cat", "Reference 1"): 1,
        ("cat sat", "Reference 1"): 1,
        ("sat on", "Reference 1"): 1,
        ("a dog", "Reference 2"): 1,
        ("the cat", "Reference 2"): 1,
    }
    # 3 of 5 and 2 of 8 bigrams, pooled: 5 / 13.
    assert "Recall = 5 / 13 = 0.38462." in explanation.steps


def test_the_subsequence_is_marked() -> None:
    explanation = scoring.explain("rouge-l-r", "a x b", [["a b c"]])
    assert marked_texts(explanation.summary) == ["a", "b"]
    assert marked_texts(explanation.passages[1]) == ["a", "b"]
    assert explanation.steps[-1] == "Recall = 2 / 3 = 0.66667."


def test_the_best_reference_is_named() -> None:
    explanation = scoring.explain("rouge-1-r[best]", "a b", ["a x", "a b"])
    assert explanation.steps[0].startswith("Reference 2 is the best")


def test_a_corpus_metric_is_explained_among_its_documents() -> None:
    corpus = [Document("1", ("a b",)), Document("2", ("c",))]
    explanation = scoring.explain("cider", "a b", ["a b"], corpus=corpus)
    assert explanation.value == pytest.approx(5.0)
    assert "corpus:2-" in explanation.signature
    assert {unit.text for unit in explanation.units} == {"a", "b", "a b"}


def test_bleu_shows_its_counts() -> None:
    explanation = scoring.explain("bleu", "the cat sat on a mat", ["the cat sat on the mat"])
    # Worked out in docs/metrics/bleu.md.
    assert explanation.steps[:2] == ("5 of 6 1-grams of the summary match.", "3 of 5 2-grams of the summary match.")


def test_copied_and_new_stretches() -> None:
    assert marked_texts(scoring.explain("density", "The cats slept.", None, SOURCE).summary) == ["The cats", "."]
    assert marked_texts(scoring.explain("novel-1", "The cats slept.", None, SOURCE).summary) == ["slept"]
    assert marked_texts(scoring.explain("repeated-1", "a b a").summary) == ["a", "a"]


def test_pages_escape_what_texts_contain() -> None:
    page = scoring.explain("rouge-1-f", "<script>alert(1)</script> a", "a <b>").to_html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_terminals_get_no_commands_from_texts() -> None:
    output = scoring.explain("rouge-1-f", "a \x1b[2J b", "a").to_terminal(color=False)
    assert "\x1b" not in output
    assert "[a]" in output
    assert "\x1b[42;30ma\x1b[0m" in scoring.explain("rouge-1-f", "a b", "a").to_terminal()


def test_spans_are_united_in_order() -> None:
    assert merge([Span(4, 6), Span(0, 2), Span(1, 5)]) == (Span(0, 6),)
    assert merge([Span(0, 2), Span(2, 4)]) == (Span(0, 2), Span(2, 4))


def test_facts_for_programs() -> None:
    explanation = Explanation("m", 0.5, "s", (Passage("Summary", "a", (Span(0, 1),)),))
    assert explanation.to_dict()["passages"] == (
        {"title": "Summary", "text": "a", "spans": ({"start": 0, "end": 1, "kind": "match"},)},
    )
