"""MoverScore equals a plain computation: weights by idf, Euclidean distances, and the transport as a linear program."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import scoring
from scoring import registry
from scoring.errors import UndefinedWarning
from scoring.texts_english import STOP_WORDS
from tests.scoring.models.plain_encoder import layer, read, thirty_pairs


def rarity(texts: list[str]) -> dict[str, float]:
    """log((N + 1) / (df + 1)) of each piece."""
    frequency = Counter(piece for text in texts for piece in set(read(text).pieces))
    return {piece: math.log((len(texts) + 1) / (count + 1)) for piece, count in frequency.items()}


def weighted_grams(text: str, idf: dict[str, float], at: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and weights of the n-grams of words that count."""
    encoded = read(text)
    places = [
        i
        for i in encoded.content
        if not encoded.pieces[i].startswith("##")
        and encoded.pieces[i] not in STOP_WORDS
        and any(character.isalnum() for character in encoded.pieces[i])
    ]
    vectors, weights = [], []
    for start in range(len(places) - n + 1):
        gram = places[start : start + n]
        weights.append(sum(idf[encoded.pieces[i]] for i in gram))
        mixed = sum(idf[encoded.pieces[i]] * layer(encoded, at)[i] for i in gram)
        vectors.append(mixed / (np.linalg.norm(mixed) or 1.0))
    return np.array(vectors), np.array(weights)


def transport(a: np.ndarray, b: np.ndarray, costs: np.ndarray) -> float:
    """min Σ flow · cost with rows summing to a and columns to b."""
    rows = np.kron(np.eye(len(a)), np.ones(len(b)))
    columns = np.kron(np.ones(len(a)), np.eye(len(b)))
    limits = np.concatenate([a / a.sum(), b / b.sum()])
    return float(linprog(costs.ravel(), A_eq=np.vstack([rows, columns])[:-1], b_eq=limits[:-1], method="highs").fun)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("n", [1, 2])
def test_thirty_pairs_equal_the_formula(realsumm: Path, n: int) -> None:
    summaries, documents = thirty_pairs(realsumm)
    name = f"moverscore[n={n}]" if n > 1 else "moverscore"
    at = registry.get(name).family.layer  # type: ignore[attr-defined]
    table = scoring.evaluate(summaries, documents, name)
    scores = {(row.doc_id, row.system): row.value for row in table.itertuples()}
    references = {row.doc_id: " ".join(row.references[0]) for row in documents.itertuples()}
    texts = [" ".join(text) for text in summaries["summary"]]
    in_references, in_summaries = rarity(list(references.values())), rarity(texts)
    assert len(scores) == 30
    for row, text in zip(summaries.itertuples(), texts, strict=True):
        summary_vectors, summary_weights = weighted_grams(text, in_summaries, at, n)
        reference_vectors, reference_weights = weighted_grams(references[row.doc_id], in_references, at, n)
        costs = np.array([[np.linalg.norm(x - y) for y in reference_vectors] for x in summary_vectors])
        expected = 1 - transport(summary_weights, reference_weights, costs)
        assert scores[row.doc_id, row.system] == pytest.approx(expected, abs=1e-6)


@pytest.mark.needs("torch")
def test_several_references_give_the_mean() -> None:
    metric = registry.get("moverscore")
    summary, first, second = "a cat sat on the mat", "the cat sat", "a dog lay in the sun"
    singles = [metric.evaluate_example(summary, reference)["moverscore"] for reference in (first, second)]
    combined = metric.evaluate_example(summary, [first, second])["moverscore"]
    assert combined == pytest.approx(sum(singles) / 2, abs=1e-12)


@pytest.mark.needs("torch")
def test_the_same_text_moves_nothing() -> None:
    assert registry.get("moverscore").evaluate_example("a cat sat", "a cat sat")["moverscore"] == pytest.approx(
        1, abs=1e-6
    )


@pytest.mark.needs("torch")
def test_words_without_weight_leave_it_undefined_and_that_is_told() -> None:
    with pytest.warns(UndefinedWarning, match="moverscore is undefined"):
        scores = registry.get("moverscore").evaluate_example("the of and .", "a cat")
    assert math.isnan(scores["moverscore"])
    with_all = registry.get("moverscore[stop=on]").evaluate_example("the of and .", "a cat")
    assert math.isfinite(with_all["moverscore[stop=on]"])


@pytest.mark.needs("torch")
def test_the_signature_names_both_corpora(realsumm: Path) -> None:
    summaries, documents = thirty_pairs(realsumm)
    signatures = scoring.evaluate(summaries, documents, "moverscore,moverscore[idf=no]").attrs["signatures"]
    assert "corpus:3-" in signatures["moverscore"]
    assert "summaries:30-" in signatures["moverscore"]
    assert "corpus" not in signatures["moverscore[idf=no]"]
