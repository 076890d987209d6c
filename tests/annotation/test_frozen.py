"""A query that was built once answers as the one built anew would."""

import pytest
from django.db import transaction

from annotation.frozen import Frozen
from annotation.models import Task
from tests.factories import make_batch, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]


def test_it_gives_the_rows_of_the_values_asked_for():
    first, second = (make_batch(make_study(documents=n)) for n in (1, 2))
    tasks = Frozen(lambda batch: Task.objects.filter(batch=batch).order_by("pk").values_list("pk"), "batch")
    for batch in (first, second, first):
        assert [pk for (pk,) in tasks(batch=batch.pk)] == sorted(batch.tasks.values_list("pk", flat=True))


def test_it_locks_as_asked():
    batch = make_batch(make_study())
    lock = Frozen(lambda batch: Task.objects.filter(batch=batch).select_for_update().values_list("pk"), "batch")
    with transaction.atomic():
        assert len(lock(batch=batch.pk)) == 1


def test_a_value_that_does_not_reach_the_sql_is_an_error_at_once():
    lost = Frozen(lambda batch: Task.objects.values_list("pk"), "batch")
    with pytest.raises(ValueError, match="does not reach"):
        lost(batch=1)
