"""The ledger on Prolific: after kill -9, faults and lost answers nothing stands twice and nobody is paid twice.

Prolific's bonus can't be repeated safely, so what is in doubt waits for a person; everything else settles by itself.
"""

import os
import signal
from datetime import timedelta

import pytest
from django.db import connections

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.base import MarketUnreachable
from annotation.crowds.collect import collect
from annotation.crowds.launch.publish import publish
from annotation.crowds.pay.approve import approve, bonus, reject
from annotation.crowds.seats.places import worker_of
from annotation.crowds.settle import settle
from annotation.crowds.settle.doubtful import decide
from annotation.crowds.terms import Terms, set_terms
from annotation.models import Batch, Entry, Posting, Submission
from tests.annotation.crowds.conftest import TERMS
from tests.annotation.crowds.crashes import money_of
from tests.contract.prolific_server import PROJECT, TOKEN, WORKSPACE, ProlificServer
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db(transaction=True)
PLACE = 100 + 43  # cents: reward and fee
LONG = "NO_DATA: " + "Nothing of what was asked for came in, though the page was open for the whole of the time. " * 2


@pytest.fixture(scope="module")
def running():
    server = ProlificServer()
    yield server
    server.stop()


@pytest.fixture
def server(running, settings, monkeypatch):
    running.reset()
    settings.PROLIFIC_URL, settings.PROLIFIC_ALLOWED_URLS, settings.PROLIFIC_TOKEN = running.url, [running.url], TOKEN
    settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = WORKSPACE, PROJECT
    settings.SITE_URL, settings.PROLIFIC_TIMEOUT_SECONDS = "https://site.example.org", 20
    monkeypatch.setattr("annotation.crowds.markets.prolific.client._pause", lambda answer, attempt: 0)
    return running


def make_sittings() -> Batch:
    batch = make_batch(make_study(documents=2, units=1), quota=1, state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse({**TERMS, "reward_cents": 100}), crowd="prolific")
    return batch


def killed_at(point: str, work) -> None:
    """Do the work in a process that is killed with -9 at a named point (annotation/crowds/ledger/crash_points.py)."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        os.environ["FAULT_POINT"] = point
        try:
            work()
        finally:
            os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status), f"nobody was killed at {point}"
    assert os.WTERMSIG(status) == signal.SIGKILL


def two_minutes_on():
    """Two minutes on: no call can still be under way."""
    return clock.fixed(clock.now() + timedelta(minutes=2))


def handed_in(server, batch: Batch) -> Submission:
    """A participant who came, finished, and was collected."""
    posting = batch.postings.get()
    session = server.contract.take_part(posting.market_id, "P1")
    server.contract.complete(session, posting.details["codes"]["done"])
    worker_of(posting, "P1")
    collect(batch)
    return Submission.objects.get(market_id=session)


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.parametrize("point", ["publish:called", "publish:answered", "publish:half-kept"])
def test_publish(server, point):
    batch = make_sittings()
    killed_at(point, lambda: publish(batch))
    with two_minutes_on():
        settle(batch.study)
        batch.refresh_from_db()
        publish(batch)
        settle(batch.study)
    assert [study["status"] for study in server.contract.studies.values()] == ["ACTIVE"]
    assert server.contract.balance == 100_00 - 2 * 100
    assert money_of(batch) == (2 * PLACE, 0)
    assert Posting.objects.get().state == "open"
    assert not Entry.objects.exclude(state="settled").exists()


@pytest.mark.parametrize(
    "failure", [{"status": 0}, {"status": 0, "after": True}, {"status": 500}, {"status": 429, "times": 9}]
)
def test_a_market_that_fails_while_publishing_is_asked_again_without_doubling_anything(server, failure):
    batch = make_sittings()
    server.fail("POST", "/studies/", **failure)
    with pytest.raises(MarketUnreachable):
        publish(batch)
    server.contract.failures.clear()
    with two_minutes_on():
        settle(batch.study)
    assert [study["status"] for study in server.contract.studies.values()] == ["ACTIVE"]
    assert money_of(batch) == (2 * PLACE, 0)


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.parametrize("point", ["approve:called", "approve:answered"])
def test_approve(server, point):
    batch = make_sittings()
    publish(batch)
    submission = handed_in(server, batch)
    killed_at(point, lambda: approve([submission], None, without_answers=True))
    with two_minutes_on():
        settle(batch.study)
        settle(batch.study)
    submission.refresh_from_db()
    assert (submission.state, server.contract.submissions[submission.market_id]["status"]) == ("approved", "APPROVED")
    assert money_of(batch) == (PLACE, PLACE)


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("point", "n_paid"), [("bonus:written", 1), ("bonus:called", 0), ("bonus:answered", 1), ("bonus:kept", 1)]
)
def test_bonus(server, point, n_paid):
    """Not called yet: it is paid. Called, and nobody knows: it waits for a person, and counts as spent until then."""
    batch = make_sittings()
    publish(batch)
    submission = handed_in(server, batch)
    killed_at(point, lambda: bonus(submission, 200, "Careful work", None))
    for _ in range(2):
        with two_minutes_on():
            report = settle(batch.study)
    assert len(server.contract.submissions[submission.market_id]["bonus_payments"]) == n_paid
    line = Entry.objects.get(kind="bonus")
    doubtful = point in ("bonus:called", "bonus:answered")
    assert line.state == ("doubtful" if doubtful else "settled")
    assert [entry.pk for entry in report.doubtful] == ([line.pk] if doubtful else [])
    assert money_of(batch) == (2 * PLACE, 200 + 86)
    if doubtful:
        with pytest.raises(Refused, match="Nobody knows whether this bonus was paid"):
            bonus(submission, 200, "Careful work", None)
        decide(line, bool(n_paid), None, "looked on the market")
        assert money_of(batch) == (2 * PLACE, 286 if n_paid else 0)


def test_a_bonus_whose_answer_was_lost_waits_for_a_person(server):
    batch = make_sittings()
    publish(batch)
    submission = handed_in(server, batch)
    server.fail("POST", "/bulk-bonus-payments/\\w+/pay/", after=True)
    outcome = bonus(submission, 200, "Careful work", None)
    assert outcome.done == 0
    assert Entry.objects.get(kind="bonus").state == "doubtful"
    with two_minutes_on():
        settle(batch.study)
    assert server.contract.submissions[submission.market_id]["bonus_payments"] == [200]


def test_a_rejection_goes_through_with_a_long_reason_and_not_with_a_short_one(server):
    batch = make_sittings()
    publish(batch)
    submission = handed_in(server, batch)
    outcome = reject([submission], "Too fast.", None)
    assert outcome.done == 0
    assert "at least 100 characters" in str(outcome.refused[0][1])
    assert reject([submission], LONG, None).done == 1
    submission.refresh_from_db()
    assert (submission.state, server.contract.submissions[submission.market_id]["status"]) == ("rejected", "REJECTED")


def test_collecting_goes_on_after_a_fault_and_over_all_pages(server):
    batch = make_sittings()
    publish(batch)
    posting = batch.postings.get()
    for number in range(5):  # the contract has two to a page
        server.contract.take_part(posting.market_id, f"P{number}", "AWAITING REVIEW")
    server.fail("GET", "/studies/\\w+/submissions/", 500, times=9)
    with pytest.raises(MarketUnreachable):
        collect(batch)
    server.contract.failures.clear()
    assert collect(batch).submissions == 5
    assert collect(batch).new == 0
