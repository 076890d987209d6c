"""Collecting and paying: only what the market confirms, once, and to the cent as the market's own books have it."""

import pytest

from annotation.crowds.collect import collect
from annotation.crowds.launch.close import close, expire
from annotation.crowds.launch.publish import publish
from annotation.crowds.pay.approve import approve, bonus, reject, undo_rejection
from annotation.crowds.settle import settle
from annotation.models import Batch, Judgment, Submission
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.crashes import form_answers

pytestmark = [pytest.mark.django_db]


def work_all(desk, batch: Batch, workers: list[str]) -> None:
    for posting in batch.postings.select_related("task__batch__study"):
        for worker in workers:
            desk.ask("work", hit_id=posting.market_id, worker_id=worker, answers=form_answers(posting.task))


def committed(batch: Batch) -> int:
    batch.study.refresh_from_db()
    return batch.study.committed_cents


def test_a_batch_from_launch_to_close_balances_with_the_market(desk) -> None:
    batch = make_crowd_batch(documents=2, quota=3, question="html")
    publish(batch)
    anna, ben = desk.ask("workers", count=2)
    work_all(desk, batch, [anna, ben])
    collected = collect(batch)
    assert (collected.submissions, collected.new, collected.confirmed, collected.unmatched) == (4, 4, 4, 0)
    assert Judgment.objects.filter(assignment__task__batch=batch).count() == 4 * 2  # each with two units
    first, second, third, fourth = Submission.objects.filter(posting__batch=batch).order_by("pk")
    assert approve([first, second], None).done == 2
    assert reject([third, fourth], "Every statement was marked present.", None).done == 2
    assert committed(batch) == (6 - 2) * 12  # two rejected places gave their 12 cents back
    assert undo_rejection(fourth, None).done == 1
    assert bonus(first, 50, "Thank you for the remark.", None).done == 1
    assert committed(batch) == 5 * 12 + 60
    expire(batch)  # the third place of each task stays empty
    assert committed(batch) == 3 * 12 + 60
    close(batch)
    books = desk.books
    assert books["held"] == 0
    assert books["paid"] + books["fees"] == committed(batch) == 96
    assert [status for *_rest, status in books["hits"]] == ["Disposed", "Disposed"]
    report = settle(batch.study)
    assert (report.checked, report.differences, report.doubtful) == (0, [], [])
