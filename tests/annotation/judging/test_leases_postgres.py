"""Many workers at once, on PostgreSQL: the quota holds, nobody waits in vain, nothing is handed out twice."""

import threading
from collections import Counter

import pytest
from django.db import connection

from annotation.common.errors import NoTaskLeft
from annotation.judging.ahead import lease_ahead, take_next
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Batch, Judgment, Task, Worker
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_study
from tests.postgres import many_connections

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

WORKERS, TASKS, QUOTA = 50, 200, 3


def test_fifty_workers_at_once_fill_every_quota_exactly():
    study = make_study(documents=TASKS, units=2)
    batch = make_batch(study, quota=QUOTA)
    workers = Worker.objects.bulk_create(
        Worker(study=study, crowd="test", external_id=str(n), pseudonym=f"w-{n}") for n in range(WORKERS)
    )
    faults = _all_at_once(lambda worker: _work_until_none_is_left(batch, worker), workers)
    assert faults == []
    # 200 tasks × 3 places = 600 assignments, each with its 2 answers.
    assert Assignment.objects.filter(task__batch=batch).count() == TASKS * QUOTA
    assert Assignment.objects.filter(state=Assignment.State.SUBMITTED).count() == TASKS * QUOTA
    assert Judgment.objects.count() == TASKS * QUOTA * 2
    assert set(Task.objects.filter(batch=batch).values_list("live", flat=True)) == {QUOTA}
    assignments = Counter(Assignment.objects.values_list("task_id", "worker_id"))
    assert max(assignments.values()) == 1


def test_many_tabs_of_one_worker_share_one_assignment():
    study = make_study(documents=20, units=1)
    batch = make_batch(study, quota=1)
    worker = Worker.objects.create(study=study, crowd="test", external_id="x", pseudonym="w-x")
    assert _all_at_once(lambda same_worker: lease_task(batch, same_worker), [worker] * 20) == []
    assert Assignment.objects.filter(worker=worker).count() == 1


def test_one_place_for_many_workers_goes_to_exactly_one():
    study = make_study(units=1)
    batch = make_batch(study, quota=1)
    workers = Worker.objects.bulk_create(
        Worker(study=study, crowd="test", external_id=str(n), pseudonym=f"w-{n}") for n in range(20)
    )
    faults = _all_at_once(lambda worker: lease_task(batch, worker), workers)
    assert [type(fault) for fault in faults] == [NoTaskLeft] * 19
    assert Assignment.objects.count() == 1


def test_a_submit_that_comes_ten_times_at_once_is_stored_once():
    study = make_study(units=3)
    batch = make_batch(study)
    worker = Worker.objects.create(study=study, crowd="test", external_id="x", pseudonym="w-x")
    assignment = Assignment.objects.select_related("task__batch__study").get(pk=lease_task(batch, worker).pk)
    answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
    repeated = []

    def submit(same_worker: Worker) -> None:
        repeated.append(submit_judgments(same_worker, assignment.key, answers, "the same key").repeated)

    assert _all_at_once(submit, [worker] * 10) == []
    assert sorted(repeated) == [False] + [True] * 9
    assert Judgment.objects.count() == 3


def test_drafts_that_come_at_once_are_all_kept():
    study = make_study()
    batch = make_batch(study)
    worker = Worker.objects.create(study=study, crowd="test", external_id="x", pseudonym="w-x")
    assignment, numbers = lease_task(batch, worker), iter(range(20))

    def save(same_worker: Worker) -> None:
        number = next(numbers)
        save_draft(same_worker, assignment.key, [Change(f"q{number}", {"value": str(number)}, number)])

    assert _all_at_once(save, [worker] * 20) == []
    assignment.refresh_from_db()
    assert {name: item["value"] for name, item in assignment.draft["items"].items()} == {
        f"q{n}": str(n) for n in range(20)
    }
    assert assignment.draft["version"] == 20


