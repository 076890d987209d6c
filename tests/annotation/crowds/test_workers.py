"""The people of a batch: pages of them, what is known of each, and a verdict beside the answers."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.common import clock
from annotation.crowds.console.charts import DOTS_AT_MOST, hours_chart, round_above, scatter
from annotation.crowds.console.monitor import Hour
from annotation.crowds.console.workers import ROWS, worker_list
from annotation.crowds.seats.places import drop
from annotation.jobs import page_cache
from annotation.models import Assignment, Batch, Job, Judgment, Role, StoredResult, Submission, Worker, WorkerFigures
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.test_console import published, submit_answers
from tests.factories import make_member

pytestmark = pytest.mark.django_db


def at(name: str, batch: Batch, *more: object) -> str:
    return reverse(name, args=[batch.study.slug, batch.pk, *more])


@pytest.fixture
def admin(client: Client):
    def sign_in(batch: Batch) -> Client:
        client.force_login(make_member(batch.study, Role.ADMIN))
        return client

    return sign_in


@pytest.fixture
def judged() -> Batch:
    """Three workers on three tasks; A2 says the opposite of the others."""
    batch = make_crowd_batch(documents=3, quota=3)
    for submission in published(batch, workers=3):
        submit_answers(submission, "01" if submission.worker.external_id == "A2" else "10")
    return batch


def reject(batch: Batch, name: str) -> None:
    for submission in Submission.objects.filter(posting__batch=batch, worker__external_id=name):
        submission.state, submission.reason = Submission.State.REJECTED, "Nothing was read."
        submission.save()
        drop(submission)


def test_the_evidence_against_rejected_work_stays(judged):
    before = {row.worker.external_id: row.figures for row in worker_list(judged, {}).rows}
    reject(judged, "A2")
    after = {row.worker.external_id: row for row in worker_list(judged, {}).rows}
    assert after["A2"].rejected == 3
    assert after["A2"].figures.tasks == before["A2"].tasks == 3
    assert after["A2"].figures.answers == before["A2"].answers
    assert after["A2"].figures.agreement == pytest.approx(before["A2"].agreement)
    assert after["A0"].figures.agreement == pytest.approx(1.0)  # who stays is compared with who stays


def test_workers_come_in_pages_sorted_and_searched(judged, admin):
    for n in range(ROWS):
        worker = Worker.objects.create(
            study=judged.study, crowd="mturk", external_id=f"B{n:03}", pseudonym=f"w-b{n:03}"
        )
        posting = judged.postings.first()
        Submission.objects.create(posting=posting, worker=worker, market_id=f"s{n}", state=Submission.State.SUBMITTED)
    first = worker_list(judged, {})
    assert (first.total, len(first.rows), first.page.paginator.num_pages) == (ROWS + 3, ROWS, 2)
    assert first.rows[0].worker.external_id == "A2"  # the least agreement, where nobody stands out more
    assert len(worker_list(judged, {"page": "2"}).rows) == 3
    assert [row.worker.external_id for row in worker_list(judged, {"q": "b007"}).rows] == ["B007"]
    by_name = worker_list(judged, {"sort": "name"}).rows
    assert [row.worker.external_id for row in by_name][:4] == ["A0", "A1", "A2", "B000"]
    assert worker_list(judged, {"show": "blocked"}).rows == []
    page = admin(judged).get(at("crowd-workers", judged), {"q": "nobody at all"}).content.decode()
    assert "0 workers" in page
    assert "Nobody has come yet" not in page


def test_everybody_of_a_list_can_be_chosen_and_a_list_that_changed_is_refused(judged, admin):
    client = admin(judged)
    everybody = {"everybody": "1", "q": "A", "show": "all", "action": "block"}
    page = client.post(at("crowd-workers", judged), everybody).content.decode()
    assert 'name="worker"' not in page
    seen = page.split('name="seen" value="')[1].split('"')[0]
    sure = {**everybody, "seen": seen, "reason": "Enough"}
    worker = Worker.objects.create(study=judged.study, crowd="mturk", external_id="A9", pseudonym="w-new")
    added = Submission.objects.create(posting=judged.postings.first(), worker=worker, market_id="new")
    refusal = client.post(at("crowd-workers-do", judged), sure)
    assert refusal.status_code == 409
    assert "Meanwhile the list has changed. Nothing was done" in refusal.content.decode()
    added.delete()
    assert client.post(at("crowd-workers-do", judged), sure).status_code == 302
    assert len(Job.objects.get(kind="block").options["workers"]) == 3


def test_a_workers_page_shows_statement_text_and_the_others_with_a_verdict_beside_them(
    judged, admin, django_assert_max_num_queries
):
    worker = Worker.objects.get(study=judged.study, external_id="A2")
    client = admin(judged)
    client.get(at("crowd-workers", judged))  # works the figures out
    with django_assert_max_num_queries(30):
        page = client.get(at("crowd-worker", judged, worker.pk)).content.decode()
    task = judged.tasks.order_by("pk").last()
    assert task.summary.text_shown in page
    assert task.document.units.first().text in page
    assert "Present × 2" in page  # what the other two say
    assert "Approve: pay $0.10 and the fee" in page
    submission = Submission.objects.filter(worker=worker).order_by("pk").first()
    verdict = {"submission": submission.pk, "action": "reject", "reason": ""}
    assert client.post(at("crowd-worker", judged, worker.pk), verdict).status_code == 409
    assert not Job.objects.filter(kind="reject").exists()
    client.post(at("crowd-worker", judged, worker.pk), {**verdict, "reason": "The opposite of the text."})
    options = Job.objects.get(kind="reject").options
    assert (options["submissions"], options["reason"]) == ([submission.pk], "The opposite of the text.")


def test_a_verdict_that_is_not_to_be_had_is_refused(judged, admin):
    worker = Worker.objects.get(study=judged.study, external_id="A0")
    submission = Submission.objects.filter(worker=worker).first()
    Submission.objects.filter(pk=submission.pk).update(state=Submission.State.APPROVED)
    client = admin(judged)
    for fields in ({"submission": submission.pk, "action": "approve"}, {"submission": "9" * 30, "action": "reject"}):
        answer = client.post(at("crowd-worker", judged, worker.pk), fields)
        assert answer.status_code == 409
        assert "Nothing was done" in answer.content.decode()
    Assignment.objects.filter(submission=submission).delete()


def test_a_large_studys_figures_are_made_in_the_background_and_old_ones_are_shown_meanwhile(judged, admin, monkeypatch):
    worker_list(judged, {})
    made_at = StoredResult.objects.get(study=judged.study, name="workers").made_at
    monkeypatch.setattr(page_cache, "AT_ONCE", 1)
    client = admin(judged)
    assert "being worked out" not in client.get(at("crowd-workers", judged)).content.decode()
    reject(judged, "A2")
    for _ in range(2):  # asked for once, however often somebody looks
        page = client.get(at("crowd-workers", judged)).content.decode()
        assert "they are being worked out anew" in page
    assert Job.objects.filter(kind="page", options__name="workers").count() == 1
    assert StoredResult.objects.get(study=judged.study, name="workers").made_at == made_at


def test_no_page_of_people_assembles_the_judgments_of_the_study(judged, admin, monkeypatch):
    client = admin(judged)
    client.get(at("crowd-workers", judged))

    def refuse(*_args: object) -> None:
        raise AssertionError("all judgments of the study are assembled")

    monkeypatch.setattr("annotation.tables.trusted.judgments_frame", refuse)
    for name in ("crowd-workers", "monitor"):
        assert client.get(at(name, judged)).status_code == 200
    assert Judgment.objects.exists()


@pytest.mark.parametrize(("value", "end"), [(0.3, 0.5), (1, 1), (7, 10), (11, 20), (4300, 5000)])
def test_a_scale_ends_at_a_round_number(value, end):
    assert round_above(value) == pytest.approx(end)


def test_charts_have_scales():
    chart = hours_chart([Hour(clock.now(), 7)])
    assert [tick.label for tick in chart.ticks] == ["0", "5", "10"]
    assert chart.bars[0].height == pytest.approx(0.7 * 176, abs=1)


def test_many_workers_are_drawn_as_squares_that_hold_all_of_them(judged):
    people = Worker.objects.bulk_create(
        Worker(study=judged.study, crowd="mturk", external_id=f"C{n}", pseudonym=f"w-c{n}")
        for n in range(DOTS_AT_MOST + 1)
    )
    WorkerFigures.objects.bulk_create(
        WorkerFigures(batch=judged, worker=person, seconds=n % 30, agreement=(n % 10) / 10)
        for n, person in enumerate(people)
    )
    drawn = scatter(judged)
    assert drawn.dots == []
    assert sum(int(square.label.split()[0]) for square in drawn.squares) == DOTS_AT_MOST + 1
    assert drawn.seconds[-1].label == "≥ 50"
