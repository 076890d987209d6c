"""MTurk's CSV forms: a batch goes out as `Input.*`, results come back in any column order, bad files change nothing."""

import csv
import gzip
import io
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.tables import TableError
from annotation.common.errors import Refused
from annotation.models import Assignment, ContentUnit, Judgment, Study, Summary, Worker
from annotation.studies.batches import create_batch
from annotation.tables.frames import judgments_frame
from annotation.transfer.mturk_csv import export_batch, import_results, sheet
from annotation.transfer.mturk_csv.sheet import read_sheet
from tests.annotation.studies.test_second_rounds import open_round, rated
from tests.factories import make_study

pytestmark = pytest.mark.django_db


def exported(batch, **options) -> list[dict[str, str]]:
    stream = io.StringIO(newline="")
    export_batch(batch, stream, **options)
    stream.seek(0)
    return list(csv.DictReader(stream))


def result_file(rows: list[dict[str, str]], columns: list[str] | None = None) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns or sorted({name for row in rows for name in row}))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def fill_in(row: dict[str, str], answers: str, **cells: str) -> dict[str, str]:
    """A row with its statements answered: "pn…"; BLANK fillers get n."""
    places = sorted(int(name.rsplit("_")[-1]) for name in row if name.startswith("Input.statement_"))
    return {**row, **{f"Answer.S{n}Answer": (answers + "n" * 16)[n - 1] for n in places}, **cells}


@pytest.fixture
def pyramid():
    study = make_study(documents=2, systems=2, units=3)
    return create_batch(study, "first", "litepyramid", 2)


def test_a_litepyramid_batch_goes_out_and_its_results_come_back(pyramid):
    rows = exported(pyramid)
    assert len(rows) == 4
    assert rows[0]["Input.eventId"] == "doc0"
    assert rows[0]["Input.summaryId"] == "system0"
    assert rows[0]["Input.statement_1"] == "Fact 0 of document 0."
    assert rows[0]["Input.statement_16"] == "BLANK"  # unused places, as in REALSumm's form
    results = [fill_in(row, "pnp", WorkerId=worker) for row in rows for worker in ("A1", "A2")]
    imported = import_results(pyramid.study, result_file(results), "results.csv", batch=pyramid)
    assert (imported.counted, imported.surplus, imported.judgments, imported.workers) == (8, 0, 24, 2)
    frame = judgments_frame(pyramid.study)
    assert Counter(zip(frame["unit"], frame["value"], strict=True)) == {
        ("scu00", 1): 8, ("scu01", 0): 8, ("scu02", 1): 8,
    }  # fmt: skip
    assert frame["worker_id"].nunique() == 2
    assert not frame["worker_id"].isin(["A1", "A2"]).any()


def test_the_order_of_columns_doesnt_matter_and_the_same_file_again_changes_nothing(pyramid):
    results = [fill_in(row, "pnp", WorkerId="A1", AssignmentId=f"as{n}") for n, row in enumerate(exported(pyramid))]
    columns = sorted(results[0], reverse=True)  # S9 before S16 before S10
    import_results(pyramid.study, result_file(results, columns), "a.csv", batch=pyramid)
    imported = import_results(pyramid.study, result_file(results), "b.csv", batch=pyramid)
    assert (imported.known, imported.judgments) == (4, 0)
    assert Judgment.objects.count() == 12
    assert set(Judgment.objects.filter(unit="scu01").values_list("value", flat=True)) == {0.0}


def test_without_worker_columns_equal_rows_are_two_workers(pyramid):
    row = fill_in(exported(pyramid)[0], "ppp")
    imported = import_results(pyramid.study, result_file([row, row]), "r.csv", batch=pyramid)
    assert (imported.counted, imported.workers) == (2, 0)
    assert Worker.objects.filter(study=pyramid.study).count() == 2


def test_answers_beyond_the_quota_and_rejected_ones_are_kept_and_not_counted(pyramid):
    row = exported(pyramid)[0]
    rows = [fill_in(row, "ppp", WorkerId=f"A{n}", AssignmentStatus="Approved") for n in range(3)]
    rows += [fill_in(row, "nnn", WorkerId="A9", AssignmentStatus="Rejected")]
    imported = import_results(pyramid.study, result_file(rows), "r.csv", batch=pyramid)
    assert (imported.counted, imported.surplus, imported.rejected) == (2, 1, 1)
    assert Assignment.objects.filter(state="surplus").count() == 2
    assert len(judgments_frame(pyramid.study)) == 6


