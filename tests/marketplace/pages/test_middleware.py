"""Characters that no text has: every page refuses them with a sentence, on both databases."""

import re

import pytest
from django.test import Client

from annotation.marketplace.pages.urls import urlpatterns
from tests.marketplace.pages.visitors import a_requester, a_worker, an_operator, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]
SENTENCE = "it holds a character that no text has. Nothing was changed."


def addresses() -> list[str]:
    """Every page that takes a word in its address."""
    patterns = [str(route.pattern) for route in urlpatterns]
    return [
        "/" + re.sub(r"<str:\w+>", "a%00", pattern).replace("<int:", "").replace(">", "")
        for pattern in patterns
        if "<str:" in pattern
    ]


@pytest.mark.parametrize("address", [*addresses(), "/hits/?q=%00", "/mturk/submitted?assignmentId=%00", "/?%00=1"])
def test_no_address_with_one_is_a_fault(address):
    people = [a_worker().account, a_requester().account, an_operator()]
    for client in [Client(), *map(sign_in, people)]:
        client.raise_request_exception = False
        answer = client.get(address)
        assert answer.status_code == 400
        assert SENTENCE in answer.content.decode()


def test_no_form_with_one_is_a_fault():
    client = Client(raise_request_exception=False)
    for form in ({"username": "a\x00", "password": "x"}, {"z\x00": "1"}):
        answer = client.post("/sign-in/", form)
        assert answer.status_code == 400
        assert SENTENCE in answer.content.decode()


@pytest.mark.parametrize("assignment_id", ["\x00", "a\x00"])
def test_an_assignment_of_that_name_is_nobodys(assignment_id):
    client = Client(raise_request_exception=False)
    assert client.post("/mturk/externalSubmit", {"assignmentId": assignment_id, "a": "1"}).status_code == 404
