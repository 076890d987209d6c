"""The datasheet answers what was recorded, marks the rest as questions, and guesses nothing."""

import pytest
from django.core.management import call_command

from annotation.jobs.page_cache import StoredResult, plain, study_mark
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Assignment, FilterDecision, Role, Study
from annotation.protocols import of as protocol_of
from annotation.results.quality import quality_content
from annotation.transfer.datasheet import Datasheet, datasheet
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.test_import import write_folder
from tests.factories import make_batch, make_member, make_study, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two workers judged both summaries here; they agree on two of three SCUs."""
    study = make_study(documents=2, name="A *bold* study")
    batch = make_batch(study, quota=2)
    for number, worker in enumerate((make_worker(study), make_worker(study))):
        for _ in range(2):
            assignment = lease_task(batch, worker)
            items = protocol_of(batch).items(assignment)
            answers = {item.field: str(int(item.unit != f"scu0{number}")) for item in items}
            submit_judgments(worker, assignment.key, answers, assignment.key)
    return study


def answers(sheet: Datasheet) -> dict[str, str]:
    return {question.number: question.answer for section in sheet.heds for question in section.questions}


def test_what_was_recorded_is_answered(study):
    FilterDecision.objects.create(study=study, rules=["checks"], seed=5)
    by_number = answers(datasheet(study))
    assert by_number["3.1.1"].startswith("2 on average: 2 summaries of 2 documents")
    assert by_number["3.2.1"] == "2 (2 as crowd)."
    assert by_number["3.2.3"] == "By invitation to this site."
    assert "`checks` (seed 5)" in by_number["3.3.3.2"]
    assert by_number["4.3.3"] == "2"
    assert "not the source, the reference or the system's name" in by_number["3.3.4.2"]


def test_what_nobody_recorded_stays_a_marked_question(study):
    sheet = datasheet(study)
    by_number = answers(sheet)
    assert {name for name in ("1.1.1", "2.4", "3.1.2", "3.2.5", "3.3.1", "5.1", "5.3") if by_number[name]} == set()
    text = sheet.markdown()
    assert text.count("**To be answered:**") == sheet.n_questions - sheet.n_answered
    assert 40 <= sheet.n_questions <= 60
    assert f"{sheet.n_answered} of {sheet.n_questions} questions" in text


def test_of_imported_judgments_it_doesnt_claim_to_know_how_they_were_collected(tmp_path):
    import_study(write_folder(tmp_path / "in"), "s")
    by_number = answers(datasheet(Study.objects.get(name="s")))
    assert by_number["3.2.3"] == "Elsewhere: their judgments were imported."
    assert {
        name for name in ("3.2.4", "3.3.2", "3.3.4.1", "3.3.4.2", "3.3.5", "3.3.7", "4.3.5") if by_number[name]
    } == set()


def test_agreement_is_the_quality_pages(study):
    assert answers(datasheet(study))["4.3.11.2"] == ""
    content = plain(quality_content(study))
    StoredResult.objects.create(study=study, name="quality", mark=study_mark(study), content=content)
    alpha = content["protocols"][0]["agreement"][0]
    assert f"pooled over all units: {alpha['value']:.3f}" in answers(datasheet(study))["4.3.11.2"]


def test_active_time_and_reward_give_the_wage(study):
    Assignment.objects.update(signals={"loads": {"load1": {"active": 90, "focus_lost": 0, "pastes": 0, "items": {}}}})
    study.batches.update(terms={"reward_cents": 20})
    # 0.20 in 1.5 minutes is 8.00 an hour.
    assert "0.20 USD per assignment" in answers(datasheet(study))["3.2.2.2"]
    assert "8.00 USD an hour" in answers(datasheet(study))["3.2.2.2"]


def test_the_card_has_front_matter_and_names_cant_break_the_document(study):
    card = datasheet(study).markdown("card")
    assert card.startswith('---\npretty_name: "A *bold* study"\n')
    assert "- summarization" in card
    assert "# Dataset card: A \\*bold\\* study" in card
    study.name = "<script>alert(1)</script>"
    page = datasheet(study).html("datasheet")
    assert "<script>" not in page
    assert page.startswith("<!DOCTYPE html>")


def test_no_sheet_names_a_worker(study):
    sheet = datasheet(study)
    for worker in study.workers.all():
        assert worker.user.username not in sheet.markdown()
        assert worker.pseudonym not in sheet.markdown()


def test_page_and_files_are_for_readers(client, study):
    client.force_login(make_member(study, Role.ANNOTATOR))
    assert client.get(f"/studies/{study.slug}/datasheet/").status_code == 403
    client.force_login(make_member(study, Role.ANALYST))
    assert "To be answered" in client.get(f"/studies/{study.slug}/datasheet/").content.decode()
    for name, start in (("datasheet.md", b"# Human"), ("card.html", b"<!DOCTYPE"), ("card.md", b"---")):
        assert client.get(f"/studies/{study.slug}/datasheet/{name}").content.startswith(start)
    assert client.get(f"/studies/{study.slug}/datasheet/x.md").status_code == 409


def test_the_command_prints_or_writes(study, tmp_path, capsys):
    call_command("datasheet", study.name)
    assert capsys.readouterr().out.startswith("# Human evaluation datasheet")
    call_command("datasheet", study.name, out=tmp_path / "sheets")
    assert sorted(path.name for path in (tmp_path / "sheets").iterdir()) == [
        "card.html", "card.md", "datasheet.html", "datasheet.md",
    ]  # fmt: skip
    assert "questions wait for your answer" in capsys.readouterr().out
