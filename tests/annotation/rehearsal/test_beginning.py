"""The demo's batch on the marketplace: half done by people of known character, and partly paid."""

import pytest

from annotation.crowds.ledger import set_budget
from annotation.crowds.settle import settle
from annotation.crowds.terms import Terms, set_terms
from annotation.models import Assignment, Entry, Submission, Worker
from annotation.rehearsal import beginning
from annotation.rehearsal.characters import parse_crowd, people_of
from annotation.rehearsal.worker import password_of
from annotation.studies.batches import create_batch
from tests.annotation.crowds.conftest import TERMS
from tests.factories import make_study


@pytest.mark.django_db(transaction=True)
def test_a_batch_is_left_in_progress_with_money_paid_and_work_to_review(desk, live_server, settings, monkeypatch):
    settings.SITE_URL, settings.MARKET_ORIGINS = live_server.url, [desk.market.url]
    monkeypatch.setattr(beginning, "CROWD", "careful=2")
    monkeypatch.setattr(beginning, "EACH", 2)
    monkeypatch.setattr(beginning, "LEFT_TO_REVIEW", 1)
    for person in people_of(parse_crowd(beginning.CROWD), 0):
        desk.ask("account", name=person.name, password=password_of(person.name))
    study = make_study(documents=1, systems=4, units=3)
    set_budget(study, 10_00)
    batch = create_batch(study, "On the marketplace", "litepyramid", 2, {}, crowd="mturk")
    set_terms(batch, Terms.parse(TERMS), "mturk")
    lines: list[str] = []
    beginning.begin(batch, tell=lines.append)
    # Two people did two of the eight places each; three are paid, one waits, four are open.
    assert Assignment.objects.counted().filter(task__batch=batch).count() == 4
    states = sorted(Submission.objects.filter(posting__batch=batch).values_list("state", flat=True))
    assert states == ["approved", "approved", "approved", "submitted"]
    assert lines[-1] == "4 answers handed in, 3 of them paid; the others wait to be looked at."
    kinds = Entry.objects.filter(batch=batch, state=Entry.State.SETTLED).values_list("kind", flat=True)
    assert list(kinds).count(Entry.Kind.APPROVE) == 3
    assert list(kinds).count(Entry.Kind.BONUS) == 1
    assert all(worker.is_simulated for worker in Worker.objects.filter(study=study, crowd="mturk"))
    assert settle(study).differences == []
