"""Submits: once and for all, whatever is repeated, doubled or late; revisions append."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, BadAnswers, BatchNotOpen, Refused
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import expire_leases, lease_task
from annotation.judging.submit import revise_judgments, submit_judgments
from annotation.models import Assignment, Batch, Judgment
from annotation.protocols import of as protocol_of
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def assignment():
    study = make_study(units=3)
    return lease_task(make_batch(study), make_worker(study))


def fields(assignment: Assignment) -> list[str]:
    return [item.field for item in protocol_of(assignment.task.batch).items(assignment)]


def all_ones(assignment: Assignment) -> dict[str, str]:
    return dict.fromkeys(fields(assignment), "1")


def test_a_submit_writes_one_judgment_per_item_with_its_place(assignment):
    receipt = submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k")
    assert (receipt.judgments, receipt.repeated, receipt.surplus) == (3, False, False)
    assert list(Judgment.objects.order_by("position").values_list("position", "value")) == [(1, 1), (2, 1), (3, 1)]


def test_a_replay_gets_the_same_receipt_and_changes_nothing(assignment):
    submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k")
    repeated = submit_judgments(assignment.worker, assignment.key, dict.fromkeys(fields(assignment), "0"), "k")
    assert (repeated.judgments, repeated.repeated) == (3, True)
    assert set(Judgment.objects.values_list("value", flat=True)) == {1}


@pytest.mark.parametrize("submit_key", ["another", ""])
def test_a_second_tab_that_submits_too_is_told_so(assignment, submit_key):
    submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k")
    with pytest.raises(AlreadySubmitted):
        submit_judgments(assignment.worker, assignment.key, all_ones(assignment), submit_key)
    assert Judgment.objects.count() == 3


def test_items_the_submit_does_not_name_come_from_the_draft(assignment):
    first, *other_fields = fields(assignment)
    save_draft(assignment.worker, assignment.key, [Change(first, {"value": "0"}, 1)])
    submit_judgments(assignment.worker, assignment.key, dict.fromkeys(other_fields, "1"), "k")
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 1, 1]


def test_a_missing_answer_is_named_and_nothing_is_written(assignment):
    _first, *other_fields = fields(assignment)
    with pytest.raises(BadAnswers, match=r"1 of 3 items has no answer yet: “Fact"):
        submit_judgments(assignment.worker, assignment.key, dict.fromkeys(other_fields, "1"), "k")
    assignment.refresh_from_db()
    assert (Judgment.objects.count(), assignment.state) == (0, "leased")


@pytest.mark.parametrize("value", ["2", "0.5", "yes", "nan", "inf"])
def test_a_value_off_the_scale_is_refused(assignment, value):
    with pytest.raises(BadAnswers, match="must be one of 0, 1"):
        submit_judgments(assignment.worker, assignment.key, {**all_ones(assignment), fields(assignment)[0]: value}, "k")


def test_a_late_submit_is_kept_as_surplus_and_the_quota_holds():
    study = make_study(units=2)
    batch, worker, other_worker = make_batch(study), make_worker(study), make_worker(study)
    with clock.fixed(NOON):
        late_assignment = lease_task(batch, worker)
    with clock.fixed(NOON + timedelta(hours=1)):
        expire_leases(batch)
        other_assignment = lease_task(batch, other_worker)
        assert submit_judgments(worker, late_assignment.key, all_ones(late_assignment), "k1").surplus
        assert not submit_judgments(other_worker, other_assignment.key, all_ones(other_assignment), "k2").surplus
    late_assignment.task.refresh_from_db()
    assert (Judgment.objects.count(), late_assignment.task.live) == (4, 1)


def test_a_lease_that_ended_unnoticed_makes_a_submit_surplus(assignment):
    with clock.fixed(assignment.lease_until + timedelta(seconds=1)):
        assert submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k").surplus


@pytest.mark.parametrize(("state", "surplus"), [(Batch.State.PAUSED, False), (Batch.State.CLOSED, True)])
def test_work_under_way_counts_when_the_batch_is_paused_and_is_surplus_when_closed(assignment, state, surplus):
    Batch.objects.update(state=state)
    assert submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k").surplus is surplus


class TestRevising:
    @pytest.fixture
    def submitted(self, assignment):
        submit_judgments(assignment.worker, assignment.key, all_ones(assignment), "k")
        assignment.refresh_from_db()
        return assignment

    def test_only_what_changed_gets_a_new_row_and_the_old_one_stays(self, submitted):
        receipt = revise_judgments(submitted.worker, submitted.key, {fields(submitted)[1]: "0"}, "r1")
        assert receipt.judgments == 1
        rows = Judgment.objects.filter(position=2).order_by("revision").values_list("revision", "value", "is_current")
        assert list(rows) == [(1, 1, False), (2, 0, True)]
        assert Judgment.objects.filter(is_current=True).count() == 3

    def test_a_replayed_revision_changes_nothing_also_after_a_later_one(self, submitted):
        field = fields(submitted)[0]
        for value, key in (("0", "r1"), ("1", "r2"), ("0", "r1")):
            revise_judgments(submitted.worker, submitted.key, {field: value}, key)
        assert Judgment.objects.get(position=1, is_current=True).value == 1
        assert Judgment.objects.filter(position=1).count() == 3

    def test_a_replayed_first_submit_does_not_undo_a_revision(self, submitted):
        revise_judgments(submitted.worker, submitted.key, {fields(submitted)[0]: "0"}, "r1")
        submit_judgments(submitted.worker, submitted.key, all_ones(submitted), "k")
        revise_judgments(submitted.worker, submitted.key, all_ones(submitted), "k")
        assert Judgment.objects.get(position=1, is_current=True).value == 0

    def test_a_batch_that_is_not_open_is_not_revised(self, submitted):
        Batch.objects.update(state=Batch.State.CLOSED)
        with pytest.raises(BatchNotOpen):
            revise_judgments(submitted.worker, submitted.key, {fields(submitted)[0]: "0"}, "r1")

    def test_what_was_not_submitted_can_not_be_revised(self):
        study = make_study()
        assignment = lease_task(make_batch(study), make_worker(study))
        with pytest.raises(Refused, match="isn’t submitted yet"):
            revise_judgments(assignment.worker, assignment.key, all_ones(assignment), "r1")


class TestPages:
    @pytest.fixture
    def assignment(self, client):
        study = make_study(units=3)
        client.force_login(make_member(study))
        client.post(reverse("take", args=[make_batch(study).pk]))
        return Assignment.objects.get()

    def form(self, assignment, **answers):
        form = {**all_ones(assignment), **answers}
        return {"submit_key": "f", **{f"answer:{field}": value for field, value in form.items()}}

    def test_a_form_without_script_submits_and_leads_to_the_receipt(self, client, assignment):
        page = client.post(reverse("task", args=[assignment.key]), self.form(assignment), follow=True)
        assert "3 answers are stored" in page.content.decode()
        assert assignment.key in page.content.decode()

    def test_a_form_with_a_gap_comes_back_with_the_answers_kept(self, client, assignment):
        _first, second, third = fields(assignment)
        form = self.form(assignment)
        del form[f"answer:{second}"]
        page = client.post(reverse("task", args=[assignment.key]), form)
        assert page.status_code == 422
        assert f'name="answer:{third}" value="1" checked' in markup(page.content.decode())

    def test_the_script_submits_once_and_a_double_click_gets_the_same_receipt(self, client, assignment):
        body = {"submit_key": "s", "answers": {field: {"value": "1"} for field in fields(assignment)}}
        address = reverse("submit", args=[assignment.key])
        replies = [client.post(address, json.dumps(body), "application/json").json() for _ in range(2)]
        assert [reply["repeated"] for reply in replies] == [False, True]
        assert replies[0]["receipt"] == replies[1]["receipt"]
        assert Judgment.objects.count() == 3

    def test_back_and_reload_after_the_submit_lead_to_the_receipt(self, client, assignment):
        client.post(reverse("task", args=[assignment.key]), self.form(assignment))
        page = client.get(reverse("task", args=[assignment.key]))
        assert page.url == reverse("receipt", args=[assignment.key])

    @pytest.mark.parametrize("state", ["open", "paused", "closed"])
    def test_the_receipt_offers_a_next_task_only_where_there_can_be_one(self, client, assignment, state):
        client.post(reverse("task", args=[assignment.key]), self.form(assignment))
        Batch.objects.update(state=state)
        page = client.get(reverse("receipt", args=[assignment.key])).content.decode()
        assert ("Next task" in page) is (state == "open")
        assert (f"This batch is {state}" in page) is (state != "open")

    def test_the_receipt_of_an_open_task_leads_back_to_it(self, client, assignment):
        assert client.get(reverse("receipt", args=[assignment.key])).url == reverse("task", args=[assignment.key])

    def test_my_answers_are_listed_and_lead_to_a_page_with_them(self, client, assignment):
        client.post(reverse("task", args=[assignment.key]), self.form(assignment))
        list_page = client.get(reverse("answers", args=[assignment.task.batch_id])).content.decode()
        assert reverse("revise", args=[assignment.key]) in list_page
        page = markup(client.get(reverse("revise", args=[assignment.key])).content.decode())
        assert page.count('value="1" checked') == 3

    def test_a_revision_by_form_is_stored(self, client, assignment):
        client.post(reverse("task", args=[assignment.key]), self.form(assignment))
        form = {**self.form(assignment, **{fields(assignment)[0]: "0"}), "submit_key": "r"}
        client.post(reverse("revise", args=[assignment.key]), form)
        assert Judgment.objects.filter(is_current=True, value=0).count() == 1

    def test_the_list_is_empty_with_a_sentence_at_first(self, client, assignment):
        page = client.get(reverse("answers", args=[assignment.task.batch_id]))
        assert "Nothing submitted yet" in page.content.decode()

    def test_giving_back_says_that_the_draft_is_kept(self, client, assignment):
        page = client.post(reverse("release", args=[assignment.key]), follow=True)
        assert "You gave the task back. What you had saved is kept" in page.content.decode()
