"""BLANC on a model that the test makes, against the authors' definition worked out the plain way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import scoring
from scoring.cli import main
from scoring.errors import LongTextWarning, NotReady, UndefinedWarning
from tests.scoring.models.tiny_models import write_model

SOURCE = ("The train in Paris opened yesterday.", "Mayor Anna said people cross the river every morning.")
SUMMARIES = ("People cross the old bridge in Paris.", "Anna opened the train.", "")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("blanc") / "model", "BertForMaskedLM")


def plain_help(folder: Path, summary: str, gap: int) -> float:
    """Fig. 3 of the paper, one sentence and one mask at a time."""
    import torch
    from transformers import BertForMaskedLM, BertTokenizer

    network: Any = BertForMaskedLM.from_pretrained(folder).eval()
    tokenizer: Any = BertTokenizer.from_pretrained(folder)

    def guess(before: list[str], masked: list[str], place: int) -> str:
        row = tokenizer.convert_tokens_to_ids(["[CLS]", *before, *masked, "[SEP]"])
        with torch.no_grad():
            best = int(network(input_ids=torch.tensor([row])).logits[0, 1 + len(before) + place].argmax())
        return str(tokenizer.convert_ids_to_tokens(best))

    help_tokens = tokenizer.tokenize(summary)
    counts = {(False, False): 0, (False, True): 0, (True, False): 0, (True, True): 0}
    for sentence in SOURCE:
        tokens = tokenizer.tokenize(sentence)
        for first in range(gap):
            places = [i for i in range(first, len(tokens), gap) if len(tokens[i]) >= 4]
            masked = ["[MASK]" if i in places else token for i, token in enumerate(tokens)]
            for place in places:
                base = guess(["."] * len(help_tokens), masked, place) == tokens[place]
                helped = guess(help_tokens, masked, place) == tokens[place]
                counts[base, helped] += 1
    return (counts[False, True] - counts[True, False]) / sum(counts.values())


@pytest.mark.needs("torch")
@pytest.mark.parametrize("gap", [2, 6])
def test_help_equals_the_plain_computation(model: Path, gap: int) -> None:
    metric = scoring.registry.get(f"blanc-help[model={model},gap={gap}]")
    scores = [metric.evaluate_example(summary, source=SOURCE)[metric.name] for summary in SUMMARIES]
    assert scores == [plain_help(model, summary, gap) for summary in SUMMARIES]
    assert scores[2] == 0  # nothing in front of a sentence helps nobody


@pytest.mark.needs("torch")
def test_a_run_from_end_to_end(model: Path) -> None:
    documents = pd.DataFrame({"doc_id": ["1"], "references": [["x"]], "source": [list(SOURCE)]})
    rows = [("1", f"s{i}", text) for i, text in enumerate(SUMMARIES[:2])]
    summaries = pd.DataFrame(rows, columns=["doc_id", "system", "summary"])
    names = f"blanc-help[model={model},gap=2],blanc-tune[model={model},gap=2]"
    scores = scoring.evaluate(summaries, documents, names)
    second = scoring.evaluate(summaries, documents, names)
    assert scores["value"].between(-1, 1).all()
    assert scores.equals(second)  # tuning draws its masks and its dropout with a seed
    assert "#" in scores.attrs["signatures"][f"blanc-help[model={model},gap=2]"]


@pytest.mark.needs("torch")
def test_tuning_learns_the_words_of_the_summary(model: Path) -> None:
    metric = scoring.registry.get(f"blanc-tune[model={model},gap=2,epochs=40,rate=0.02]")
    text = "The train opened yesterday."
    assert metric.evaluate_example(text, source=text)[metric.name] > 0.5
    # The model that is shared with others was not changed.
    help_metric = scoring.registry.get(f"blanc-help[model={model},gap=2]")
    assert help_metric.evaluate_example(SUMMARIES[0], source=SOURCE)[help_metric.name] == plain_help(
        model, SUMMARIES[0], 2
    )


@pytest.mark.needs("torch")
def test_without_a_word_to_mask_it_is_undefined(model: Path) -> None:
    metric = scoring.registry.get(f"blanc-help[model={model}]")
    with pytest.warns(UndefinedWarning):
        assert metric.evaluate_example("Anna.", source="It was in a, of.")[metric.name] != 0


@pytest.mark.needs("torch")
def test_long_texts_are_cut_and_counted(model: Path) -> None:
    documents = pd.DataFrame({"doc_id": ["1"], "references": [["x"]], "source": [SOURCE[0]]})
    summaries = pd.DataFrame({"doc_id": ["1"], "system": ["a"], "summary": ["people cross the river " * 40]})
    with pytest.warns(LongTextWarning, match="1 of 1"):
        scoring.evaluate(summaries, documents, f"blanc-help[model={model}]")


@pytest.mark.needs("torch")
def test_without_a_model_it_refuses_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--summaries", "/nowhere.csv", "--documents", "/nowhere.csv", "--out", str(tmp_path / "out.csv")]
    assert main(["run", *arguments, "--metrics", "blanc-help,blanc-tune,bertscore-f[model=not/here],rouge-1-f"]) == 2
    error = capsys.readouterr().err
    assert "blanc-help, blanc-tune cannot run here" in error
    assert "hf download bert-base-uncased" in error
    assert "hf download not/here" in error
    assert "nowhere" not in error


@pytest.mark.needs("torch")
def test_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    bare = write_model(tmp_path / "bare", "BertModel")
    with pytest.raises(NotReady, match="BertModel and has no head that fills masked words"):
        scoring.registry.get(f"blanc-help[model={bare}]").evaluate_example("a", source="b")
