"""Only work that is with us is paid unasked: hand-ins without answers are left out, early leavers get their share."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.common.errors import Refused
from annotation.crowds.collect import collect
from annotation.crowds.console.jobs import approve_job, bonus_job, reject_job, shares_job
from annotation.crowds.console.worker_actions import plan_action
from annotation.crowds.launch.publish import publish
from annotation.crowds.ledger import OverBudget, set_budget
from annotation.crowds.pay.approve import approve, reject, undo_rejections
from annotation.crowds.pay.bonus import Bonus, pay_bonuses
from annotation.crowds.pay.shares import unpaid_shares
from annotation.models import Assignment, Batch, Entry, Job, Role, Submission
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.crashes import check_books, form_answers
from tests.annotation.crowds.test_worker_pages import enter, fields, make_posting, prolific_url, sentence
from tests.contract.prolific_server import TOKEN, WORKSPACE, ProlificServer
from tests.factories import make_member

pytestmark = [pytest.mark.django_db]
NOTHING = {"assignmentId": "nothing of ours"}


def worked_batch(desk, *, empty: int, whole: int) -> tuple[Batch, list[str]]:
    """On the live market: so many hand in an answered form, so many a form with nothing of ours in it."""
    batch = make_crowd_batch(documents=1, quota=empty + whole, question="html")
    publish(batch)
    posting = batch.postings.get()
    names = desk.ask("workers", count=empty + whole)
    for number, name in enumerate(names):
        answers = form_answers(posting.task) if number < whole else NOTHING
        desk.ask("work", hit_id=posting.market_id, worker_id=name, answers=answers)
    collect(batch)
    return batch, names


def all_of(batch: Batch) -> list[Submission]:
    return list(Submission.objects.filter(posting__batch=batch).order_by("pk"))


def job_of(batch: Batch) -> Job:
    return Job.objects.filter(study=batch.study).order_by("-pk")[0]


def progress(done: int, total: int) -> None:
    pass


def test_what_was_handed_in_without_answers_is_not_approved_unasked(desk) -> None:
    batch, names = worked_batch(desk, empty=1, whole=2)
    outcome = approve(all_of(batch), None)
    assert outcome.done == 2
    [(submission, reason)] = outcome.refused
    assert submission.worker.external_id == names[2]
    assert reason == "There are no answers of it with us. Nothing was spent: look at it, or reject it."
    assert (desk.books["paid"], desk.books["held"]) == (20, 12)
    assert approve([submission], None, without_answers=True).done == 1  # asked for by itself
    check_books(batch, desk.books)


def test_approve_all_leaves_them_out_says_how_many_and_offers_to_look_or_reject(desk, client: Client) -> None:
    batch, names = worked_batch(desk, empty=2, whole=1)
    client.force_login(make_member(batch.study, Role.ADMIN))
    monitor, act = (reverse(name, args=[batch.study.slug, batch.pk]) for name in ("monitor", "batch-act"))
    page = client.get(monitor).content.decode()
    assert "Approve all 1 for $0.12" in " ".join(page.split())
    assert "2 hand-ins have not all their answers with us." in page
    assert "Look at them" in page
    assert all(name in page for name in names[1:])
    assert "Reject all 2" in page
    upto = {"upto": max(submission.pk for submission in all_of(batch))}
    assert client.post(act, {"action": "approve-all", "total": "36", **upto}).status_code == 409
    client.post(act, {"action": "approve-all", "total": "12", **upto})
    message = approve_job(job_of(batch), progress)
    assert message == f"1 approved, 0 refused. {names[0]}."
    client.post(act, {"action": "reject-without-answers", "reason": "There was no answer in it.", **upto})
    assert reject_job(job_of(batch), progress).startswith("2 rejected, 0 refused.")
    assert (desk.books["paid"], desk.books["held"]) == (10, 0)
    check_books(batch, desk.books)


def test_the_plan_for_chosen_workers_leaves_them_out_too(desk) -> None:
    batch, _names = worked_batch(desk, empty=1, whole=1)
    workers = [submission.worker for submission in all_of(batch)]
    plan = plan_action(batch, "approve", workers)
    assert plan.price.total_cents == 12
    assert "1 hand-in without its answers is left out." in plan.sentence
    with pytest.raises(Refused, match="has no answers with us"):
        plan_action(batch, "approve", workers[1:])


def test_bonuses_are_paid_to_all_or_none_and_name_who_was_paid(desk) -> None:
    batch, names = worked_batch(desk, empty=0, whole=3)
    set_budget(batch.study, 3 * 12 + 2 * 6)  # two of three bonuses of 5 and 1 cents
    amounts = [Bonus(submission, 5) for submission in all_of(batch)]
    with pytest.raises(OverBudget, match="Nothing was spent"):
        pay_bonuses(amounts, "Thank you.", None)
    assert desk.books["bonuses"] == []
    assert not Entry.objects.filter(kind="bonus").exists()
    with pytest.raises(OverBudget):
        pay_bonuses([Bonus(submission, 400_00) for submission in all_of(batch)], "Thank you.", None)
    set_budget(batch.study, None)
    options = {"batch": batch.pk, "submissions": [row.pk for row in all_of(batch)], "cents": 5, "reason": "Thank you."}
    job = Job.objects.create(study=batch.study, kind="bonus", options=options)
    assert bonus_job(job, progress) == f"3 paid, 0 refused. {', '.join(names)}."
    assert "paid before" in bonus_job(job, progress)  # nobody gets it twice
    assert len(desk.books["bonuses"]) == 3


def test_more_bonuses_than_the_account_holds_are_refused_before_the_first_is_paid(desk) -> None:
    batch, _names = worked_batch(desk, empty=0, whole=2)
    amounts = [Bonus(submission, 450_00) for submission in all_of(batch)]  # 1,080 with fees, and 1,000 were put in
    with pytest.raises(OverBudget, match=r"This costs 1,?080\.00, but the account on the market holds 999\.76"):
        pay_bonuses(amounts, "Thank you.", None)
    assert desk.books["bonuses"] == []
    assert not Entry.objects.filter(kind="bonus").exists()


def test_rejections_are_undone_for_all_or_none(desk) -> None:
    batch, _names = worked_batch(desk, empty=0, whole=2)
    reject(all_of(batch), "Every statement was marked present.", None)
    set_budget(batch.study, 12)
    with pytest.raises(OverBudget):
        undo_rejections(all_of(batch), None)
    assert desk.books["paid"] == 0
    set_budget(batch.study, 24)
    assert undo_rejections(all_of(batch), None).done == 2
    check_books(batch, desk.books)


# Prolific: one submission is a sitting of several tasks


@pytest.fixture
def browser(settings) -> Client:
    settings.MARKET_ORIGINS = ["https://market.example.org"]
    return Client(enforce_csrf_checks=True)


def sitting_of_three(**values: object):
    posting = make_posting("prolific", tasks=4, tasks_per_participant=3, **values)
    posting.details = {"codes": {"done": "DONE1", "left_early": "EARLY1", "screened_out": "OUT1"}}
    posting.reward_cents = 300
    posting.save()
    return posting


def test_the_full_code_comes_only_when_the_promised_tasks_are_done(browser) -> None:
    posting = sitting_of_three()
    for number in (1, 2, 3):
        task = enter(browser, prolific_url(posting))
        token = task.split("/")[3]
        by_hand = browser.get(f"/w/t/{token}/finish/", follow=True)
        assert "DONE1" not in by_hand.content.decode(), f"with {number - 1} of 3 tasks done"
        end = browser.post(task, fields(browser, task), follow=True)
    assert "submissions/complete?cc=DONE1" in end.content.decode()


def test_opening_the_last_page_by_hand_goes_on_with_the_next_task(browser) -> None:
    posting = sitting_of_three()
    task = enter(browser, prolific_url(posting))
    browser.post(task, fields(browser, task))
    page = browser.get(f"/w/t/{task.split('/')[3]}/finish/", follow=True)
    assert "Task 2 of 3" in sentence(page)
    assert Submission.objects.get().saved_at is None


def test_who_leaves_early_gets_the_early_code(browser) -> None:
    posting = sitting_of_three()
    task = enter(browser, prolific_url(posting))
    browser.post(task, fields(browser, task))
    second = enter(browser, prolific_url(posting))
    left = browser.post(f"/w/t/{second.split('/')[3]}/leave/", follow=True)
    assert "1 of 3 tasks are done" in sentence(left)
    assert "submissions/complete?cc=EARLY1" in left.content.decode()
    assert "DONE1" not in left.content.decode()


def test_without_another_task_a_sitting_ends_with_the_early_code(browser) -> None:
    posting = sitting_of_three()
    task = enter(browser, prolific_url(posting))
    posting.batch.tasks.exclude(assignments__isnull=False).delete()
    end = browser.post(task, fields(browser, task), follow=True)
    assert "1 of 3 are done" in sentence(end)
    assert "cc=EARLY1" in end.content.decode()


def test_a_study_that_was_published_without_an_early_code_asks_for_a_return(browser) -> None:
    posting = sitting_of_three()
    posting.details = {"codes": {"done": "DONE1", "screened_out": "OUT1"}}
    posting.save()
    task = enter(browser, prolific_url(posting))
    left = browser.post(f"/w/t/{task.split('/')[3]}/leave/", follow=True)
    assert "cc=OUT1" in left.content.decode()


def test_what_an_early_leaver_is_paid_is_counted_from_tasks(browser) -> None:
    posting = sitting_of_three()
    task = enter(browser, prolific_url(posting))
    browser.post(task, fields(browser, task))
    submission = Submission.objects.get()
    Submission.objects.update(state="submitted")
    [(_row, reason)] = approve([submission], None).refused
    assert reason == "Only 1 of 3 tasks are done. Nothing was spent: pay the share, or reject it."
    Submission.objects.update(state="returned")
    [share] = unpaid_shares(posting.batch)
    assert (share.work.tasks, share.work.promised, share.cents) == (1, 3, 100)  # a third of 3.00
    Assignment.objects.update(state="expired")  # and who did nothing gets nothing
    assert unpaid_shares(posting.batch) == []


def test_a_share_is_paid_once_as_a_bonus(prolific_market, browser) -> None:
    posting = sitting_of_three()
    contract = prolific_market.contract
    posting.market_id = contract.post_studies(_study())["id"]
    posting.save()
    session = contract.take_part(posting.market_id, "P1")
    address = prolific_url(posting, STUDY_ID=posting.market_id, SESSION_ID=session)
    task = enter(browser, address)
    browser.post(task, fields(browser, task))
    Submission.objects.update(state="returned")
    options = {"batch": posting.batch_id, "submissions": [Submission.objects.get().pk]}
    job = Job.objects.create(study=posting.batch.study, kind="shares", options=options)
    assert shares_job(job, progress) == "1 paid, 0 refused. P1."
    assert shares_job(job, progress) == "0 paid, 0 refused."
    assert contract.submissions[session]["bonus_payments"] == [100]


def _study() -> dict[str, object]:
    return {
        "name": "A study",
        "description": "Of summaries.",
        "external_study_url": "https://x?S={{%SESSION_ID%}}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [],
        "total_available_places": 1,
        "estimated_completion_time": 1,
        "reward": 300,
    }


@pytest.fixture
def prolific_market(settings):
    server = ProlificServer()
    settings.PROLIFIC_URL, settings.PROLIFIC_ALLOWED_URLS = server.url, [server.url]
    settings.PROLIFIC_TOKEN, settings.PROLIFIC_WORKSPACE = TOKEN, WORKSPACE
    settings.SITE_URL = "http://127.0.0.1:8000"
    yield server
    server.stop()
