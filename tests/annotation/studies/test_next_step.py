"""A study's first page says the next step and shows its money."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Role, Study
from annotation.studies.next_step import next_step, spent
from annotation.studies.progress import study_state
from tests.annotation.crowds.conftest import make_crowd_batch
from tests.annotation.crowds.test_console import published, submit_answers
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db


def step_of(study: Study) -> str:
    return next_step(study, study_state(study)).button


def test_the_next_step_goes_from_a_batch_to_the_report():
    study = make_study()
    assert step_of(study) == "Make a batch"
    batch = make_batch(study, state=Batch.State.DRAFT)
    assert step_of(study) == "Open or launch it"
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.OPEN)
    assert step_of(study) == "Watch it"
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.CLOSED)
    assert step_of(study) == "Look at the batches"


def test_money_that_waits_comes_first_and_the_page_shows_it(client: Client):
    batch = make_crowd_batch(documents=1, quota=2)
    for submission in published(batch):
        submit_answers(submission, "1")
    assert step_of(batch.study) == "Decide"
    client.force_login(make_member(batch.study, Role.ADMIN))
    page = client.get(reverse("study", args=[batch.study.slug])).content.decode()
    assert "2 answers wait for a verdict." in page
    assert reverse("crowd-workers", args=[batch.study.slug, batch.pk]) + "?show=waiting" in page
    client.force_login(make_member(batch.study, Role.ANALYST))
    page = client.get(reverse("study", args=[batch.study.slug])).content.decode()
    assert "wait for a verdict" not in page
    assert "Money" not in page


def test_a_study_without_money_shows_none_and_one_with_a_budget_what_is_left():
    study = make_study()
    assert spent(study) is None
    Study.objects.filter(pk=study.pk).update(budget_cents=5000)
    study.refresh_from_db()
    assert spent(study).left == 5000
