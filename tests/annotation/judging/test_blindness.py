"""Blindness: nothing an annotator can reach names a system, another's answer, a check, or a score."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, ContentUnit, Role, Score, System, Worker
from annotation.protocols import of as protocol_of
from annotation.studies.batches import create_batch
from tests.browser.looking import markup
from tests.factories import make_member, make_study, make_worker

pytestmark = pytest.mark.django_db

SYSTEM = "zebra-net"
METRIC = "zebra-metric"
SECRETS = [SYSTEM, METRIC, "is_check", "expected", "check_from", "0.987654"]


@pytest.fixture(params=["litepyramid", "likert"])
def batch(request) -> Batch:
    study = make_study(documents=2, systems=2, units=3)
    System.objects.filter(name="system0").update(name=SYSTEM, group="zebras")
    for summary in study.documents.first().summaries.all():
        summary.text = "A summary that says nothing of its maker."
        summary.save()
    for document in study.documents.all():
        ContentUnit.objects.create(
            document=document, scu_id="check-zebra", text="Fact 9 of nowhere.", is_check=True, expected=0
        )
        Score.objects.create(
            study=study, document=document, system=study.systems.first(), metric=METRIC, value=0.987654
        )
    options = {"evidence": True, "checks": {"foreign": 1}} if request.param == "litepyramid" else {"overlap": True}
    return create_batch(study, "work", request.param, 3, options, state=Batch.State.OPEN)


def everything(client: Client, assignment: Assignment) -> dict[str, str]:
    """Every page and every answer of the API that the holder of this assignment can get, in the order of the work."""
    pages = {}

    def get(name: str, *args: object) -> None:
        pages[f"{name} {len(pages)}"] = client.get(reverse(name, args=args), follow=True).content.decode()

    fields = [item.field for item in protocol_of(assignment.task.batch).items(assignment)]
    get("home")
    get("task", assignment.key)
    body = {"changes": [{"field": fields[0], "content": {"value": "1"}, "at": 1}], "seen": 0}
    draft = client.put(reverse("draft", args=[assignment.key]), json.dumps(body), content_type="application/json")
    pages["draft"] = draft.content.decode()
    letter = {"submit_key": "k", "answers": {field: {"value": "1"} for field in fields}}
    submit = client.post(reverse("submit", args=[assignment.key]), json.dumps(letter), content_type="application/json")
    pages["submit"] = submit.content.decode()
    get("receipt", assignment.key)
    get("answers", assignment.task.batch_id)
    get("revise", assignment.key)
    return pages


@pytest.fixture
def assignment(client, batch) -> Assignment:
    user = make_member(batch.study)
    client.force_login(user)
    return lease_task(batch, Worker.for_user(batch.study, user))


def test_no_page_or_answer_names_a_system_a_check_or_a_score(client, assignment):
    for name, text in everything(client, assignment).items():
        task = assignment.task
        for secret in [*SECRETS, "check-zebra", "scu0", task.document.doc_id, task.batch.study.salt]:
            assert secret not in text, f"{name} shows {secret}"


def test_no_page_shows_another_workers_answers(client, assignment):
    other_assignment = lease_task(assignment.task.batch, make_worker(assignment.task.batch.study))
    fields = [item.field for item in protocol_of(other_assignment.task.batch).items(other_assignment)]
    signals = {"load": "eeeeffff", "active": 7}
    submit_judgments(other_assignment.worker, other_assignment.key, dict.fromkeys(fields, "1"), "k", signals=signals)
    page = client.get(reverse("task", args=[assignment.key])).content.decode()
    assert " checked" not in page.replace('name="straight_on" checked', "")
    for name, text in everything(client, assignment).items():
        for secret in [other_assignment.key, other_assignment.worker.pseudonym, "eeeeffff", *fields]:
            assert secret not in text, f"{name} shows {secret}"


def test_a_check_looks_like_any_other_item(client):
    """Text, field name and label aside, the markup of a check is that of a real unit."""
    study = make_study(units=4)
    document = study.documents.get()
    ContentUnit.objects.create(document=document, scu_id="c1", text="Fact 9 of nowhere.", is_check=True, expected=0)
    batch = create_batch(study, "work", "litepyramid", 1, {"evidence": True}, state=Batch.State.OPEN)
    client.force_login(make_member(study))
    page = markup(client.post(reverse("take", args=[batch.pk]), follow=True).content.decode())
    items = re.findall(r"<li><fieldset.*?</fieldset></li>", page, re.DOTALL)
    plain = {re.sub(r"Fact \d of (document \d|nowhere)\.", "TEXT", re.sub(r"q[0-9a-f]{12}", "FIELD", i)) for i in items}
    assert (len(items), len(plain)) == (5, 1)


def test_field_names_differ_between_workers_so_that_they_can_not_compare_notes(batch):
    first, second = (lease_task(batch, make_worker(batch.study)) for _ in range(2))
    names = [{item.field for item in protocol_of(batch).items(assignment)} for assignment in (first, second)]
    assert names[0] & names[1] == set()


@pytest.mark.parametrize("name", ["task", "receipt", "revise"])
def test_another_annotators_pages_are_not_there(client, assignment, name):
    client.force_login(make_member(assignment.task.batch.study))
    page = client.get(reverse(name, args=[assignment.key]))
    assert page.status_code == 404
    assert "Summary" not in page.content.decode()


def test_even_an_admin_does_not_open_another_persons_task(client, assignment):
    client.force_login(make_member(assignment.task.batch.study, Role.ADMIN))
    assert client.get(reverse("task", args=[assignment.key])).status_code == 404


@pytest.mark.parametrize("name", ["study", "report"])
def test_study_pages_are_closed_to_annotators(client, assignment, name):
    assert client.get(reverse(name, args=[assignment.task.batch.study.slug])).status_code == 403
