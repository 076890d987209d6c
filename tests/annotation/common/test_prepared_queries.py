"""A query that was built once answers as the one built anew would."""

import pytest
from django.db import connection, transaction

from annotation.common.prepared_queries import PreparedObjects, PreparedQuery
from annotation.models import Batch, Document, Task
from tests.factories import make_batch, make_study, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]


def test_it_gives_the_rows_of_the_values_asked_for():
    first, second = (make_batch(make_study(documents=n)) for n in (1, 2))
    tasks = PreparedQuery(lambda batch: Task.objects.filter(batch=batch).order_by("pk").values_list("pk"), "batch")
    for batch in (first, second, first):
        assert [pk for (pk,) in tasks(batch=batch.pk)] == sorted(batch.tasks.values_list("pk", flat=True))


def test_it_locks_as_asked():
    batch = make_batch(make_study())
    lock = PreparedQuery(lambda batch: Task.objects.filter(batch=batch).select_for_update().values_list("pk"), "batch")
    with transaction.atomic():
        assert len(lock(batch=batch.pk)) == 1


def test_a_value_that_does_not_reach_the_sql_is_an_error_at_once():
    query = PreparedQuery(lambda batch: Task.objects.values_list("pk"), "batch")
    with pytest.raises(ValueError, match="does not reach"):
        query(batch=1)


def test_objects_come_with_what_is_related_as_if_asked_anew(django_assert_num_queries):
    batches = [make_batch(make_study(documents=n)) for n in (1, 2)]
    Batch.objects.update(options={"order": "random"}, terms={})

    def build(task, name):
        tasks = Task.objects.select_related("batch__study", "document", "summary").defer("document__source")
        return tasks.filter(pk=task, batch__name=name)

    query = PreparedObjects(build, "task", words=["name"])
    for batch in batches:
        for expected in build(batch.tasks.first().pk, batch.name):
            with django_assert_num_queries(1):
                task = query.first(task=expected.pk, name=batch.name)
                related = (task.batch.study, task.document, task.summary, task.reserved_for)
            assert related == (expected.batch.study, expected.document, expected.summary, None)
            for actual, model in ((task, expected), (task.batch, expected.batch), (task.summary, expected.summary)):
                assert {**vars(actual), "_state": None} == {**vars(model), "_state": None}
            assert task.batch.options == {"order": "random"}
            assert task.document.get_deferred_fields() == {"source"}
    assert query.first(task=batches[0].tasks.first().pk, name="another") is None


def test_a_plan_that_was_kept_survives_a_new_column():
    """A migration adds columns while the site runs: the connection that has the plan goes on."""
    study = make_study()
    documents = PreparedObjects(lambda study: Document.objects.filter(study=study), "study")
    for _ in range(7):  # PostgreSQL keeps one plan for all values after the fifth time
        assert documents.first(study=study.pk) == study.documents.get()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE '%annotation_document%'"
            )
            assert cursor.fetchall() == [(2,)]
    connection.check_constraints()  # nothing is left to check when the table changes
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE annotation_document ADD COLUMN later integer")
    assert documents.first(study=study.pk) == study.documents.get()


def test_a_number_that_no_row_can_have_finds_nothing(client):
    tasks = PreparedQuery(lambda batch: Task.objects.filter(batch=batch).values_list("pk"), "batch")
    assert tasks(batch=2**63) == []
    client.force_login(make_user())
    assert client.post(f"/work/batch/{10**30}/").status_code == 404


def test_a_query_that_stops_at_its_first_row_is_planned_anew():
    """Its plan for any values was to go through a million answers until one came."""
    batch = make_batch(make_study())
    first = PreparedQuery(lambda batch: Task.objects.filter(batch=batch).values_list("pk")[:1], "batch", replan=True)
    for _ in range(7):
        assert first(batch=batch.pk) == [(batch.tasks.get().pk,)]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%annotation_task%LIMIT 1%'"
            )
            assert cursor.fetchone() == (0,)
