"""A judge of the kind `nli`: SCUs of the reference that follow from the summary, at no price and without a network."""

import pytest

from annotation.crowds.judges.launch import launch_judge
from annotation.crowds.judges.run import run_judge
from annotation.crowds.markets.models.versions import keep_judge
from annotation.models import Entry, JudgeCall, Judgment
from tests.factories import make_batch, make_study
from tests.scoring.models.tiny_models import make_entailment_model

pytestmark = pytest.mark.django_db(transaction=True)
pytest.importorskip("transformers", reason="needs the libraries of the models")


def test_a_model_in_an_allowed_folder_judges_a_batch(tmp_path, settings) -> None:
    settings.MODEL_FOLDERS = [str(tmp_path)]
    batch = make_batch(make_study(documents=2, units=3))
    judge = keep_judge(batch.study, {"name": "nli", "kind": "nli", "model": make_entailment_model(tmp_path)}, None)
    run = launch_judge(judge, batch, 0, None)
    report = run_judge(run.batch)
    assert (report.done, report.unanswered) == (2, 0)
    rows = list(Judgment.objects.filter(assignment__task__batch=run.batch))
    assert len(rows) == 6
    assert all(row.value == (row.extra["probability"] > 0.5) for row in rows)
    assert all("fingerprint" in call.answer for call in JudgeCall.objects.filter(run=run))
    assert not Entry.objects.exists()
