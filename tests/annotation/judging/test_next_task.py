"""Straight on: the next task right after a submit, for those who tick it."""

import json

import pytest
from django.urls import reverse

from annotation.models import Assignment, Batch, Judgment, Membership, Posting
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch():
    return make_batch(make_study(documents=3))


@pytest.fixture
def person(client, batch):
    user = make_member(batch.study)
    client.force_login(user)
    client.post(reverse("take", args=[batch.pk]))
    return user


def held_assignment() -> Assignment:
    return Assignment.objects.get(state="leased")


def answers(assignment: Assignment) -> dict[str, str]:
    return {item.field: "1" for item in protocol_of(assignment.task.batch).items(assignment)}


def send(client, assignment: Assignment, **fields):
    """As the page's script does."""
    letter = {"submit_key": assignment.key, "answers": answers(assignment), **fields}
    return client.post(reverse("submit", args=[assignment.key]), json.dumps(letter), "application/json").json()


def send_form(client, assignment: Assignment, **fields):
    """As a browser without script does."""
    form = {f"answer:{field}": value for field, value in answers(assignment).items()}
    return client.post(reverse("task", args=[assignment.key]), {"submit_key": assignment.key, **form, **fields})


def test_who_does_not_tick_it_gets_the_receipt_and_holds_nothing(client, person):
    reply = send(client, held_assignment())
    assert reply["next"] is None
    assert not Assignment.objects.filter(state="leased").exists()


def test_the_next_task_is_theirs_and_shows_the_receipt_of_the_last(client, person):
    first = held_assignment()
    reply = send(client, first, straight_on=True)
    assert reply["next"] == reverse("task", args=[held_assignment().key])
    page = client.get(reply["next"]).content.decode()
    assert "Received, thank you: 3 answers are stored." in page
    assert reverse("receipt", args=[first.key]) in page
    assert "Received, thank you" not in client.get(reply["next"]).content.decode()  # told once


def test_without_script_it_works_alike(client, person):
    assert send_form(client, held_assignment(), straight_on="on").url == reverse("task", args=[held_assignment().key])


def test_it_stays_ticked_until_it_is_unticked(client, person, batch):
    ticked = 'name="straight_on" checked'
    assert ticked not in client.get(reverse("task", args=[held_assignment().key])).content.decode()
    page = client.get(send(client, held_assignment(), straight_on=True)["next"])
    assert ticked in page.content.decode()
    assert send(client, held_assignment(), straight_on=False)["next"] is None
    client.post(reverse("take", args=[batch.pk]))
    assert ticked not in client.get(reverse("task", args=[held_assignment().key])).content.decode()


def test_a_repeated_submit_leads_to_the_same_task(client, person):
    first = held_assignment()
    replies = [send(client, first, straight_on=True) for _ in range(2)]
    assert replies[0]["next"] == replies[1]["next"]
    assert Assignment.objects.count() == 2
    assert Judgment.objects.count() == 3


def test_when_no_task_is_left_the_receipt_is_next(client, person):
    for _ in range(2):
        assert send(client, held_assignment(), straight_on=True)["next"]
    reply = send(client, held_assignment(), straight_on=True)
    assert (reply["next"], reply["state"]) == (None, "submitted")


def test_a_paused_batch_or_a_lost_role_keeps_the_answers_and_hands_out_nothing(client, person, batch):
    assignment = held_assignment()
    Batch.objects.update(state=Batch.State.PAUSED)
    assert send(client, assignment, straight_on=True)["next"] is None
    Batch.objects.update(state=Batch.State.OPEN)
    client.post(reverse("take", args=[batch.pk]))
    assignment = held_assignment()
    Membership.objects.all().delete()
    assert send(client, assignment, straight_on=True)["next"] is None
    assert Judgment.objects.count() == 6


def test_late_answers_are_called_surplus_on_the_next_page(client, person):
    Assignment.objects.update(state="expired")
    late_assignment = Assignment.objects.get()
    page = client.get(send(client, late_assignment, straight_on=True)["next"])
    assert "counted as surplus" in page.content.decode()


def test_a_revision_leads_to_its_receipt_and_leaves_the_choice_alone(client, person):
    first = held_assignment()
    send(client, first, straight_on=True)
    reply = send(client, first, mode="revise", submit_key="again")
    assert reply["next"] is None
    assert client.session["straight_on"] is True
    assert 'name="straight_on"' not in client.get(reverse("revise", args=[first.key])).content.decode()


class TestOnAMarket:
    """A batch that stands on a market is not for people with an account: its places are promised there."""

    @pytest.fixture
    def posted_batch(self, batch):
        batch.crowd = "mturk"
        batch.save()
        Posting.objects.create(batch=batch, task=batch.tasks.first(), token="p", places=1, reward_cents=10)
        return batch

    def test_its_tasks_can_not_be_taken_here(self, client, posted_batch):
        client.force_login(make_member(posted_batch.study))
        response = client.post(reverse("take", args=[posted_batch.pk]))
        assert response.status_code == 409
        assert "stands on a market" in response.content.decode()
        assert not Assignment.objects.exists()

    def test_the_home_page_does_not_offer_it(self, client, posted_batch):
        client.force_login(make_member(posted_batch.study))
        page = client.get(reverse("home")).content.decode()
        assert reverse("take", args=[posted_batch.pk]) not in page
        assert "No batch is open at the moment" in page

    def test_nor_a_batch_that_is_complete(self, client, person, batch):
        offer = reverse("take", args=[batch.pk])
        assert offer in client.get(reverse("home")).content.decode()
        for _ in range(2):
            send(client, held_assignment(), straight_on=True)
        send(client, held_assignment())
        assert offer not in client.get(reverse("home")).content.decode()
