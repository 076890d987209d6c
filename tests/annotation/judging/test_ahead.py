"""The task after the one in hand: held for a short time, one at most, and never in anybody's way."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from annotation.common import clock
from annotation.common.errors import BatchNotOpen, NoTaskLeft
from annotation.judging.ahead import lease_ahead, take_next
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_study, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def study():
    return make_study(documents=3)


@pytest.fixture
def batch(study):
    return make_batch(study)


@pytest.fixture
def worker(study):
    return make_worker(study)


def fresh(assignment: Assignment) -> Assignment:
    return Assignment.objects.select_related("task__batch__study").get(pk=assignment.pk)


def submit(assignment: Assignment) -> None:
    answers = {item.field: "1" for item in protocol_of(assignment.task.batch).items(assignment)}
    submit_judgments(assignment.worker, assignment.key, answers, f"key of {assignment.pk}")


def test_it_is_another_task_held_for_two_minutes_and_the_same_when_asked_again(batch, worker):
    with clock.fixed(NOON):
        current = lease_task(batch, worker)
        ahead = lease_ahead(batch, worker, current.key)
        again = lease_ahead(batch, worker, current.key)
    assert ahead.task_id != current.task_id
    assert again.pk == ahead.pk
    assert (fresh(ahead).is_ahead, ahead.lease_until) == (True, NOON + timedelta(minutes=2))
    assert fresh(current).is_ahead is False


def test_after_the_submit_it_is_in_hand_for_the_usual_time(batch, worker):
    with clock.fixed(NOON):
        current = lease_task(batch, worker)
        ahead = lease_ahead(batch, worker, current.key)
    with clock.fixed(NOON + timedelta(minutes=10)):  # its short lease has ended, and nobody needed the place
        submit(current)
        assert take_next(batch, worker) == ahead.key
    assert (fresh(ahead).is_ahead, fresh(ahead).lease_until) == (False, NOON + timedelta(minutes=40))


def test_a_second_tab_still_gets_the_task_in_hand(batch, worker):
    current = lease_task(batch, worker)
    lease_ahead(batch, worker, current.key)
    assert lease_task(batch, worker).pk == current.pk


def test_the_database_refuses_a_second_task_held_ahead(batch, worker):
    ahead = lease_ahead(batch, worker, lease_task(batch, worker).key)
    other_task = batch.tasks.exclude(assignments__worker=worker).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            task=other_task, worker=worker, is_ahead=True, lease_until=ahead.lease_until, leased_at=ahead.leased_at
        )


def test_who_has_no_task_gets_it_at_once_when_nothing_else_is_free(study, batch, worker):
    current = lease_task(batch, worker)
    ahead = lease_ahead(batch, worker, current.key)
    third = lease_task(batch, make_worker(study))
    newcomer = lease_task(batch, make_worker(study))
    assert third.task_id not in (current.task_id, ahead.task_id)
    assert newcomer.task_id == ahead.task_id
    assert fresh(ahead).state == Assignment.State.EXPIRED
    submit(current)
    with pytest.raises(NoTaskLeft, match="taken just now"):
        take_next(batch, worker)
    submit(newcomer)
    submit(third)
    assert all(task.live == task.quota for task in batch.tasks.all())


def test_to_hold_ahead_takes_nothing_from_anybody(study, worker):
    batch = make_batch(make_study(documents=2))
    first, second = make_worker(batch.study), make_worker(batch.study)
    lease_ahead(batch, first, lease_task(batch, first).key)
    current = lease_task(batch, second)  # takes over what the first held ahead
    assert lease_ahead(batch, second, current.key) is None


def test_a_task_that_ended_comes_again_with_its_draft(study, batch, worker):
    with clock.fixed(NOON):
        lost = lease_task(batch, worker)
        save_draft(worker, lost.key, [Change("q1", {"value": "1"}, 1)])
        Assignment.objects.filter(pk=lost.pk).update(state="expired")
        current = Assignment.objects.create(
            task=batch.tasks.exclude(pk=lost.task_id).first(), worker=worker, leased_at=NOON, lease_until=NOON
        )
        ahead = lease_ahead(batch, worker, current.key)
    assert (ahead.pk, ahead.is_ahead, ahead.draft["items"]["q1"]["value"]) == (lost.pk, True, "1")


def test_a_save_makes_it_the_task_in_hand(batch, worker):
    """The submit before it may be under way still."""
    ahead = lease_ahead(batch, worker, lease_task(batch, worker).key)
    assert save_draft(worker, ahead.key, []).is_held
    assert fresh(ahead).is_ahead is False


def test_the_one_in_hand_is_never_ahead_of_itself(batch, worker):
    current = lease_task(batch, worker)
    ahead = lease_ahead(batch, worker, current.key)
    submit(current)
    following = lease_ahead(batch, worker, ahead.key)  # asked before the answer to the submit has come
    assert following.pk not in (current.pk, ahead.pk)
    assert fresh(ahead).is_ahead is False


def test_it_goes_back_with_the_task_in_hand(study, batch, worker):
    current = lease_task(batch, worker)
    ahead = lease_ahead(batch, worker, current.key)
    release_task(worker, current.key)
    assert fresh(ahead).state == Assignment.State.EXPIRED
    assert sum(task.live for task in batch.tasks.all()) == 0


def test_it_goes_back_when_the_worker_goes_on_in_another_batch(study, batch, worker):
    ahead = lease_ahead(batch, worker, lease_task(batch, worker).key)
    other_batch = make_batch(study)
    lease_ahead(other_batch, worker, lease_task(other_batch, worker).key)
    assert fresh(ahead).state == Assignment.State.EXPIRED
    assert Assignment.objects.filter(worker=worker, state="leased", is_ahead=True).count() == 1


@pytest.mark.parametrize("state", [Batch.State.PAUSED, Batch.State.CLOSED])
def test_a_batch_that_is_not_open_hands_out_nothing_ahead(batch, worker, state):
    current = lease_task(batch, worker)
    batch.state = state
    with pytest.raises(BatchNotOpen):
        lease_ahead(batch, worker, current.key)
    with pytest.raises(BatchNotOpen):
        take_next(batch, worker)


def test_what_was_never_reached_is_in_no_list_of_assignments(batch, worker):
    current = lease_task(batch, worker)
    ahead = lease_ahead(batch, worker, current.key)
    assert list(Assignment.objects.reached()) == [current]
    release_task(worker, current.key)
    assert list(Assignment.objects.reached()) == [current]
    assert lease_task(batch, worker).pk == ahead.pk
    assert Assignment.objects.reached().count() == 2
