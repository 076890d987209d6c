"""Flags and notes to the researchers: kept with the draft, shown to admins, exported, in the API."""

import csv

import pytest
from django.urls import reverse

from annotation.judging.drafts import Change, save_draft
from annotation.judging.leases import lease_task, release_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, Flag, Judgment, Role, Study, Worker
from annotation.protocols import of as protocol_of
from annotation.tables.judgments import judgments_table
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from tests.annotation.api.test_api import caller
from tests.factories import make_batch, make_member, make_study

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def assignment() -> Assignment:
    study = make_study()
    return lease_task(make_batch(study), Worker.for_user(study, make_member(study)))


def fields(assignment: Assignment) -> list[str]:
    return [item.field for item in protocol_of(assignment.task.batch).items(assignment)]


def flag(assignment: Assignment, field: str, note: str, at: int = 5, value: str = "1") -> None:
    content = {"value": value, "note": note}
    save_draft(assignment.worker, assignment.key, [Change(f"flag:{field}", content, at)])


def test_a_flag_is_kept_changed_and_taken_back(assignment):
    field = fields(assignment)[0]
    flag(assignment, field, "A typo.")
    flag(assignment, field, "Two  typos.", at=6)
    flag(assignment, field, "An old one.", at=4)  # came late: the later one stands
    row = Flag.objects.get()
    assert (row.note, row.summary_id, row.unit) == ("Two typos.", assignment.task.summary_id, "scu00")
    flag(assignment, field, "", at=7, value="")
    assert not Flag.objects.exists()


def test_a_note_on_the_task_stays_when_the_task_is_given_back(assignment):
    flag(assignment, "task", "The summary is cut off.")
    release_task(assignment.worker, assignment.key)
    row = Flag.objects.get()
    assert (row.note, row.summary, row.unit) == ("The summary is cut off.", None, "")


@pytest.mark.parametrize("field", ["", "nothing", "task:task"])
def test_a_flag_of_no_item_is_ignored(assignment, field):
    flag(assignment, field, "What?")
    assert not Flag.objects.exists()


def test_flags_sent_with_the_answers_reach_monitor_export_and_api(assignment, client):
    first, *others = fields(assignment)
    answers = {field: {"value": "1"} for field in (first, *others)}
    flags = {f"flag:{first}": {"value": "1", "note": "Cut off."}, "flag:task": {"value": "1", "note": "Hard to read."}}
    submit_judgments(assignment.worker, assignment.key, {**answers, **flags}, "k")
    assert set(Judgment.objects.values_list("value", flat=True)) == {1}
    batch = assignment.task.batch

    table = judgments_table(batch.study)
    assert table.names[-3:] == ["flagged", "flag_note", "task_note"]
    cells = [row[-3:] for row in sorted(table.rows(), key=lambda row: table.reader("unit")(row))]
    assert cells[0] == (True, "Cut off.", "Hard to read.")
    assert cells[1:] == [(False, None, "Hard to read.")] * (len(cells) - 1)

    client.force_login(make_member(batch.study, Role.ADMIN))
    page = client.get(reverse("monitor", args=[batch.study.slug, batch.pk])).text
    assert "Cut off." in page
    assert "Hard to read." in page
    assert "2 flags by annotators" in page

    rows = caller(batch.study, Role.ANALYST).get("/flags").json()["items"]
    assert [(row["unit"], row["note"]) for row in rows] == [("scu00", "Cut off."), ("", "Hard to read.")]


def test_a_study_without_flags_exports_no_columns_for_them(assignment):
    submit_judgments(assignment.worker, assignment.key, dict.fromkeys(fields(assignment), "1"), "k")
    assert "flagged" not in judgments_table(assignment.task.batch.study).names


def test_flags_of_an_export_are_there_after_its_import(assignment, tmp_path):
    flag(assignment, fields(assignment)[0], "Cut off.")
    submit_judgments(assignment.worker, assignment.key, dict.fromkeys(fields(assignment), "1"), "k")
    export_folder(assignment.task.batch.study, tmp_path / "first", ExportOptions())
    import_study(tmp_path / "first", "Again")
    study = Study.objects.get(name="Again")
    export_folder(study, tmp_path / "second", ExportOptions())
    for name in ("first", "second"):
        rows = list(csv.DictReader((tmp_path / name / "judgments.csv").open(encoding="utf-8")))
        flagged = [(row["unit"], row["flag_note"]) for row in rows if row["flagged"].lower() in ("1", "true")]
        assert flagged == [("scu00", "Cut off.")]
