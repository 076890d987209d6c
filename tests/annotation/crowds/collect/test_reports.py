"""Prolific's reports: signed, fresh and new ones bring the next collect forward; everything else is nothing."""

import time
from datetime import timedelta

import pytest
from django.test import Client

from annotation.common import clock
from annotation.crowds.collect.reports import NEW, begin_reports, can_be_reached, end_reports
from annotation.crowds.console.jobs import close_job, publish_job
from annotation.crowds.console.schedule import start_due_work
from annotation.models import Batch, Job, MarketHook, Schedule, Submission
from tests.annotation.crowds.test_settle import prolific, prolific_batch, running_prolific  # noqa: F401

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(prolific) -> Batch:  # noqa: F811
    """Published, with reports asked for, and collected a moment ago."""
    batch = prolific_batch()
    publish_job(Job.objects.create(study=batch.study, kind="publish", options={"batch": batch.pk}), lambda *_: None)
    batch.refresh_from_db()
    Schedule.objects.create(batch=batch, collected_at=clock.now(), approved_at=clock.now(), settled_at=clock.now())
    return batch


def participant(server, batch: Batch) -> str:
    """Somebody who came through our page, so that their submission is known, and is done there."""
    posting = batch.postings.get()
    session = server.contract.take_part(posting.market_id, "P1")
    query = {"PROLIFIC_PID": "P1", "STUDY_ID": posting.market_id, "SESSION_ID": session}
    assert Client().get(f"/w/prolific/{posting.token}/", query, follow=True).status_code == 200
    server.contract.complete(session, posting.details["codes"]["done"])
    return session


def send(report, *, body: bytes | None = None, **changes: str) -> int:
    address, content, headers = report
    path = address.removeprefix("https://site.example.org")
    named_headers = {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return (
        Client(enforce_csrf_checks=True)
        .post(path, content if body is None else body, content_type="application/json", headers=named_headers)
        .status_code
    )


def is_due(batch: Batch) -> bool:
    return Schedule.objects.get(batch=batch).collected_at is None


def reported(server, batch: Batch, **options):
    [report] = server.contract.reports(participant(server, batch), int(time.time()), **options)
    return report


def test_a_report_has_answers_collected_at_once(prolific, batch, django_capture_on_commit_callbacks):  # noqa: F811
    assert start_due_work() == 0  # not yet by the schedule
    assert send(reported(prolific, batch)) == 204
    with django_capture_on_commit_callbacks(execute=True):
        assert start_due_work() == 1
    assert Submission.objects.get().state == Submission.State.SUBMITTED
    assert MarketHook.objects.get().heard_at is not None


def test_a_report_that_comes_again_changes_nothing(prolific, batch):  # noqa: F811
    report = reported(prolific, batch)
    assert send(report) == 204
    Schedule.objects.update(collected_at=clock.now())
    assert send(report) == 204
    assert not is_due(batch)
    [later] = prolific.contract.reports(Submission.objects.get().market_id, int(time.time()), event="event2")
    assert send(later) == 204
    assert is_due(batch)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_report_that_somebody_kept_is_not_taken(prolific, batch, minutes):  # noqa: F811
    report = reported(prolific, batch)
    with clock.fixed(clock.now() + timedelta(minutes=minutes)):
        assert send(report) == 204
    assert not is_due(batch)
    assert timedelta(minutes=6) > NEW


def test_what_is_signed_by_somebody_else_is_nothing(prolific, batch):  # noqa: F811
    report = reported(prolific, batch)
    wrong = [
        {"X_Prolific_Request_Signature": ""},
        {"X_Prolific_Request_Signature": "é"},
        {"X_Prolific_Request_Signature": "AAAA"},
        {"X_Prolific_Request_Timestamp": str(int(time.time()) + 1)},
        {"X_Prolific_Request_Timestamp": "now"},
        {"body": report[1].replace(b"AWAITING", b"APPROVED")},
        {"body": b"[]"},
    ]
    assert [send(report, **changes) for changes in wrong] == [404] * len(wrong)
    address, body, headers = report
    assert send((f"{address[:-5]}nope/", body, headers)) == 404
    assert send((address.replace("/prolific/", "/mturk/"), body, headers)) == 404
    assert send(report, body=b"x" * 70_000) == 413
    assert Client().get(address.removeprefix("https://site.example.org")).status_code == 405
    assert not is_due(batch)
    assert MarketHook.objects.get().heard_at is None


def test_a_report_on_anothers_work_collects_nothing(prolific, batch):  # noqa: F811
    posting = batch.postings.get()
    stranger = prolific.contract.take_part(posting.market_id, "P9")  # never seen on our pages
    [report] = prolific.contract.reports(stranger, int(time.time()))
    assert send(report) == 204
    assert not is_due(batch)


def test_the_secret_is_kept_encrypted_and_one_that_is_there_is_not_replaced(prolific, settings):  # noqa: F811
    prolific.contract.post_secret({"workspace_id": settings.PROLIFIC_WORKSPACE})
    value = prolific.contract.list_secrets()[0]["value"]
    batch = prolific_batch()
    hook = begin_reports(batch)
    assert prolific.contract.list_secrets()[0]["value"] == value
    assert value not in str(MarketHook.objects.values())
    assert begin_reports(batch) == hook
    assert len(prolific.contract.hooks) == 1
    settings.SECRET_KEY = "another"
    [report] = prolific.contract.reports(prolific.contract.take_part("study", "P1"), int(time.time()))
    assert send(report) == 404


@pytest.mark.parametrize(
    ("site", "reached"),
    [
        ("https://site.example.org", True),
        ("http://site.example.org", False),
        ("https://localhost:8000", False),
        ("https://127.0.0.1", False),
        ("https://192.168.1.7", False),
        ("https://lab", False),
        ("https://lab.local", False),
        ("", False),
    ],
)
def test_without_an_address_that_can_be_reached_collecting_goes_by_the_clock(prolific, settings, site, reached):  # noqa: F811
    assert can_be_reached(site) == reached
    settings.SITE_URL = site
    assert (begin_reports(prolific_batch()) is not None) == reached


@pytest.mark.parametrize("path", ["/hooks/secrets/", "/hooks/subscriptions/", r"/hooks/subscriptions/\w+/"])
def test_a_market_that_refuses_to_report_stops_no_launch(prolific, path):  # noqa: F811
    prolific.fail("POST", path, 403)
    batch = prolific_batch()
    publish_job(Job.objects.create(study=batch.study, kind="publish", options={"batch": batch.pk}), lambda *_: None)
    assert batch.postings.get().state == "open"
    assert not MarketHook.objects.exists()


def test_without_a_workspace_nothing_is_asked_for(prolific, settings):  # noqa: F811
    settings.PROLIFIC_WORKSPACE = ""
    assert begin_reports(prolific_batch()) is None
    assert prolific.contract.hooks == {}


def test_a_closed_batch_leaves_no_subscription(prolific, batch):  # noqa: F811
    end_reports(batch)
    assert len(prolific.contract.hooks) == 1  # it stands still
    close_job(Job.objects.create(study=batch.study, kind="close", options={"batch": batch.pk}), lambda *_: None)
    assert prolific.contract.hooks == {}
    assert not MarketHook.objects.exists()
