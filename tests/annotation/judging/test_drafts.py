"""Drafts: kept at once, merged by item, never lost; over HTTP as the page's script sends them."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from annotation.common import clock
from annotation.common.errors import BadAnswers, NotYours
from annotation.judging.drafts import Change, drafted_since_submit, save_draft
from annotation.judging.leases import expire_leases, lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment
from annotation.protocols import of as protocol_of
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)


@pytest.fixture
def mine():
    study = make_study()
    return lease_task(make_batch(study), make_worker(study))


def save(assignment: Assignment, field: str, value: str, at: int, **more) -> dict:
    with clock.fixed(NOON):
        state = save_draft(assignment.worker, assignment.key, [Change(field, {"value": value}, at)], **more)
    assignment.refresh_from_db()
    return state


def value_of(assignment: Assignment, field: str) -> str:
    assignment.refresh_from_db()
    return assignment.draft["items"][field]["value"]


def test_two_tabs_keep_each_others_items(mine):
    save(mine, "a", "1", 10)
    save(mine, "b", "0", 11)
    assert (value_of(mine, "a"), value_of(mine, "b")) == ("1", "0")


def test_the_later_change_of_an_item_wins_also_when_it_comes_first(mine):
    save(mine, "a", "late", 20)
    save(mine, "a", "early", 10)  # queued offline, drained afterwards
    assert value_of(mine, "a") == "late"


def test_a_clock_that_runs_ahead_does_not_win_for_ever(mine):
    save(mine, "a", "from the future", NOON_MS + 10**9)
    with clock.fixed(NOON + timedelta(seconds=1)):
        save_draft(mine.worker, mine.key, [Change("a", {"value": "now"}, NOON_MS + 1000)])
    assert value_of(mine, "a") == "now"


def test_a_repeated_save_changes_nothing(mine):
    first = save(mine, "a", "1", 10)
    assert save(mine, "a", "1", 10).version == first.version == 1


def test_a_page_learns_what_others_changed_since_it_looked(mine):
    seen = save(mine, "a", "1", 10).version
    save(mine, "b", "0", 11)
    assert set(save(mine, "c", "1", 12, seen=seen).items) == {"b", "c"}


def test_a_save_renews_the_lease(mine):
    with clock.fixed(NOON):
        state = save_draft(mine.worker, mine.key, [])
    assert (state.is_held, state.seconds_left) == (True, 30 * 60)


def test_a_draft_is_kept_after_the_lease_was_lost_to_somebody_else():
    study = make_study()
    batch, worker = make_batch(study), make_worker(study)
    with clock.fixed(NOON):
        mine = lease_task(batch, worker)
    with clock.fixed(NOON + timedelta(hours=1)):
        expire_leases(batch)
        lease_task(batch, make_worker(study))
        state = save_draft(worker, mine.key, [Change("a", {"value": "1"}, 5)])
    assert (state.is_held, state.state) == (False, Assignment.State.EXPIRED)
    assert value_of(mine, "a") == "1"


def test_a_draft_is_kept_after_the_task_was_given_back(mine):
    release_task(mine.worker, mine.key)
    assert save(mine, "a", "1", 5).is_held is False
    assert value_of(mine, "a") == "1"


def test_a_draft_too_large_is_refused_and_the_old_one_stays(mine):
    save(mine, "a", "1", 5)
    with pytest.raises(BadAnswers, match="too large"):
        save(mine, "b", "x" * 300_000, 6)
    mine.refresh_from_db()
    assert set(mine.draft["items"]) == {"a"}


def test_a_strangers_draft_is_refused(mine):
    with pytest.raises(NotYours):
        save_draft(make_worker(mine.task.batch.study), mine.key, [])


def test_a_revision_under_way_is_told_apart_from_what_was_submitted(mine):
    fields = [item.field for item in protocol_of(mine.task.batch).items(mine)]
    with clock.fixed(NOON):
        save_draft(mine.worker, mine.key, [Change(fields[0], {"value": "1"}, NOON_MS)])
        submit_judgments(mine.worker, mine.key, dict.fromkeys(fields, "1"), "k")
    with clock.fixed(NOON + timedelta(minutes=5)):
        save_draft(mine.worker, mine.key, [Change(fields[1], {"value": "0"}, NOON_MS + 1000)])
    mine.refresh_from_db()
    assert set(drafted_since_submit(mine)) == {fields[1]}


class TestOverHttp:
    @pytest.fixture
    def person(self, client):
        study = make_study()
        user = make_member(study)
        client.force_login(user)
        client.post(reverse("take", args=[make_batch(study).pk]))
        return Assignment.objects.get()

    def put(self, client, assignment, body):
        body = body if isinstance(body, str) else json.dumps(body)
        return client.put(reverse("draft", args=[assignment.key]), body, content_type="application/json")

    def test_the_page_saves_and_is_told_how_long_it_holds_the_task(self, client, person):
        change = {"field": "a", "content": {"value": "1"}, "at": 5}
        reply = self.put(client, person, {"changes": [change], "seen": 0}).json()
        assert reply["items"]["a"]["value"] == "1"
        assert reply["state"] == "leased"
        assert 0 < reply["secondsLeft"] <= 1800

    def test_signed_out_is_401_with_a_sentence_and_no_redirect(self, client, person):
        client.logout()
        reply = self.put(client, person, {"changes": []})
        assert (reply.status_code, reply.json()["error"]) == (401, "SignedOut")

    def test_a_stranger_gets_404(self, client, person):
        client.force_login(make_member(person.task.batch.study))
        assert self.put(client, person, {"changes": []}).status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            "not json",
            "[]",
            {"changes": [{"field": "a"}]},
            {"changes": [{"field": "<script>", "content": {}, "at": 1}]},
            {"changes": [{"field": "a", "content": {}, "at": "soon"}]},
        ],
    )
    def test_what_can_not_be_read_is_422_and_changes_nothing(self, client, person, body):
        reply = self.put(client, person, body)
        assert (reply.status_code, reply.json()["error"]) == (422, "BadAnswers")
        person.refresh_from_db()
        assert person.draft == {}

    def test_a_reload_shows_what_was_drafted(self, client, person):
        field = protocol_of(person.task.batch).items(person)[1].field
        self.put(client, person, {"changes": [{"field": field, "content": {"value": "1"}, "at": 5}]})
        page = markup(client.get(reverse("task", args=[person.key])).content.decode())
        assert f'name="answer:{field}" value="1" checked' in page
