"""The admins' crowd pages: who may see them, what they say; nothing is spent but by the button that names the sum."""

from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.crowds.collecting import collect
from annotation.crowds.launching import form_of, read_terms
from annotation.crowds.monitor import batch_money, monitor
from annotation.crowds.presets import PRESETS
from annotation.crowds.publishing import publish
from annotation.crowds.terms import Terms, set_terms
from annotation.crowds.topup import ask_for_more, top_up_of
from annotation.crowds.verbs import start_action
from annotation.crowds.workers import worker_table
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Batch,
    Entry,
    FilterDecision,
    Job,
    Posting,
    Role,
    Submission,
    Worker,
)
from annotation.protocols import of as protocol_of
from annotation.submits import submit_judgments
from tests.annotation.crowds.conftest import TERMS, make_crowd_batch
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db

PAGES = ("launch", "monitor", "crowd-workers", "crowd-links", "batch-csv")


@pytest.fixture
def admin(client):
    """Signs an admin of a batch's study in."""

    def sign_in(batch: Batch, role: str = Role.ADMIN):
        client.force_login(make_member(batch.study, role))
        return client

    return sign_in


def at(name: str, batch: Batch) -> str:
    return reverse(name, args=[batch.study.slug, batch.pk])


def published(batch: Batch, workers: int = 2, state: str = Submission.State.SUBMITTED) -> list[Submission]:
    """As after a publish and a collect, without a market: every task posted, and worked on by so many."""
    turns = []
    for task in batch.tasks.order_by("pk"):
        posting = Posting.objects.create(
            batch=batch, task=task, token=f"t{task.pk}", market_id=f"HIT{task.pk}", state="open",
            places=task.quota, reward_cents=10, fee_cents=2,
        )  # fmt: skip
        Entry.objects.create(
            study=batch.study, batch=batch, posting=posting, kind="post", token=f"e{task.pk}", state="settled",
            reward_cents=10 * task.quota, fee_cents=2 * task.quota, promised_cents=12 * task.quota,
        )  # fmt: skip
        for number in range(workers):
            worker, _ = Worker.objects.get_or_create(
                study=batch.study, crowd="mturk", external_id=f"A{number}",
                defaults={"pseudonym": batch.study.pseudonym("mturk", f"A{number}")},
            )  # fmt: skip
            turns.append(
                Submission.objects.create(
                    posting=posting, worker=worker, market_id=f"as{posting.pk}-{number}", state=state
                )
            )
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.OPEN)
    batch.refresh_from_db()
    return turns


def answered(turn: Submission, value: str) -> Assignment:
    """The answers of a turn: these values, over and over."""
    held = Assignment.objects.create(
        task=turn.posting.task, worker=turn.worker, submission=turn, lease_until="2030-01-01T00:00Z"
    )
    held.refresh_from_db()
    items = protocol_of(turn.posting.batch).items(held)
    answers = {item.field: value[place % len(value)] for place, item in enumerate(items)}
    load = {"load": "test", "active": 30, "items": {name: {"seconds": 5} for name in answers}}
    submit_judgments(turn.worker, held.key, answers, "k", signals=load)
    return held


@pytest.mark.parametrize("page", PAGES)
def test_annotators_get_403_and_strangers_404(client, page):
    batch = make_crowd_batch()
    client.force_login(make_member(batch.study))
    assert client.get(at(page, batch)).status_code == 403
    client.force_login(make_member(make_study()))
    assert client.get(at(page, batch)).status_code == 404


def test_analysts_watch_without_money_or_worker_ids(admin):
    batch = make_crowd_batch()
    answered(published(batch)[0], "1")
    page = admin(batch, Role.ANALYST).get(at("monitor", batch)).content.decode()
    assert "1 <small>of 4</small>" in page
    assert "Promised" not in page
    assert "A0" not in page
    for name in ("launch", "crowd-workers", "crowd-links"):
        assert admin(batch, Role.ANALYST).get(at(name, batch)).status_code == 403
    assert admin(batch, Role.ANALYST).get(reverse("ledger", args=[batch.study.slug])).status_code == 403


@pytest.mark.parametrize("page", ["launch", "monitor", "crowd-workers", "crowd-links"])
def test_an_imported_batch_opens_too_and_offers_no_action_on_its_workers(admin, page):
    batch = make_crowd_batch()
    answered(published(batch)[0], "1")
    Batch.objects.filter(pk=batch.pk).update(crowd=Worker.IMPORTED)
    answer = admin(batch).get(at(page, batch))
    assert answer.status_code == 200
    assert 'name="action" value="block"' not in answer.content.decode()


