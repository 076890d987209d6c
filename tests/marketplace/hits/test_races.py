"""Many at once: on PostgreSQL with its row locks, and on SQLite with its one writer."""

import contextlib
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.test import Client

from annotation.common import clock
from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.errors import AlreadyDone, Refused, SentBefore
from annotation.marketplace.hits import assignments, hits, work
from annotation.marketplace.models import HIT, Assignment, Requester, SignInFailures
from annotation.marketplace.qualifications import qualifications, requests
from tests.marketplace.fixtures import ANSWER, EXTERNAL, FORM, make_hit
from tests.marketplace.pages.visitors import a_worker
from tests.postgres import many_connections

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def at_once(act, arguments) -> list:
    """Call `act` with each argument, all starting together; a refusal is a result."""
    start = threading.Barrier(len(arguments))

    def run(argument):
        try:
            start.wait(30)
            return act(argument)
        except Refused as refusal:
            return refusal
        finally:
            connections.close_all()

    with many_connections(), ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def race(requester, count: int, hit_count: int) -> None:
    """Workers take and return what they can; exactly the places there are must be held in the end, none twice."""
    all_hits = [make_hit(requester, places=3) for _ in range(hit_count)]
    workers = [people.make_worker() for _ in range(count)]

    def work_on_all(worker):
        """Try every HIT, starting at one of one's own, and return the first one taken, twice."""
        first = None
        for n in range(hit_count):
            try:
                assignment = work.accept_hit(worker, all_hits[(worker.pk + n) % hit_count].hit_id)
            except Refused:
                continue
            if first is None:
                first = assignment
                work.return_assignment(worker, assignment.assignment_id)
                work.return_assignment(worker, assignment.assignment_id)
        return worker

    at_once(work_on_all, workers)
    accepted = Assignment.objects.filter(state="Accepted")
    # Whatever was returned last may be free still; somebody comes later and takes it.
    for worker in workers:
        for hit in HIT.objects.filter(status="Assignable"):
            with contextlib.suppress(Refused):
                work.accept_hit(worker, hit.hit_id)
    assert accepted.count() == 3 * hit_count
    assert len(set(accepted.values_list("hit", "worker"))) == 3 * hit_count
    assert set(Counter(accepted.values_list("hit", flat=True)).values()) == {3}
    assert {(hit.pending, hit.available) for hit in HIT.objects.all()} == {(3, 0)}
    assert books.books_agree(requester)


def test_forty_workers_race_for_ten_hits_of_three_places(requester):
    race(requester, 40, 10)


@pytest.mark.sqlite
def test_six_workers_race_on_any_database(requester):
    race(requester, 6, 4)


def test_forty_workers_take_from_a_group(requester):
    for _ in range(10):
        make_hit(requester, places=3)
    hit_type = HIT.objects.first().hit_type
    results = at_once(
        lambda worker: work.accept_from_group(worker, hit_type), [people.make_worker() for _ in range(40)]
    )
    accepted = [result for result in results if isinstance(result, Assignment)]
    assert len(accepted) == 30
    assert set(Counter(assignment.hit_id for assignment in accepted).values()) == {3}


@pytest.mark.sqlite
def test_one_worker_in_ten_tabs_gets_one_assignment(requester, anna):
    hit = make_hit(requester, places=5)
    results = at_once(lambda _: work.accept_hit(anna, hit.hit_id), list(range(10)))
    assert len({assignment.assignment_id for assignment in results}) == 1
    hit.refresh_from_db()
    assert hit.pending == 1


@pytest.mark.sqlite
def test_one_submit_of_ten_counts_and_one_approval_of_ten_pays(requester, anna):
    assignment = work.accept_hit(anna, make_hit(requester).hit_id)
    results = at_once(lambda _: work.submit_assignment(assignment.assignment_id, ANSWER), list(range(10)))
    assert sum(isinstance(result, Assignment) for result in results) == 1
    at_once(lambda _: assignments.approve_assignment(requester, assignment.assignment_id), list(range(10)))
    anna.refresh_from_db()
    assert (anna.earned_cents, anna.approved_count) == (10, 1)
    assert books.books_agree(requester)


@pytest.mark.sqlite
def test_one_of_ten_calls_with_one_token_creates(requester):
    kind = hits.register_hit_type(requester, hits.TypeValues("t", "d", 10, 600))

    def create(_):
        return hits.create_hit(requester, kind, EXTERNAL, lifetime_seconds=600, token="same")

    results = at_once(create, list(range(10)))
    created = [result for result in results if isinstance(result, HIT)]
    assert len(created) == 1
    assert all(created[0].hit_id in str(result) for result in results if isinstance(result, AlreadyDone))
    assert HIT.objects.count() == 1


@pytest.mark.sqlite
def test_a_balance_is_never_spent_twice(db):
    poor = people.make_requester("Poor")
    books.top_up(poor, 36)  # three HITs of 12 cents
    kind = hits.register_hit_type(poor, hits.TypeValues("t", "d", 10, 600))
    results = at_once(lambda _: hits.create_hit(poor, kind, EXTERNAL, lifetime_seconds=600), list(range(10)))
    assert sum(isinstance(result, HIT) for result in results) == 3
    poor.refresh_from_db()
    assert (poor.available_cents, poor.held_cents) == (0, 36)


@pytest.mark.sqlite
def test_one_of_ten_top_ups_by_one_form_counts(db):
    lab = people.make_requester("Lab")

    def put_in(_):
        return books.top_up(Requester.objects.get(pk=lab.pk), 500, form="same")

    results = at_once(put_in, list(range(10)))
    assert sum(isinstance(result, SentBefore) for result in results) == 9
    lab.refresh_from_db()
    assert (lab.available_cents, books.books_agree(lab)) == (500, True)


@pytest.mark.sqlite
def test_a_test_begun_in_ten_tabs_is_one_test(requester, anna):
    values = {"name": "Colours", "description": "d", "status": "Active", "test": FORM, "test_seconds": 60}
    kind = qualifications.create_type(requester, **values)
    results = at_once(lambda _: requests.request_qualification(anna, kind.qualification_type_id), list(range(10)))
    assert {getattr(result, "request_id", result) for result in results} == {
        anna.qualification_requests.get().request_id
    }


@pytest.mark.sqlite
def test_equal_types_at_once_are_one_type(requester):
    values = hits.TypeValues("t", "d", 10, 600)
    type_ids = at_once(lambda _: hits.register_hit_type(requester, values).hit_type_id, list(range(10)))
    assert len(set(type_ids)) == 1


def test_an_ended_wait_lets_one_guess_through(monkeypatch):
    """Sixty guesses at the moment a wait ends: one is looked at, the others wait again."""
    wanda, looked_at = a_worker("wanda"), []

    def slowly(backend, request, username=None, password=None, **_):
        looked_at.append(username)
        time.sleep(0.2)  # a real hash takes that long

    monkeypatch.setattr("annotation.marketplace.people.AccountBackend.authenticate", slowly)
    credentials = {"username": wanda.account.username, "password": "wrong"}
    for _ in range(6):
        Client().post("/sign-in/", credentials)
    SignInFailures.objects.update(closed_until=clock.now() - timedelta(seconds=1))
    looked_at.clear()
    codes = Counter(at_once(lambda _: Client().post("/sign-in/", credentials).status_code, range(60)))
    assert len(looked_at) == 1
    assert codes == {403: 1, 429: 59}
