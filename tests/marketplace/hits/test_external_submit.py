"""`/mturk/externalSubmit`: forms and scripts hand in from another origin, without a cookie."""

import pytest

from annotation.marketplace.hits import work
from annotation.marketplace.models import Assignment
from annotation.marketplace.questions.answers import parse_answers
from tests.marketplace.fixtures import at, make_hit

URL = "/mturk/externalSubmit"


@pytest.fixture
def assignment(requester, anna) -> Assignment:
    return work.accept_hit(anna, make_hit(requester).hit_id)


def test_a_form_is_stored_and_sent_on_to_its_receipt(client, assignment):
    fields = {"assignmentId": assignment.assignment_id, "answer": ["a", "b"], "note": "ü < &"}
    answer = client.post(URL, fields, HTTP_ORIGIN="https://requester.example", HTTP_SEC_FETCH_MODE="navigate")
    assert answer.status_code == 303
    assignment.refresh_from_db()
    assert assignment.state == "Submitted"
    answers = parse_answers(assignment.answer)
    assert {name: text_answer.text for name, text_answer in answers.items()} == {"answer": "a|b", "note": "ü < &"}
    receipt = client.get(answer["Location"])
    assert receipt.status_code == 200
    assert assignment.assignment_id in receipt.content.decode()
    # It shows in the frame of our own work page: only that may frame it.
    assert receipt["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in receipt["Content-Security-Policy"]


def test_a_script_gets_json_that_any_origin_may_read(client, assignment):
    options = client.options(URL, HTTP_ORIGIN="https://requester.example")
    assert options.status_code == 204
    assert options["Access-Control-Allow-Origin"] == "*"
    assert "POST" in options["Access-Control-Allow-Methods"]
    answer = client.post(URL, {"assignmentId": assignment.assignment_id, "x": "1"}, HTTP_SEC_FETCH_MODE="cors")
    assert answer.json() == {"status": "submitted", "assignmentId": assignment.assignment_id}
    assert answer["Access-Control-Allow-Origin"] == "*"
    second_answer = client.post(URL, {"assignmentId": assignment.assignment_id, "x": "2"}, HTTP_SEC_FETCH_MODE="cors")
    assert (second_answer.status_code, second_answer.json()["code"]) == (409, "AWS.MechanicalTurk.AlreadySubmitted")


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"x": "1"}, 422, "no assignmentId"),
        ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "x": "1"}, 422, "preview"),
        ({"assignmentId": "3NOBODY", "x": "1"}, 404, "no such assignment"),
        ({"assignmentId": "mine"}, 422, "no answer to hand in"),
    ],
)
def test_what_cannot_be_handed_in_is_said_and_changes_nothing(client, assignment, fields, status, words):
    if fields.get("assignmentId") == "mine":
        fields = {"assignmentId": assignment.assignment_id}
    answer = client.post(URL, fields)
    assert answer.status_code == status
    assert words in answer.content.decode()
    assignment.refresh_from_db()
    assert assignment.state == "Accepted"


def test_too_late_is_too_late(client, requester, anna):
    with at():
        assignment = work.accept_hit(anna, make_hit(requester, assignment_seconds=60).hit_id)
    with at(seconds=61):
        answer = client.post(URL, {"assignmentId": assignment.assignment_id, "x": "1"})
    assert answer.status_code == 409
    assert "time" in answer.content.decode()


def test_nothing_is_handed_in_by_get(client, assignment):
    assert client.get(URL, {"assignmentId": assignment.assignment_id, "x": "1"}).status_code == 405
    assert client.get("/mturk/submitted", {"assignmentId": assignment.assignment_id}).status_code == 404


def test_control_characters_do_not_break_the_answer(client, assignment):
    client.post(URL, {"assignmentId": assignment.assignment_id, "x": "a\x00b\x07c\ufffe"})
    assignment.refresh_from_db()
    assert parse_answers(assignment.answer)["x"].text == "abc"
