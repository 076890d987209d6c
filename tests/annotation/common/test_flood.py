"""Whoever is refused again and again is refused early and cheaply; their neighbours are served."""

import os
import threading
import time

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse

from annotation.accounts.api_tokens import issue_token
from annotation.common import flood
from annotation.common.flood import (
    DOUBTFUL,
    LONGEST_WAIT,
    LOW_PRIORITY,
    MOST,
    MOST_KEYS,
    LowPriorityHasher,
    Refusals,
    RefuseEarly,
)
from annotation.models import Role
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db
STRANGER = {"REMOTE_ADDR": "192.0.2.7"}
NOWHERE = "/no-such-page/"


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test moves on."""
    now = [1000.0]
    monkeypatch.setattr(flood.time, "monotonic", lambda: now[0])
    return now


def refuse(client, times: int, **more) -> None:
    for _ in range(times):
        assert client.get(NOWHERE, **(STRANGER | more)).status_code == 404


def test_a_stranger_who_is_refused_too_often_is_refused_before_it_costs_anything(
    client, clock, django_assert_num_queries
):
    refuse(client, MOST)
    with django_assert_num_queries(0):
        answer = client.get(reverse("sign-in"), **STRANGER)
    assert (answer.status_code, answer["Retry-After"]) == (429, str(LONGEST_WAIT))
    assert "Nothing was changed" in answer.content.decode()
    assert client.get(reverse("sign-in"), REMOTE_ADDR="192.0.2.8").status_code == 200
    assert client.get("/healthz", REMOTE_ADDR="127.0.0.1").status_code == 200


def test_who_stops_is_heard_again_and_who_goes_on_is_not(client, clock):
    refuse(client, MOST)
    for number in range(300):
        clock[0] += 0.2 * (number > 0)
        assert client.get(reverse("sign-in"), **STRANGER).status_code == 429
    clock[0] += LONGEST_WAIT + 1
    assert client.get(reverse("sign-in"), **STRANGER).status_code == 200


def test_a_page_that_asks_in_vain_now_and_then_never_reaches_the_limit(client, clock):
    for _ in range(3 * MOST):
        clock[0] += 3
        refuse(client, 1)


def test_people_at_work_are_served_whatever_their_neighbours_do(client, clock):
    study = make_study()
    batch = make_batch(study)
    refuse(client, MOST)
    assert client.get(reverse("home"), **STRANGER).status_code == 429
    client.force_login(make_member(study))
    assert client.post(reverse("take", args=[batch.pk]), **STRANGER).status_code == 302
    client.cookies["sessionid"] = "no-such-session"
    assert client.get(reverse("home"), **STRANGER).status_code == 429


def test_who_is_signed_in_counts_for_themselves(client, clock):
    study = make_study()
    client.force_login(make_member(study))
    refuse(client, MOST)
    assert client.get(reverse("home"), **STRANGER).status_code == 429
    assert client.get(reverse("home"), REMOTE_ADDR="192.0.2.99").status_code == 429  # from wherever
    client.cookies.clear()
    assert client.get(reverse("sign-in"), **STRANGER).status_code == 200


def test_programs_with_a_token_have_their_own_limit(client, clock):
    study = make_study()
    token = issue_token(make_member(study, Role.ADMIN), "x", ["read"], 7).token
    headers = {"Authorization": f"Bearer {token}"}
    for _ in range(MOST + 1):
        assert client.get("/api/v1/studies/none", headers=headers, **STRANGER).status_code == 404
    assert client.get(reverse("sign-in"), **STRANGER).status_code == 200
    refuse(client, MOST)
    assert client.get(f"/api/v1/studies/{study.slug}", headers=headers, **STRANGER).status_code == 200


def test_a_signed_call_of_the_market_is_no_strangers(clock):
    def refused(request):
        request.is_signed = "signed" in request.GET
        return HttpResponse(status=400)

    gate = RefuseEarly(refused)
    ask = RequestFactory().post
    for _ in range(MOST + 1):
        assert gate(ask("/?signed", **STRANGER)).status_code == 400
    for _ in range(MOST):
        assert gate(ask("/", **STRANGER)).status_code == 400
    assert gate(ask("/", **STRANGER)).status_code == 429
    assert gate(ask("/?signed", headers={"Authorization": "AWS4-HMAC-SHA256 …"}, **STRANGER)).status_code == 400


def test_this_machines_own_address_is_never_counted(client, clock):
    for _ in range(2 * MOST):
        assert client.get(NOWHERE).status_code == 404


def test_a_flood_of_addresses_fills_no_memory(clock):
    refusals = Refusals()
    for _ in range(MOST):
        refusals.add("the worst")
    for number in range(MOST_KEYS + 10):
        refusals.add(f"address {number}")
    assert len(refusals._levels) <= MOST_KEYS
    assert refusals.level("the worst") >= MOST


# Passwords


def test_guesses_never_take_all_threads_and_who_is_doubtful_waits_for_nobody(client, clock, monkeypatch):
    monkeypatch.setattr(flood, "PATIENCE", 20)
    form = {"username": "anna", "password": "guess"}
    refuse(client, DOUBTFUL + 2)
    for _ in range(2):
        assert flood.GUESSES.acquire(blocking=False)
    try:
        began = time.perf_counter()
        answer = client.post(reverse("sign-in"), form, **STRANGER)
        assert (answer.status_code, "Many people are signing in" in answer.content.decode()) == (429, True)
        assert time.perf_counter() - began < flood.PATIENCE / 2
        assert client.get(reverse("sign-in"), **STRANGER).status_code == 200  # looking is free
        threading.Timer(0.2, flood.GUESSES.release).start()
        neighbour = client.post(reverse("sign-in"), form, REMOTE_ADDR="192.0.2.8")
        assert neighbour.status_code == 200  # waited for a turn; the form says that the password is wrong
        assert "Many people" not in neighbour.content.decode()
    finally:
        flood.GUESSES.release()


def test_passwords_are_looked_at_by_a_thread_of_low_priority(monkeypatch):
    priorities = []

    def noting(self, password, salt, iterations=None):
        priorities.append((threading.current_thread().name, os.getpriority(os.PRIO_PROCESS, 0)))
        return encode(self, password, salt, iterations)

    encode = PBKDF2PasswordHasher.encode
    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", noting)
    hasher, own = LowPriorityHasher(), os.getpriority(os.PRIO_PROCESS, 0)
    stored = hasher.encode("a long phrase", "salt" * 6, 10)
    assert stored == encode(PBKDF2PasswordHasher(), "a long phrase", "salt" * 6, 10)  # as Django stores it
    assert hasher.verify("a long phrase", stored)
    assert not hasher.verify("another phrase", stored)
    assert [name.startswith("passwords") for name, _priority in priorities] == [True, True, True]
    assert {priority for _name, priority in priorities} == {max(own, LOW_PRIORITY)}
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