def test_formulas_are_defused_on_the_way_out_and_understood_on_the_way_in(pyramid):
    ContentUnit.objects.filter(scu_id="scu00").update(text="=HYPERLINK(1) won.")
    Summary.objects.filter(document__doc_id="doc0").update(text="-3 degrees were measured.")
    rows = exported(pyramid)
    assert rows[0]["Input.statement_1"] == "'=HYPERLINK(1) won."
    assert rows[0]["Input.summary_text"] == "'-3 degrees were measured."
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    imported = import_results(pyramid.study, result_file([fill_in(row, "pnn") for row in rows]), "r.csv", batch=pyramid)
    assert imported.judgments == 12


def test_a_likert_batch_goes_out_and_its_ratings_come_back():
    study = make_study(documents=2, systems=3)
    batch = create_batch(study, "ratings", "likert", 1, {"dimensions": ["coherence", "fluency"]})
    rows = exported(batch)
    assert len(rows) == 2
    assert {rows[0][f"Input.summaryId_{n}"] for n in range(1, 5)} == {"system0", "system1", "system2", "reference"}
    ratings = {f"Answer.S{n}_{unit}": str(n) for n in range(1, 5) for unit in ("fluency", "coherence")}
    imported = import_results(study, result_file([{**row, **ratings} for row in rows]), "r.csv", batch=batch)
    assert imported.judgments == 16
    for row in rows:  # what was rated n is the summary that stood at place n
        for n in range(1, 5):
            judgments = Judgment.objects.filter(
                summary__document__doc_id=row["Input.eventId"], summary__system__name=row[f"Input.summaryId_{n}"]
            )
            assert set(judgments.values_list("value", "position")) == {(float(n), n)}


def test_a_second_round_has_no_csv_form():
    first, _workers = rated([[0, 1], [1, 1]], "litepyramid", ("scu1", "scu2"))
    second = open_round(first)
    with pytest.raises(Refused, match="is a second round"):
        exported(second)
    with pytest.raises(Refused, match="is a second round"):
        import_results(second.study, b"HITId\r\n1\r\n", "results.csv", batch=second)
    assert not second.tasks.filter(assignments__isnull=False).exists()


def test_the_upload_form_of_the_site_gets_names_without_the_prefix(pyramid):
    assert "statement_1" in exported(pyramid, prefix="")[0]


