"""One entry in a table's list of columns is a column everywhere: no two spots agree by position."""

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from annotation.api.judgments import JudgmentOut
from annotation.models import ContentUnit, FilterDecision, Judgment, Study
from annotation.models.crowds import Entry
from annotation.tables import frames, judgments, ledger, texts
from annotation.tables.stream import Column
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from tests.annotation.transfer.test_exports import SHORT, THREE
from tests.annotation.transfer.test_import import write_folder

pytestmark = pytest.mark.django_db

# Of the judgment itself, of its summary, of its assignment and of its SCU; a flag, a time and numbers among them.
NEW = (
    Column("top", "number", ("scale_max",), broken=judgments._decimals("scale_max")),
    Column("is_newest", "flag", ("is_current",)),
    Column("document_key", "integer", ("summary__document_id",)),
    Column("crowd", paths=("assignment__worker__crowd",), cell=str.upper),
    Column("taken_at", "time", ("assignment__submitted_at",)),
    Column("fact", paths=("content_unit__text", "unit"), cell=lambda text, unit: f"{unit}: {text}"),
)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    import_study(write_folder(tmp_path / "in", judgments__csv=THREE), "s")
    study = Study.objects.get(name="s")
    FilterDecision.objects.create(study=study, rules=["majority-dissent"], seed=3)
    return study


def rows_in(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".csv":
        return list(csv.DictReader(path.open(newline="")))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return pq.read_table(path).to_pylist()


def export(study: Study, folder: Path, table: str, form: str) -> list[dict[str, object]]:
    export_folder(study, folder, ExportOptions.checked([table], form=form))
    return rows_in(folder / f"{table}.{form}")


@pytest.mark.postgres
@pytest.mark.sqlite
@pytest.mark.parametrize("table", ["judgments", "judgments_kept", "judgments_dropped"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_new_column_of_judgments_is_one_entry(study, tmp_path, monkeypatch, form, table):
    before = export(study, tmp_path / "before", table, form)
    monkeypatch.setattr(judgments, "COLUMNS", (*NEW, *judgments.COLUMNS))
    after = export(study, tmp_path / "after", table, form)
    assert list(after[0]) == [*(column.name for column in NEW), *before[0]]
    assert [{name: row[name] for name in before[0]} for row in after] == before
    texts = {(unit.document.doc_id, unit.scu_id): unit for unit in ContentUnit.objects.select_related("document")}
    true = "1" if form == "csv" else True
    for row in after:
        unit = texts[row["doc_id"], row["unit"]]
        cells = {name: str(row[name]) for name in ("top", "document_key", "crowd", "fact")}
        assert cells == {
            "top": "1",
            "document_key": str(unit.document_id),
            "crowd": "IMPORT",
            "fact": f"{unit.scu_id}: {unit.text}",
        }
        assert (row["is_newest"], row["taken_at"]) == (true, "")


def test_a_new_column_is_in_the_frame_and_the_manifest(study, tmp_path, monkeypatch):
    before = frames.judgments_frame(study)
    monkeypatch.setattr(judgments, "COLUMNS", (*NEW, *judgments.COLUMNS))
    after = frames.judgments_frame(study)
    pd.testing.assert_frame_equal(after[before.columns], before)
    kinds = {name: str(after[name].dtype) for name in ("top", "is_newest", "document_key", "fact")}
    assert kinds == {"top": "int64", "is_newest": "bool", "document_key": "int64", "fact": "str"}
    export_folder(study, tmp_path / "out", ExportOptions.checked(["judgments"]))
    told = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"][0]["columns"]
    assert [column["type"] for column in told[:6]] == ["integer", "flag", "integer", "string", "string", "string"]


@pytest.mark.parametrize(
    ("table", "module", "columns", "new"),
    [
        ("documents", texts, "DOCUMENTS", Column("pk", "integer", ("pk",))),
        ("summaries", texts, "SUMMARIES", Column("of", paths=("document__study__name",))),
        ("scus", texts, "SCUS", Column("of", paths=("document__study__name",))),
        ("scores", texts, "SCORES", Column("of", paths=("study__name",))),
        ("assignments", texts, "ASSIGNMENTS", Column("quota", "integer", ("task__quota",))),
        ("ledger", ledger, "COLUMNS", Column("token", paths=("token",))),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_so_it_is_in_every_other_table(study, tmp_path, monkeypatch, form, table, module, columns, new):
    Entry.objects.create(study=study, batch=study.batches.get(), kind="post", token="t1", reward_cents=80)
    before = export(study, tmp_path / "before", table, form)
    monkeypatch.setattr(module, columns, (new, *getattr(module, columns)))
    after = export(study, tmp_path / "after", table, form)
    assert list(after[0]) == [new.name, *before[0]]
    assert [{name: row[name] for name in before[0]} for row in after] == before
    expected = {"of": {"s"}, "quota": {"3"}, "token": {"t1"}}
    expected["pk"] = {str(key) for key in study.documents.values_list("pk", flat=True)}
    assert {str(row[new.name]) for row in after} == expected[new.name]


def test_the_api_shows_what_is_stored_of_a_judgment():
    stored = [column.name for column in judgments.COLUMNS if not column.derived]
    assert list(JudgmentOut.model_fields) == [*stored, "counts"]


def test_a_measure_of_scus_is_not_taken_for_worker_ids(tmp_path):
    """As in every other table."""
    import_study(write_folder(tmp_path / "in", judgments__csv=SHORT), "s")
    units = ContentUnit.objects.order_by("pk")
    units.filter(pk=units[0].pk).update(extra={"sure": "42", "who": "42"})
    units.filter(pk=units[1].pk).update(extra={"sure": "43", "who": "42"})
    rows = export(Study.objects.get(name="s"), tmp_path / "out", "scus", "csv")
    assert {row["sure"] for row in rows} - {""} == {"42", "43"}
    assert {row["who"] for row in rows} - {""} == {Study.objects.get(name="s").pseudonym("import", "42")}


def test_flags_that_are_missing_are_not_false(study):
    Judgment.objects.filter(unit="s1").update(extra={"sure": True})
    cells = frames.judgments_frame(study).set_index("unit")["sure"]
    assert set(cells["s1"]) == {True}
    assert cells["s2"].isna().all()
