"""Entailment by a model on this machine: one made here, with weights drawn by a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.models.entailment import entailed, readiness
from tests.scoring.models.tiny_models import make_entailment_model, write_model

pytest.importorskip("transformers", reason="needs the libraries of the models")


def test_the_probability_is_that_of_the_label_entailment_whatever_its_place(tmp_path: Path) -> None:
    import torch
    import transformers

    folder = make_entailment_model(tmp_path)
    text, claims = "the mayor opened the bridge yesterday .", ["the bridge opened .", "anna was in paris ."]
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = [
        float(torch.softmax(model(**tokenizer(text, claim, return_tensors="pt")).logits[0].double(), -1)[1])
        for claim in claims
    ]
    results = entailed(folder, text, claims)
    assert [result.probability for result in results] == pytest.approx(expected, abs=1e-9)
    assert not any(result.is_cut for result in results)


def test_a_text_longer_than_the_model_is_cut_and_the_claim_is_not(tmp_path: Path) -> None:
    folder = make_entailment_model(tmp_path)
    (result,) = entailed(folder, "the city . " * 100, ["the river ."])
    assert result.is_cut


def test_a_model_without_such_a_label_or_head_is_refused_with_what_it_has(tmp_path: Path) -> None:
    stars = make_entailment_model(tmp_path, labels=("1 star", "2 stars"))
    assert "the labels 1 star, 2 stars, and none is called entailment" in str(readiness(stars).missing)
    plain = str(write_model(tmp_path / "plain", "BertModel"))
    assert "no head that tells whether one text follows from another" in str(readiness(plain).missing)
    assert "holds no model" in str(readiness(str(tmp_path / "absent")).missing)