def form(**more: str) -> dict[str, str]:
    values = {"crowd": "mturk", "title": "Judge", "description": "Read and mark.", "reward": "0.10", "minutes": "1"}
    return {**values, "duration": "90", "lifetime": "24", "approve": "3", **more}


def test_the_price_fills_in_as_one_types_and_the_button_names_it(admin, desk):
    batch = make_crowd_batch(documents=2, quota=2)
    client = admin(batch)
    fragment = client.post(at("launch", batch), form(), headers={"HX-Request": "true"}).content.decode()
    # 4 places at 10 cents and a fee of 2
    assert "Publish for $0.48" in fragment
    assert "$6.00" in fragment  # an hour of minutes at 10 cents
    assert "<html" not in fragment
    wrong = client.post(at("launch", batch), form(reward="ten"), headers={"HX-Request": "true"}).content.decode()
    assert "“ten” is not an amount" in wrong
    assert "Publish" not in wrong
    assert not Posting.objects.exists()


def test_publish_needs_the_price_that_was_seen(admin, desk, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=2)
    client = admin(batch)
    seen = client.post(at("launch", batch), form(action="publish", total="999"))
    assert seen.status_code == 422
    assert "The price has changed" in seen.content.decode()
    assert desk.books["held"] == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(at("launch", batch), form(action="publish", total="24")).status_code == 302
    assert desk.books["held"] == 24
    assert "postings were put up" in client.get(at("monitor", batch)).content.decode()
    # The terms are what people work by: they can't be changed now.
    again = client.post(at("launch", batch), form(action="save", reward="0.50"))
    assert "is on the market by the terms it has" in again.content.decode()


def test_an_unreachable_market_is_a_sentence_and_no_button(admin, settings):
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    settings.MTURK_ALLOWED_ENDPOINTS = ["http://127.0.0.1:9"]
    settings.MTURK_ACCESS_KEY_ID = settings.MTURK_SECRET_ACCESS_KEY = "x"
    settings.MTURK_ATTEMPTS, settings.MTURK_TIMEOUT_SECONDS = 1, 1
    batch = make_crowd_batch()
    page = admin(batch).post(at("launch", batch), form(), headers={"HX-Request": "true"}).content.decode()
    assert "This can't be published yet." in page
    assert "Publish for" not in page


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_the_form(name):
    from django.http import QueryDict

    shown = form_of({**PRESETS[name]["terms"], "preset": name})
    sent = QueryDict(mutable=True)
    sent.update({key: str(value) for key, value in shown.items() if isinstance(value, str | int | float) and value})
    sent.update({f"reward:{group}": cents for group, cents in shown["rewards"].items()})
    read = read_terms(sent)
    meant = Terms.parse({**PRESETS[name]["terms"], "preset": name})
    assert read.reward_cents == meant.reward_cents
    assert read.reward_by_group == meant.reward_by_group
    assert (read.duration_seconds, read.lifetime_seconds, read.auto_approve_seconds) == (
        meant.duration_seconds, meant.lifetime_seconds, meant.auto_approve_seconds,
    )  # fmt: skip
    assert len(read.requirements) == len(meant.requirements)


def test_monitor_counts_answers_money_and_pace():
    batch = make_crowd_batch(documents=2, quota=2)
    turns = published(batch)
    for turn in turns[:3]:
        answered(turn, "1")
    state = monitor(batch)
    assert (state.done, state.places, state.percent) == (3, 4, 75)
    assert state.tasks == [(1, 1), (2, 1)]
    assert state.per_hour > 0
    assert state.left is not None
    assert (state.money.promised, state.money.paid) == (48, 0)
    assert state.unjudged == 4
    # 30 active seconds at 10 cents: 12 dollars an hour
    assert (state.active_seconds, state.hourly_cents) == (30, 1200)
    assert batch_money(batch).committed == 48


def test_the_worker_table_shows_who_disagrees_and_only_admins_get_ids(admin, django_assert_max_num_queries):
    batch = make_crowd_batch(documents=3, quota=3)
    for turn in published(batch, workers=3):
        answered(turn, "01" if turn.worker.external_id == "A2" else "10")
    rows = {row.worker.external_id: row for row in worker_table(batch)}
    assert rows["A2"].agreement < rows["A0"].agreement
    assert rows["A0"].tasks == 3
    assert rows["A0"].waiting == 3
    client = admin(batch)
    with django_assert_max_num_queries(40):
        page = client.get(at("crowd-workers", batch)).content.decode()
    assert "A2" in page
    assert batch.study.pseudonym("mturk", "A2") in page


