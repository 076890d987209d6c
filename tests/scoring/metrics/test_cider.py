"""CIDEr-D against a second computation with arrays, written from the paper and coco-caption's description."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import scoring
from analysis.tables import read_table
from scoring import registry


def vocabulary(texts: list[list[str]], n: int) -> list[tuple[str, ...]]:
    return sorted({tuple(words[i : i + n]) for words in texts for i in range(len(words) - n + 1)})


def second_cider(summaries: list[str], references: list[list[str]]) -> list[float]:
    """CIDEr-D of each summary; the corpus is these references. Dense vectors, one matrix per order."""
    summary_words = [re.findall(r"\w+", text.lower()) for text in summaries]
    ref_words = [[re.findall(r"\w+", text.lower()) for text in texts] for texts in references]
    totals = np.zeros(len(summaries))
    for n in range(1, 5):
        grams = vocabulary([*summary_words, *(words for texts in ref_words for words in texts)], n)
        place = {gram: k for k, gram in enumerate(grams)}

        def counts(words: list[str], n: int = n, place: dict[tuple[str, ...], int] = place) -> np.ndarray:
            row = np.zeros(len(place))
            for i in range(len(words) - n + 1):
                row[place[tuple(words[i : i + n])]] += 1
            return row

        frequency = sum(np.any([counts(words) > 0 for words in texts], axis=0).astype(float) for texts in ref_words)
        idf = np.log(len(references)) - np.log(np.maximum(frequency, 1))
        for k, (words, texts) in enumerate(zip(summary_words, ref_words, strict=True)):
            summary_vector = counts(words) * idf
            for reference in texts:
                reference_vector = counts(reference) * idf
                norm = np.linalg.norm(summary_vector) * np.linalg.norm(reference_vector)
                cosine = np.minimum(summary_vector, reference_vector) @ reference_vector / norm if norm else 0.0
                penalty = np.exp(-((len(words) - len(reference)) ** 2) / (2 * 6.0**2))
                totals[k] += 10 * penalty * cosine / 4 / len(texts)
    return totals.tolist()


def test_a_hundred_pairs(realsumm: Path) -> None:
    documents = read_table(realsumm / "documents.jsonl.gz", "documents")
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    summaries = summaries[summaries["system"] == "bart_out"].sort_values("doc_id")
    documents = documents.sort_values("doc_id")
    scores = scoring.evaluate(summaries, documents, "cider")
    texts = [" ".join(text) for text in summaries["summary"]]
    references = [[" ".join(text) for text in texts] for texts in documents["references"]]
    assert len(scores) == 100
    np.testing.assert_allclose(scores["value"], second_cider(texts, references), rtol=1e-9, atol=1e-15)


def test_several_references_and_batches() -> None:
    summaries = ["a cat sat on the mat", "it rained all day"]
    references = [["a cat sat on a mat", "the cat sat down"], ["it rained the whole day"]]
    scores = registry.get("cider").evaluate_batch(summaries, references, aggregate=False)
    assert [row["cider"] for row in scores] == pytest.approx(second_cider(summaries, references))


def test_by_hand() -> None:
    # Two documents, references "a b" and "c": idf is ln 2 for every gram. Summary "a b" equals its reference:
    # cosine 1 for n = 1, 2 and nothing for n = 3, 4: 10 · 2/4 = 5.
    documents = pd.DataFrame({"doc_id": ["1", "2"], "source": "", "references": [["a b"], ["c"]]})
    summaries = pd.DataFrame({"doc_id": ["1", "2"], "system": "s", "summary": ["a b", "x"]})
    assert scoring.evaluate(summaries, documents, "cider")["value"].tolist() == pytest.approx([5.0, 0.0])


def test_one_document_has_no_rare_words() -> None:
    # ln(1) − ln(1) = 0 for every gram: CIDEr is a metric of a corpus.
    assert registry.get("cider").evaluate_example("a b", "a b") == {"cider": 0.0}


def test_the_corpus_is_in_the_signature() -> None:
    documents = pd.DataFrame({"doc_id": ["1", "2"], "source": "", "references": [["a b"], ["c"]]})
    summaries = pd.DataFrame({"doc_id": ["1"], "system": "s", "summary": ["a b"]})
    first = scoring.evaluate(summaries, documents, "cider").attrs["signatures"]["cider"]
    changed_documents = documents.assign(references=[["a b"], ["d"]])
    assert scoring.evaluate(summaries, changed_documents, "cider").attrs["signatures"]["cider"] != first


def test_lengths_are_counted_like_words() -> None:
    # "İ" is "i" and a dot in lower case, which ends a word: both texts have four words by then.
    texts, references = ["İx İy", "a b"], [["x y i i"], ["a b c"]]
    rows = [(str(i), "s", text) for i, text in enumerate(texts)]
    summaries = pd.DataFrame(rows, columns=["doc_id", "system", "summary"])
    documents = pd.DataFrame({"doc_id": ["0", "1"], "source": ["", ""], "references": references})
    scores = scoring.evaluate(summaries, documents, "cider")["value"]
    assert scores.tolist() == pytest.approx(second_cider(texts, references), abs=1e-12)


def test_a_hundred_pairs_equal_the_package(realsumm: Path) -> None:
    scorer = pytest.importorskip("pycocoevalcap.cider.cider_scorer").CiderScorer(n=4, sigma=6.0)
    documents = read_table(realsumm / "documents.jsonl.gz", "documents").sort_values("doc_id")
    summaries = read_table(realsumm / "summaries.jsonl.gz", "summaries")
    summaries = summaries[summaries["system"] == "t5_out_large"].sort_values("doc_id")

    def words(text: list[str]) -> str:
        return " ".join(re.findall(r"\w+", " ".join(text).lower()))  # the package takes words that are cut already

    for summary, references in zip(summaries["summary"], documents["references"], strict=True):
        scorer += (words(summary), [words(text) for text in references])
    _, expected = scorer.compute_score()
    ours = scoring.evaluate(summaries, documents, "cider")["value"]
    assert len(ours) == 100
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
