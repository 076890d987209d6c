"""The pages of judges: describe, preview, price, ask, look; and that people who judge see nothing of it."""

import json

import pytest

from annotation.crowds.judges.run import run_judge
from annotation.models import JudgeRun, Role
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from annotation.tables.trusted import systems_judgments
from tests.annotation.crowds.judges.conftest import make_judge, make_run
from tests.annotation.crowds.judges.fault_server import FaultServer
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def batch():
    return make_batch(make_study(documents=2, units=2))


@pytest.fixture
def admin(client, batch):
    client.force_login(make_member(batch.study, Role.ADMIN))
    return client


def address(batch, path=""):
    return f"/studies/{batch.study.slug}/judges/{path}"


def test_from_a_description_to_a_finished_run(admin, batch, server: FaultServer) -> None:
    values = {"name": "tiny", "kind": "chat", "endpoint": server.url, "model": server.model, "temperature": 0}
    values |= {"samples": 1, "max_tokens": 100, "seed": 0, "format": "schema", "limit_name": "max_tokens"}
    values |= {"parallel": 2, "price_in": "1000", "price_out": "1000"}
    page = admin.post(address(batch), values, follow=True)
    assert "tiny v1" in page.text
    judge = batch.study.judges.get()
    page = admin.get(address(batch, f"{judge.pk}/"), {"batch": batch.pk})
    assert "Summary of document 0 by system0." in page.text
    assert "You judge texts as a careful human annotator would" in page.text
    assert not server.calls
    page = admin.post(address(batch, f"{judge.pk}/"), {"batch": batch.pk, "cap": "30"}, follow=True)
    assert "2 of 2 tasks are done." in page.text
    assert "0.24" in page.text  # two calls of 120 tokens at 1,000 a million
    run = JudgeRun.objects.get()
    lines = b"".join(admin.get(address(batch, f"runs/{run.batch_id}/calls.jsonl")).streaming_content).decode()
    assert [json.loads(line)["state"] for line in lines.splitlines()] == ["answered", "answered"]
    assert "tiny v1" in admin.get(address(batch)).text


def test_what_is_wrong_stands_in_the_form_with_what_was_typed(admin, batch, server: FaultServer) -> None:
    page = admin.post(address(batch), {"name": "mine", "prompt": "no places", "endpoint": "http://x/"})
    assert page.status_code == 422
    assert "The prompt has no place for {{instructions}}" in page.text
    assert "no places</textarea>" in page.text
    judge = make_judge(batch.study, server, price_in=1000, price_out=1000)
    page = admin.post(address(batch, f"{judge.pk}/"), {"batch": batch.pk, "cap": "much"})
    assert page.status_code == 422
    assert "is not an amount" in page.text


def test_a_run_can_be_stopped_raised_and_gone_on_with(admin, batch, server: FaultServer) -> None:
    run = make_run(batch, server, price_in=10, price_out=10)
    where = address(batch, f"runs/{run.batch_id}/")
    assert "The cap is raised." in admin.post(where, {"action": "cap", "more": "1.50"}, follow=True).text
    assert "is not an amount" in admin.post(where, {"action": "cap", "more": "x"}, follow=True).text
    assert "There is no such action" in admin.post(where, {"action": "dance"}, follow=True).text
    assert "2 of 2 tasks are done." in admin.post(where, {"action": "go"}, follow=True).text
    assert "This run is over" in admin.post(where, {"action": "go"}, follow=True).text


def test_people_who_judge_see_nothing_of_models(client, batch, server: FaultServer) -> None:
    run = make_run(batch, server)
    run_judge(run.batch)
    client.force_login(make_member(batch.study))
    home = client.get("/").text
    assert run.batch.name not in home
    assert "model" not in client.post(f"/work/batch/{run.batch_id}/", follow=True).text.lower()
    page = client.post(f"/work/batch/{batch.pk}/", follow=True)
    assert "model" not in page.text.lower().replace("viewport", "")
    assert client.get(address(batch)).status_code == 403


def test_models_answers_are_exported_with_their_role_and_are_in_nothing_that_people_say(
    admin, batch, server: FaultServer
) -> None:
    run_judge(make_run(batch, server).batch)
    frame = judgments_frame(batch.study)
    assert set(frame["role"]) == {"model"}
    assert systems_judgments(batch.study).empty
    assert "Nobody has judged yet" in admin.get(f"/studies/{batch.study.slug}/quality/").text


def test_the_scu_desk_marks_what_a_model_proposes_and_starts_without_it(admin, batch, server: FaultServer) -> None:
    study = batch.study
    study.documents.first().units.all().delete()
    run = make_run(create_batch(study, "facts", "scu", 1), server)
    run_judge(run.batch)
    reference = study.documents.first().references.get()
    page = admin.get(f"/studies/{study.slug}/scus/{reference.pk}/").text
    assert "proposed by a model" in page
    assert "A second fact." in page
    assert '<textarea id="units-text" name="units" rows="12">[]</textarea>' in page
