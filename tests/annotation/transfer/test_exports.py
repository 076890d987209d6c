"""Exports: true to the study, safe to pass on, and enough to make every number again."""

import hashlib
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.cli import main as analysis
from analysis.report import Report
from analysis.tables import read_table
from annotation.common.errors import Refused
from annotation.models import Assignment, FilterDecision, Judgment, Study, Summary
from annotation.models.crowds import Entry
from annotation.results import report
from annotation.tables import stream
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from tests.annotation.demo_study import load_written
from tests.annotation.transfer.test_import import DOCUMENTS, JUDGMENTS, SUMMARIES, write_folder

pytestmark = pytest.mark.django_db

# Three workers on one summary; the third is outvoted on s1.
THREE = JUDGMENTS + "007,1,s1,THIRD3,1,x3,h1\n007,1,s2,THIRD3,0,x3,h1\n"

SHORT = JUDGMENTS.replace("A1B2C3", "bob").replace("ZZTOP9", "42")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    import_study(write_folder(tmp_path / "in", judgments__csv=THREE), "s")
    return Study.objects.get(name="s")


def export(study: Study, folder: Path, **options: object) -> Path:
    export_folder(study, folder, ExportOptions.checked(**options))
    return folder


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def test_the_manifest_tells_the_truth_about_every_file(study, tmp_path):
    call_command("export_study", tmp_path / "out", name="s")
    facts = manifest(tmp_path / "out")
    files = {file["name"]: file for file in facts["files"]}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*files, "manifest.json"}
    for name, file in files.items():
        content = (tmp_path / "out" / name).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["bytes"] == len(content)
    lines = (tmp_path / "out" / "judgments.csv").read_text().splitlines()
    assert files["judgments.csv"]["rows"] == len(lines) - 1 == 6
    assert [column["name"] for column in files["judgments.csv"]["columns"]] == lines[0].split(",")
    assert (facts["format"], facts["schema"], facts["filter"]) == ("pyramidion-export", 1, None)
    assert {"pandas", "krippendorff"} <= facts["versions"].keys()


def test_an_export_takes_the_place_of_the_one_before_and_of_nothing_else(study, tmp_path):
    out = export(study, tmp_path / "out")
    (out / "notes.csv").write_text("mine")
    (out / "scores.csv").write_text("changed by hand")
    export(study, out, tables=["judgments"], form="jsonl")
    assert {path.name for path in out.iterdir()} == {"judgments.jsonl", "manifest.json", "notes.csv", "scores.csv"}
    assert (out / "scores.csv").read_text() == "changed by hand"


def test_assignments_come_in_the_order_of_their_ids(tmp_path):
    # x3 is stored first; from the export that is read back x2 is.
    swapped = JUDGMENTS.replace("x1", "x3")
    import_study(write_folder(tmp_path / "in", judgments__csv=swapped), "s")
    options = {"tables": ["documents", "summaries", "scus", "judgments", "assignments"]}
    first = export(Study.objects.get(name="s"), tmp_path / "a", **options)
    import_study(first, "again")
    second = export(Study.objects.get(name="again"), tmp_path / "b", **options)
    names = [line.split(",")[0] for line in (first / "assignments.csv").read_text().splitlines()]
    assert names == ["assignment_id", "x2", "x3"]
    assert (first / "assignments.csv").read_bytes() == (second / "assignments.csv").read_bytes()


