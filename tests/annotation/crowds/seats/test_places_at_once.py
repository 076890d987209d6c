"""Many workers of a market come, save and are confirmed at once: the quota holds, and nobody waits in a circle."""

import pytest

from annotation.common.errors import NoTaskLeft
from annotation.crowds.seats import places
from annotation.judging.drafts import save_draft
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Posting, Submission, Task
from annotation.protocols import of
from tests.annotation.judging.test_leases_postgres import _all_at_once
from tests.factories import make_batch, make_study

pytestmark = [pytest.mark.postgres, pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]
WORKERS, QUOTA = 12, 3


def test_twelve_market_workers_at_three_places():
    batch = make_batch(make_study(units=2), quota=QUOTA)
    posting = Posting.objects.create(
        batch=batch, task=batch.tasks.get(), token="p", places=QUOTA, reward_cents=1, state="open"
    )

    def take_part(number: int) -> None:
        submission = places.open_submission(posting, f"A{number}", places.worker_of(posting, f"W{number}"))
        try:
            assignment = places.hold_place(submission, posting.task)
        except NoTaskLeft:
            return  # three were confirmed before this one came
        save_draft(assignment.worker, assignment.key, [])
        submit_judgments(
            assignment.worker,
            assignment.key,
            {item.field: "1" for item in of(batch).items(assignment)},
            f"key {number}",
        )
        if number < QUOTA:  # what the market has room for
            Submission.objects.filter(pk=submission.pk).update(state="submitted")
            places.confirm(submission)

    assert _all_at_once(take_part, range(WORKERS)) == []
    assert Task.objects.get().live <= QUOTA
    confirmed = Submission.objects.filter(state="submitted")
    assert Assignment.objects.counted().count() == confirmed.count() == QUOTA
    assert not Assignment.objects.filter(submission__in=confirmed).exclude(state="submitted").exists()