def test_an_action_is_shown_with_its_price_first_and_nobody_else_is_touched(admin, desk):
    batch = make_crowd_batch(documents=1, quota=2)
    turns = published(batch)
    client = admin(batch)
    chosen = {"worker": [turns[0].worker_id], "action": "approve"}
    page = client.post(at("crowd-workers", batch), chosen).content.decode()
    assert "1 answers of 1 workers." in page
    assert "Pay $0.12" in page
    assert not Entry.objects.filter(kind="approve").exists()
    client.post(at("crowd-workers-do", batch), chosen)
    job = Job.objects.get(kind="approve")
    assert job.options["submissions"] == [turns[0].pk]
    bonus = {"worker": [one.worker_id for one in turns], "action": "bonus", "amount": "0.05", "reason": "Thank you"}
    page = client.post(at("crowd-workers-do", batch), bonus).content.decode()
    assert "Pay $0.12" in page  # twice 5 cents and a cent of fee
    assert not Job.objects.filter(kind="bonus").exists()
    refused = client.post(at("crowd-workers-do", batch), {"worker": [turns[0].worker_id], "action": "reject"})
    assert refused.status_code == 409
    assert "A reason of at least 1 characters is needed" in refused.content.decode()
    nobody = client.post(at("crowd-workers", batch), {"action": "block"})
    assert "Tick at least one worker" in nobody.content.decode()


def test_verdicts_bonuses_blocks_and_messages_reach_the_market(desk, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=2, question="html")
    publish(batch)
    names = desk.ask("workers", count=2)
    for name in names:
        desk.ask("work", hit_id=batch.postings.get().market_id, worker_id=name, answers={"x": "1"})
    collect(batch)
    boss = make_member(batch.study, Role.ADMIN)
    one, two = (Worker.objects.get(external_id=name) for name in names)

    def do(verb: str, *workers: Worker, **given: str) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            job = start_action(batch, verb, workers, given, boss)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.message
        return job.message

    assert do("reject", two, reason="Nothing was answered.").startswith("1 rejected")
    assert do("approve", one).startswith("1 approved")
    assert do("bonus", one, amount="0.05", reason="Thank you").startswith("1 paid")
    assert (desk.books["paid"], desk.books["fees"], desk.books["held"]) == (15, 3, 0)
    assert do("undo", two).startswith("1 approved")
    assert (desk.books["paid"], desk.books["held"]) == (25, 0)
    assert do("message", one, two, subject="Thanks", reason="More to come.").startswith("The message went to 2")
    do("block", two, reason="Careless")
    two.refresh_from_db()
    assert two.blocked_at is not None
    do("unblock", two)
    two.refresh_from_db()
    assert two.blocked_at is None
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == desk.books["paid"] + desk.books["fees"]
    with pytest.raises(Refused, match="None of them has work that waits"):
        start_action(batch, "approve", [one], {}, boss)


def test_approve_all_pays_what_the_page_showed_and_nothing_that_came_since(admin):
    batch = make_crowd_batch(documents=2, quota=2)
    turns = published(batch)
    client = admin(batch)
    page = client.get(at("monitor", batch)).content.decode()
    assert "Approve all 4 for $0.48" in page
    turns[0].state = Submission.State.REJECTED  # by somebody else, meanwhile
    turns[0].save()
    sent = {"action": "approve-all", "upto": turns[-1].pk, "total": "48"}
    refused = client.post(at("batch-act", batch), sent)
    assert refused.status_code == 409
    assert "Nothing was paid" in refused.content.decode()
    late = Submission.objects.create(
        posting=turns[0].posting, worker=turns[0].worker, market_id="late", state=Submission.State.SUBMITTED
    )
    client.post(at("batch-act", batch), {**sent, "total": "36"})
    asked = Job.objects.get(kind="approve").options["submissions"]
    assert asked == [turn.pk for turn in turns[1:]]
    assert late.pk not in asked


