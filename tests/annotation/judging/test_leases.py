"""Taking a task, holding it, losing it and coming back."""

from datetime import UTC, datetime, timedelta

import pytest

from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, BatchNotOpen, NoTaskLeft, NotYours
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import expire_leases, lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_study, make_worker

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=2)  # well past LEASE_MINUTES


@pytest.fixture
def study():
    return make_study(documents=2)


@pytest.fixture
def batch(study):
    return make_batch(study)


def submit(assignment: Assignment, submit_key: str = "k") -> None:
    answers = {item.field: "1" for item in protocol_of(assignment.task.batch).items(assignment)}
    submit_judgments(assignment.worker, assignment.key, answers, submit_key)


def test_a_second_tab_gets_the_task_that_is_held_already(batch, study):
    worker = make_worker(study)
    assert lease_task(batch, worker).key == lease_task(batch, worker).key


def test_two_workers_get_different_tasks_when_one_answer_is_asked_for(batch, study):
    first, second = lease_task(batch, make_worker(study)), lease_task(batch, make_worker(study))
    assert first.task_id != second.task_id


def test_a_place_that_was_lost_goes_to_the_next_worker_when_nothing_else_is_free(study, batch):
    with clock.fixed(NOON):
        lost = [lease_task(batch, make_worker(study)) for _ in range(2)]
    with clock.fixed(LATER):
        assert lease_task(batch, make_worker(study)).task_id == lost[0].task_id
    lost[0].refresh_from_db()
    assert lost[0].state == Assignment.State.EXPIRED


def test_coming_back_after_the_lease_ended_finds_the_same_task_and_the_draft(study, batch):
    worker = make_worker(study)
    with clock.fixed(NOON):
        mine = lease_task(batch, worker)
        save_draft(worker, mine.key, [Change("q1", {"value": "1"}, 1)])
    with clock.fixed(LATER):
        expire_leases(batch)
        again = lease_task(batch, worker)
    assert (again.key, again.state) == (mine.key, Assignment.State.LEASED)
    assert again.draft["items"]["q1"]["value"] == "1"


def test_a_worker_whose_place_was_taken_gets_another_task(study):
    batch, worker, other = make_batch(study), make_worker(study), make_worker(study)
    with clock.fixed(NOON):
        mine = lease_task(batch, worker)
    with clock.fixed(LATER):
        expire_leases(batch)
        assert lease_task(batch, other).task_id == mine.task_id
        assert lease_task(batch, worker).task_id != mine.task_id


def test_a_sign_of_life_renews_the_lease(study, batch):
    worker = make_worker(study)
    with clock.fixed(NOON):
        mine = lease_task(batch, worker)
    with clock.fixed(NOON + timedelta(minutes=20)):
        assert save_draft(worker, mine.key, []).is_held
    mine.refresh_from_db()
    assert mine.lease_until == NOON + timedelta(minutes=50)


def test_a_lost_place_that_somebody_took_can_not_be_renewed(study, batch):
    workers = [make_worker(study) for _ in range(4)]
    with clock.fixed(NOON):
        mine = lease_task(batch, workers[0])
        lease_task(batch, workers[1])
    with clock.fixed(LATER):
        lease_task(batch, workers[2])
        lease_task(batch, workers[3])
        found = save_draft(workers[0], mine.key, [])
    assert (found.is_held, found.seconds_left, found.state) == (False, 0, "expired")


def test_a_task_given_back_is_free_for_others_and_never_comes_again(study, batch):
    worker, other = make_worker(study), make_worker(study)
    mine = lease_task(batch, worker)
    release_task(worker, mine.key)
    assert lease_task(batch, worker).task_id != mine.task_id
    assert lease_task(batch, other).task_id == mine.task_id


def test_a_submitted_task_can_be_neither_given_back_nor_renewed(study, batch):
    mine = lease_task(batch, make_worker(study))
    submit(mine)
    with pytest.raises(AlreadySubmitted):
        release_task(mine.worker, mine.key)
    found = save_draft(mine.worker, mine.key, [])
    assert (found.is_held, found.state) == (False, "submitted")


def test_nobody_touches_another_workers_assignment(study, batch):
    mine, stranger = lease_task(batch, make_worker(study)), make_worker(study)
    with pytest.raises(NotYours):
        release_task(stranger, mine.key)
    with pytest.raises(NotYours):
        save_draft(stranger, mine.key, [])


@pytest.mark.parametrize(
    ("state", "words"),
    [(Batch.State.PAUSED, "paused"), (Batch.State.CLOSED, "closed"), (Batch.State.DRAFT, "not open")],
)
def test_a_batch_that_is_not_open_says_why(study, state, words):
    with pytest.raises(BatchNotOpen, match=words):
        lease_task(make_batch(study, state=state), make_worker(study))


def test_no_task_left_says_which_of_three_reasons_it_is():
    study = make_study()
    batch, worker, other = make_batch(study), make_worker(study), make_worker(study)
    mine = lease_task(batch, worker)
    with pytest.raises(NoTaskLeft, match="taken just now"):
        lease_task(batch, other)
    release_task(worker, mine.key)
    with pytest.raises(NoTaskLeft, match="You have had every task"):
        lease_task(batch, worker)
    submit(lease_task(batch, other))
    with pytest.raises(NoTaskLeft, match="complete"):
        lease_task(batch, other)