def test_fifty_workers_who_hold_ahead_finish_the_last_ten_tasks():
    study = make_study(documents=10, units=2)
    batch = make_batch(study, quota=2)
    workers = Worker.objects.bulk_create(
        Worker(study=study, crowd="test", external_id=str(n), pseudonym=f"w-{n}") for n in range(WORKERS)
    )
    lease_ahead(batch, workers[0], lease_task(batch, workers[0]).key)  # one at least is held ahead
    most_ahead: list[int] = []
    faults = _all_at_once(lambda worker: _work_with_the_next_at_hand(batch, worker, most_ahead), workers)
    assert faults == []
    assert max(most_ahead) <= 1
    assert set(Task.objects.filter(batch=batch).values_list("live", flat=True)) == {2}
    assert Assignment.objects.filter(state=Assignment.State.SUBMITTED).count() == 10 * 2
    assert Judgment.objects.count() == 10 * 2 * 2
    assert not Assignment.objects.filter(state__in=["leased", "surplus"]).exists()


def test_one_place_held_ahead_that_many_want_goes_to_exactly_one():
    study = make_study(documents=2, units=1)
    batch = make_batch(study)
    holder, *workers = Worker.objects.bulk_create(
        Worker(study=study, crowd="test", external_id=str(n), pseudonym=f"w-{n}") for n in range(21)
    )
    current = lease_task(batch, holder)
    ahead = lease_ahead(batch, holder, current.key)
    faults = _all_at_once(lambda worker: lease_task(batch, worker), workers)
    assert [type(fault) for fault in faults] == [NoTaskLeft] * 19
    assert Assignment.objects.filter(task=ahead.task_id, state="leased").count() == 1


def test_the_holder_and_a_newcomer_at_once_get_different_tasks():
    study = make_study(documents=2, units=1)
    for n in range(10):
        _race_for_what_is_held_ahead(make_batch(study), n)


def _race_for_what_is_held_ahead(batch: Batch, number: int) -> None:
    holder, newcomer = Worker.objects.bulk_create(
        Worker(study=batch.study, crowd="test", external_id=f"{number}{who}", pseudonym=f"w-{number}{who}")
        for who in "ab"
    )
    current = lease_task(batch, holder)
    ahead = lease_ahead(batch, holder, current.key)
    _submit(batch, holder, current.key)
    keys: list[str] = []
    work = {holder: lambda: take_next(batch, holder), newcomer: lambda: lease_task(batch, newcomer).key}
    faults = _all_at_once(lambda worker: keys.append(work[worker]()), [holder, newcomer])
    assert [type(fault) for fault in faults] == [NoTaskLeft]
    assert [assignment.key for assignment in Assignment.objects.filter(task=ahead.task_id, state="leased")] == keys


def _work_with_the_next_at_hand(batch: Batch, worker: Worker, most_ahead: list[int]) -> None:
    """As the page does: the next one is held while this one is worked on, and in hand after the submit."""
    try:
        key = lease_task(batch, worker).key
        while True:
            lease_ahead(batch, worker, key)
            most_ahead.append(Assignment.objects.filter(worker=worker, state="leased", is_ahead=True).count())
            _submit(batch, worker, key)
            key = take_next(batch, worker)
    except NoTaskLeft:
        return


def _submit(batch: Batch, worker: Worker, key: str) -> None:
    assignment = Assignment.objects.select_related("task__batch__study").get(key=key)
    answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
    submit_judgments(worker, key, answers, f"key-{key}")


def _work_until_none_is_left(batch: Batch, worker: Worker) -> None:
    while True:
        try:
            assignment = lease_task(batch, worker)
        except NoTaskLeft:
            return
        answers = {item.field: "1" for item in protocol_of(batch).items(assignment)}
        submit_judgments(worker, assignment.key, answers, f"key-{assignment.pk}")


def _all_at_once(work, workers) -> list[Exception]:
    """Run `work` for every worker in a thread of its own, all starting together; returns what was raised."""
    start, faults = threading.Barrier(len(workers)), []

    def run(worker):
        try:
            start.wait()
            work(worker)
        except Exception as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    with many_connections():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    return faults