def test_answers_lost_to_the_filter_are_priced_and_asked_for_once(desk):
    batch = make_crowd_batch(documents=3, quota=3)
    publish(batch)
    batch.refresh_from_db()
    for posting in batch.postings.select_related("task", "batch__study"):
        for number in range(3):
            worker, _ = Worker.objects.get_or_create(
                study=batch.study, crowd="mturk", external_id=f"A{number}",
                defaults={"pseudonym": batch.study.pseudonym("mturk", f"A{number}")},
            )  # fmt: skip
            turn = Submission.objects.create(
                posting=posting, worker=worker, market_id=f"{posting.pk}-{number}", state="approved"
            )
            answered(turn, "0" if number == 2 else "1")
    assert top_up_of(batch).tasks == []
    FilterDecision.objects.create(study=batch.study, rules=["majority-dissent"])
    lost = top_up_of(batch)
    assert (lost.places, lost.cents) == (3, 36)  # the one who said no everywhere, at 10 + 2 cents a task
    done = ask_for_more(batch, None, expected_cents=36)
    assert (done.places, done.cents) == (3, 36)
    assert top_up_of(batch).tasks == []  # what is asked for already is not asked for again
    assert desk.books["held"] == 12 * 12


def test_the_ledger_page_shows_lines_takes_a_persons_word_and_keeps_the_budget(admin):
    batch = make_crowd_batch(documents=1, quota=2)
    turns = published(batch)
    Entry.objects.create(
        study=batch.study, batch=batch, posting=turns[0].posting, submission=turns[0], kind="bonus", token="b",
        state="doubtful", reward_cents=50, fee_cents=10, paid_cents=60, reason="Thanks", note="The market fell silent.",
    )  # fmt: skip
    client, address = admin(batch), reverse("ledger", args=[batch.study.slug])
    page = client.get(address).content.decode()
    assert "bonus of $0.60 for A0" in page
    assert "It was not paid" in page
    entry = Entry.objects.get(kind="bonus")
    client.post(address, {"action": "not-paid", "entry": entry.pk, "note": "looked at the account"})
    entry.refresh_from_db()
    assert entry.state == "failed"
    assert "looked at the account" in entry.note
    low = client.post(address, {"action": "limits", "budget": "0.10", "wage": ""})
    assert "0.24 USD are spent and promised already" in low.content.decode()
    client.post(address, {"action": "limits", "budget": "5", "wage": "12"})
    batch.study.refresh_from_db()
    assert (batch.study.budget_cents, batch.study.minimum_wage_cents) == (500, 1200)
    lines = client.get(reverse("ledger-csv", args=[batch.study.slug])).content.decode().splitlines()
    assert len(lines) == 3
    assert Decimal(lines[1].split(",")[8]) == 20  # reward_cents of the promise


def test_links_are_made_listed_and_withdrawn(admin, settings):
    settings.SITE_URL = "http://127.0.0.1:8000"
    batch = make_batch(make_study())
    client = admin(batch)
    client.post(at("crowd-links", batch), {"names": "Ada\nGrace", "days": "7"})
    page = client.get(at("crowd-links", batch)).content.decode()
    assert "Ada" in page
    assert page.count(">open<") == 3  # two links, and the batch itself
    assert (
        client.get(at("crowd-links", batch) + "?format=csv").content.decode().count("http://127.0.0.1:8000/w/link/")
        == 2
    )
    client.post(at("crowd-links", batch), {"withdraw": Submission.objects.first().pk})
    assert "withdrawn" in client.get(at("crowd-links", batch)).content.decode()


def test_result_files_come_in_through_the_page(admin):
    from django.core.files.uploadedfile import SimpleUploadedFile

    from tests.annotation.crowds.test_csv import answered as filled
    from tests.annotation.crowds.test_csv import exported, result_file

    batch = make_batch(make_study(units=2), quota=1)
    client = admin(batch)
    assert b"Input.statement_1" in client.get(at("batch-csv", batch)).content
    results = result_file([filled(row, "pn") for row in exported(batch)])
    client.post(at("batch-csv", batch), {"results": SimpleUploadedFile("r.csv", results)})
    assert Assignment.objects.counted().filter(task__batch=batch).count() == 1
    bad = client.post(at("batch-csv", batch), {"results": SimpleUploadedFile("r.csv", b"nonsense")})
    assert bad.status_code == 409
    assert "Nothing was imported" in bad.content.decode()


def test_every_empty_page_says_what_to_do_first(admin):
    batch = make_batch(make_study(), state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse(TERMS), crowd="mturk")
    client = admin(batch)
    assert "Nobody has come yet" in client.get(at("crowd-workers", batch)).content.decode()
    watching = client.get(at("monitor", batch)).content.decode()
    assert "Nobody has answered yet" in watching
    assert "Launch it" in watching
    assert "Nothing was spent" in client.get(reverse("ledger", args=[batch.study.slug])).content.decode()
    assert client.post(at("batch-act", batch), {"action": "explode"}).status_code == 409
