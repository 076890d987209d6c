"""Characters that no text has (NUL, halves of surrogate pairs): refused with a sentence, or dropped, never a fault."""

import json

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from annotation.accounts.api_tokens import issue_token
from annotation.accounts.audit_log import log_event
from annotation.judging.leases import lease_task
from annotation.models import Assignment, AuditEvent, Batch, Judgment, Role, Worker
from annotation.protocols import of as protocol_of
from annotation.protocols.scu_units import read_units
from tests.factories import make_batch, make_member, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]
SENTENCE = "it holds a character that no text has. Nothing was changed."


@pytest.fixture
def batch(client) -> Batch:
    study = make_study(documents=1, systems=1)
    client.force_login(make_member(study, Role.ADMIN))
    return make_batch(study)


@pytest.mark.parametrize("form", [{"zz": "a\x00"}, {"z\x00": "a"}], ids=["value", "name"])
def test_a_change_with_one_is_refused_whole_and_one_without_is_recorded(form, batch, client):
    address = reverse("batch-state", args=[batch.study.slug, batch.pk])
    response = client.post(address, {"state": "paused", **form})
    assert response.status_code == 400
    assert SENTENCE in response.content.decode().replace("&#x27;", "'")
    assert Batch.objects.get().state == Batch.State.OPEN
    assert not AuditEvent.objects.exists()
    client.post(address, {"state": "paused"})
    assert AuditEvent.objects.count() == 1


def test_half_a_pair_in_a_form_of_another_charset_is_refused(batch, client):
    body = b"--x\r\nContent-Disposition: form-data; name=state\r\n\r\n+2AA-\r\n--x--\r\n"
    address = reverse("batch-state", args=[batch.study.slug, batch.pk])
    answer = client.generic("POST", address, body, "multipart/form-data; boundary=x; charset=utf-7")
    assert answer.status_code == 400
    assert SENTENCE in answer.content.decode()


@pytest.mark.parametrize(
    "address",
    ["/work/a%00b/", "/w/mturk/a%00/", "/w/s/a%00/", "/join/a%00/", "/studies/a%00b/", "/studies/?q=%00", "/?%00=1"],
)
def test_no_address_with_one_is_a_fault(address, batch):
    signed_in = Client(raise_request_exception=False)
    signed_in.force_login(batch.study.memberships.get().user)
    for client in (signed_in, Client(raise_request_exception=False)):
        assert client.get(address).status_code in (400, 404)
        assert client.post(address).status_code in (400, 403, 404, 405)


def test_a_script_gets_the_sentence_as_json(batch, client):
    answer = client.put("/work/a%00b/draft/", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (400, "Unreadable")
    assert SENTENCE in answer.json()["sentence"]


def test_the_record_is_written_whatever_the_facts_hold(batch):
    log_event(RequestFactory().get("/"), "test", None, batch.study, {"a\x00": "b\x00\ud800c"})
    assert AuditEvent.objects.get().facts == {"a": "bc"}


@pytest.fixture
def assignment(batch, client) -> Assignment:
    user = make_member(batch.study)
    client.force_login(user)
    return lease_task(batch, Worker.for_user(batch.study, user))


@pytest.mark.parametrize("bad_character", ["\x00", "\ud800"], ids=["nul", "half"])
def test_a_draft_keeps_everything_but_that_character(bad_character, assignment, client):
    changes = [
        {"field": "a", "content": {"value": "1"}, "at": 1},
        {"field": "b", "content": {"value": f"x{bad_character}y", f"note{bad_character}": [bad_character]}, "at": 1},
        {"field": "c", "content": {"value": float("inf")}, "at": 1},
    ]
    answer = client.put(reverse("draft", args=[assignment.key]), json.dumps({"changes": changes}), "application/json")
    assert answer.status_code == 200
    assignment.refresh_from_db()
    items = assignment.draft["items"]
    assert [items[name]["value"] for name in "abc"] == ["1", "xy", None]
    assert items["b"]["note"] == [""]


@pytest.mark.parametrize("bad_character", ["\x00", "\ud800"], ids=["nul", "half"])
def test_a_submit_goes_through_without_it(bad_character, assignment, client):
    fields = [item.field for item in protocol_of(assignment.task.batch).items(assignment)]
    letter = {"submit_key": f"k{bad_character}", "answers": {field: {"value": f"1{bad_character}"} for field in fields}}
    answer = client.post(reverse("submit", args=[assignment.key]), json.dumps(letter), "application/json")
    assert answer.status_code == 200
    assert Judgment.objects.count() == len(fields)


def test_an_scu_keeps_everything_but_that_character():
    assert read_units('[{"text": "a\\u0000 b\\ud800"}]', "a b", 5)[0].text == "a b"


@pytest.mark.parametrize("bad_character", ["\x00", "\ud800"], ids=["nul", "half"])
def test_the_api_refuses_it_in_addresses_and_names_and_drops_it_in_options(bad_character, batch):
    token = issue_token(batch.study.memberships.get().user, "test", ("read", "write", "admin"), 30).token
    headers = {"Authorization": f"Bearer {token}"}
    for address in ("/api/v1/studies/a%00b", "/api/v1/studies?after=%00"):
        answer = Client().get(address, headers=headers)
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
        assert SENTENCE in answer.json()["detail"]
    address = f"/api/v1/studies/{batch.study.slug}/batches"
    body = {"name": f"n{bad_character}ew", "protocol": "litepyramid", "quota": 1}
    answer = Client().post(address, json.dumps(body), "application/json", headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "body.name")
    options = {"dimensions": [f"flu{bad_character}ency"]}
    body = {"name": "new", "protocol": "likert", "quota": 1, "options": options}
    assert Client().post(address, json.dumps(body), "application/json", headers=headers).status_code == 201
    assert batch.study.batches.get(name="new").options["dimensions"] == ["fluency"]
