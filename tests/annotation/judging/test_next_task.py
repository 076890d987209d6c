"""Straight on: the next task right after a submit, unless one doesn't want it; loaded while one works on this one."""

import json
import re

import pytest
from django.urls import reverse

from annotation.guidance import write_text
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import lease_task
from annotation.models import Assignment, Batch, Judgment, Membership, Posting
from annotation.protocols import of as protocol_of
from annotation.protocols.scu import ORDER, UNIT
from tests.factories import make_batch, make_member, make_study, make_worker

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


def test_it_is_ticked_until_it_is_unticked(client, person, batch):
    ticked = 'name="straight_on" checked'
    assert ticked in client.get(reverse("task", args=[held_assignment().key])).content.decode()
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
    send(client, first, straight_on=False)
    reply = send(client, first, mode="revise", submit_key="again")
    assert reply["next"] is None
    assert client.session["straight_on"] is False
    assert 'name="straight_on"' not in client.get(reverse("revise", args=[first.key])).content.decode()


class TestAhead:
    """The page's script asks for the next task's page while this one is worked on."""

    def ask(self, client, assignment: Assignment):
        return client.post(reverse("ahead", args=[assignment.key]), {"place": True}, "application/json")

    def ahead_assignment(self) -> Assignment:
        return Assignment.objects.get(state="leased", is_ahead=True)

    def test_it_is_the_next_tasks_page_without_the_site_around_it(self, client, person):
        current = held_assignment()
        page = self.ask(client, current).content.decode()
        ahead = self.ahead_assignment()
        config = json.loads(page.split('id="work-config" type="application/json">')[1].split("</script>")[0])
        assert (config["key"], config["urls"]["task"]) == (ahead.key, reverse("task", args=[ahead.key]))
        assert config["secondsLeft"] == 30 * 60  # from when it is in hand
        assert config["place"] == {"number": 2, "of": 3, "seconds": None}
        assert all(f"answer:{field}" in page for field in answers(ahead))
        assert not re.search("<html|<dialog|<script type=.module", page)
        assert "texts" not in config

    def test_the_submit_says_that_it_is_in_hand_now_and_leaves_no_message_behind(self, client, person):
        current = held_assignment()
        self.ask(client, current)
        ahead = self.ahead_assignment()
        reply = send(client, current, straight_on=True, ahead=ahead.key)
        assert (reply["next_key"], reply["next"]) == (ahead.key, reverse("task", args=[ahead.key]))
        assert reply["line"] == "Received, thank you: 3 answers are stored."
        assert held_assignment().is_ahead is False
        assert "Received, thank you" not in client.get(reply["next"]).content.decode()  # the line has said it

    def test_who_lost_it_meanwhile_is_told_of_another_task_or_why_there_is_none(self, client, person, batch):
        current = held_assignment()
        self.ask(client, current)
        ahead = self.ahead_assignment()
        others = [lease_task(batch, make_worker(batch.study)) for _ in range(2)]
        assert ahead.task_id in {other.task_id for other in others}
        reply = send(client, current, straight_on=True, ahead=ahead.key)
        assert (reply["next"], reply["next_key"]) == (None, "")
        assert "taken just now" in reply["why"]

    def test_with_nothing_free_there_is_no_page_and_nothing_is_held(self, client, person, batch):
        for _ in range(2):
            lease_task(batch, make_worker(batch.study))
        assert self.ask(client, Assignment.objects.get(worker__user=person)).status_code == 204

    @pytest.mark.parametrize("state", [Batch.State.PAUSED, Batch.State.CLOSED])
    def test_a_batch_that_is_not_open_says_so(self, client, person, state):
        current = held_assignment()
        Batch.objects.update(state=state)
        response = self.ask(client, current)
        assert (response.status_code, response.json()["error"]) == (409, "BatchNotOpen")

    def test_nothing_is_held_for_who_lost_the_role_or_owes_consent(self, client, person, batch):
        current = held_assignment()
        write_text(batch.study, "consent", "New words.", None)
        assert self.ask(client, current).status_code == 409
        Membership.objects.all().delete()
        assert self.ask(client, current).status_code == 404
        assert Assignment.objects.count() == 1

    def test_a_stranger_learns_nothing(self, client, person):
        current = held_assignment()
        client.force_login(make_member(current.task.batch.study))
        assert self.ask(client, current).status_code == 404


