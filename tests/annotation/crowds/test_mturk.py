"""The MTurk API as a crowd: rewards by group, excluded workers, forms that need no server, commands and jobs."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.crowds.collect import collect
from annotation.crowds.launch.close import pause, resume, top_up
from annotation.crowds.launch.publish import publish
from annotation.crowds.markets.mturk import MTurk
from annotation.crowds.pay.approve import approve
from annotation.crowds.seats.places import hold_place, open_submission, worker_of
from annotation.crowds.terms import Terms, set_terms
from annotation.crowds.worker.entry import posting_at
from annotation.jobs import start_job
from annotation.judging.html_form import form_html, form_twin
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, ExtractedUnit, Job, Judgment, Posting, Submission, Summary, System
from annotation.protocols import of as protocol_of
from annotation.studies.batches import create_batch
from tests.annotation.crowds.conftest import TERMS, make_crowd_batch
from tests.annotation.crowds.crashes import check_books, form_answers
from tests.factories import make_study

pytestmark = [pytest.mark.django_db]


def work(desk, posting: Posting, worker: str, answers: dict[str, str] | None = None) -> str:
    answers = form_answers(posting.task) if answers is None else answers
    return desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=answers)


def test_abstractive_summaries_pay_more(desk) -> None:
    study = make_study(documents=1, units=1)
    lead = System.objects.create(study=study, name="lead", group="ext")
    Summary.objects.create(document=study.documents.get(), system=lead, text="The first sentences.")
    batch = create_batch(study, "pilot", "litepyramid", 1, crowd="mturk")
    set_terms(batch, Terms.parse({**TERMS, "reward_by_group": {"abs": 20, "ext": 15}}))
    publish(batch)
    rewards = batch.postings.values_list("task__summary__system__group", "reward_cents", "fee_cents")
    assert sorted(rewards) == [("abs", 20, 4), ("ext", 15, 3)]
    check_books(batch, desk.books)


def test_an_external_question_leads_to_our_page(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    posting = batch.postings.get()
    question = desk.ask("question", hit_id=posting.market_id)
    assert f"<ExternalURL>http://127.0.0.1:8000/w/mturk/{posting.token}/</ExternalURL>" in question


def test_workers_of_an_earlier_batch_are_kept_out_also_those_who_come_later(desk) -> None:
    first = make_crowd_batch(documents=1, quota=2, question="html")
    publish(first)
    anna, ben, cleo = desk.ask("workers", count=3)
    work(desk, first.postings.get(), anna)
    collect(first)
    second = create_batch(first.study, "second", "litepyramid", 3, crowd="mturk")
    set_terms(second, Terms.parse({**TERMS, "question": "html", "exclude_batches": [first.pk]}))
    publish(second)
    hit = second.postings.get().market_id
    [requirement] = desk.ask("requirements", hit_id=hit)
    assert requirement["Comparator"] == "DoesNotExist"
    work(desk, first.postings.get(), ben)
    collect(first)
    assert {worker for _name, worker in desk.ask("qualified", requester=desk.requester)} == {anna, ben}
    for worker in (anna, ben):
        with pytest.raises(AssertionError, match="HITDoesNotExist"):  # they don't even see it
            desk.ask("accept", hit_id=hit, worker_id=worker)
    desk.ask("accept", hit_id=hit, worker_id=cleo)


@pytest.mark.parametrize("protocol", ["litepyramid", "likert", "scu"])
def test_a_form_carries_the_whole_task_and_its_answers_become_judgments(desk, protocol) -> None:
    study = make_study(documents=1, systems=2, units=2)
    batch = create_batch(study, "forms", protocol, 1, crowd="mturk")
    set_terms(batch, Terms.parse({**TERMS, "question": "html"}))
    publish(batch)
    posting = batch.postings.select_related("task__batch__study").first()
    html = form_html(posting.task)
    items = protocol_of(batch).items(form_twin(posting.task))
    answers = {item.field: "1" for item in items} or {"units": "One fact.\nAnother fact."}
    assert all(f'name="{field}"' in html for field in answers)
    assert "http" not in html.replace("http-equiv", "")  # nothing is loaded from anywhere
    [worker] = desk.ask("workers", count=1)
    work(desk, posting, worker, answers)
    collected = collect(batch)
    assert (collected.confirmed, collected.unmatched) == (1, 0)
    model = ExtractedUnit if protocol == "scu" else Judgment
    assert model.objects.filter(assignment__submission__posting=posting).count() == len(
        items or answers["units"].split("\n")
    )


def test_a_second_hit_of_the_same_task_gives_no_second_vote(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=10, question="html", reward_cents=50)
    publish(batch)
    [worker] = desk.ask("workers", count=1)
    for posting in batch.postings.select_related("task__batch__study"):
        work(desk, posting, worker)
    collected = collect(batch)
    assert (collected.submissions, collected.confirmed, collected.unmatched) == (2, 1, 1)
    assert Assignment.objects.filter(task__batch=batch).count() == 1


def test_who_comes_under_a_workers_id_with_a_made_up_submission_takes_nothing_from_them(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1)
    publish(batch)
    posting = batch.postings.get()
    [worker] = desk.ask("workers", count=1)
    real = desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers={})
    assignment = enter_and_hold(posting, real, worker)
    answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
    submit_judgments(assignment.worker, assignment.key, answers, "k")
    enter_and_hold(posting, "MADE-UP", worker)
    collected = collect(batch)
    assert (collected.submissions, collected.confirmed, collected.unmatched) == (1, 1, 0)
    assignment.refresh_from_db()
    assert (assignment.submission.market_id, assignment.state) == (real, "submitted")


def enter_and_hold(posting, market_id: str, worker_id: str) -> Assignment:
    posting = posting_at(posting.token, "mturk")
    return hold_place(open_submission(posting, market_id, worker_of(posting, worker_id)), posting.task)


def test_a_pause_keeps_the_promises_and_a_resume_opens_again(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=2)
    publish(batch)
    assert pause(batch) == 1
    assert (batch.state, desk.books["held"]) == (Batch.State.PAUSED, 0)
    resume(batch)
    assert batch.state == Batch.State.OPEN
    check_books(batch, desk.books)


def test_a_top_up_extends_the_hit_or_puts_up_another_one(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=8)
    publish(batch)
    assert top_up(batch, None, 1, None).cents == 12
    assert [hit[2] for hit in desk.books["hits"]] == [9]
    top_up(batch, None, 2, None)  # nine can't become eleven: that is refused by the API, and dearer
    assert [hit[2] for hit in desk.books["hits"]] == [9, 2]
    assert batch.tasks.get().quota == 11
    check_books(batch, desk.books)


def test_blocks_and_messages_reach_the_market(desk) -> None:
    batch = make_crowd_batch(documents=2, quota=2, question="html")
    publish(batch)
    worker, stranger = desk.ask("workers", count=2)
    first, second = batch.postings.order_by("pk")
    work(desk, first, worker)
    collect(batch)
    approve([Submission.objects.get()], None)  # the market passes messages on to people whose work one has judged
    row = Submission.objects.get().worker
    batch.study.workers.create(crowd="mturk", external_id=stranger, pseudonym="w-x")
    MTurk().block(row, "Every answer was the same.")
    with pytest.raises(AssertionError, match="Blocked"):
        desk.ask("accept", hit_id=second.market_id, worker_id=worker)
    MTurk().unblock(row)
    missed = MTurk().message(list(batch.study.workers.order_by("pk")), "Thank you", "The study is over.")
    assert list(missed) == [stranger]


def test_launch_collect_and_settle_from_the_command_line(desk) -> None:
    batch = make_crowd_batch(documents=1, quota=1)
    out = StringIO()
    words = ["launch", batch.study.name, batch.name, "--crowd", "mturk", "--reward", "0.15", "--question", "html"]
    call_command(*words, stdout=out)
    assert "0.18 USD in all" in out.getvalue()
    assert "add --yes" in out.getvalue()
    assert desk.books["hits"] == []
    call_command(*words, "--yes", "--budget", "5", stdout=out)
    [worker] = desk.ask("workers", count=1)
    work(desk, batch.postings.select_related("task__batch__study").get(), worker)
    call_command("collect", batch.study.name, stdout=out)
    assert "1 submissions (1 new), 1 counted" in out.getvalue()
    call_command("settle", batch.study.name, stdout=out)
    assert "0 open lines" in out.getvalue()
    with pytest.raises(CommandError, match="has no batch named"):
        call_command("launch", batch.study.name, "nothing", "--yes")


def test_the_same_as_background_jobs(desk, django_capture_on_commit_callbacks) -> None:
    batch = make_crowd_batch(documents=2, quota=1, question="html")
    [worker] = desk.ask("workers", count=1)

    def message_of(kind: str, **options) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            job = start_job(batch.study, kind, {"batch": batch.pk, **options}, None)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.message
        return job.message

    assert "2 postings were put up" in message_of("publish")
    for posting in batch.postings.select_related("task__batch__study"):
        work(desk, posting, worker)
    assert "2 submissions" in message_of("collect")
    keys = list(Submission.objects.filter(posting__batch=batch).values_list("pk", flat=True))
    assert "2 approved" in message_of("approve", submissions=keys)
    assert "0 open lines" in message_of("settle")
    assert "2 postings were taken down" in message_of("close")
    assert desk.books["paid"] == 20