def test_the_salt_never_leaves(study, tmp_path):
    export(study, tmp_path / "out", shapes=["realsumm", "summeval", "rose", "mturk", "label_studio"])
    assert not any(study.salt.encode() in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_raw_worker_ids_leave_only_when_an_admin_asks(study, tmp_path):
    Judgment.objects.filter(unit="s1").update(extra={"hit_id": "h1", "who": "A1B2C3", "url": "task_ZZTOP9#1"})
    options = {"shapes": ["summeval", "mturk", "label_studio"], "tables": list(ExportOptions().tables)}
    hidden, raw = export(study, tmp_path / "a", **options), export(study, tmp_path / "b", **options, raw_workers=True)
    for worker in (b"A1B2C3", b"ZZTOP9", b"THIRD3"):
        assert not [path.name for path in hidden.iterdir() if worker in path.read_bytes()]
        assert worker in (raw / "judgments.csv").read_bytes()
    assert study.pseudonym("import", "ZZTOP9") in (hidden / "judgments.csv").read_text()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_own_columns_of_every_table_hide_worker_ids(study, tmp_path, form):
    """Whole, as a word, in lists and in long texts; counts and other people's words stay as they are."""
    extra = {"checked_by": "A1B2C3", "note": "Seen by zztop9. " + "x " * 200, "raters": ["THIRD3", "me"], "n": 7}
    study.documents.update(extra=extra)
    Summary.objects.filter(document__study=study).update(extra=extra)
    study.scores.update(extra=extra)
    tables = ["documents", "summaries", "scores"]
    hidden = export(study, tmp_path / "a", tables=tables, form=form)
    raw = export(study, tmp_path / "b", tables=tables, form=form, raw_workers=True)
    names = {worker: study.pseudonym("import", worker) for worker in ("A1B2C3", "ZZTOP9", "THIRD3")}
    for name in tables:
        row, raw_row = (read_table(folder / f"{name}.{form}", name).iloc[0] for folder in (hidden, raw))
        assert row["checked_by"] == names["A1B2C3"]
        assert row["note"] == f"Seen by {names['ZZTOP9']}. " + "x " * 200
        assert (names["THIRD3"] in row["raters"], "me" in row["raters"]) == (True, True)
        assert float(row["n"]) == 7
        assert (raw_row["checked_by"], "THIRD3" in raw_row["raters"]) == ("A1B2C3", True)


@pytest.mark.parametrize(
    ("cell", "template"),
    [
        ("bob", "{bob}"),
        ("BOB", "{bob}"),
        ("42", "{other}"),
        ("hit7_bob", "hit7_{bob}"),
        ("seen by Bob.", "seen by {bob}."),
        ("bobsled", "bobsled"),
        ("seen by 42", "seen by 42"),  # somebody else's short id inside a longer value may be anything
        (42, 42),
    ],
)
def test_short_worker_ids_are_hidden_too(tmp_path, cell, template):
    import_study(write_folder(tmp_path / "in", judgments__csv=SHORT), "s")
    study = Study.objects.get(name="s")
    Judgment.objects.filter(assignment__worker__external_id="bob").update(extra={"own": cell})
    rows = read_table(export(study, tmp_path / "out", form="jsonl") / "judgments.jsonl", "judgments")
    names = {"bob": study.pseudonym("import", "bob"), "other": study.pseudonym("import", "42")}
    expected = template.format(**names) if isinstance(template, str) else template
    assert set(rows.loc[rows["worker_id"] == names["bob"], "own"]) == {expected}


def test_a_measure_is_not_taken_for_worker_ids(tmp_path):
    import_study(write_folder(tmp_path / "in", judgments__csv=SHORT), "s")
    study = Study.objects.get(name="s")
    Judgment.objects.filter(unit="s1").update(extra={"sure": "42", "who": "42"})
    Judgment.objects.filter(unit="s2").update(extra={"sure": "43", "who": "42"})
    rows = read_table(export(study, tmp_path / "out") / "judgments.csv", "judgments")
    assert set(rows["sure"].astype(str)) == {"42", "43"}
    assert set(rows["who"]) == {study.pseudonym("import", "42")}


def test_kept_and_dropped_are_the_filters_with_reasons(study, tmp_path):
    FilterDecision.objects.create(study=study, rules=["majority-dissent"], seed=3)
    out = export(study, tmp_path / "out")
    kept_rows, dropped = (read_table(out / f"judgments_{name}.csv", "judgments") for name in ("kept", "dropped"))
    # s1 got 1, 0, 1: the worker who said 0 goes. The check s2 is neither kept nor dropped.
    assert kept_rows["value"].tolist() == [1, 1]
    assert dropped[["worker_id", "rule"]].values.tolist() == [[study.pseudonym("import", "ZZTOP9"), "majority-dissent"]]
    assert "Outvoted on 1 of 1 units" in dropped["reason"][0]
    assert manifest(out)["filter"]["rules"] == ["majority-dissent"]
    assert manifest(out)["filter"]["seed"] == 3
    # Raw ids don't change who goes.
    raw = read_table(export(study, tmp_path / "raw", raw_workers=True) / "judgments_dropped.csv", "judgments")
    assert raw["worker_id"].tolist() == ["ZZTOP9"]


def test_what_a_rule_by_document_keeps_has_scores_but_cannot_be_told_row_by_row(study, tmp_path):
    FilterDecision.objects.create(study=study, rules=["majority-dissent[per=doc_id]"])
    scores = read_table(export(study, tmp_path / "out", tables=["human_scores"]) / "human_scores.csv", "scores")
    assert set(zip(scores["n_workers"], scores["value"], strict=True)) == {("2", 1.0)}  # who said 0 to s1 is gone
    with pytest.raises(Refused, match="which exports can't tell"):
        export(study, tmp_path / "rows", tables=["judgments_kept"])


@pytest.fixture
def demo() -> Study:
    return load_written()


def test_the_printed_commands_give_the_same_bytes_and_the_sites_numbers(demo, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("analysis.report.RESAMPLES", 60)  # enough to tell two reports apart
    Judgment.objects.filter(unit="scu01").update(extra={"evidence": [[1, 2]]})  # as the demo's annotators select it
    built: list[Report] = []  # what the command would write: drawing it twice would take long and prove nothing
    monkeypatch.setattr("analysis.commands.report.write_report", lambda report, folder: built.append(report) or [])
    out = export(demo, tmp_path / "out")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.chdir(out)
    commands = {command["what"]: shlex.split(command["command"]) for command in manifest(out)["commands"]}
    for purpose in ("filter again", "human scores again", "the report"):
        assert commands[purpose][:3] == ["python", "-m", "analysis"]
        assert analysis(commands[purpose][3:]) == 0, capsys.readouterr()
    for name in ("judgments_kept.csv", "judgments_dropped.csv", "human_scores.csv"):
        assert (out / name).read_bytes() == before[name]
    site, printed = report.study_report(demo), built[0]
    assert len(site.figures) > 5
    assert [figure.name for figure in printed.figures] == [figure.name for figure in site.figures]
    for printed_figure, site_figure in zip(printed.figures, site.figures, strict=True):
        pd.testing.assert_frame_equal(printed_figure.table, site_figure.table, check_dtype=False)
    assert (printed.title, printed.verdict, printed.warnings) == (site.title, site.verdict, site.warnings)
    assert printed.methods == site.methods


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_every_form_holds_the_same_study(study, tmp_path, form):
    out = export(study, tmp_path / form, form=form)
    assert all(path.suffix in (f".{form}", ".json") for path in out.iterdir())
    import_study(out, form)
    second = export(Study.objects.get(name=form), tmp_path / "again")
    first = export(study, tmp_path / "first")
    for kind in ("documents", "summaries", "scus", "judgments", "scores"):
        path = next(first.glob(f"{kind}.*"))
        table, reimported = read_table(path, kind), read_table(second / path.name, kind)
        if form == "csv":  # a study's own columns come back from CSV as text
            table, reimported = table.astype(str), reimported.astype(str)
        pd.testing.assert_frame_equal(table, reimported)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_selected_evidence_and_shown_sentences_come_back_as_lists(study, tmp_path, form):
    Judgment.objects.filter(unit="s1").update(extra={"evidence": [[3, 9]]})
    Summary.objects.filter(system__name="1").update(shown=["One.", "[Two]"])
    import_study(export(study, tmp_path / "out", form=form), "again")
    reimported = Study.objects.get(name="again")
    extras = Judgment.objects.filter(summary__document__study=reimported, unit="s1").values_list("extra", flat=True)
    assert [extra["evidence"] for extra in extras] == [[[3, 9]]] * 3
    texts_shown = Summary.objects.filter(document__study=reimported, system__name="1").values_list("shown", flat=True)
    assert list(texts_shown) == [["One.", "[Two]"]] * 2


def test_an_empty_study_exports_as_an_empty_study(tmp_path):
    out = export(Study.objects.create(name="nothing"), tmp_path / "out", shapes=["realsumm", "rose", "label_studio"])
    assert json.loads((out / "label_studio.json").read_text()) == []
    assert manifest(out)["report"] is None
    default = export(Study.objects.get(name="nothing"), tmp_path / "usual")
    assert {path.name for path in default.iterdir()} == {"documents.jsonl", "summaries.jsonl", "manifest.json"}


def test_formulas_are_defused_and_come_back_exactly(tmp_path):
    names = ["=cmd|' /C calc'!A0", "-x", "'=q", "+1+1", "@SUM(A1)", "-5", "plain", "''-"]
    rows = [{**row, "system": system} for row in SUMMARIES[:1] for system in names]
    scores = "doc_id,system,metric,value\n" + "".join(f'007,"{name}",=m,-1.5\n' for name in names)
    texts = {"summaries__jsonl": "\n".join(map(json.dumps, rows)), "scores__csv": scores}
    import_study(write_folder(tmp_path / "in", **texts, judgments__csv=JUDGMENTS.replace(",1,s", ",plain,s")), "s")
    study = Study.objects.get(name="s")
    out = export(study, tmp_path / "out", form="csv")
    cells = pd.read_csv(out / "scores.csv", dtype=str)
    assert not cells["system"].str.match(r"[=+@]|-\D").any()
    assert set(cells["value"]) == {"-1.5"}  # numbers stay numbers
    assert set(cells["metric"]) == {"'=m"}
    assert set(read_table(out / "scores.csv", "scores")["system"]) == set(names)
    import_study(out, "again")
    assert set(Study.objects.get(name="again").systems.values_list("name", flat=True)) == set(names)


def test_names_of_columns_are_defused_as_cells_are(tmp_path):
    names = ["=HYPERLINK(1)", "'=q", "@x", "plain"]
    rows = [{**row, **dict.fromkeys(names, "y")} for row in SUMMARIES]
    import_study(write_folder(tmp_path / "in", summaries__jsonl="\n".join(map(json.dumps, rows))), "s")
    out = export(Study.objects.get(name="s"), tmp_path / "out", form="csv")
    header = (out / "summaries.csv").read_text().splitlines()[0].split(",")
    assert {"'=HYPERLINK(1)", "''=q", "'@x", "plain"} <= set(header)
    assert set(names) <= set(read_table(out / "summaries.csv", "summaries").columns)
    import_study(out, "again")
    assert Summary.objects.filter(document__study__name="again").first().extra.keys() >= set(names)


def test_without_texts_no_text_leaves(study, tmp_path):
    out = export(study, tmp_path / "out", texts=False)
    content = b"".join(path.read_bytes() for path in out.iterdir())
    texts = [DOCUMENTS[0]["source"], DOCUMENTS[1]["references"][1], SUMMARIES[0]["summary"], "Fact one."]
    assert not [text for text in texts if text.encode() in content]
    hashes = pd.read_csv(out / "summary_hashes.csv", dtype=str)
    assert hashes["summary_sha256"][0] == hashlib.sha256(SUMMARIES[0]["summary"].encode()).hexdigest()
    assert analysis(["agreement", str(out / "judgments.csv")]) == 0  # the numbers are all there


def test_the_chunks_leave_no_trace(demo, tmp_path, monkeypatch):
    tables = {"tables": ["documents", "summaries", "scus", "judgments", "judgments_kept", "scores"]}
    at_once = export(demo, tmp_path / "whole", **tables)
    monkeypatch.setattr(stream, "CHUNK", 50)
    pieces = export(demo, tmp_path / "pieces", **tables)
    for path in at_once.iterdir():
        if path.name != "manifest.json":
            assert path.read_bytes() == (pieces / path.name).read_bytes()


def test_progress_goes_up_to_the_end(study, tmp_path):
    steps: list[tuple[int, int]] = []
    export_folder(study, tmp_path, ExportOptions.checked(shapes=["rose"]), lambda n, total: steps.append((n, total)))
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] > 0


@pytest.mark.postgres
@pytest.mark.sqlite
def test_the_rule_signals_works_on_the_exported_judgments(study, tmp_path, capsys):
    pasting = Assignment.objects.order_by("pk")[0]
    Assignment.objects.update(signals={"loads": {"load1": {"active": 9, "focus_lost": 1, "pastes": 0, "items": {}}}})
    Assignment.objects.filter(pk=pasting.pk).update(
        signals={"loads": {"load1": {"active": 9, "focus_lost": 2, "pastes": 3, "items": {}}}}
    )
    out = export(study, tmp_path / "out")
    rows = read_table(out / "judgments.csv", "judgments")
    pasted = rows[rows["assignment_id"] == pasting.key]
    assert set(zip(pasted["pastes"].astype(int), pasted["focus_losses"].astype(int), strict=True)) == {(3, 2)}
    capsys.readouterr()
    assert analysis(["filter", str(out / "judgments.csv"), "--rule", "signals[minimum=1]", "--json"]) == 0
    assert [row["reason"] for row in json.loads(capsys.readouterr().out)] == ["Pasted text in 1 of 1 assignments."]
    # There and back: the columns stay, though the imported assignments have no signals of their own.
    import_study(out, "again")
    second = export(Study.objects.get(name="again"), tmp_path / "again")
    assert (second / "judgments.csv").read_bytes() == (out / "judgments.csv").read_bytes()


def test_the_ledger_adds_up(study, tmp_path):
    batch = study.batches.get()
    Entry.objects.create(
        study=study, batch=batch, kind="post", token="t1", reward_cents=80, fee_cents=20, promised_cents=100
    )
    out = export(study, tmp_path / "out", tables=["ledger"])
    rows = pd.read_csv(out / "ledger.csv")
    assert rows[["kind", "state", "promised_cents", "currency"]].values.tolist() == [["post", "planned", 100, "USD"]]
    assert "ledger.csv" not in {path.name for path in export(study, tmp_path / "usual").iterdir()}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tables": ["judgement"]}, "no table “judgement”. Known: documents, summaries"),
        ({"shape": ["rouge"]}, "no shape “rouge”. Known: realsumm, summeval"),
        ({"shape": ["rose"], "no_texts": True}, "hold texts"),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(study, tmp_path, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("export_study", tmp_path / "out", name="s", **options)
    assert not (tmp_path / "out").exists()
