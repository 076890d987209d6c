"""Places of market workers: who holds one, what counts, and what is kept when the market says no."""

import pytest

from annotation.common.errors import NoTaskLeft
from annotation.crowds.seats import places
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Judgment, Posting, Submission, Task, Worker
from annotation.protocols import of
from annotation.studies.progress import batch_progress, study_state
from annotation.tables.frames import judgments_frame
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db
State, Turn = Assignment.State, Submission.State


@pytest.fixture
def posting():
    """A HIT with two places for the one task of a batch."""
    batch = make_batch(make_study(units=2), quota=2)
    batch.crowd = "mturk"
    batch.save()
    return Posting.objects.create(
        batch=batch, task=batch.tasks.get(), token="p1", places=2, reward_cents=10, state="open", market_id="HIT1"
    )


def turn(posting, name: str) -> Submission:
    return places.open_turn(posting, f"assignment of {name}", places.worker_of(posting, name))


def saved(posting, name: str) -> Assignment:
    """A worker who has handed everything in with us, and nothing yet on the market."""
    mine = places.hold_place(turn(posting, name), posting.task)
    answers = {item.field: "1" for item in of(posting.batch).items(mine)}
    return submit_judgments(mine.worker, mine.key, answers, f"key of {name}").assignment


def state_of(assignment: Assignment) -> str:
    assignment.refresh_from_db()
    return assignment.state


def confirmed(submission: Submission) -> None:
    submission.state = Turn.SUBMITTED
    submission.save()
    places.confirm(submission)


def test_a_place_asked_for_again_is_the_same_with_its_draft(posting):
    first = places.hold_place(turn(posting, "anna"), posting.task)
    Assignment.objects.update(draft={"version": 1, "items": {}})
    again = places.hold_place(turn(posting, "anna"), posting.task)
    assert (again.pk, again.draft["version"], Assignment.objects.count()) == (first.pk, 1, 1)


def test_saved_work_counts_once_the_market_confirms_it_and_not_before(posting):
    mine, batch = saved(posting, "anna"), posting.batch
    [progress] = batch_progress([batch.study])[batch.study_id]
    assert (progress.submitted, progress.unconfirmed, progress.leased) == (0, 1, 0)
    assert (len(judgments_frame(batch.study)), study_state(batch.study).judgments) == (0, 0)
    assert Judgment.objects.count() == 2
    confirmed(mine.submission)
    [progress] = batch_progress([batch.study])[batch.study_id]
    assert (progress.submitted, progress.unconfirmed) == (1, 0)
    assert (len(judgments_frame(batch.study)), study_state(batch.study).workers) == (2, 1)


def test_the_newest_comer_gets_the_place_of_the_oldest_lease_that_nobody_confirms(posting):
    anna, bob = (places.hold_place(turn(posting, name), posting.task) for name in ("anna", "bob"))
    carl = places.hold_place(turn(posting, "carl"), posting.task)
    assert [state_of(one) for one in (anna, bob, carl)] == [State.EXPIRED, State.LEASED, State.LEASED]


def test_a_lease_goes_before_saved_work_and_confirmed_work_never_goes(posting):
    anna, bob = saved(posting, "anna"), places.hold_place(turn(posting, "bob"), posting.task)
    carl = saved(posting, "carl")
    assert [state_of(one) for one in (anna, bob, carl)] == [State.SUBMITTED, State.EXPIRED, State.SUBMITTED]
    dora = places.hold_place(turn(posting, "dora"), posting.task)
    assert [state_of(one) for one in (anna, carl, dora)] == [State.SURPLUS, State.SUBMITTED, State.LEASED]
    confirmed(anna.submission)  # the market has it after all: the lease makes room
    assert [state_of(one) for one in (anna, carl, dora)] == [State.SUBMITTED, State.SUBMITTED, State.EXPIRED]
    confirmed(carl.submission)
    with pytest.raises(NoTaskLeft, match="please return it"):
        places.hold_place(turn(posting, "emil"), posting.task)


def test_dropped_work_is_kept_and_not_counted_and_comes_back_with_the_verdict(posting):
    mine = saved(posting, "anna")
    confirmed(mine.submission)
    mine.submission.state = Turn.REJECTED
    mine.submission.save()
    places.drop(mine.submission)
    assert (state_of(mine), len(judgments_frame(posting.batch.study)), Judgment.objects.count()) == ("surplus", 0, 2)
    assert Task.objects.get().live == 0
    confirmed(mine.submission)  # the rejection was undone
    assert (state_of(mine), len(judgments_frame(posting.batch.study))) == ("submitted", 2)


def test_one_market_id_under_two_workers_counts_for_the_one_whom_the_market_names(posting):
    """Markets hand a returned assignment, id and all, to the next worker."""
    anna = saved(posting, "anna")
    shared = anna.submission
    bob = places.worker_of(posting, "bob")
    assert places.open_turn(posting, shared.market_id, bob).pk == shared.pk
    shared.refresh_from_db()
    his = places.hold_place(shared, posting.task)
    submit_judgments(bob, his.key, {item.field: "0" for item in of(posting.batch).items(his)}, "bobs")
    confirmed(Submission.objects.get())
    assert (state_of(anna), state_of(his)) == (State.SURPLUS, State.SUBMITTED)
    assert set(judgments_frame(posting.batch.study)["worker_id"]) == {bob.pseudonym}


def test_a_worker_who_did_the_task_in_another_hit_is_told_so(posting):
    confirmed(saved(posting, "anna").submission)
    other = Posting.objects.create(batch=posting.batch, task=posting.task, part=1, token="p2", places=1, reward_cents=1)
    with pytest.raises(places.DoneAlready, match="in another HIT"):
        places.hold_place(turn(other, "anna"), posting.task)


def test_a_blocked_worker_does_not_come_in(posting):
    places.worker_of(posting, "anna")
    Worker.objects.update(blocked_at="2026-01-01T00:00Z")
    with pytest.raises(places.Blocked, match="any more"):
        turn(posting, "anna")
