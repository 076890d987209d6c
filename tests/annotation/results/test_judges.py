"""Models beside people on the Quality and Report pages: examined, never mixed in."""

import pandas as pd
import pytest

from analysis.judges import examine
from analysis.judges.prediction_powered import powered_measures
from annotation.accounts.api_tokens import issue_token
from annotation.models import Role, Study
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import trusted_judgments
from annotation.transfer.importing.study import import_study
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENTS, JUDGED = 16, 10
"""The model judged all documents, people the first ten."""


def rows() -> list[dict[str, object]]:
    judgments = []
    for d in range(DOCUMENTS):
        for s in range(3):
            for unit in ("coherence", "fluency"):
                truth = 1 + (d * 2 + s + len(unit)) % 5
                cell = {"doc_id": f"doc{d}", "system": f"system{s}", "unit": unit, "protocol": "likert"}
                for w in range(3 if d < JUDGED else 0):
                    value = min(5, max(1, truth + (d + s + w) % 3 - 1))
                    judgments.append({**cell, "worker_id": f"p{w}", "value": value, "role": "expert", "samples": ""})
                samples = f"{truth} {min(5, truth + 1)}"
                value = (truth + min(5, truth + 1)) / 2
                model = {"worker_id": "robot-1", "value": value, "role": "model", "samples": samples}
                judgments.append({**cell, **model})
    return judgments


@pytest.fixture
def study(tmp_path) -> Study:
    names = [(f"doc{d}", f"system{s}") for d in range(DOCUMENTS) for s in range(3)]
    documents = [{"doc_id": f"doc{d}", "source": "A text.", "references": ["A reference."]} for d in range(DOCUMENTS)]
    summaries = [{"doc_id": doc, "system": system, "summary": "A summary. " * (1 + len(doc))} for doc, system in names]
    pd.DataFrame(documents).to_json(tmp_path / "documents.jsonl", orient="records", lines=True)
    pd.DataFrame(summaries).to_json(tmp_path / "summaries.jsonl", orient="records", lines=True)
    pd.DataFrame(rows()).to_csv(tmp_path / "judgments.csv", index=False)
    import_study(tmp_path, "with a model")
    return Study.objects.get(name="with a model")


@pytest.fixture
def reader(client, study):
    client.force_login(make_member(study, Role.ANALYST))
    return client


def test_the_quality_page_has_the_exam_that_the_command_gives(reader, study) -> None:
    page = reader.get(f"/studies/{study.slug}/quality/").text
    everything = judgments_frame(study)
    people, models = everything[everything["role"] != "model"], everything[everything["role"] == "model"]
    (exam,) = examine(people, models, level="interval")
    assert exam.n_items == JUDGED * 3 * 2
    assert 0 < exam.repeatability < 1
    assert "robot-1" in page
    assert str(exam.verdict) in page
    assert "Recorded: its answers were imported from a file" in page
    table = reader.get(f"/studies/{study.slug}/quality/likert/judges.csv").text
    assert f"{exam.test.rho}" in table
    assert f"{exam.repeatability}" in table


def test_models_are_in_no_agreement_score_or_filter_of_people(reader, study) -> None:
    trusted = trusted_judgments(study).judgments
    assert set(trusted["role"]) == {"expert"}
    assert len(trusted) == JUDGED * 3 * 2 * 3
    assert "robot-1" not in reader.get(f"/studies/{study.slug}/quality/").text.split("Workers")[1].split("Judges")[0]
    assert "3 workers" in reader.get(f"/studies/{study.slug}/report/").text


def test_the_report_has_prediction_powered_scores_under_their_own_name(reader, study) -> None:
    page = reader.get(f"/studies/{study.slug}/report/").text
    everything = judgments_frame(study)
    people, models = everything[everything["role"] != "model"], everything[everything["role"] == "model"]
    best = powered_measures(people, models)["coherence"].systems[0]
    assert (best.n_people, best.n_model) == (JUDGED, DOCUMENTS - JUDGED)
    part = page.split("Prediction-powered")[1]
    assert f"{best.value:.3f}" in part
    assert f"{JUDGED}, {DOCUMENTS - JUDGED}" in part


def test_the_api_tells_both(client, study) -> None:
    issued = issue_token(make_member(study, Role.ANALYST), "t", ["read"], 7)
    headers = {"authorization": f"Bearer {issued.token}"}
    quality = client.get(f"/api/v1/studies/{study.slug}/quality", headers=headers).json()
    assert quality["protocols"][0]["judges"][0]["judge"] == "robot-1"
    report = client.get(f"/api/v1/studies/{study.slug}/report", headers=headers).json()
    assert [part["measure"] for part in report["powered"]] == ["coherence", "fluency"]
