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
    seen = Counter(piece for text in texts for piece in set(read(text).pieces))
    return {piece: math.log((len(texts) + 1) / (count + 1)) for piece, count in seen.items()}


def heap(text: str, idf: dict[str, float], at: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and weights of the n-grams of words that count."""
    found = read(text)
    kept = [
        i
        for i in found.content
        if not found.pieces[i].startswith("##")
        and found.pieces[i] not in STOP_WORDS
        and any(character.isalnum() for character in found.pieces[i])
    ]
    vectors, weights = [], []
    for start in range(len(kept) - n + 1):
        gram = kept[start : start + n]
        weights.append(sum(idf[found.pieces[i]] for i in gram))
        mixed = sum(idf[found.pieces[i]] * layer(found, at)[i] for i in gram)
        vectors.append(mixed / (np.linalg.norm(mixed) or 1.0))
    return np.array(vectors), np.array(weights)


def transport(a: np.ndarray, b: np.ndarray, costs: np.ndarray) -> float:
    """min Σ flow · cost with rows summing to a and columns to b."""
    rows = np.kron(np.eye(len(a)), np.ones(len(b)))
    columns = np.kron(np.ones(len(a)), np.eye(len(b)))
    limits = np.concatenate([a / a.sum(), b / b.sum()])
    return float(linprog(costs.ravel(), A_eq=np.vstack([rows, columns])[:-1], b_eq=limits[:-1], method="highs").fun)


@pytest.mark.parametrize("n", [1, 2])
def test_thirty_pairs_equal_the_formula(realsumm: Path, n: int) -> None:
    summaries, documents = thirty_pairs(realsumm)
    name = f"moverscore[n={n}]" if n > 1 else "moverscore"
    at = registry.get(name).family.layer  # type: ignore[attr-defined]
    table = scoring.evaluate(summaries, documents, name)
    found = {(row.doc_id, row.system): row.value for row in table.itertuples()}
    references = {row.doc_id: " ".join(row.references[0]) for row in documents.itertuples()}
    texts = [" ".join(text) for text in summaries["summary"]]
    in_references, in_summaries = rarity(list(references.values())), rarity(texts)
    assert len(found) == 30
    for row, text in zip(summaries.itertuples(), texts, strict=True):
        mine, mine_weights = heap(text, in_summaries, at, n)
        other, other_weights = heap(references[row.doc_id], in_references, at, n)
        costs = np.array([[np.linalg.norm(x - y) for y in other] for x in mine])
        expected = 1 - transport(mine_weights, other_weights, costs)
        assert found[row.doc_id, row.system] == pytest.approx(expected, abs=1e-6)


def test_several_references_give_the_mean() -> None:
    metric = registry.get("moverscore")
    summary, first, second = "a cat sat on the mat", "the cat sat", "a dog lay in the sun"
    alone = [metric.evaluate_example(summary, one)["moverscore"] for one in (first, second)]
    both = metric.evaluate_example(summary, [first, second])["moverscore"]
    assert both == pytest.approx(sum(alone) / 2, abs=1e-12)


def test_the_same_text_moves_nothing() -> None:
    assert registry.get("moverscore").evaluate_example("a cat sat", "a cat sat")["moverscore"] == pytest.approx(
        1, abs=1e-6
    )


def test_words_without_weight_leave_it_undefined_and_that_is_told() -> None:
    with pytest.warns(UndefinedWarning, match="moverscore is undefined"):
        found = registry.get("moverscore").evaluate_example("the of and .", "a cat")
    assert math.isnan(found["moverscore"])
    with_all = registry.get("moverscore[stop=on]").evaluate_example("the of and .", "a cat")
    assert math.isfinite(with_all["moverscore[stop=on]"])


def test_the_signature_names_both_corpora(realsumm: Path) -> None:
    summaries, documents = thirty_pairs(realsumm)
    made = scoring.evaluate(summaries, documents, "moverscore,moverscore[idf=no]").attrs["signatures"]
    assert "corpus:3-" in made["moverscore"]
    assert "summaries:30-" in made["moverscore"]
    assert "corpus" not in made["moverscore[idf=no]"]
