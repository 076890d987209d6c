"""Opening a task takes at most 6 queries and submitting at most 12, with 10,000 tasks in the batch."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.judging.leases import lease_task
from annotation.models import Assignment, Batch, ContentUnit, Document, Summary, Task, Worker
from annotation.protocols import of as protocol_of
from annotation.studies.batches import create_batch
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db

TASKS = 10_000
NOT_COUNTED = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT", "PRAGMA")


def queries(captured: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in captured if not query["sql"].lstrip().upper().startswith(NOT_COUNTED)]


@pytest.fixture(params=["litepyramid", "likert"])
def crowded(request, client):
    """A batch of 10,000 tasks, many of them done, leased or lost by 50 others; and a signed-in annotator."""
    study = make_study(documents=1, systems=4, units=16)
    template, system = study.documents.get(), study.systems.first()
    documents = Document.objects.bulk_create(
        Document(study=study, doc_id=f"more{n}", source="Text.") for n in range(TASKS - 1)
    )
    Summary.objects.bulk_create(
        [Summary(document=document, system=system, text="Short.") for document in documents], batch_size=2000
    )
    ContentUnit.objects.bulk_create(
        [ContentUnit(document=document, scu_id="scu00", text="Fact.") for document in documents], batch_size=2000
    )
    batch = create_batch(study, "big", request.param, 3, state=Batch.State.OPEN)
    other_workers = Worker.objects.bulk_create(
        Worker(study=study, crowd="x", external_id=str(n), pseudonym=f"w-{n}") for n in range(50)
    )
    now, State = timezone.now(), Assignment.State
    tasks = list(Task.objects.filter(batch=batch).exclude(document=template).order_by("pk")[:2000])
    Assignment.objects.bulk_create(
        Assignment(
            task=task,
            worker=other_workers[(n + shift) % 50],
            state=[State.SUBMITTED, State.LEASED, State.LEASED][shift],
            lease_until=now + timedelta(minutes=[0, 10, -10][shift]),
        )
        for n, task in enumerate(tasks)
        for shift in range(3)
    )
    user = make_member(study)
    Worker.for_user(study, user)
    client.force_login(user)
    return batch


def test_every_step_of_a_task_stays_within_its_budget(crowded, client):
    assert crowded.tasks.count() >= TASKS
    with CaptureQueriesContext(connection) as taking:
        answer = client.post(reverse("take", args=[crowded.pk]))
    with CaptureQueriesContext(connection) as opening:
        assert client.get(answer.url).status_code == 200

    assignment = Assignment.objects.select_related("task__batch__study", "worker").get(worker__user__isnull=False)
    fields = [item.field for item in protocol_of(crowded).items(assignment)]
    draft = json.dumps({"changes": [{"field": "a", "content": {"value": "1"}, "at": 1}], "seen": 0})
    with CaptureQueriesContext(connection) as saving:
        assert client.put(reverse("draft", args=[assignment.key]), draft, "application/json").status_code == 200
    letter = json.dumps({"submit_key": "k", "answers": dict.fromkeys(fields, "1")})
    with CaptureQueriesContext(connection) as submitting:
        assert client.post(reverse("submit", args=[assignment.key]), letter, "application/json").status_code == 200
    with CaptureQueriesContext(connection) as leasing:
        lease_task(crowded, assignment.worker)

    assert len(queries(opening)) <= 6, queries(opening)
    assert len(submitting) <= 12, queries(submitting)  # the savepoint's commands included
    assert len(leasing) <= 7, queries(leasing)
    assert len(queries(saving)) <= 6, queries(saving)
    assert len(queries(taking)) <= 14, queries(taking)  # with the gates before the first task


@pytest.mark.parametrize("number", [1, 20])
def test_the_list_of_my_answers_takes_as_many_queries_for_one_as_for_many(client, number):
    study = make_study(documents=number)
    batch, user = make_batch(study), make_member(study)
    worker = Worker.for_user(study, user)
    Assignment.objects.bulk_create(
        Assignment(task=task, worker=worker, state=Assignment.State.SUBMITTED, submitted_at=timezone.now())
        for task in batch.tasks.all()
    )
    client.force_login(user)
    with CaptureQueriesContext(connection) as listing:
        assert client.get(reverse("answers", args=[batch.pk])).status_code == 200
    assert len(listing) <= 7