class TestUndo:
    """A submit is taken back while the batch is open."""

    def test_the_task_is_in_hand_again_with_its_answers_and_keeps_its_place(self, client, person):
        current = held_assignment()
        send(client, current)
        response = client.post(reverse("undo", args=[current.key]))
        assert response.url == reverse("task", args=[current.key])
        current = held_assignment()
        assert (current.submitted_at, current.task.live) == (None, 1)
        assert {name: entry["value"] for name, entry in current.draft["items"].items()} == answers(current)
        assert not Judgment.objects.counted().exists()
        assert Judgment.objects.count() == 3  # on record
        assert client.get(response.url).content.decode().count("checked") >= 3

    def test_the_next_submit_counts_and_the_first_answers_stay_on_record(self, client, person):
        current = held_assignment()
        send(client, current)
        client.post(reverse("undo", args=[current.key]))
        send(client, current, submit_key="second", answers=dict.fromkeys(answers(current), "0"))
        assert (
            sorted(Judgment.objects.values_list("value", "revision", "is_current"))
            == [(0.0, 2, True)] * 3 + [(1.0, 1, False)] * 3
        )
        assert Judgment.objects.counted().count() == 3

    def test_a_late_repetition_of_the_first_submit_changes_nothing(self, client, person):
        current = held_assignment()
        send(client, current)
        client.post(reverse("undo", args=[current.key]))
        reply = send(client, current)
        assert "took this submit back" in reply["sentence"]
        assert held_assignment().pk == current.pk

    def test_twice_is_once(self, client, person):
        current = held_assignment()
        send(client, current)
        for _ in range(2):
            assert client.post(reverse("undo", args=[current.key])).status_code == 302
        assert held_assignment().revision_keys == [current.key]

    def test_surplus_answers_get_a_place_if_there_is_one(self, client, person):
        current = held_assignment()
        Assignment.objects.update(state="expired")
        assert send(client, current)["state"] == "surplus"
        client.post(reverse("undo", args=[current.key]))
        assert send(client, current, submit_key="second")["state"] == "submitted"

    def test_not_when_the_batch_is_closed(self, client, person):
        current = held_assignment()
        send(client, current)
        Batch.objects.update(state=Batch.State.CLOSED)
        assert client.post(reverse("undo", args=[current.key])).status_code == 409
        assert Judgment.objects.counted().count() == 3

    def test_what_came_after_it_comes_next_again(self, client, person):
        first = held_assignment()
        second_key = send(client, first, straight_on=True)["next_key"]
        client.post(reverse("undo", args=[first.key]))
        page = client.post(reverse("ahead", args=[first.key]), {}, "application/json").content.decode()
        assert second_key in page
        assert send(client, first, straight_on=True, submit_key="second")["next_key"] == second_key

    def test_extracted_scus_alike(self, client):
        batch = make_batch(make_study(units=0), protocol="scu")
        client.force_login(make_member(batch.study))
        client.post(reverse("take", args=[batch.pk]))
        current = held_assignment()
        worker = current.worker
        save_draft(
            worker, current.key, [Change(f"{UNIT}a", {"value": "One fact."}, 1), Change(ORDER, {"value": "a"}, 1)]
        )
        send(client, current)
        client.post(reverse("undo", args=[current.key]))
        assert "One fact." in client.get(reverse("task", args=[current.key])).content.decode()
        send(client, current, submit_key="second")
        assert list(current.extracted.values_list("text", "revision", "is_current").order_by("pk")) == [
            ("One fact.", 1, False),
            ("One fact.", 2, True),
        ]


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
        offer = f'action="{reverse("take", args=[batch.pk])}"'
        assert offer in client.get(reverse("home")).content.decode()
        for _ in range(2):
            send(client, held_assignment(), straight_on=True)
        send(client, held_assignment())
        assert offer not in client.get(reverse("home")).content.decode()


# Blocked


def test_a_blocked_person_takes_no_task_and_what_they_hold_is_kept(client, person):
    first = held_assignment()
    worker = first.worker
    worker.blocked_at = "2026-01-01T00:00Z"
    worker.save()
    refused = client.post(reverse("take", args=[first.task.batch_id]))
    assert refused.status_code == 403
    assert "You can&#x27;t take part in this study any more." in refused.content.decode()
    assert client.post(reverse("ahead", args=[first.key]), "{}", "application/json").status_code == 403
    reply = send(client, first, straight_on=True)
    assert reply["next"] is None
    assert "any more" in reply["why"]
    assert Assignment.objects.exclude(pk=first.pk).count() == 0
    assert Judgment.objects.filter(assignment=first).exists()
    assert "You can&#x27;t take part in this study any more." in client.get(reverse("home")).content.decode()
    worker.blocked_at = None
    worker.save()
    assert client.post(reverse("take", args=[first.task.batch_id])).status_code == 302
