"""Many workers lease, save, live, expire, submit, revise and give back in any order: what must hold, holds.

Hypothesis draws the orders. The machine keeps its own small record of what was acknowledged and compares.
"""

import os
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.db.models import F, Q
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, NoTaskLeft
from annotation.judging.ahead import lease_ahead, take_next
from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import expire_leases, lease_task, release_task
from annotation.judging.submit import revise_judgments, submit_judgments
from annotation.models import Assignment, Batch, Judgment, Study, Task, Worker
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_study

State = Assignment.State
START = datetime(2026, 11, 16, 8, tzinfo=UTC)
WORKERS, DOCUMENTS, UNITS = 4, 3, 2
EXAMPLES = int(os.environ.get("EXAMPLES", "12"))
workers = st.integers(0, WORKERS - 1)
values = st.sampled_from(["0", "1"])


class Workbench(RuleBasedStateMachine):
    """Rules are what people and time do; invariants are what nobody may ever see broken."""

    @initialize(quota=st.integers(1, 2))
    def open(self, quota):
        self.savepoint = transaction.savepoint()
        self.study = make_study(documents=DOCUMENTS, units=UNITS)
        self.batch = make_batch(self.study, quota=quota)
        self.workers = Worker.objects.bulk_create(
            Worker(study=self.study, crowd="x", external_id=str(n), pseudonym=f"w-{n}") for n in range(WORKERS)
        )
        self.now = START
        self.keys: dict[int, list[str]] = {n: [] for n in range(WORKERS)}
        self.drafts: dict[str, dict[str, str]] = {}  # by assignment: what a save acknowledged
        self.answers: dict[str, dict[str, str]] = {}  # by assignment: what a submit or revision acknowledged
        self.count = 0

    def teardown(self):
        if hasattr(self, "savepoint"):
            transaction.savepoint_rollback(self.savepoint)

    def at(self):
        return clock.fixed(self.now)

    def next_key(self) -> str:
        self.count += 1
        return f"k{self.count}"

    def find_assignment(self, worker_index, assignment_index) -> Assignment | None:
        keys = self.keys[worker_index]
        assignments = Assignment.objects.select_related("task__batch__study")
        return assignments.get(key=keys[assignment_index % len(keys)]) if keys else None

    def fields(self, assignment) -> list[str]:
        return [item.field for item in protocol_of(self.batch).items(assignment)]

    @rule(worker_index=workers)
    def lease(self, worker_index):
        with self.at():
            try:
                assignment = lease_task(self.batch, self.workers[worker_index])
            except NoTaskLeft:
                return self.nothing_was_left(worker_index)
        assert assignment.state == State.LEASED
        if assignment.key not in self.keys[worker_index]:
            self.keys[worker_index].append(assignment.key)

    @rule(worker_index=workers, assignment_index=st.integers(0, 9))
    def lease_the_next(self, worker_index, assignment_index):
        if (assignment := self.find_assignment(worker_index, assignment_index)) is None:
            return
        with self.at():
            ahead = lease_ahead(self.batch, self.workers[worker_index], assignment.key)
        if ahead is not None and ahead.key not in self.keys[worker_index]:
            self.keys[worker_index].append(ahead.key)

    @rule(worker_index=workers)
    def go_on(self, worker_index):
        with self.at():
            try:
                key = take_next(self.batch, self.workers[worker_index])
            except NoTaskLeft:
                return self.nothing_was_left(worker_index)
        assert Assignment.objects.filter(key=key, state=State.LEASED, is_ahead=False, lease_until__gt=self.now).exists()
        if key not in self.keys[worker_index]:
            self.keys[worker_index].append(key)

    def nothing_was_left(self, worker_index):
        """No task starves: “none left” is said only when every free task was this worker's before."""
        ended = Assignment.objects.filter(task__batch=self.batch, state=State.LEASED, lease_until__lte=self.now)
        assert not ended.exists()
        free = Task.objects.filter(
            Q(live__lt=F("quota")) | Q(assignments__state=State.LEASED, assignments__is_ahead=True), batch=self.batch
        )
        tasks = Assignment.objects.filter(worker=self.workers[worker_index]).exclude(state=State.EXPIRED).values("task")
        assert not free.exclude(pk__in=tasks).exists()

    @rule(worker_index=workers, assignment_index=st.integers(0, 9), unit=st.integers(0, UNITS - 1), value=values)
    def draft(self, worker_index, assignment_index, unit, value):
        if (assignment := self.find_assignment(worker_index, assignment_index)) is None:
            return
        field = self.fields(assignment)[unit]
        with self.at():
            at = int(self.now.timestamp() * 1000)
            save_draft(assignment.worker, assignment.key, [Change(field, {"value": value}, at)])
        self.drafts.setdefault(assignment.key, {})[field] = value

    @rule(worker_index=workers, assignment_index=st.integers(0, 9))
    def heartbeat(self, worker_index, assignment_index):
        if (assignment := self.find_assignment(worker_index, assignment_index)) is None:
            return
        with self.at():
            draft_state = save_draft(assignment.worker, assignment.key, [])
        if draft_state.is_held:
            assert draft_state.seconds_left > 0
        else:
            over = assignment.key in self.answers or draft_state.state == State.RELEASED
            assert over or assignment.task.live >= assignment.task.quota

    @rule(minutes=st.sampled_from([1, 10, 31]))
    def time_passes(self, minutes):
        self.now += timedelta(minutes=minutes)

    @rule()
    def sweep(self):
        with self.at():
            expire_leases(self.batch)

    @rule(worker_index=workers, assignment_index=st.integers(0, 9), value=values, is_repeated=st.booleans())
    def submit(self, worker_index, assignment_index, value, is_repeated):
        if (assignment := self.find_assignment(worker_index, assignment_index)) is None:
            return
        answers, key = dict.fromkeys(self.fields(assignment), value), self.next_key()
        with self.at():
            try:
                receipt = submit_judgments(assignment.worker, assignment.key, answers, key)
            except AlreadySubmitted:
                assert assignment.key in self.answers
                return
            self.answers[assignment.key] = answers
            assert receipt.surplus == (assignment.state != State.LEASED or assignment.lease_until <= self.now)
            if is_repeated:
                assert submit_judgments(assignment.worker, assignment.key, {}, key).repeated

    @precondition(lambda self: getattr(self, "answers", None))
    @rule(pick=st.integers(0, 99), unit=st.integers(0, UNITS - 1), value=values, is_repeated=st.booleans())
    def revise(self, pick, unit, value, is_repeated):
        name = sorted(self.answers)[pick % len(self.answers)]
        assignment = Assignment.objects.select_related("task__batch__study").get(key=name)
        field, key = self.fields(assignment)[unit], self.next_key()
        with self.at():
            revise_judgments(assignment.worker, name, {field: value}, key)
            self.answers[name] = {**self.answers[name], field: value}
            if is_repeated:
                assert revise_judgments(assignment.worker, name, {field: "0" if value == "1" else "1"}, key).repeated

    @rule(worker_index=workers, assignment_index=st.integers(0, 9))
    def give_back(self, worker_index, assignment_index):
        if (assignment := self.find_assignment(worker_index, assignment_index)) is None:
            return
        try:
            release_task(assignment.worker, assignment.key)
        except AlreadySubmitted:
            assert assignment.key in self.answers

    @invariant()
    def quotas_hold(self):
        if not hasattr(self, "batch"):
            return
        for task in Task.objects.filter(batch=self.batch):
            live = task.assignments.filter(state__in=Assignment.LIVE).count()
            assert task.live == live <= task.quota

    @invariant()
    def nobody_holds_two_tasks_ahead(self):
        if not hasattr(self, "batch"):
            return
        ahead = Assignment.objects.filter(task__batch=self.batch, state=State.LEASED, is_ahead=True)
        assert len(set(ahead.values_list("worker"))) == ahead.count()

    @invariant()
    def nothing_acknowledged_is_missing_or_doubled(self):
        if not hasattr(self, "answers"):
            return
        for assignment in Assignment.objects.filter(task__batch=self.batch).select_related("task__batch__study"):
            current = {}
            for row in assignment.judgments.filter(is_current=True):
                assert row.unit not in current
                current[row.unit] = f"{row.value:g}"
            items = protocol_of(self.batch).items(assignment)
            answers = self.answers.get(assignment.key, {})
            assert current == {item.unit: answers[item.field] for item in items if item.field in answers}
            drafted = assignment.draft.get("items", {})
            assert {name: drafted[name]["value"] for name in self.drafts.get(assignment.key, {})} == self.drafts.get(
                assignment.key, {}
            )

    @invariant()
    def a_worker_holds_a_task_once(self):
        if not hasattr(self, "batch"):
            return
        pairs = list(Assignment.objects.filter(task__batch=self.batch).values_list("task", "worker"))
        assert len(pairs) == len(set(pairs))


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.django_db
def test_in_any_order_quotas_hold_and_nothing_acknowledged_is_lost():
    run_state_machine_as_test(
        Workbench,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert not Study.objects.exists()  # every example was rolled back
    assert not Judgment.objects.exists()
    assert not Batch.objects.exists()
