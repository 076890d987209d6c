"""The record is read as sentences, with the names of batches and people and with amounts."""

import pytest

from annotation.accounts.record import record_lines
from annotation.models import AuditEvent
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


def said(study, line: str, /, **facts: str) -> str:
    event = AuditEvent(action=line, study=study, facts={f"form.{name}": value for name, value in facts.items()})
    event.facts |= {"slug": study.slug, "batch_id": str(study.batches.get().pk)}
    return record_lines(study, [event])[0].sentence


def test_lines_are_sentences_with_names_and_amounts(study):
    name = make_batch(study).name
    cases = {
        said(study, "POST launch", reward="0.20", total="96000"): (
            f"Launched “{name}” at $0.20 a task, $960.00 with fees"
        ),
        said(study, "POST ledger", budget="400", wage="12,50"): (
            "Set the budget to $400.00 and the minimum wage to $12.50 an hour"
        ),
        said(study, "POST crowd-workers-do", action="bonus", amount="1.5", worker="a, b"): (
            f"Paid a bonus of $1.50 each: 2 people in “{name}”"
        ),
        said(study, "POST batch-state", state="open"): f"Opened “{name}”",
        said(study, "POST batch-act", action="top-up", total="1234"): f"Asked for more answers: “{name}”, $12.34",
        said(study, "POST members", name="ada", role="analyst"): "Gave ada the role analyst",
        said(study, "POST members", name="ada", remove="1"): "Took ada out of the study",
        said(study, "POST new-batch", name="Pilot", quota="3"): "Made the batch “Pilot”, 3 answers a task",
        said(study, "POST quality-decide", rules="majority-dissent"): "Applied the filter majority-dissent",
        said(study, "POST metrics", set="quick"): "Had metrics computed: quick",
        said(study, "POST edit-study", name="Better"): "Renamed the study to “Better”",
    }
    assert {got: want for got, want in cases.items() if got != want} == {}


def test_what_has_no_sentence_of_its_own_keeps_its_label(study):
    make_batch(study)
    assert said(study, "POST exports") == "Ordered an export"
    assert said(study, "POST ledger", budget="nonsense") == "Set the budget or the minimum wage"
    assert said(study, "POST something") == "POST something"
