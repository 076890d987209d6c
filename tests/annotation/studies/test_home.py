"""An annotator's home: what is to do, how far one is, and what stands in the way."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.common import clock
from annotation.judging.ahead import lease_ahead
from annotation.judging.drafts import Change, now_ms, save_draft
from annotation.judging.leases import lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Membership, PracticePlan, PracticeRun, Role, Worker
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(documents=3)


@pytest.fixture
def batch(study):
    return make_batch(study)


@pytest.fixture
def person(client, study):
    user = make_member(study)
    client.force_login(user)
    return user


def home(client) -> str:
    return re.sub(r"\s+", " ", client.get(reverse("home")).content.decode())


def do_task(batch: Batch, user, active: float = 0) -> Assignment:
    worker = Worker.for_user(batch.study, user)
    assignment = lease_task(batch, worker)
    answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
    signals = {"load": "abcd", "active": active}
    submit_judgments(worker, assignment.key, answers, f"k{assignment.pk}", signals=signals)
    return assignment


def test_a_new_batch_has_a_plain_name_a_start_button_and_offers_the_instructions(client, person, batch):
    page = home(client)
    assert "Find statements in summaries" in page
    assert f"{batch.name} · {batch.study.name}" in page
    assert "0 of 3 done" in page
    assert "> Start <" in page
    assert "New here?" in page
    assert "litepyramid" not in page.lower()
    assert reverse("tokens") not in page


def test_a_batch_one_is_in_the_middle_of_says_how_far_and_how_long(client, person, batch):
    do_task(batch, person, active=150)
    page = home(client)
    assert "1 of 3 done, about 5 minutes left" in page  # 2 tasks of 150 seconds
    assert "2.5 min a task" in page
    assert "Continue 2 of 3" in page
    assert reverse("answers", args=[batch.pk]) in page
    assert "New here?" not in page


def test_what_is_held_ahead_counts_as_left_and_not_as_begun(client, person, batch):
    worker = Worker.for_user(batch.study, person)
    current = lease_task(batch, worker)
    lease_ahead(batch, worker, current.key)
    assert "0 of 3 done" in home(client)


def test_pay_is_said_where_a_task_brings_some(client, person, batch):
    do_task(batch, person)
    assert "so far" not in home(client)
    Batch.objects.update(terms={"reward_cents": 250})
    assert "$2.50 so far" in home(client)


def test_there_is_one_main_button_and_it_is_where_one_has_begun(client, person, study, batch):
    other = make_batch(study)
    do_task(other, person)
    page = home(client)
    assert page.count("button main") == 1
    assert page.index(other.name) < page.index(batch.name)


@pytest.mark.parametrize(
    ("state", "words"), [("paused", "Paused. Everything you saved is kept"), ("closed", "Closed: no more answers")]
)
def test_a_batch_that_is_not_open_says_so_and_has_no_button(client, person, batch, state, words):
    do_task(batch, person)
    Batch.objects.update(state=state)
    page = home(client)
    assert words in page
    assert f'action="{reverse("take", args=[batch.pk])}"' not in page


def test_a_closed_batch_without_a_part_in_it_is_not_shown(client, person, batch):
    Batch.objects.update(state="closed")
    page = home(client)
    assert batch.name not in page
    assert "No batch is open at the moment" in page
    assert "Your work" in page  # the heading is the same with and without a card


def test_done_and_waiting_for_others_are_told_apart(client, person, study, batch):
    for _ in range(2):
        do_task(batch, person)
    other = make_worker(study)
    held = lease_task(batch, other)
    assert "All places are taken just now" in home(client)
    answers = {item.field: "1" for item in protocol_of(batch).items(held)}
    submit_judgments(other, held.key, answers, "k")
    assert "Done: there is no task left for you" in home(client)


def test_who_gave_back_the_only_task_is_told_so(client, person):
    batch = make_batch(make_study(documents=1))
    Membership.objects.create(study=batch.study, user=person, role=Role.ANNOTATOR)
    worker = Worker.for_user(batch.study, person)
    release_task(worker, lease_task(batch, worker).key)
    page = home(client)
    assert "You gave your task back, and there is no other for you. What you had answered is kept." in page
    assert "No batch is open" not in page


def test_a_place_that_somebody_only_holds_ahead_can_be_taken(client, person, study, batch):
    other = make_worker(study)
    lease_ahead(batch, other, lease_task(batch, other).key)
    do_task(batch, person)
    assert "Continue 2 of 2" in home(client)


def test_who_has_used_all_tries_of_the_test_is_told(client, person, study, batch):
    plan = PracticePlan.objects.create(study=study, protocol="litepyramid", test_required=True, tries=1)
    PracticeRun.objects.create(
        plan=plan,
        worker=Worker.for_user(study, person),
        kind="test",
        number=1,
        answers=[],
        right=0,
        of=1,
        passed=False,
        finished_at=timezone.now(),
    )
    page = home(client)
    assert "Closed to you" in page
    assert f'action="{reverse("take", args=[batch.pk])}"' not in page


def test_a_change_that_was_not_sent_is_told(client, person, batch):
    assignment = do_task(batch, person)
    assert "did not send" not in home(client)
    worker = Worker.for_user(batch.study, person)
    field = protocol_of(batch).items(assignment)[0].field
    with clock.fixed(timezone.now() + timedelta(minutes=1)):
        save_draft(worker, assignment.key, [Change(field, {"value": "0"}, now_ms())])
    page = home(client)
    assert "You changed an answer and did not send it" in page
    assert reverse("revise", args=[assignment.key]) in page


def test_an_admin_sees_studies_and_the_api(client, study, batch):
    client.force_login(make_member(study, Role.ADMIN))
    page = home(client)
    assert reverse("study", args=[study.slug]) in page
    assert reverse("tokens") in page


@pytest.mark.parametrize("number", [1, 8])
def test_it_takes_as_many_queries_for_one_batch_as_for_many(client, number):
    study = make_study()
    user = make_member(study)
    for _ in range(number):
        do_task(make_batch(study), user)
    client.force_login(user)
    with CaptureQueriesContext(connection) as captured:
        home(client)
    assert len(captured) <= 12
