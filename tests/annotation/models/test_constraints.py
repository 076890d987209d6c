"""The rules live in the database: it refuses what the code should never ask for."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Assignment, FilterDecision, Judgment, Membership, Role, Study, Task, User
from tests.factories import make_batch, make_study, make_user, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]


@pytest.fixture
def study():
    return make_study(documents=1, systems=1)


@pytest.fixture
def task(study) -> Task:
    return make_batch(study, quota=2).tasks.get()


def hold(task: Task, state: str = "leased") -> Assignment:
    worker = make_worker(task.batch.study)
    return Assignment.objects.create(task=task, worker=worker, state=state, lease_until=timezone.now())


def judge(assignment: Assignment, **changes) -> Judgment:
    fields = {"assignment": assignment, "summary": assignment.task.summary, "unit": "scu00", "value": 1.0, **changes}
    return Judgment.objects.create(**fields)


def refused_by(name: str):
    """SQLite and PostgreSQL both name the broken constraint, or (SQLite, unique) its columns."""
    return pytest.raises(IntegrityError, match=name)


def test_one_assignment_per_task_and_worker(task):
    first = hold(task)
    with refused_by("assignment_once_per_task_and_worker|assignment.task_id, annotation_assignment.worker_id"):
        Assignment.objects.create(task=task, worker=first.worker, lease_until=timezone.now())


def test_a_task_never_has_more_live_assignments_than_its_quota(task):
    hold(task)
    hold(task, "submitted")
    with refused_by("task_quota_kept"), transaction.atomic():
        hold(task)
    hold(task, "expired")  # holds no place
    task.refresh_from_db()
    assert task.live == 2


def test_a_place_is_freed_and_taken_again_whoever_writes(task):
    first, _ = hold(task), hold(task)
    Assignment.objects.filter(pk=first.pk).update(state="expired")
    assert Task.objects.get(pk=task.pk).live == 1
    hold(task)
    with refused_by("task_quota_kept"), transaction.atomic():
        Assignment.objects.filter(pk=first.pk).update(state="leased")
    with connection.cursor() as cursor:  # not even by hand
        cursor.execute("DELETE FROM annotation_assignment WHERE id = %s", [first.pk])
    assert Task.objects.get(pk=task.pk).live == 2
    Assignment.objects.all().delete()
    assert Task.objects.get(pk=task.pk).live == 0


def test_a_quota_cannot_be_lowered_below_what_is_taken(task):
    hold(task)
    hold(task)
    with refused_by("task_quota_kept"):
        Task.objects.filter(pk=task.pk).update(quota=1)


def test_one_current_judgment_per_assignment_summary_and_unit(task):
    assignment = hold(task)
    first = judge(assignment)
    with refused_by("judgment_one_current|judgment.assignment_id"), transaction.atomic():
        judge(assignment, revision=2)
    Judgment.objects.filter(pk=first.pk).update(is_current=False)
    judge(assignment, value=0.0, revision=2)
    assert list(Judgment.objects.order_by("revision").values_list("value", "is_current")) == [(1.0, False), (0.0, True)]


@pytest.mark.parametrize("value", [-0.1, 1.1, 5])
def test_a_value_outside_its_scale_is_refused(task, value):
    with refused_by("judgment_value_in_scale"):
        judge(hold(task), value=value)


def test_a_judgment_is_never_overwritten(task):
    row = judge(hold(task))
    row.value = 0.0
    with refused_by("never overwritten"), transaction.atomic():
        row.save()
    with refused_by("never overwritten"), transaction.atomic():
        Judgment.objects.update(unit="other")
    assert Judgment.objects.get().value == 1.0


def test_a_lease_has_an_end(task):
    with refused_by("assignment_lease_has_an_end"):
        Assignment.objects.create(task=task, worker=make_worker(task.batch.study))


def test_names_roles_and_filters_are_kept_single(study):
    user = make_user()
    Membership.objects.create(study=study, user=user, role=Role.ANALYST)
    FilterDecision.objects.create(study=study, rules=["checks"])
    for write in (
        lambda: Study.objects.create(name=study.name),
        lambda: Membership.objects.create(study=study, user=user, role=Role.ADMIN),
        lambda: Membership.objects.create(study=study, user=make_user(), role="owner"),
        lambda: FilterDecision.objects.create(study=study, rules=["time"]),
        lambda: User.objects.create(username="x", is_demo=True, is_superuser=True),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            write()


def test_the_filter_in_force_is_the_one_that_nobody_undid(study):
    assert study.filter_in_force() is None
    FilterDecision.objects.create(study=study, rules=["time"], undone_at=timezone.now())
    FilterDecision.objects.create(study=Study.objects.create(name="Another"), rules=["straightlining"])
    assert study.filter_in_force() is None
    decision = FilterDecision.objects.create(study=study, rules=["checks"])
    assert study.filter_in_force() == decision


def test_two_names_that_read_alike_get_different_addresses():
    assert [Study.objects.create(name=name).slug for name in ("A b", "A-B", "!!!")] == ["a-b", "a-b-2", "study"]
