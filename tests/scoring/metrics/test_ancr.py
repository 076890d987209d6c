"""Anchored ROUGE equals equations 1 and 2 of its paper, computed plainly."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import scoring
from scoring import registry
from scoring.errors import BadOption
from scoring.metrics.rouge.porter import porter
from tests.scoring.models.plain_encoder import layer, read, thirty_pairs

K = 5
Gram = tuple[str, ...]


def stem(word: str) -> str:
    return word if len(word) <= 3 else porter(word)


def particles(text: str, n: int) -> dict[Gram, tuple[int, np.ndarray]]:
    """Each different n-gram of stems with its count and the mean vector of all tokens of all its places."""
    encoded = read(text)
    words = []
    for word in re.finditer(r"\w+", text):
        tokens = [i for i in encoded.content if encoded.spans[i][0] < word.end() and encoded.spans[i][1] > word.start()]
        words.append((stem(word.group().lower()), tokens))
    places: dict[Gram, list[list[int]]] = {}
    for start in range(len(words) - n + 1):
        gram = words[start : start + n]
        places.setdefault(tuple(word for word, _ in gram), []).append([i for _, tokens in gram for i in tokens])
    vectors = layer(encoded, "last4")
    return {
        gram: (len(lists), np.mean([vectors[i] for tokens in lists for i in tokens], axis=0))
        for gram, lists in places.items()
    }


def strength(summary: str, source: dict[Gram, tuple[int, np.ndarray]], n: int) -> dict[Gram, float]:
    """T(d, summary): equation 2."""
    total = dict.fromkeys(source, 0.0)
    ground = np.array([vector / np.linalg.norm(vector) for _, vector in source.values()])
    for count, vector in particles(summary, n).values():
        cosines = ground @ vector / np.linalg.norm(vector)
        similar = dict(zip(source, cosines.tolist(), strict=True))
        for anchor in sorted(similar, key=lambda gram: -similar[gram])[:K]:
            total[anchor] += count * similar[anchor]
    return total


@pytest.mark.needs("torch")
@pytest.mark.parametrize("n", [1, 2])
def test_thirty_pairs_equal_the_equations(realsumm: Path, n: int) -> None:
    summaries, documents = thirty_pairs(realsumm)
    table = scoring.evaluate(summaries, documents, f"ancr-{n}")
    scores = {(row.doc_id, row.system): row.value for row in table.itertuples()}
    assert len(scores) == 30
    for document in documents.itertuples():
        source = particles(" ".join(document.source), n)
        reference = strength(" ".join(document.references[0]), source, n)
        for row in summaries[summaries["doc_id"] == document.doc_id].itertuples():
            peer = strength(" ".join(row.summary), source, n)
            anchored = [d for d in source if reference[d] != 0]
            expected = sum(min(peer[d], reference[d]) for d in anchored) / sum(reference[d] for d in anchored)
            assert scores[document.doc_id, row.system] == pytest.approx(expected, abs=1e-6)


@pytest.mark.needs("torch")
def test_references_are_pooled_as_in_equation_one() -> None:
    # Both sums run over all references: the shares are weighed by what each reference has.
    source, summary = "A cat sat on the mat. A dog slept in the sun.", "a cat slept"
    first, second = "the cat sat", "a dog slept in the sun all day"
    metric = registry.get("ancr-1")
    assert metric.evaluate_example(first, [first], source)["ancr-1"] == pytest.approx(1.0)
    low, high = sorted(metric.evaluate_example(summary, [reference], source)["ancr-1"] for reference in (first, second))
    assert low < metric.evaluate_example(summary, [first, second], source)["ancr-1"] < high


@pytest.mark.needs("torch")
def test_choices_change_the_score_and_the_name() -> None:
    source = "Cats slept near an old mill. The cat sat on a wall. A dog sat and dogs slept in the sun while birds sang."
    texts = ("two cats sat and a bird sang", ["a cat slept, the dogs sat"], source)
    names = ["ancr-1", "ancr-1[k=1]", "ancr-1[layer=6]", "ancr-1[anchors=places]", "ancr-1[stem=no]"]
    values = {name: registry.get(name).evaluate_example(*texts)[name] for name in names}
    assert len({round(value, 9) for value in values.values()}) == len(names)
    with pytest.raises(BadOption, match="whole number above 0"):
        registry.get("ancr-1[k=0]")


@pytest.mark.needs("torch")
def test_nothing_to_anchor_is_zero_or_undefined() -> None:
    metric = registry.get("ancr-2")
    assert metric.evaluate_example("", ["a cat sat"], "a cat sat there") == {"ancr-2": 0.0}
    assert math.isnan(metric.evaluate_example("a cat", ["cat"], "a cat sat there")["ancr-2"])
    assert math.isnan(metric.evaluate_example("a cat", ["a cat"], "...")["ancr-2"])
