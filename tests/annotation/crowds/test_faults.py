"""kill -9 at every named point, then `settle`: no HIT is doubled, nobody is paid twice, nobody is missed."""

import pytest

from annotation.crowds.collect import collect
from annotation.crowds.launch.close import expire, top_up
from annotation.crowds.launch.publish import publish
from annotation.crowds.pay.approve import approve, bonus, reject, undo_rejection
from annotation.crowds.settle import settle
from annotation.models import Batch, Judgment, Posting, Submission
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.crashes import check_books, form_answers, killed_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.sqlite]

POINTS = (
    "publish:begin",
    "publish:planned",
    "publish:called",
    "publish:answered",
    "publish:half-kept",
    "publish:kept",
    "publish:end",
    "collect:begin",
    "collect:listed",
    "collect:workers",
    "collect:half-kept",
    "collect:kept",
    "collect:end",
    "approve:written",
    "approve:called",
    "approve:answered",
    "approve:half-kept",
    "approve:kept",
    "bonus:written",
    "bonus:called",
    "bonus:answered",
    "bonus:kept",
    "reject:begin",
    "reject:answered",
    "reject:kept",
    "undo:written",
    "extend:written",
    "extend:answered",
    "expire:answered",
    "expire:kept",
)


def points(operation: str) -> list[str]:
    return [name for name in POINTS if name.startswith(f"{operation}:")]


def test_there_are_more_than_twenty_points_over_all_operations() -> None:
    assert len(POINTS) == len(set(POINTS)) >= 20


def worked_batch(desk, tasks: int, quota: int = 1) -> tuple[Batch, list[Submission]]:
    """A published batch with all its submissions collected."""
    batch = make_crowd_batch(documents=tasks, quota=quota, question="html")
    publish(batch)
    workers = desk.ask("workers", count=quota)
    for posting in batch.postings.select_related("task__batch__study"):
        for worker in workers:
            desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    collect(batch)
    return batch, list(Submission.objects.filter(posting__batch=batch).order_by("pk"))


@pytest.mark.parametrize("point", [*points("publish"), "publish:answered@2", "publish:half-kept@2"])
def test_publish(desk, point) -> None:
    batch = make_crowd_batch(documents=3, quota=2)
    killed_at(point, lambda: publish(batch))
    batch.refresh_from_db()
    report = settle(batch.study)
    assert report.differences == []
    if point == "publish:begin":  # nothing was written, so there is nothing to carry out
        assert batch.postings.count() == len(desk.books["hits"]) == 0
    else:
        assert batch.postings.filter(state=Posting.State.OPEN).count() == 3
        check_books(batch, desk.books, point)
    publish(batch)  # again: goes on, or changes nothing
    check_books(batch, desk.books, point)
    assert len(desk.books["hits"]) == 3


def test_collect(desk) -> None:
    stops = points("collect")
    batch = make_crowd_batch(documents=len(stops), quota=2, question="html")
    publish(batch)
    workers = desk.ask("workers", count=2)
    for n_collected, (point, posting) in enumerate(zip(stops, batch.postings.order_by("pk"), strict=True), start=1):
        for worker in workers:
            desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
        killed_at(point, lambda: collect(batch))
        assert settle(batch.study).differences == []
        assert Submission.objects.filter(posting__batch=batch, state="submitted").count() == 2 * n_collected, point
        assert Judgment.objects.filter(assignment__task__batch=batch).count() == 4 * n_collected, point
        assert collect(batch).new == 0
    check_books(batch, desk.books)


def test_approve(desk) -> None:
    stops = [*points("approve"), "approve:answered@2", "approve:half-kept@2"]
    batch, submissions = worked_batch(desk, len(stops), quota=2)
    for number, point in enumerate(stops):
        pair = submissions[2 * number : 2 * number + 2]
        killed_at(point, lambda pair=pair: approve(pair, None))
        settle(batch.study)
        approved = [key for key, state in desk.books["assignments"].items() if state == "Approved"]
        assert sorted(approved) == sorted(submission.market_id for submission in submissions[: 2 * number + 2]), point
        check_books(batch, desk.books, point)
        assert approve(pair, None).done == 0  # approved before, and refused with a sentence
    check_books(batch, desk.books)


def test_bonus(desk) -> None:
    stops = points("bonus")
    batch, submissions = worked_batch(desk, len(stops))
    for number, point in enumerate(stops):
        submission = submissions[number]
        killed_at(point, lambda submission=submission: bonus(submission, 25, "Well argued.", None))
        settle(batch.study)
        settle(batch.study)
        bonuses = desk.books["bonuses"]
        assert sorted(bonuses) == sorted([s.market_id, 25, "Well argued."] for s in submissions[: number + 1]), point
        check_books(batch, desk.books, point)


def test_reject_and_its_undoing(desk) -> None:
    stops = points("reject")
    batch, submissions = worked_batch(desk, len(stops) + 1)
    for submission, point in zip(submissions, stops, strict=False):
        killed_at(point, lambda submission=submission: reject([submission], "Not read.", None))
        settle(batch.study)
        submission.refresh_from_db()
        assert submission.state == ("submitted" if point == "reject:begin" else "rejected"), point
        check_books(batch, desk.books, point)
        reject([submission], "Not read.", None)
    for submission, point in zip(submissions[:2], ["undo:written", "approve:answered"], strict=True):
        killed_at(point, lambda submission=submission: undo_rejection(submission, None))
        settle(batch.study)
        submission.refresh_from_db()
        assert submission.state == "approved", point
        check_books(batch, desk.books, point)


def test_top_up(desk) -> None:
    batch, _submissions = worked_batch(desk, 2)
    tasks = list(batch.tasks.order_by("pk").values_list("pk", flat=True))
    for places, point in enumerate(points("extend"), start=2):
        killed_at(point, lambda: top_up(batch, tasks, 1, None))
        settle(batch.study)
        assert [hit[2] for hit in desk.books["hits"]] == [places, places], point
        check_books(batch, desk.books, point)


@pytest.mark.parametrize("point", points("expire"))
def test_expire(desk, point) -> None:
    batch = make_crowd_batch(documents=2, quota=2)
    publish(batch)
    killed_at(point, lambda: expire(batch))
    assert settle(batch.study).differences == []
    check_books(batch, desk.books, point)
    assert desk.books["held"] == 0


def test_a_day_later_the_tokens_are_forgotten_and_nothing_is_doubled(desk) -> None:
    batch = make_crowd_batch(documents=2, quota=1, question="html")
    killed_at("publish:answered@2", lambda: publish(batch))
    desk.ask("forget_tokens")
    settle(batch.study)
    check_books(batch, desk.books)
    assert len(desk.books["hits"]) == 2
    [worker] = desk.ask("workers", count=1)
    posting = batch.postings.first()
    desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))
    collect(batch)
    submission = Submission.objects.get(posting=posting)
    killed_at("bonus:answered", lambda: bonus(submission, 25, "Thanks.", None))
    desk.ask("forget_tokens")
    settle(batch.study)
    assert desk.books["bonuses"] == [[submission.market_id, 25, "Thanks."]]
    check_books(batch, desk.books)


def test_settle_itself_may_be_killed(desk) -> None:
    batch = make_crowd_batch(documents=3, quota=1)
    killed_at("publish:called", lambda: publish(batch))
    killed_at("publish:answered@2", lambda: settle(batch.study))
    settle(batch.study)
    check_books(batch, desk.books)
    assert len(desk.books["hits"]) == 3
