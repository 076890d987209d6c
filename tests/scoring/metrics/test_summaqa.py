"""SummaQA on a model that the test makes, against the definition worked out the plain way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scoring
from scoring.errors import NotReady, UndefinedWarning
from scoring.metrics.summaqa.questions import Question, overlap, questions
from tests.scoring.models.tiny_models import write_model

SOURCE = ("The train in Paris opened yesterday.", "Every morning people in Old London cross it.")
SUMMARY = "Anna said the bridge in London was opened yesterday."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("summaqa") / "model", "BertForQuestionAnswering", places=128)


def test_questions_by_capitals() -> None:
    quiz = questions(
        "In 1999 Mayor Anna Berlin came to New York. The city said no to Paris, London and 42 others.", "capitals"
    )
    assert [question.answer for question in quiz] == ["1999", "Mayor Anna Berlin", "New York", "Paris", "London", "42"]
    assert quiz[2] == Question("In 1999 Mayor Anna Berlin came to MASKED.", "New York")


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("the Eiffel Tower!", "Eiffel tower", 1.0),
        ("in London", "London", 2 / 3),  # precision 1/2, recall 1
        ("Paris", "London", 0.0),
        ("", "London", 0.0),
    ],
)
def test_overlap_as_squad_counts_it(answer: str, truth: str, expected: float) -> None:
    assert overlap(answer, truth) == pytest.approx(expected)


def plain(folder: Path) -> tuple[float, float]:
    """The authors' recipe: softmax over all tokens, best start and best end among those of the summary."""
    import torch
    from transformers import BertForQuestionAnswering, BertTokenizer

    network: Any = BertForQuestionAnswering.from_pretrained(folder).eval()
    tokenizer: Any = BertTokenizer.from_pretrained(folder)
    question_answers = [
        ("The train in MASKED opened yesterday.", "Paris"),
        ("Every morning people in MASKED cross it.", "Old London"),
    ]
    overlaps, confidences = 0.0, 0.0
    for question, truth in question_answers:
        first, second = tokenizer.tokenize(question), tokenizer.tokenize(SUMMARY)
        ids = tokenizer.convert_tokens_to_ids(["[CLS]", *first, "[SEP]", *second, "[SEP]"])
        kinds = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        with torch.no_grad():
            output = network(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
        start_at = len(first) + 2
        starts = torch.softmax(output.start_logits[0], -1)[start_at : start_at + len(second)]
        ends = torch.softmax(output.end_logits[0], -1)[start_at : start_at + len(second)]
        words = " ".join(second[int(starts.argmax()) : int(ends.argmax()) + 1])
        overlaps += overlap(words, truth)
        confidences += float(starts.max() * ends.max())
    return overlaps / 2, confidences / 2


@pytest.mark.needs("torch")
def test_equals_the_plain_computation(model: Path) -> None:
    options = f"[model={model},entities=capitals]"
    scores = [
        scoring.registry.get(name + options).evaluate_example(SUMMARY, source=SOURCE)[name + options]
        for name in ("summaqa-f", "summaqa-prob")
    ]
    assert scores == pytest.approx(plain(model), abs=1e-6)
    assert 0 < scores[1] < 1


@pytest.mark.needs("torch")
def test_an_empty_summary_scores_nothing_and_a_document_without_names_asks_nothing(model: Path) -> None:
    metric = scoring.registry.get(f"summaqa-f[model={model},entities=capitals]")
    assert metric.evaluate_example("", source=SOURCE)[metric.name] == 0
    with pytest.warns(UndefinedWarning):
        metric.evaluate_example(SUMMARY, source="the train opened.")


@pytest.mark.needs("torch")
def test_refusals_name_all_that_is_missing(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.metrics.summaqa.questions.find_spec", lambda name: None)
    with pytest.raises(NotReady, match=r"hf download bert-large.*pip install spacy.*entities=capitals"):
        scoring.registry.get("summaqa-f").evaluate_example(SUMMARY, source=SOURCE)
    with pytest.raises(NotReady, match=r"cannot run here: SpaCy"):
        scoring.registry.get(f"summaqa-f[model={model}]").evaluate_example(SUMMARY, source=SOURCE)


@pytest.mark.needs("torch")
def test_a_spacy_pipeline_finds_the_names(model: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    rules = pipeline.add_pipe("entity_ruler")
    rules.add_patterns([{"label": "GPE", "pattern": "Paris"}, {"label": "GPE", "pattern": "Old London"}])
    pipeline.to_disk(tmp_path / "rules")
    by_pipeline = scoring.registry.get(f"summaqa-f[model={model},entities={tmp_path / 'rules'}]")
    by_capitals = scoring.registry.get(f"summaqa-f[model={model},entities=capitals]")
    names = [question.answer for question in questions(" ".join(SOURCE), str(tmp_path / "rules"))]
    assert names == ["Paris", "Old London"]
    assert [*by_pipeline.evaluate_example(SUMMARY, source=SOURCE).values()] == [
        *by_capitals.evaluate_example(SUMMARY, source=SOURCE).values()
    ]
