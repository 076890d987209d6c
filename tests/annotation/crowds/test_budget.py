"""The ledger's own rules, kept by the database: the budget, and amounts that never change."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from annotation.models import Entry, Study
from tests.factories import make_batch, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.sqlite]


def promise(study: Study, cents: int, token: str) -> Entry:
    batch = study.batches.first() or make_batch(study)
    return Entry.objects.create(
        study=study, batch=batch, kind="post", token=token, reward_cents=cents, promised_cents=cents
    )


def committed(study: Study) -> int:
    study.refresh_from_db()
    return study.committed_cents


def test_what_is_committed_follows_the_entries() -> None:
    study = make_study()
    first, second = promise(study, 120, "a"), promise(study, 60, "b")
    assert committed(study) == 180
    Entry.objects.filter(pk=second.pk).update(state="failed")
    assert committed(study) == 120
    Entry.objects.filter(pk=first.pk).update(state="settled")
    assert committed(study) == 120
    first.delete()
    assert committed(study) == 0


def test_one_cent_over_the_budget_is_refused_by_the_database() -> None:
    study = make_study()
    Study.objects.filter(pk=study.pk).update(budget_cents=100)
    promise(study, 100, "a")
    with pytest.raises(IntegrityError, match="study_budget_kept"), transaction.atomic():
        promise(study, 1, "b")
    assert committed(study) == 100


def test_a_token_stands_once() -> None:
    study = make_study()
    promise(study, 1, "a")
    with pytest.raises(IntegrityError), transaction.atomic():
        promise(study, 1, "a")


def test_an_amount_never_changes() -> None:
    entry = promise(make_study(), 100, "a")
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
        Entry.objects.filter(pk=entry.pk).update(promised_cents=1)
