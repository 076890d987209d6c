"""A market that throttles, fails, hangs or breaks off in mid-answer: settle, and the books are right to the cent."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.base import MarketUnreachable
from annotation.crowds.collect import collect
from annotation.crowds.console.jobs import bonus_job
from annotation.crowds.launch.publish import publish
from annotation.crowds.pay.approve import approve, bonus
from annotation.crowds.settle import decide, settle
from annotation.crowds.terms import Terms, set_terms
from annotation.models import Batch, Entry, Job, Submission
from tests.annotation.crowds.conftest import TERMS, make_crowd_batch
from tests.annotation.crowds.crashes import check_books, form_answers
from tests.annotation.crowds.faulty_proxy import FAULTS, FaultyProxy
from tests.contract.prolific_server import PROJECT, TOKEN, WORKSPACE, ProlificServer
from tests.factories import make_batch, make_study

pytestmark = [pytest.mark.django_db]
PATIENCE = 3  # seconds to wait for a market that hangs; one that works answers in less on the busiest machine


@pytest.fixture(scope="module")
def running_proxy(live_market):
    proxy = FaultyProxy(live_market.url)
    yield proxy
    proxy.stop()


@pytest.fixture
def proxy(running_proxy, desk, settings):
    settings.MTURK_ENDPOINT_URL = running_proxy.url
    settings.MTURK_ALLOWED_ENDPOINTS = [running_proxy.url]
    settings.MTURK_ATTEMPTS = 1
    running_proxy.planned.clear()
    running_proxy.met.clear()
    return running_proxy


@pytest.mark.parametrize("fault", FAULTS)
def test_without_retries_settle_finishes_what_the_market_left_unclear(proxy, desk, settings, fault) -> None:
    if fault == "hang":
        settings.MTURK_TIMEOUT_SECONDS = PATIENCE
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    proxy.fail("CreateHITWithHITType", fault)
    with pytest.raises(MarketUnreachable):
        publish(batch)
    settle(batch.study)
    check_books(batch, desk.books)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    proxy.fail("ListAssignmentsForHIT", fault)
    with pytest.raises(MarketUnreachable):
        collect(batch)
    collect(batch)
    submission = Submission.objects.get(posting=posting)
    proxy.fail("SendBonus", fault)
    bonus_outcome = bonus(submission, 30, "Thanks.", None)
    proxy.fail("ApproveAssignment", fault)
    approval_outcome = approve([submission], None)
    # Half of an answer that says nothing but "done" is enough: nothing is left unclear then.
    unclear = 0 if fault == "half" else 2
    unanswered = bonus_outcome.unanswered + approval_outcome.unanswered
    assert bonus_outcome.refused + approval_outcome.refused == []
    assert [("settle" in sentence) for _submission, sentence in unanswered] == [True] * unclear
    report = settle(batch.study)
    assert (report.finished, report.failed, report.differences) == (unclear, 0, [])
    check_books(batch, desk.books)
    assert desk.books["bonuses"] == [[submission.market_id, 30, "Thanks."]]
    assert desk.books["assignments"] == {submission.market_id: "Approved"}
    assert len(proxy.met) == 4, "a fault was not met, so it was not tested"


def test_bonuses_that_a_silent_market_left_open_are_counted_apart_with_the_reason_and_paid_once(proxy, desk) -> None:
    batch = make_crowd_batch(documents=4, quota=1, question="html")
    publish(batch)
    workers = desk.ask("workers", count=4)
    for posting, worker in zip(batch.postings.order_by("pk"), workers, strict=True):
        desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    collect(batch)
    submissions = list(Submission.objects.filter(posting__batch=batch).order_by("pk"))
    bonus(submissions[0], 30, "Thanks.", None)
    options = {"submissions": [row.pk for row in submissions], "cents": 30, "reason": "Thanks."}
    job = Job.objects.create(study=batch.study, kind="bonus", options=options)
    proxy.fail("SendBonus", "drop")
    sentence = bonus_job(job, lambda done, total: None)
    assert sentence.startswith("0 paid, 1 refused. This bonus was paid before")
    assert "3 are still open. The market" in sentence
    assert sentence.count("“settle” will carry it out") == 2  # with the silence, and of those who were not asked for
    assert desk.books["bonuses"] == [[submissions[0].market_id, 30, "Thanks."]]
    settle(batch.study)
    assert sorted(row[0] for row in desk.books["bonuses"]) == sorted(row.market_id for row in submissions)
    check_books(batch, desk.books)


def test_retries_carry_a_publish_through_every_fault(proxy, desk, settings) -> None:
    # One call may meet all of them: who comes when is the machine's choice.
    settings.MTURK_ATTEMPTS, settings.MTURK_TIMEOUT_SECONDS = len(FAULTS) + 1, PATIENCE
    batch = make_crowd_batch(documents=len(FAULTS), quota=1)
    for fault in FAULTS:
        proxy.fail("CreateHITWithHITType", fault)
    assert publish(batch).postings == len(FAULTS)
    assert len(proxy.met) == len(FAULTS)
    check_books(batch, desk.books)


def test_a_refusal_that_broke_off_is_asked_for_again(proxy, desk, settings) -> None:
    settings.MTURK_ATTEMPTS = 5
    batch = make_crowd_batch(documents=1, quota=1)
    proxy.fail("CreateHITWithHITType", "drop-after")  # the HIT stands, and nobody here knows
    proxy.fail("CreateHITWithHITType", "half")  # the market says so to the repetition, but half of it is lost
    assert publish(batch).postings == 1
    assert len(proxy.met) == 2
    check_books(batch, desk.books)


def test_what_only_the_market_knows_is_told(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    publish(batch)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    collect(batch)
    submission = Submission.objects.get(posting=posting)
    bonus(submission, 30, "Thanks.", None)
    Entry.objects.filter(kind="bonus").delete()
    [difference] = settle(batch.study).differences
    assert "bonus of 0.30 USD for" in difference
    assert submission.market_id in difference


def test_what_the_market_approves_by_itself_is_booked_once(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1, question="html", auto_approve_seconds=0)
    publish(batch)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    for _ in range(2):
        settle(batch.study)
        check_books(batch, desk.books)
    assert batch.entries.get(kind="approve").note.startswith("The market approved it")


# Prolific


@pytest.fixture(scope="module")
def running_prolific():
    server = ProlificServer()
    yield server
    server.stop()


@pytest.fixture
def prolific(running_prolific, settings, monkeypatch):
    running_prolific.reset()
    settings.PROLIFIC_URL, settings.PROLIFIC_ALLOWED_URLS = running_prolific.url, [running_prolific.url]
    settings.PROLIFIC_TOKEN, settings.SITE_URL = TOKEN, "https://site.example.org"
    settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = WORKSPACE, PROJECT
    settings.PROLIFIC_TIMEOUT_SECONDS = 20
    monkeypatch.setattr("annotation.crowds.markets.prolific.client._pause", lambda answer, attempt: 0)
    return running_prolific


def prolific_batch() -> Batch:
    batch = make_batch(make_study(documents=2, units=1), quota=1, state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse({**TERMS, "tasks_per_participant": 2}), crowd="prolific")
    return batch


def handed_in(server, batch: Batch) -> Submission:
    posting = batch.postings.get()
    session = server.contract.take_part(posting.market_id, "P1")
    server.contract.complete(session, posting.details["codes"]["done"])
    collect(batch)
    return Submission.objects.get(market_id=session)


def five_minutes_on():
    """When nothing can be under way any more."""
    return clock.fixed(timezone.now() + timedelta(minutes=5))


BROKEN = [
    {"status": 429, "times": 9},
    {"status": 500},
    {"status": 500, "after": True},
    {"status": 0},
    {"status": 0, "after": True},
    {"status": 200, "after": True, "body": '{"id": "stu'},
]


@pytest.mark.parametrize("failure", BROKEN, ids=lambda failure: "-".join(map(str, failure.values())))
def test_prolific_publishes_one_study_whatever_goes_wrong(prolific, failure) -> None:
    for path in ("/studies/", r"/studies/\w+/transition/"):
        prolific.contract.failures.clear()
        batch = prolific_batch()
        prolific.fail("POST", path, **failure)
        with pytest.raises(MarketUnreachable):
            publish(batch)
        prolific.contract.failures.clear()
        with five_minutes_on():
            settle(batch.study)
        token, studies = batch.postings.get().token, prolific.contract.studies.values()
        statuses = [study["status"] for study in studies if study["internal_name"] == token]
        assert statuses == ["ACTIVE"], (path, failure)
        assert not batch.entries.exclude(state="settled").exists()


@pytest.mark.parametrize("failure", BROKEN[1:], ids=lambda failure: "-".join(map(str, failure.values())))
def test_prolifics_bonus_waits_for_a_person_when_nobody_can_tell(prolific, failure) -> None:
    batch = prolific_batch()
    publish(batch)
    submission = handed_in(prolific, batch)
    prolific.fail("POST", r"/submissions/\w+/transition/", **failure)
    approve([submission], None, without_answers=True)
    prolific.fail("POST", r"/bulk-bonus-payments/\w+/pay/", **failure)
    outcome = bonus(submission, 50, "Thanks.", None)
    assert outcome.done == 0
    with five_minutes_on():
        report = settle(batch.study)
    assert [entry.kind for entry in report.doubtful] == ["bonus"]
    payments = prolific.contract.submissions[submission.market_id]["bonus_payments"]
    assert len(payments) <= 1, "it was paid twice"
    assert prolific.contract.submissions[submission.market_id]["status"] == "APPROVED"
    with pytest.raises(Refused, match="Nobody knows"):
        bonus(submission, 50, "Thanks.", None)
    decide(report.doubtful[0], bool(payments), None, "looked on the submission's page")
    with five_minutes_on():
        assert settle(batch.study).doubtful == []
    if not payments:  # said to be unpaid, it can be asked for again
        assert bonus(submission, 50, "Thanks.", None).done == 1
    assert prolific.contract.submissions[submission.market_id]["bonus_payments"] == [50]


class Killed(BaseException):
    """Stands for kill -9: the contract server's threads live in this process, so it can't be forked."""


def test_a_kill_during_prolifics_bonus_pays_at_most_once(prolific, monkeypatch) -> None:
    batch = prolific_batch()
    publish(batch)
    submission = handed_in(prolific, batch)
    for number, place in enumerate(["bonus:written", "bonus:called", "bonus:answered"]):

        def stop(name: str, place: str = place) -> None:
            if name == place:
                raise Killed

        monkeypatch.setattr("annotation.crowds.pay.bonus.point", stop)
        with pytest.raises(Killed):
            bonus(submission, 50 + number, "Thanks.", None)
    monkeypatch.setattr("annotation.crowds.pay.bonus.point", lambda name: None)
    with five_minutes_on():
        report = settle(batch.study)
    # Written and not called: paid now. Called: nobody knows, though the last of the two was paid.
    assert sorted(prolific.contract.submissions[submission.market_id]["bonus_payments"]) == [50, 52]
    assert sorted(entry.reward_cents for entry in report.doubtful) == [51, 52]
