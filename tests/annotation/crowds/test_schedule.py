"""What happens by itself: collecting, approving by rule, settling; and the Monitor says the true state."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from annotation.common import clock
from annotation.crowds.console.schedule import due_for_approval, schedule_of, start_due_work
from annotation.crowds.launch.publish import publish
from annotation.models import Batch, Entry, Job, Posting, Role, Schedule, Submission, Worker
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.crashes import form_answers
from tests.annotation.crowds.test_console import published, submit_answers
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client):
    def sign_in(batch: Batch) -> Client:
        client.force_login(make_member(batch.study, Role.ADMIN))
        return client

    return sign_in


def monitor_of(client: Client, batch: Batch, **query: str) -> str:
    return client.get(reverse("monitor", args=[batch.study.slug, batch.pk]), query).content.decode()


def keep(client: Client, batch: Batch, **fields: object):
    form = {"action": "schedule", "collect_minutes": 10, "approve": "", "approve_hours": 24, "settle_hours": 24}
    return client.post(reverse("batch-act", args=[batch.study.slug, batch.pk]), {**form, **fields})


def run_due(capture) -> int:
    with capture(execute=True):
        return start_due_work()


def handed_in_html(desk, batch: Batch) -> Submission:
    publish(batch)
    (name,) = desk.ask("workers", count=1)
    posting = batch.postings.get()
    desk.ask("work", hit_id=posting.market_id, worker_id=name, answers=form_answers(posting.task))
    return posting


def test_answers_are_collected_approved_by_rule_and_settled_without_a_click(
    desk, admin, django_capture_on_commit_callbacks
):
    batch = make_crowd_batch(documents=1, quota=1, question="html")
    handed_in_html(desk, batch)
    assert keep(admin(batch), batch, approve="whole", approve_hours=0).status_code == 302
    assert run_due(django_capture_on_commit_callbacks) == 3
    assert Submission.objects.get().state == Submission.State.APPROVED
    assert (desk.books["paid"], desk.books["held"]) == (10, 0)
    assert Entry.objects.get(kind="approve").state == Entry.State.SETTLED
    assert {job.state for job in Job.objects.all()} == {Job.State.DONE}


def test_nothing_is_due_twice_and_old_jobs_give_way(desk, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    now = clock.now()
    with clock.fixed(now):
        assert run_due(django_capture_on_commit_callbacks) == 2  # no approval: nobody has chosen a rule
        assert run_due(django_capture_on_commit_callbacks) == 0
    with clock.fixed(now + timedelta(minutes=11)):
        assert run_due(django_capture_on_commit_callbacks) == 1
    assert Job.objects.filter(kind="collect").count() == 1
    Job.objects.filter(kind="collect").update(state=Job.State.RUNNING)
    with clock.fixed(now + timedelta(minutes=22)):
        assert run_due(django_capture_on_commit_callbacks) == 0  # the last one is still at it


def test_a_rule_leaves_out_blocked_people_empty_work_the_newest_and_who_stands_out():
    batch = make_crowd_batch(documents=3, quota=3)
    for submission in published(batch, workers=3):
        submit_answers(submission, "1")
    Submission.objects.update(submitted_at=clock.now() - timedelta(hours=30))
    schedule = Schedule(batch=batch, approve="whole", approve_hours=24)
    assert len(due_for_approval(batch, schedule)) == 9
    assert due_for_approval(batch, Schedule(batch=batch)) == []
    Worker.objects.filter(external_id="A0").update(blocked_at=clock.now())
    newest = Submission.objects.filter(worker__external_id="A1").first()
    Submission.objects.filter(pk=newest.pk).update(submitted_at=clock.now())
    Submission.objects.filter(worker__external_id="A2").last().assignments.all().delete()
    assert sorted(row.worker.external_id for row in due_for_approval(batch, schedule)) == ["A1", "A1", "A2", "A2"]
    pasting = Submission.objects.filter(worker__external_id="A1").last().assignments.get()
    pasting.signals = {"loads": {"a": {"active": 9, "pastes": 3}}}
    pasting.save()
    schedule.approve = "clean"
    assert {row.worker.external_id for row in due_for_approval(batch, schedule)} == {"A2"}


def test_the_page_shows_the_schedule_and_keeps_a_new_one(desk, admin):
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    client = admin(batch)
    page = monitor_of(client, batch)
    assert "By itself" in page
    assert "not by itself" in page  # approvals
    assert keep(client, batch, collect_minutes=3, approve="clean").status_code == 302
    schedule = schedule_of(batch)
    assert (schedule.collect_minutes, schedule.approve) == (3, "clean")
    for fields in (
        {"collect_minutes": "-1"},
        {"approve_hours": "9999"},
        {"approve": "everything"},
        {"settle_hours": "x"},
    ):
        refusal = keep(client, batch, **fields)
        assert refusal.status_code == 409
        assert "Nothing was changed" in refusal.content.decode()
    assert schedule_of(batch).collect_minutes == 3


def test_the_monitor_says_how_far_publishing_is_and_where_it_stopped(desk, admin):
    batch = make_crowd_batch(documents=3, quota=1)
    publish(batch)
    first = batch.postings.first()
    batch.postings.exclude(pk=first.pk).update(state=Posting.State.PLANNED, market_id="")
    job = Job.objects.create(study=batch.study, kind="publish", options={"batch": batch.pk}, state=Job.State.RUNNING)
    client = admin(batch)
    page = monitor_of(client, batch, live="1")
    assert "Publishing" in page
    assert "1 of 3 postings are up." in page
    Job.objects.filter(pk=job.pk).update(state=Job.State.FAILED)
    assert "Publishing stopped: 1 of 3 postings are up." in monitor_of(client, batch, live="1")


def test_the_monitor_says_when_the_background_is_silent_and_when_the_market_was(desk, admin):
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    client = admin(batch)
    assert "No background process has looked at this batch lately" in monitor_of(client, batch)
    Schedule.objects.update_or_create(batch=batch, defaults={"looked_at": clock.now()})
    Job.objects.create(
        study=batch.study, kind="collect", options={"batch": batch.pk, "scheduled": True}, state=Job.State.FAILED,
        message="The market does not answer.",
    )  # fmt: skip
    page = monitor_of(client, batch)
    assert "No background process" not in page
    assert "did not succeed: the figures are older. The market does not answer." in page
    assert "keeps itself up to date" not in page


def test_what_the_schedule_did_does_not_hide_what_a_person_asked_for(desk, admin, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    options = {"batch": batch.pk}
    Job.objects.create(study=batch.study, kind="pause", options=options, state=Job.State.DONE, message="1 is paused.")
    run_due(django_capture_on_commit_callbacks)
    assert "1 is paused." in monitor_of(admin(batch), batch)
