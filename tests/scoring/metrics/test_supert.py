"""SUPERT equals a plain computation over the leading sentences of the source."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import scoring
from scoring import registry
from scoring.texts_english import STOP_WORDS
from tests.scoring.models.plain_encoder import layer, read, thirty_pairs

TOP = 3


def vectors(text: str, at: str, end: int) -> list[np.ndarray]:
    """Of the tokens before `end` that are no stop words."""
    plain = read(text)
    return [
        layer(plain, at)[i] for i in plain.content if plain.pieces[i] not in STOP_WORDS and plain.spans[i][1] <= end
    ]


def soft_f(summary: list[np.ndarray], source: list[np.ndarray]) -> float:
    """F of the mean best cosines in both directions."""
    summary_units = np.array([vector / np.linalg.norm(vector) for vector in summary])
    source_units = np.array([vector / np.linalg.norm(vector) for vector in source])
    similar = summary_units @ source_units.T
    precision = sum(max(row) for row in similar.tolist()) / len(summary)
    recall = sum(max(column) for column in similar.T.tolist()) / len(source)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("context", ["text", "sentence"])
def test_thirty_pairs_equal_the_formula(realsumm: Path, context: str) -> None:
    summaries, documents = thirty_pairs(realsumm)
    name = registry.get(f"supert[top={TOP},context={context}]").name
    at = registry.get(name).family.layer  # type: ignore[attr-defined]
    table = scoring.evaluate(
        summaries, documents[["doc_id", "source"]].assign(references=[["x"]] * len(documents)), name
    )
    scores = {(row.doc_id, row.system): row.value for row in table.itertuples()}
    assert len(scores) == 30
    sources = dict(zip(documents["doc_id"], documents["source"], strict=True))
    for row in summaries.itertuples():
        leading = sources[row.doc_id][:TOP]
        if context == "text":
            source_vectors = vectors(" ".join(sources[row.doc_id]), at, len(" ".join(leading)))
            summary_vectors = vectors(" ".join(row.summary), at, 10**6)
        else:
            source_vectors = [vector for sentence in leading for vector in vectors(sentence, at, 10**6)]
            summary_vectors = [vector for sentence in row.summary for vector in vectors(sentence, at, 10**6)]
        assert scores[row.doc_id, row.system] == pytest.approx(soft_f(summary_vectors, source_vectors), abs=1e-6)


@pytest.mark.needs("torch")
def test_it_needs_no_reference_and_splits_the_source_itself() -> None:
    source = "A cat sat on the mat. Prices rose again. Rain fell."
    value = registry.get("supert[top=1]").evaluate_example("A cat sat.", source=source)
    unrelated = registry.get("supert[top=1]").evaluate_example("Prices rose.", source=source)
    assert value["supert[top=1]"] > unrelated["supert[top=1]"]


@pytest.mark.needs("torch")
def test_only_stop_words_is_undefined() -> None:
    assert math.isnan(registry.get("supert").evaluate_example("the of", source="A cat sat.")["supert"])
    assert math.isnan(registry.get("supert").evaluate_example("", source="A cat sat.")["supert"])