BAD = {
    "an answer that is no answer": (
        lambda row: {**row, "Answer.S2Answer": "maybe"},
        "row 2, column Answer.S2Answer: found 'maybe', expected p or n.",
    ),
    "an answer left out": (
        lambda row: {**row, "Answer.S1Answer": ""},
        "row 2, column Answer.S1Answer: found '', expected p or n.",
    ),
    "another system's text": (
        lambda row: {**row, "Input.summary_text": "Summary of document 0 by system1."},
        "row 2, column Input.summary_text: found the text of system1, not the one that system0 wrote",
    ),
    "a system nobody knows": (
        lambda row: {**row, "Input.summaryId": "bert"},
        "row 2, column Input.summaryId: found 'bert', no system of this study",
    ),
    "a statement nobody knows": (
        lambda row: {**row, "Input.statement_2": "The moon is cheese."},
        "row 2, column Input.statement_2: found 'The moon is cheese.', expected an SCU",
    ),
    "a worker twice": (
        lambda row: {**row, "WorkerId": "A1"},
        "row 2, column WorkerId: found the same as in row 1",
    ),
    "a time that is none": (
        lambda row: {**row, "SubmitTime": "yesterday"},
        "row 2, column SubmitTime: found 'yesterday', expected a time",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_named_and_nothing_is_stored(pyramid, case):
    spoil, sentence = BAD[case]
    first, second = (fill_in(exported(pyramid)[0], "ppp", WorkerId=f"A{n}", SubmitTime="") for n in (1, 2))
    with pytest.raises(Refused, match="Nothing was imported") as refusal:
        import_results(pyramid.study, result_file([first, spoil(second)]), "results.csv", batch=pyramid)
    assert f"results.csv, {sentence}" in str(refusal.value)
    assert not Assignment.objects.exists()
    assert not Worker.objects.filter(study=pyramid.study).exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe\x00", "no UTF-8"),
        (b"", "expected columns named Input."),
        (b"Input.summaryId,Input.summary_text,Answer.S1Answer\n", "no row below the header"),
        (b"Input.summaryId,Input.summaryId,Answer.S1Answer\na,b,c\n", "column Input.summaryId: found the column twice"),
        (b"Input.summaryId,Input.summary_text,Answer.S1Answer\na,b\n", "row 1: found 2 cells, expected 3"),
        (b"Input.summary_text,Input.statement_1,Answer.S1Answer\nb,c,p\n", "Input.summaryId: found no such column"),
        (b'Input.summaryId,Answer.S1Answer\n"a,b\n', "row 1: found unexpected end of data"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_result_file_is_refused_with_the_reason(pyramid, content, sentence):
    with pytest.raises(Refused) as refusal:
        import_results(pyramid.study, content, "results.csv", batch=pyramid)
    assert sentence in str(refusal.value)


def realsumm_study(shared: Path, folder: Path, systems: list[str]) -> Study:
    """The two systems' part of REALSumm, without its judgments."""
    folder.mkdir()
    with gzip.open(shared / "summaries.jsonl.gz", "rt", encoding="utf-8") as lines:
        of_systems = [line for line in lines if json.loads(line)["system"] in systems]
    (folder / "summaries.jsonl").write_text("".join(of_systems), encoding="utf-8")
    for name in ("documents.jsonl.gz", "scus.csv"):
        (folder / name).write_bytes((shared / name).read_bytes())
    call_command("import_study", folder, name="realsumm", verbosity=0)
    return Study.objects.get(name="realsumm")


def test_the_released_files_load_and_agree_with_the_released_judgments(shared_data, tmp_path, capsys):
    shared = shared_data / "realsumm"
    study = realsumm_study(shared, tmp_path / "study", ["bart_out", "refresh_out"])
    for name in ("batch_abs_bart.csv", "batch_ext_refresh.csv"):
        call_command("mturk_csv", "import", shared / name, study="realsumm")
    assert "315 rows, 315 of them new: 5040 judgments." in capsys.readouterr().out

    released = pd.read_csv(shared / "judgments.csv.gz", dtype=str)
    released = released[released["system"].isin(["bart_out", "refresh_out"])]
    imported = judgments_frame(study).astype({"value": str})
    assert len(imported) == len(released) == 5040 + 4816  # 315 and 301 assignments of 16 statements
    assert answer_sheets(imported) == answer_sheets(released)
    assert imported["is_check"].sum() == (released["is_check"] == "1").sum()  # the BLANK places


def answer_sheets(frame: pd.DataFrame) -> Counter:
    """How often each filled-in form occurs: whose it is can't be told from the released files."""
    return Counter(
        (doc, system, tuple(sorted(zip(rows["unit"], rows["value"], strict=True))))
        for (doc, system, _), rows in frame.groupby(["doc_id", "system", "assignment_id"])
    )


def test_the_command_exports_imports_and_refuses_with_exit_code_2(pyramid, tmp_path, capsys):
    out, results = tmp_path / "batch.csv", tmp_path / "back.csv"
    call_command("mturk_csv", "export", out, study=pyramid.study.name, batch="first")
    with out.open(newline="") as stream:
        results.write_bytes(result_file([fill_in(row, "pnp") for row in csv.DictReader(stream)]))
    call_command("mturk_csv", "import", results, study=pyramid.study.name, batch="first", dry_run=True)
    assert not Judgment.objects.exists()
    call_command("mturk_csv", "import", results, study=pyramid.study.name, batch="first")
    assert Judgment.objects.count() == 12
    results.write_text("nonsense")
    with pytest.raises(CommandError, match="Nothing was imported") as error:
        call_command("mturk_csv", "import", results, study=pyramid.study.name, batch="first")
    assert error.value.returncode == 2
    with pytest.raises(CommandError, match="There is no batch named 'other' in this study"):
        call_command("mturk_csv", "export", out, study=pyramid.study.name, batch="other")


def test_a_wrong_header_is_refused_before_the_rows_are_read():
    rows = b"1,2\n" * 400_000 + b'"never closed'  # reading on would take long, and end at the last line
    with pytest.raises(TableError, match=r"columns named Input"):
        read_sheet(b"one,two\n" + rows, "results.csv")


def test_there_is_an_end_to_the_rows(monkeypatch):
    monkeypatch.setattr(sheet, "MOST_ROWS", 2)
    with pytest.raises(TableError, match="at most 2"):
        read_sheet(b"Input.a,Answer.b\n" + b"1,2\n" * 3, "results.csv")
