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
State, SubmissionState = Assignment.State, Submission.State


@pytest.fixture
def posting():
    """A HIT with two places for the one task of a batch."""
    batch = make_batch(make_study(units=2), quota=2)
    batch.crowd = "mturk"
    batch.save()
    return Posting.objects.create(
        batch=batch, task=batch.tasks.get(), token="p1", places=2, reward_cents=10, state="open", market_id="HIT1"
    )


def open_submission(posting, name: str) -> Submission:
    return places.open_submission(posting, f"assignment of {name}", places.worker_of(posting, name))


def saved(posting, name: str) -> Assignment:
    """A worker who has handed everything in with us, and nothing yet on the market."""
    assignment = places.hold_place(open_submission(posting, name), posting.task)
    answers = {item.field: "1" for item in of(posting.batch).items(assignment)}
    return submit_judgments(assignment.worker, assignment.key, answers, f"key of {name}").assignment


def state_of(assignment: Assignment) -> str:
    assignment.refresh_from_db()
    return assignment.state


def states_of(*assignments: Assignment) -> list[str]:
    return [state_of(assignment) for assignment in assignments]


def confirmed(submission: Submission) -> None:
    submission.state = SubmissionState.SUBMITTED
    submission.save()
    places.confirm(submission)


def test_a_place_asked_for_again_is_the_same_with_its_draft(posting):
    first = places.hold_place(open_submission(posting, "anna"), posting.task)
    Assignment.objects.update(draft={"version": 1, "items": {}})
    second = places.hold_place(open_submission(posting, "anna"), posting.task)
    assert (second.pk, second.draft["version"], Assignment.objects.count()) == (first.pk, 1, 1)


def test_saved_work_counts_once_the_market_confirms_it_and_not_before(posting):
    assignment, batch = saved(posting, "anna"), posting.batch
    [progress] = batch_progress([batch.study])[batch.study_id]
    assert (progress.submitted, progress.unconfirmed, progress.leased) == (0, 1, 0)
    assert (len(judgments_frame(batch.study)), study_state(batch.study).judgments) == (0, 0)
    assert Judgment.objects.count() == 2
    confirmed(assignment.submission)
    [progress] = batch_progress([batch.study])[batch.study_id]
    assert (progress.submitted, progress.unconfirmed) == (1, 0)
    assert (len(judgments_frame(batch.study)), study_state(batch.study).workers) == (2, 1)


def test_the_newest_comer_gets_the_place_of_the_oldest_lease_that_nobody_confirms(posting):
    anna, bob = (places.hold_place(open_submission(posting, name), posting.task) for name in ("anna", "bob"))
    carl = places.hold_place(open_submission(posting, "carl"), posting.task)
    assert states_of(anna, bob, carl) == [State.EXPIRED, State.LEASED, State.LEASED]


def test_a_lease_goes_before_saved_work_and_confirmed_work_never_goes(posting):
    anna, bob = saved(posting, "anna"), places.hold_place(open_submission(posting, "bob"), posting.task)
    carl = saved(posting, "carl")
    assert states_of(anna, bob, carl) == [State.SUBMITTED, State.EXPIRED, State.SUBMITTED]
    dora = places.hold_place(open_submission(posting, "dora"), posting.task)
    assert states_of(anna, carl, dora) == [State.SURPLUS, State.SUBMITTED, State.LEASED]
    confirmed(anna.submission)  # the market has it after all: the lease makes room
    assert states_of(anna, carl, dora) == [State.SUBMITTED, State.SUBMITTED, State.EXPIRED]
    confirmed(carl.submission)
    with pytest.raises(NoTaskLeft, match="please return it"):
        places.hold_place(open_submission(posting, "emil"), posting.task)


def test_dropped_work_is_kept_and_not_counted_and_comes_back_with_the_verdict(posting):
    assignment = saved(posting, "anna")
    confirmed(assignment.submission)
    assignment.submission.state = SubmissionState.REJECTED
    assignment.submission.save()
    places.drop(assignment.submission)
    study = posting.batch.study
    assert (state_of(assignment), len(judgments_frame(study)), Judgment.objects.count()) == ("surplus", 0, 2)
    assert Task.objects.get().live == 0
    confirmed(assignment.submission)  # the rejection was undone
    assert (state_of(assignment), len(judgments_frame(study))) == ("submitted", 2)


def test_one_market_id_under_two_workers_counts_for_the_one_whom_the_market_names(posting):
    """Markets hand a returned assignment, id and all, to the next worker."""
    anna = saved(posting, "anna")
    shared = anna.submission
    bob = places.worker_of(posting, "bob")
    assert places.open_submission(posting, shared.market_id, bob).pk == shared.pk
    shared.refresh_from_db()
    bobs = places.hold_place(shared, posting.task)
    submit_judgments(bob, bobs.key, {item.field: "0" for item in of(posting.batch).items(bobs)}, "bobs")
    confirmed(Submission.objects.get())
    assert (state_of(anna), state_of(bobs)) == (State.SURPLUS, State.SUBMITTED)
    assert set(judgments_frame(posting.batch.study)["worker_id"]) == {bob.pseudonym}


def test_a_worker_who_did_the_task_in_another_hit_is_told_so(posting):
    confirmed(saved(posting, "anna").submission)
    second = Posting.objects.create(
        batch=posting.batch, task=posting.task, part=1, token="p2", places=1, reward_cents=1
    )
    with pytest.raises(places.DoneAlready, match="in another HIT"):
        places.hold_place(open_submission(second, "anna"), posting.task)


def test_a_blocked_worker_does_not_come_in(posting):
    places.worker_of(posting, "anna")
    Worker.objects.update(blocked_at="2026-01-01T00:00Z")
    with pytest.raises(places.Blocked, match="any more"):
        open_submission(posting, "anna")
