"""import_study and export_study: whole or not at all; again changes nothing; there and back is the same."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Batch, ContentUnit, Judgment, Study, Task, Worker
from annotation.transfer.importing.folder import open_folder, read_folder
from annotation.transfer.importing.study import import_study, study_counts
from tests.annotation.transfer.whole_export import export_study

pytestmark = pytest.mark.django_db

DOCUMENTS = [
    {"doc_id": "007", "source": "One. Two.", "references": [["A short one.", "In two sentences."]]},
    {"doc_id": "b", "source": ["Given", "splits stay."], "references": ["As one string.", "And a second reference."]},
]
SUMMARIES = [
    {"doc_id": doc, "system": system, "group": group, "summary": f"{system} on {doc}.", "temperature": 0.5}
    for doc in ("007", "b")
    for system, group in (("1", "abs"), ("NA", "ext"))
]
SCUS = "doc_id,scu_id,text,is_check\n007,s1,Fact one.,0\n007,s2,BLANK,1\nb,s1,Fact b.,0\n"
JUDGMENTS = (
    "doc_id,system,unit,worker_id,value,assignment_id,hit_id\n"
    "007,1,s1,A1B2C3,1,x1,h1\n007,1,s2,A1B2C3,0,x1,h1\n007,1,s1,ZZTOP9,0,x2,h1\n007,1,s2,ZZTOP9,0,x2,h1\n"
)
SCORES = "doc_id,system,metric,value\n007,1,m,0.30000000000000004\n*,NA,bleu,\n"


def write_folder(folder: Path, **replacements: str) -> Path:
    folder.mkdir(exist_ok=True)
    texts = {
        "documents.jsonl": "\n".join(map(json.dumps, DOCUMENTS)),
        "summaries.jsonl": "\n".join(map(json.dumps, SUMMARIES)),
        "scus.csv": SCUS,
        "judgments.csv": JUDGMENTS,
        "scores.csv": SCORES,
    }
    for name, text in {**texts, **{name.replace("__", "."): text for name, text in replacements.items()}}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "study")


def test_a_folder_becomes_a_study_with_its_work(folder):
    result = import_study(folder, "s")
    study = Study.objects.get(name="s")
    assert result.counts == study_counts(study) == {
        "documents": 2, "systems": 2, "summaries": 4, "SCUs": 2, "check units": 1, "judgments": 4, "scores": 2,
    }  # fmt: skip
    assert list(study.documents.order_by("doc_id").values_list("doc_id", flat=True)) == ["007", "b"]
    assert list(study.systems.order_by("name").values_list("name", "group")) == [("1", "abs"), ("NA", "ext")]
    # Two workers judged one summary: one task with two places, both taken.
    assert list(Task.objects.values_list("quota", "live")) == [(2, 2)]
    assert Batch.objects.get().protocol == "litepyramid"
    assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted"}
    assert ContentUnit.objects.get(scu_id="s2").expected == 0
    assert Judgment.objects.filter(is_check=True).count() == 2  # the file doesn't say so; the BLANK unit does


def test_the_same_folder_again_changes_nothing(folder):
    import_study(folder, "s")
    before = [list(model.objects.values_list()) for model in (Study, Task, Assignment, Judgment, Worker)]
    assert import_study(folder, "s").changed is False
    assert before == [list(model.objects.values_list()) for model in (Study, Task, Assignment, Judgment, Worker)]


def test_another_folder_under_a_taken_name_is_refused(folder, tmp_path):
    import_study(folder, "s")
    other_folder = write_folder(tmp_path / "other", scores__csv=SCORES.replace("0.30000000000000004", "0.4"))
    with pytest.raises(CommandError, match=r"A study named 's' is here already.*choose another name"):
        call_command("import_study", other_folder, name="s")
    assert Study.objects.count() == 1


def test_a_dry_run_reports_and_changes_nothing(folder, capsys):
    call_command("import_study", folder, name="s", dry_run=True)
    assert "4 summaries" in capsys.readouterr().out
    assert not Study.objects.exists()


def test_there_and_back_gives_the_same_tables_and_bytes(folder, tmp_path):
    import_study(folder, "first")
    export_study(Study.objects.get(name="first"), tmp_path / "a")
    import_study(tmp_path / "a", "second")
    export_study(Study.objects.get(name="second"), tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["documents.jsonl", "judgments.csv", "scores.csv", "scus.csv", "summaries.jsonl"]
    assert [(tmp_path / "a" / name).read_bytes() for name in names] == [
        (tmp_path / "b" / name).read_bytes() for name in names
    ]


def test_an_export_keeps_texts_ids_digits_and_extra_columns(folder, tmp_path):
    import_study(folder, "s")
    export_study(Study.objects.get(name="s"), tmp_path / "out")
    exported = open_folder(tmp_path / "out")
    read_folder(exported)
    assert exported.tables["documents"]["references"].tolist() == [row["references"] for row in DOCUMENTS]
    assert exported.tables["documents"]["source"].tolist() == [row["source"] for row in DOCUMENTS]
    assert set(exported.tables["summaries"]["temperature"]) == {0.5}
    assert set(exported.tables["judgments"]["hit_id"]) == {"h1"}
    scores = exported.tables["scores"].set_index("doc_id")["value"]
    assert scores["007"] == 0.30000000000000004
    assert pd.isna(scores["*"])


def test_no_raw_worker_id_leaves_in_an_export_unless_an_admin_asks(folder, tmp_path):
    # The second assignment's id is made of the worker's own.
    write_folder(folder, judgments__csv=JUDGMENTS.replace(",x2,", ",hit7_ZZTOP9,"))
    import_study(folder, "s")
    call_command("export_study", tmp_path / "out", name="s")
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "A1B2C3" not in text
    assert "ZZTOP9" not in text
    assert set(Worker.objects.values_list("pseudonym", flat=True)) <= set(text.replace(",", " ").split())
    call_command("export_study", tmp_path / "raw", name="s", raw_workers=True)
    assert "A1B2C3" in (tmp_path / "raw" / "judgments.csv").read_text()


def test_pseudonyms_differ_between_studies(folder, tmp_path):
    import_study(folder, "one")
    import_study(folder, "two")
    assert Worker.objects.filter(external_id="A1B2C3").values("pseudonym").distinct().count() == 2


def test_likert_judgments_of_a_group_share_one_assignment(folder, tmp_path):
    rows = ["doc_id,system,unit,worker_id,value,assignment_id,role,round,position,seconds,submitted_at"]
    for round_ in (1, 2):
        for system, position in (("1", 2), ("NA", 1)):
            rows.append(
                f"b,{system},coherence,w,{3 + round_},g{round_},expert,{round_},{position},4.5,2026-03-01T10:00:00Z"
            )
    write_folder(folder, judgments__csv="\n".join(rows) + "\n")
    import_study(folder, "s")
    assert list(Batch.objects.order_by("round").values_list("protocol", "role", "round", "scale_max")) == [
        ("likert", "expert", 1, 5), ("likert", "expert", 2, 5),
    ]  # fmt: skip
    assert list(Task.objects.values_list("summary", "quota")) == [(None, 1), (None, 1)]
    assert Assignment.objects.count() == 2
    export_study(Study.objects.get(), tmp_path / "out")
    import_study(tmp_path / "out", "again")
    export_study(Study.objects.get(name="again"), tmp_path / "out2")
    assert (tmp_path / "out/judgments.csv").read_bytes() == (tmp_path / "out2/judgments.csv").read_bytes()


# What looks wrong is reported, each by its own sentence.


def report_of(folder: Path) -> str:
    return "\n".join(import_study(folder, "s", dry_run=True).findings)


def test_identical_texts_under_two_names_are_reported(folder):
    rows = [{**row, "summary": "The very same."} for row in SUMMARIES if row["doc_id"] == "b"]
    rows += [row for row in SUMMARIES if row["doc_id"] == "007"]
    write_folder(folder, summaries__jsonl="\n".join(map(json.dumps, rows)))
    assert "Systems 1 and NA have the same text for 1 of 2 documents." in report_of(folder)


def test_a_system_in_two_groups_is_reported_and_kept_as_two(folder):
    rows = [{**row, "group": row["doc_id"]} if row["system"] == "NA" else row for row in SUMMARIES]
    write_folder(folder, summaries__jsonl="\n".join(map(json.dumps, rows)))
    assert "System NA stands in 2 groups (007, b)" in report_of(folder)
    import_study(folder, "s")
    assert Study.objects.get().systems.count() == 3


def test_a_summary_equal_to_its_reference_is_reported(folder):
    rows = [{**row, "summary": "a short one. in two sentences."} if row == SUMMARIES[0] else row for row in SUMMARIES]
    write_folder(folder, summaries__jsonl="\n".join(map(json.dumps, rows)))
    assert "System 1 repeats the reference itself in 1 documents." in report_of(folder)


def test_missing_pairs_and_blank_units_are_reported(folder):
    write_folder(folder, summaries__jsonl="\n".join(map(json.dumps, SUMMARIES[:3])))
    assert "System NA has no summary for 1 of 2 documents." in report_of(folder)
    assert "1 units are BLANK fillers" in report_of(folder)


# Bad input: a sentence, and nothing changed.

HEAD = "doc_id,system,unit,worker_id,value\n"


def _long(row: dict, column: str, length: int) -> bytes:
    return json.dumps({**row, column: "x" * length}).encode()


BAD = {
    "missing column": ("judgments.csv", b"doc_id,system,unit,value\n007,1,s1,1\n", "worker_id"),
    "unknown summary": ("judgments.csv", b"doc_id,system,unit,worker_id,value\n007,gone,s1,w,1\n", "'007', 'gone'"),
    "unknown unit": (
        "judgments.csv",
        b"doc_id,system,unit,worker_id,value,protocol\n007,1,s9,w,1,litepyramid\n",
        "'s9'",
    ),
    "unknown document": ("scus.csv", b"doc_id,scu_id,text\nzzz,s1,Fact\n", "'zzz'"),
    "outside the scale": ("judgments.csv", b"doc_id,system,unit,worker_id,value\n007,1,s1,w,2\n", "0 or 1"),
    "outside Likert's scale": ("judgments.csv", b"doc_id,system,unit,worker_id,value\n007,1,fluency,w,6\n", "1 to 5"),
    "not UTF-8": ("documents.jsonl", '{"doc_id": "1", "source": "Zürich"}'.encode("latin-1"), "UTF-8"),
    "not a number": ("judgments.csv", b"doc_id,system,unit,worker_id,value\n007,1,s1,w,yes\n", "value"),
    "bad JSON": ("documents.jsonl", b'{"doc_id": "1", \n', "documents.jsonl"),
    "bad time": (
        "judgments.csv",
        b"doc_id,system,unit,worker_id,value,submitted_at\n007,1,s1,w,1,yesterday\n",
        "submitted_at",
    ),
    "a worker twice on one summary": (
        "judgments.csv",
        b"doc_id,system,unit,worker_id,value,assignment_id\n007,1,s1,w,1,a\n007,1,s2,w,0,b\n",
        "judges a summary once",
    ),
    "a long document": ("documents.jsonl", _long(DOCUMENTS[0], "doc_id", 201), "row 1.*201 characters.*at most 200"),
    "a long system": ("summaries.jsonl", _long(SUMMARIES[0], "system", 201), "row 1.*at most 200"),
    "a long group": ("summaries.jsonl", _long(SUMMARIES[0], "group", 101), "row 1.*at most 100"),
    "a long SCU": ("scus.csv", f"doc_id,scu_id,text\n007,{'s' * 101},Fact\n".encode(), "at most 100"),
    "a long worker": ("judgments.csv", f"{HEAD}007,1,s1,{'w' * 201},1\n".encode(), "at most 200"),
    "a long role": ("judgments.csv", f"{HEAD[:-1]},role\n007,1,s1,w,1,{'r' * 21}\n".encode(), "at most 20"),
    "ids that are long together": (
        "judgments.csv",
        f"{HEAD}007,1,s1,{'w' * 200},1\n".encode(),
        "assignment_id.*at most 200",
    ),
    "an assignment that is long with the pseudonym": (
        "judgments.csv",
        f"{HEAD[:-1]},assignment_id\n007,1,s1,w,1,{'a' * 190}_w\n".encode(),
        "row 1, column assignment_id.*192 characters, 209 once.*at most 200",
    ),
    "a long metric": ("scores.csv", f"doc_id,system,metric,value\n007,1,{'m' * 201},1\n".encode(), "at most 200"),
}


@pytest.mark.parametrize(("name", "content", "sentence"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_answered_with_a_sentence_and_nothing_changes(folder, name, content, sentence):
    (folder / name).write_bytes(content)
    with pytest.raises(CommandError, match=sentence) as error:
        call_command("import_study", folder, name="s")
    assert "Nothing was imported." in str(error.value)
    assert name.split(".")[0] in str(error.value)
    assert error.value.returncode == 2
    assert not Study.objects.exists()
    assert not Worker.objects.exists()


def test_tables_of_headers_alone_are_answered_with_a_sentence(tmp_path):
    (tmp_path / "documents.csv").write_text("doc_id,source,references\n")
    (tmp_path / "summaries.csv").write_text("doc_id,system,summary\n")
    with pytest.raises(CommandError, match=r"documents\.csv.*no rows") as error:
        call_command("import_study", tmp_path, name="s")
    assert "summaries.csv" in str(error.value)
    assert not Study.objects.exists()


def test_other_tables_may_hold_nothing_but_their_headers(folder):
    (folder / "scus.csv").write_text("doc_id,scu_id,text\n")
    (folder / "judgments.csv").write_text(HEAD)
    (folder / "scores.csv").write_text("doc_id,system,metric,value\n")
    assert import_study(folder, "s").counts["summaries"] == 4


@pytest.mark.parametrize(("name", "text"), [("", "needs a name"), ("  ", "needs a name"), ("x" * 201, "may have 200")])
def test_a_study_has_a_name_that_fits(folder, name, text):
    with pytest.raises(CommandError, match=text):
        call_command("import_study", folder, name=name)
    assert not Study.objects.exists()
    assert import_study(folder, "x" * 200).changed


def test_a_truncated_gzip_is_answered_with_a_sentence(folder):
    (folder / "judgments.csv").unlink()
    # Repetitive text would fit into one block, so the rows differ.
    text = JUDGMENTS + "".join(f"b,1,s1,w{n * 7919},1,y{n},h{n}\n" for n in range(5000))
    (folder / "judgments.csv.gz").write_bytes(gzip.compress(text.encode())[:-200])
    with pytest.raises(CommandError, match=r"judgments\.csv\.gz"):
        call_command("import_study", folder, name="s")
    assert not Study.objects.exists()


def test_a_folder_without_documents_is_answered_with_a_sentence(tmp_path):
    with pytest.raises(CommandError, match=r"documents\.\*"):
        call_command("import_study", tmp_path, name="s")
    with pytest.raises(CommandError, match="a folder"):
        call_command("import_study", tmp_path / "nowhere", name="s")


def test_exporting_an_unknown_study_lists_the_known_ones(folder, tmp_path):
    import_study(folder, "known")
    with pytest.raises(CommandError, match=r"no study named 'x'. Studies here: 'known'"):
        call_command("export_study", tmp_path / "out", name="x")
