"""The admins' crowd pages: who may see them, what they say; nothing is spent but by the button that names the sum."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import lxml.html
import pytest
from django.http import QueryDict
from django.urls import reverse

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.collect import collect
from annotation.crowds.console.charts import axis_end
from annotation.crowds.console.jobs import top_up_job
from annotation.crowds.console.monitor import money_of, monitor, pace
from annotation.crowds.console.worker_actions import plan_action, start_action
from annotation.crowds.console.workers import worker_list
from annotation.crowds.launch.form import form_of, read_terms
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.top_up import ask_for_more, top_up_of
from annotation.crowds.markets.direct import links_of
from annotation.crowds.terms import BadTerms, Terms, set_terms
from annotation.crowds.terms.presets import PRESETS
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
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
from tests.annotation.crowds.conftest import TERMS, make_crowd_batch
from tests.annotation.crowds.crashes import form_answers
from tests.browser.looking import markup
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
    submissions = []
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
            submissions.append(
                Submission.objects.create(
                    posting=posting, worker=worker, market_id=f"as{posting.pk}-{number}", state=state
                )
            )
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.OPEN)
    batch.refresh_from_db()
    return submissions


def submit_answers(submission: Submission, value: str) -> Assignment:
    """The answers of a submission: these values, over and over."""
    assignment = Assignment.objects.create(
        task=submission.posting.task, worker=submission.worker, submission=submission, lease_until="2030-01-01T00:00Z"
    )
    assignment.refresh_from_db()
    items = protocol_of(submission.posting.batch).items(assignment)
    answers = {item.field: value[place % len(value)] for place, item in enumerate(items)}
    load = {"load": "test", "active": 30, "items": {name: {"seconds": 5} for name in answers}}
    submit_judgments(submission.worker, assignment.key, answers, "k", signals=load)
    return assignment


@pytest.mark.parametrize("page", PAGES)
def test_annotators_get_403_and_strangers_404(client, page):
    batch = make_crowd_batch()
    client.force_login(make_member(batch.study))
    assert client.get(at(page, batch)).status_code == 403
    client.force_login(make_member(make_study()))
    assert client.get(at(page, batch)).status_code == 404


def test_analysts_watch_without_money_or_worker_ids(admin):
    batch = make_crowd_batch()
    submit_answers(published(batch)[0], "1")
    page = markup(admin(batch, Role.ANALYST).get(at("monitor", batch)).content.decode())
    assert "1 <small>of 4</small>" in page
    assert "Promised" not in page
    assert "A0" not in page
    for name in ("launch", "crowd-workers", "crowd-links"):
        assert admin(batch, Role.ANALYST).get(at(name, batch)).status_code == 403
    assert admin(batch, Role.ANALYST).get(reverse("ledger", args=[batch.study.slug])).status_code == 403


@pytest.mark.parametrize("state", [Job.State.DONE, Job.State.FAILED])
def test_analysts_see_that_crowd_work_ran_and_not_what_it_says_of_money_and_people(admin, state):
    batch = make_crowd_batch()
    message = "1 paid, 1 refused. 8.64 USD went to A0."
    job = Job.objects.create(
        study=batch.study, kind="bonus", options={"batch": batch.pk}, state=state, message=message, done=2, total=2,
        ended_at="2026-01-01T12:00Z",
    )  # fmt: skip
    poll = reverse("job", args=[batch.study.slug, job.pk])
    client = admin(batch, Role.ANALYST)
    for address in (at("monitor", batch), poll):
        page = client.get(address).content.decode()
        assert message not in page
        assert "8.64" not in page
        assert ("The last run is done." if state == Job.State.DONE else "The last run stopped.") in page
    job.refresh_from_db()
    assert job.message == message
    client = admin(batch)
    for address in (at("monitor", batch), poll):
        assert message in client.get(address).content.decode()
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, done=1)
    assert "1 of 2 done." in admin(batch, Role.ANALYST).get(poll).content.decode()


@pytest.mark.parametrize("page", ["launch", "monitor", "crowd-workers", "crowd-links"])
def test_an_imported_batch_opens_too_and_offers_no_action_on_its_workers(admin, page):
    batch = make_crowd_batch()
    submit_answers(published(batch)[0], "1")
    Batch.objects.filter(pk=batch.pk).update(crowd=Worker.IMPORTED)
    answer = admin(batch).get(at(page, batch))
    assert answer.status_code == 200
    assert 'name="action" value="block"' not in markup(answer.content.decode())


def test_a_closed_batch_is_not_offered_for_launch(admin):
    batch = make_crowd_batch()
    client = admin(batch)
    assert "Launch it" in client.get(at("monitor", batch)).content.decode()
    Batch.objects.filter(pk=batch.pk).update(crowd=Worker.IMPORTED, state=Batch.State.CLOSED)
    page = client.get(at("monitor", batch)).content.decode()
    assert "Launch it" not in page
    assert "This batch is closed: there is nothing to launch" in page


def test_the_agreement_axis_ends_at_what_its_label_says():
    ends = {0.4: "0.0", 0.0: "0.0", -1e-12: "0.0", -0.03: "-0.1", -0.3: "-0.3", -1.0: "-1.0"}
    assert {lowest: f"{axis_end(lowest):.1f}" for lowest in ends} == ends


def form(**changes: str) -> dict[str, str]:
    values = {"crowd": "mturk", "title": "Judge", "description": "Read and mark.", "reward": "0.10", "minutes": "1"}
    return {**values, "duration": "90", "lifetime": "24", "approve": "3", **changes}


def test_the_price_fills_in_as_one_types_and_the_button_names_it(admin, desk):
    batch = make_crowd_batch(documents=2, quota=2)
    client = admin(batch)
    fragment = client.post(at("launch", batch), form(), headers={"HX-Request": "true"}).content.decode()
    # 4 places at 10 cents and a fee of 2
    assert "Publish for $0.48" in fragment
    assert "$6.00" in fragment  # an hour of minutes at 10 cents
    assert "<html" not in fragment
    refusal = client.post(at("launch", batch), form(reward="ten"), headers={"HX-Request": "true"}).content.decode()
    assert "“ten” is not an amount" in refusal
    assert "Publish" not in refusal
    assert not Posting.objects.exists()


def shown_again(page: str) -> dict[str, list[str]]:
    """What a browser would send for the launch form of this page."""
    launch = lxml.html.fromstring(page).get_element_by_id("launch")
    fields: dict[str, list[str]] = {}
    for name, value in launch.form_values():
        fields.setdefault(name, []).append(value)
    return fields


REFUSED = [
    ({"reward": "0.2o"}, "“0.2o” is not an amount", "save"),
    ({"reward": "0.2o"}, "“0.2o” is not an amount", "publish"),
    ({"total": "999"}, "The price has changed since you saw it", "publish"),
]


@pytest.mark.parametrize(("typed", "sentence", "action"), REFUSED, ids=["save", "publish", "price"])
def test_a_refused_launch_form_comes_back_as_it_was_typed(admin, desk, typed, sentence, action):
    study = make_study(documents=2, units=2)
    batch, earlier = make_batch(study, quota=2, state=Batch.State.DRAFT), make_crowd_batch()
    Batch.objects.filter(pk=earlier.pk).update(study=study)
    submit_answers(published(earlier)[0], "1")
    fields = form(
        approval="95", approved="100", countries="us GB", masters="on", keywords="summary, facts", minutes="1,5",
        tasks_per_participant="1", question="html", custom="[]", groups_allow="a", groups_block="b, c",
        prescreeners="age: 18-65",
        exclude=str(earlier.pk), preset="realsumm", **{"reward:abs": "0.25"}, **typed,
    )  # fmt: skip
    answer = admin(batch).post(at("launch", batch), {**fields, "action": action})
    assert answer.status_code == 422
    page = answer.content.decode()
    resent = shown_again(page)
    resent.pop("csrfmiddlewaretoken")
    total = resent.pop("total", None)
    assert resent == {name: [value] for name, value in fields.items() if name != "total"}
    [alert] = lxml.html.fromstring(page).xpath("//*[@role='alert']")
    assert sentence in alert.text_content()
    # A price asked for on load would put itself in the sentence's place.
    assert 'hx-trigger="input' in page
    # The price as it is now stands beside the sentence: 4 places at 25 cents, 5 of fee and 1 for Masters.
    assert total == (["124"] if "total" in typed else None)


WRONG = [
    ("reward", "100000", "Reward: “100000” is not a number from 0.00 to 10000.00."),
    ("reward:abs", "10000.01", "For group abs: “10000.01” is not a number from 0.00 to 10000.00."),
    ("duration", "0", "For a task (minutes): “0” is not a number from 0.5 to 525600."),
    ("duration", "soon", "For a task (minutes): “soon” is not a number from 0.5 to 525600."),
    ("lifetime", "99999", "On the market (hours): “99999” is not a number from 0.01 to 8760."),
    ("lifetime", "nan", "On the market (hours): “nan” is not a number from 0.01 to 8760."),
    ("lifetime", "1e308", "On the market (hours): “1e308” is not a number from 0.01 to 8760."),
    ("approve", "-1", "Approved by itself (after days): “-1” is not a number from 0 to 30."),
    ("minutes", "0", "A task takes (minutes): “0” is not a number above 0 and up to 1440."),
    ("tasks_per_participant", "501", "Tasks in a sitting: “501” is not a whole number from 1 to 500."),
    ("approval", "250", "Approved work: “250” is not a whole number from 0 to 100."),
    ("approval", "²", "Approved work: “²” is not a whole number from 0 to 100."),
    ("approved", "9" * 5000, "is not a whole number from 0 to 2147483647."),
    ("title", "x" * 129, "Title has 129 characters, but at most 128 are possible."),
]


@pytest.mark.parametrize(("name", "typed", "sentence"), WRONG, ids=[f"{name}-{text[:9]}" for name, text, _ in WRONG])
def test_the_form_refuses_in_its_own_words_and_units(name, typed, sentence):
    post_data = QueryDict(mutable=True)
    post_data.update({**form(), name: typed})
    with pytest.raises(BadTerms) as refusal:
        read_terms(post_data)
    assert sentence in str(refusal.value)
    assert "_" not in str(refusal.value)  # no name of a term


@pytest.mark.parametrize(("name", "lowest", "highest"), [
    ("reward", "0.00", "10000.00"), ("duration", "0,5", "525600"), ("lifetime", "0.01", "8760"), ("approve", "0", "30"),
    ("approval", "0", "100"), ("tasks_per_participant", "1", "500"),
])  # fmt: skip
def test_the_bounds_that_the_form_names_are_possible(name, lowest, highest):
    for text in (lowest, highest):
        post_data = QueryDict(mutable=True)
        post_data.update({**form(), name: text})
        read_terms(post_data)


def test_publish_needs_the_price_that_was_seen(admin, desk, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=2)
    client = admin(batch)
    refusal = client.post(at("launch", batch), form(action="publish", total="999"))
    assert refusal.status_code == 422
    assert "The price has changed" in refusal.content.decode()
    assert desk.books["held"] == 0
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(at("launch", batch), form(action="publish", total="24")).status_code == 302
    assert desk.books["held"] == 24
    assert "postings were put up, 0 stood there before; 0.24 USD were promised." in (
        client.get(at("monitor", batch)).content.decode()
    )
    # The terms are what people work by: they can't be changed now.
    changed_terms = client.post(at("launch", batch), form(action="save", reward="0.50"))
    assert "is on the market by the terms it has" in changed_terms.content.decode()


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
    fields = form_of({**PRESETS[name]["terms"], "preset": name})
    post_data = QueryDict(mutable=True)
    texts = {key: str(value) for key, value in fields.items() if isinstance(value, str | int | float) and value}
    post_data.update(texts)
    post_data.update({f"reward:{group}": cents for group, cents in fields["rewards"].items()})
    read = read_terms(post_data)
    terms = Terms.parse({**PRESETS[name]["terms"], "preset": name})
    assert read.reward_cents == terms.reward_cents
    assert read.reward_by_group == terms.reward_by_group
    assert (read.duration_seconds, read.lifetime_seconds, read.auto_approve_seconds) == (
        terms.duration_seconds, terms.lifetime_seconds, terms.auto_approve_seconds,
    )  # fmt: skip
    assert len(read.requirements) == len(terms.requirements)


def test_monitor_counts_answers_money_and_pace():
    batch = make_crowd_batch(documents=2, quota=2)
    submissions = published(batch)
    for submission in submissions[:3]:
        submit_answers(submission, "1")
    state = monitor(batch)
    assert (state.done, state.places, state.percent) == (3, 4, 75)
    assert state.tasks == [(1, 1), (2, 1)]
    assert (state.per_hour, state.time_left) == (None, None)  # three answers, just now
    assert (state.money.promised, state.money.paid) == (48, 0)
    assert state.unjudged == 4
    # 30 active seconds at 10 cents: 12 dollars an hour
    assert (state.active_seconds, state.hourly_cents) == (30, 1200)
    assert money_of(batch.entries.all()).committed == 48


def test_the_median_of_two_times_lies_between_them():
    batch = make_crowd_batch(documents=1, quota=2)
    for submission, seconds in zip(published(batch), (10, 50), strict=True):
        submit_answers(submission, "1")
        Assignment.objects.filter(submission=submission).update(signals={"loads": {"a": {"active": seconds}}})
    assert monitor(batch).active_seconds == 30


NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(("minutes_ago", "per_hour"), [
    ([], 0),
    ([4, 2, 0], None),  # too few
    ([0.6] * 144, None),  # too fresh
    ([15, 12, 9, 6, 3], 20),  # 5 in a quarter of an hour, though the clock's hour began 45 minutes ago
    ([170, 90, 60, 30, 5, 2], 6 / (170 / 60)),
    ([900, 60, 50, 40, 30, 20], 5),  # what came in before the last three hours is no longer its pace
    ([600, 400, 200, 100, 50], 0.5),  # a slow crowd, over the day
    ([300, 290, 280, 270, 260], 0),  # nobody works any more
])  # fmt: skip
def test_the_pace_counts_from_the_first_answer_and_waits_until_there_is_one(minutes_ago, per_hour):
    now = NOON + timedelta(minutes=45)
    with clock.fixed(now):
        answers_per_hour = pace([now - timedelta(minutes=minutes) for minutes in minutes_ago])
    assert answers_per_hour == (None if per_hour is None else pytest.approx(per_hour))


def test_the_monitor_says_when_it_is_too_early_for_a_pace(admin):
    batch = make_crowd_batch(documents=4, quota=2)
    assignments = [submit_answers(submission, "1") for submission in published(batch)[:6]]
    client = admin(batch)
    page = markup(client.get(at("monitor", batch)).content.decode())
    assert page.count("– <small>too early to tell</small>") == 2
    keys = [assignment.pk for assignment in assignments]
    Assignment.objects.filter(pk__in=keys).update(submitted_at=clock.now() - timedelta(hours=1))
    page = markup(client.get(at("monitor", batch)).content.decode())
    assert "too early" not in page
    assert "<dd>6</dd>" in page
    assert "<dd>20 min</dd>" in page  # 2 answers at 6 an hour


def test_the_worker_table_shows_who_disagrees_and_only_admins_get_ids(admin, django_assert_max_num_queries):
    batch = make_crowd_batch(documents=3, quota=3)
    for submission in published(batch, workers=3):
        submit_answers(submission, "01" if submission.worker.external_id == "A2" else "10")
    rows = {row.worker.external_id: row for row in worker_list(batch, {}).rows}
    assert rows["A2"].figures.agreement < rows["A0"].figures.agreement
    assert rows["A0"].figures.tasks == 3
    assert rows["A0"].unjudged == 3
    client = admin(batch)
    with django_assert_max_num_queries(40):
        page = client.get(at("crowd-workers", batch)).content.decode()
    assert "A2" in page
    assert batch.study.pseudonym("mturk", "A2") in page


def test_ones_own_people_stand_there_by_their_names(admin):
    batch = make_batch(make_study(), quota=2)
    member = make_member(batch.study, name="jana")
    by_link = Worker.objects.create(study=batch.study, external_id="person:Jörg", pseudonym="w-linked")
    for worker in (Worker.for_user(batch.study, member), by_link):
        assignment = lease_task(batch, worker)
        answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
        submit_judgments(worker, assignment.key, answers, assignment.key)
    page = admin(batch).get(at("crowd-workers", batch)).content.decode()
    assert ">jana<" in page
    assert ">Jörg<" in page
    assert admin(batch).post(at("crowd-workers", batch), {"action": "block", "worker": "9" * 5000}).status_code == 409


def test_an_action_is_shown_with_its_price_first_and_nobody_else_is_touched(admin, desk):
    batch = make_crowd_batch(documents=1, quota=2)
    submissions = published(batch)
    for submission in submissions:
        submit_answers(submission, "1")
    client = admin(batch)
    approval = {"worker": [submissions[0].worker_id], "action": "approve"}
    page = client.post(at("crowd-workers", batch), approval).content.decode()
    assert "1 answer of 1 worker." in page
    assert "Pay $0.12" in page
    assert not Entry.objects.filter(kind="approve").exists()
    client.post(at("crowd-workers-do", batch), approval)
    job = Job.objects.get(kind="approve")
    assert job.options["submissions"] == [submissions[0].pk]
    workers = [submission.worker_id for submission in submissions]
    bonus = {"worker": workers, "action": "bonus", "amount": "0.05", "reason": "Thank you"}
    page = client.post(at("crowd-workers-do", batch), bonus).content.decode()
    assert "Pay $0.12" in page  # twice 5 cents and a cent of fee
    assert not Job.objects.filter(kind="bonus").exists()
    refusal = client.post(at("crowd-workers-do", batch), {"worker": [submissions[0].worker_id], "action": "reject"})
    assert refusal.status_code == 409
    assert "A reason of at least 1 characters is needed" in refusal.content.decode()
    nobody = client.post(at("crowd-workers", batch), {"action": "block"})
    assert "Tick at least one worker" in nobody.content.decode()


def test_a_plan_counts_answers_and_workers_each_in_its_own_number():
    batch = make_crowd_batch(documents=2, quota=2)
    workers = list({submission.worker_id: submission.worker for submission in published(batch)}.values())
    assert plan_action(batch, "reject", workers[:1]).sentence.startswith("2 answers of 1 worker. ")
    assert plan_action(batch, "reject", workers).sentence.startswith("4 answers of 2 workers. ")


def test_verdicts_bonuses_blocks_and_messages_reach_the_market(desk, django_capture_on_commit_callbacks):
    batch = make_crowd_batch(documents=1, quota=2, question="html")
    publish(batch)
    names = desk.ask("workers", count=2)
    posting = batch.postings.get()
    for name in names:
        desk.ask("work", hit_id=posting.market_id, worker_id=name, answers=form_answers(posting.task))
    collect(batch)
    boss = make_member(batch.study, Role.ADMIN)
    first, second = (Worker.objects.get(external_id=name) for name in names)

    def do(action: str, *workers: Worker, **fields: str) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            job = start_action(batch, action, workers, fields, boss)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.message
        return job.message

    assert do("reject", second, reason="Nothing was answered.").startswith("1 rejected")
    assert do("approve", first).startswith("1 approved")
    assert do("bonus", first, amount="0.05", reason="Thank you").startswith("1 paid")
    assert (desk.books["paid"], desk.books["fees"], desk.books["held"]) == (15, 3, 0)
    assert do("undo", second).startswith("1 approved")
    assert (desk.books["paid"], desk.books["held"]) == (25, 0)
    assert do("message", first, second, subject="Thanks", reason="More to come.").startswith("The message went to 2")
    do("block", second, reason="Careless")
    second.refresh_from_db()
    assert second.blocked_at is not None
    do("unblock", second)
    second.refresh_from_db()
    assert second.blocked_at is None
    batch.study.refresh_from_db()
    assert batch.study.committed_cents == desk.books["paid"] + desk.books["fees"]
    with pytest.raises(Refused, match="None of them has work that waits"):
        start_action(batch, "approve", [first], {}, boss)


def test_approve_all_pays_what_the_page_showed_and_nothing_that_came_since(admin):
    batch = make_crowd_batch(documents=2, quota=2)
    submissions = published(batch)
    for submission in submissions:
        submit_answers(submission, "1")
    client = admin(batch)
    page = client.get(at("monitor", batch)).content.decode()
    assert "Approve all 4 for $0.48" in page
    submissions[0].state = Submission.State.REJECTED  # by somebody else, meanwhile
    submissions[0].save()
    fields = {"action": "approve-all", "upto": submissions[-1].pk, "total": "48"}
    refusal = client.post(at("batch-act", batch), fields)
    assert refusal.status_code == 409
    assert "Nothing was paid" in refusal.content.decode()
    late_submission = Submission.objects.create(
        posting=submissions[0].posting, worker=submissions[0].worker, market_id="late", state=Submission.State.SUBMITTED
    )
    client.post(at("batch-act", batch), {**fields, "total": "36"})
    submission_ids = Job.objects.get(kind="approve").options["submissions"]
    assert submission_ids == [submission.pk for submission in submissions[1:]]
    assert late_submission.pk not in submission_ids


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
            submission = Submission.objects.create(
                posting=posting, worker=worker, market_id=f"{posting.pk}-{number}", state="approved"
            )
            submit_answers(submission, "0" if number == 2 else "1")
    assert top_up_of(batch).tasks == []
    FilterDecision.objects.create(study=batch.study, rules=["majority-dissent"])
    top_up = top_up_of(batch)
    assert (top_up.places, top_up.cents) == (3, 36)  # the one who said no everywhere, at 10 + 2 cents a task
    with pytest.raises(Refused, match=r"it would cost 0\.36 USD\."):
        ask_for_more(batch, None, expected_cents=35)
    job = Job.objects.create(study=batch.study, kind="top-up", options={"batch": batch.pk, "cents": 36})
    message = top_up_job(job, lambda *_progress: None)
    assert message == "3 more answers to 3 tasks are asked for; 0.36 USD were promised."
    batch.refresh_from_db()
    assert top_up_of(batch).tasks == []  # what is asked for already is not asked for again
    assert desk.books["held"] == 12 * 12


def test_the_ledger_page_shows_lines_takes_a_persons_word_and_keeps_the_budget(admin):
    batch = make_crowd_batch(documents=1, quota=2)
    submission = published(batch)[0]
    Entry.objects.create(
        study=batch.study, batch=batch, posting=submission.posting, submission=submission, kind="bonus", token="b",
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


@pytest.mark.parametrize("days", ["-5", "²", "0", "366", "1.5", "", "9" * 5000])
def test_days_that_no_link_can_last_are_named_as_they_were_typed(admin, settings, days):
    settings.SITE_URL = "http://127.0.0.1:8000"
    batch = make_batch(make_study())
    answer = admin(batch).post(at("crowd-links", batch), {"names": "Ada", "days": days})
    assert answer.status_code == 422
    assert f"“{days[:40]}” is no number of days: a link lasts from 1 to 365." in answer.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize("link", ["²", "-1", "x", "9" * 30])
def test_a_link_that_can_be_none_is_not_withdrawn(admin, link):
    batch = make_batch(make_study())
    answer = admin(batch).post(at("crowd-links", batch), {"withdraw": link})
    assert answer.status_code == 409
    assert f"There is no link “{link}”." in answer.content.decode()


def test_result_files_come_in_through_the_page(admin):
    from django.core.files.uploadedfile import SimpleUploadedFile

    from tests.annotation.transfer.test_mturk_csv import exported, fill_in, result_file

    batch = make_batch(make_study(units=2), quota=1)
    client = admin(batch)
    assert b"Input.statement_1" in client.get(at("batch-csv", batch)).content
    results = result_file([fill_in(row, "pn") for row in exported(batch)])
    client.post(at("batch-csv", batch), {"results": SimpleUploadedFile("r.csv", results)})
    assert Assignment.objects.counted().filter(task__batch=batch).count() == 1
    refusal = client.post(at("batch-csv", batch), {"results": SimpleUploadedFile("r.csv", b"nonsense")})
    assert refusal.status_code == 409
    assert "Nothing was imported" in refusal.content.decode()


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


def test_refused_names_come_back_and_links_can_be_copied_whole(admin, settings):
    settings.SITE_URL = "http://127.0.0.1:8000"
    batch = make_batch(make_study())
    client = admin(batch)
    answer = client.post(at("crowd-links", batch), {"names": "Ada\nGr<ace", "days": "9999"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "autofocus><p>“9999” is no number of days" in page
    assert "required>Ada\nGr&lt;ace</textarea>" in page
    assert 'value="9999"' in page
    assert not Submission.objects.exists()
    page = client.post(at("crowd-links", batch), {"names": "Ada", "days": "7"}, follow=True).content.decode()
    assert "1 link is ready." in page
    (link,) = links_of(batch)
    assert f'value="{link.url}"' in page


def test_a_batch_of_personal_links_is_not_said_to_stand_on_a_market(admin, settings):
    settings.SITE_URL = "http://127.0.0.1:8000"
    batch = make_batch(make_study())
    client = admin(batch)
    client.post(at("crowd-links", batch), {"names": "Ada", "days": "7"})
    page = client.get(at("launch", batch)).content.decode()
    assert "This batch is open by personal links" in page
    assert "on the market" not in page
    assert "Publish" not in page


def test_every_wrong_field_about_the_people_is_named_at_once():
    form = QueryDict("title=T&description=D&reward=0.20&approval=abc&approved=x&countries=Germany&custom=%7B")
    with pytest.raises(BadTerms) as refusal:
        read_terms(form)
    for words in ("Approved work: “abc”", "Approved HITs: “x”", "“GERMANY” is not a country", "must be a list in JSON"):
        assert words in str(refusal.value)
