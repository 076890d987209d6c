"""Shapes that others read: real data goes out and comes back, losing nothing that the shape can hold."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.tables import read_table
from annotation.models import FilterDecision, Study
from annotation.tables.frames import judgments_frame, scores_frame, scus_frame
from annotation.transfer.exporting.options import ExportOptions
from annotation.transfer.exporting.study import export_folder
from annotation.transfer.importing.study import import_study
from annotation.transfer.mturk_csv import import_results
from annotation.transfer.shapes import SHAPES
from annotation.transfer.shapes.texts import lines, tagged, unlined, untagged

pytestmark = pytest.mark.django_db

DOCS = ("0", "1", "10")
SYSTEMS = ("bart_out", "t5_out_base", "refresh_out", "bart_out_ext")


@pytest.fixture(scope="module")
def realsumm(shared_data: Path, tmp_path_factory) -> Path:
    """Three documents by four systems of the real thing."""
    folder = tmp_path_factory.mktemp("realsumm")
    source = shared_data / "realsumm"
    for name in ("documents", "summaries"):
        with gzip.open(source / f"{name}.jsonl.gz", "rt") as file:
            rows = [json.loads(line) for line in file]
        selected = [row for row in rows if row["doc_id"] in DOCS and row.get("system", "bart_out") in SYSTEMS]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in selected))
    for name, suffix in (("scus", ""), ("judgments", ".gz"), ("scores", ".gz")):
        frame = pd.read_csv(source / f"{name}.csv{suffix}", dtype=str)
        rows = frame["doc_id"].isin(DOCS) & (frame["system"].isin(SYSTEMS) if "system" in frame else True)
        frame[rows].to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def study(realsumm: Path) -> Study:
    import_study(realsumm, "real")
    return Study.objects.get(name="real")


def there_and_back(study: Study, tmp_path: Path, shape: str) -> Study:
    """The study that the shape's importer makes of the shape's export."""
    export_folder(study, tmp_path / shape, ExportOptions.checked(shapes=[shape]))
    paths = sorted(path for path in (tmp_path / shape).iterdir() if path.name != "manifest.json")
    call_command("import_study", *map(str, paths), shape=shape, name=f"back-{shape}")
    return Study.objects.get(name=f"back-{shape}")


def texts(study: Study) -> dict[tuple[str, str], object]:
    rows = study.systems.values_list("summaries__document__doc_id", "name", "summaries__text")
    return {(doc, name): text for doc, name, text in rows}


def references(study: Study) -> dict[str, object]:
    return dict(study.documents.values_list("doc_id", "references__text"))


def test_realsumm_holds_texts_with_sentences_groups_and_every_score(study, tmp_path):
    copy = there_and_back(study, tmp_path, "realsumm")
    assert texts(copy) == texts(study)
    assert references(copy) == references(study)
    assert set(copy.systems.values_list("name", "group")) == set(study.systems.values_list("name", "group"))
    before, copied = (scores_frame(owner).set_index(["doc_id", "system", "metric"])["value"] for owner in (study, copy))
    assert len(before) == 3 * 4 * 15
    assert copied.reindex(before.index).tolist() == pytest.approx(before.tolist(), abs=1e-15)
    # Our own recall stands there for the published one, and is the same (pyramid_score comes with it).
    assert set(copied.index.get_level_values("metric")) - set(before.index.get_level_values("metric")) == {
        "pyramid_score"
    }
    entry = json.loads((tmp_path / "realsumm" / "realsumm_abs.json").read_text())["0"]
    assert entry["doc_id"] == "0"
    assert entry["ref_summ"].startswith("<t> ")
    assert set(entry["system_summaries"]["bart_out"]) == {"system_summary", "scores"}


def test_summeval_holds_texts_and_every_answer_without_names(study, tmp_path):
    copy = there_and_back(study, tmp_path, "summeval")
    assert texts(copy) == texts(study)
    assert references(copy) == references(study)
    keys = ["doc_id", "system", "group", "unit", "value"]
    before, copied = judgments_frame(study), judgments_frame(copy)
    real = before[~before["is_check"]]  # checks are no judgments of the summary
    assert sorted(copied[keys].itertuples(index=False)) == sorted(real[keys].itertuples(index=False))
    sizes = [frame.groupby(["doc_id", "system"])["worker_id"].nunique() for frame in (real, copied)]
    assert sizes[0].equals(sizes[1])
    line = json.loads((tmp_path / "summeval" / "summeval.jsonl").read_text().splitlines()[0])
    assert {"id", "model_id", "decoded", "reference", "references", "expert_annotations", "turker_annotations"} <= set(
        line
    )
    assert line["expert_annotations"] == []


def test_summeval_tells_experts_from_the_crowd_and_keeps_the_last_round(tmp_path):
    rows = "doc_id,system,unit,worker_id,value,protocol,role,round\n"
    rows += "".join(f"d,s,{unit},e1,{value},likert,expert,1\n" for unit, value in (("coherence", 2), ("fluency", 5)))
    rows += "d,s,coherence,e1,4,likert,expert,2\nd,s,coherence,c1,1,likert,crowd,1\n"
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "documents.jsonl").write_text('{"doc_id": "d", "source": "S.", "references": ["R.", "Q."]}\n')
    (folder / "summaries.jsonl").write_text('{"doc_id": "d", "system": "s", "summary": "T."}\n')
    (folder / "judgments.csv").write_text(rows)
    import_study(folder, "likert")
    copy = there_and_back(Study.objects.get(name="likert"), tmp_path, "summeval")
    line = json.loads((tmp_path / "summeval" / "summeval.jsonl").read_text())
    assert line["expert_annotations"] == [{"coherence": 4, "fluency": 5}]
    assert line["turker_annotations"] == [{"coherence": 1}]
    assert line["references"] == ["R.", "Q."]
    judgments = judgments_frame(copy)
    assert set(zip(judgments["role"], judgments["unit"], judgments["value"], strict=True)) == {
        ("expert", "coherence", 4), ("expert", "fluency", 5), ("crowd", "coherence", 1),
    }  # fmt: skip


def test_rose_holds_units_labels_and_the_recall(study, tmp_path):
    copy = there_and_back(study, tmp_path, "rose")
    assert texts(copy) == texts(study)
    assert references(copy) == references(study)
    scus = scus_frame(study)
    assert scus_frame(copy)["text"].tolist() == scus[~scus["is_check"]]["text"].tolist()
    recall, acu = scores_frame(study), scores_frame(copy)
    recall = recall[recall["metric"] == "litepyramid_recall"].set_index(["doc_id", "system"])["value"]
    assert acu.set_index(["doc_id", "system"])["value"].reindex(recall.index).tolist() == pytest.approx(recall.tolist())
    line = json.loads((tmp_path / "rose" / "rose.jsonl").read_text().splitlines()[0])
    assert len(line["annotations"]["bart_out"]["acu_labels"]) == len(line["reference_acus"])
    # The labels make the same score when they are aggregated here.
    export_folder(copy, tmp_path / "again", ExportOptions.checked(["human_scores"]))
    recall_again = read_table(tmp_path / "again" / "human_scores.csv", "scores")
    recall_again = recall_again[recall_again["metric"] == "litepyramid_recall"].set_index(["doc_id", "system"])["value"]
    assert recall_again.reindex(recall.index).tolist() == pytest.approx(recall.tolist())


def test_mturk_holds_every_answer_with_worker_hit_and_checks(study, realsumm, tmp_path):
    copy = there_and_back(study, tmp_path, "mturk")
    keys = ["doc_id", "system", "unit", "worker_id", "assignment_id", "hit_id", "value", "is_check"]
    judgments, copied = judgments_frame(study)[keys], judgments_frame(copy)[keys]
    assert copied.equals(judgments)
    assert scus_frame(copy)[["doc_id", "scu_id", "text"]].equals(scus_frame(study)[["doc_id", "scu_id", "text"]])
    header = (tmp_path / "mturk" / "mturk.csv").read_text().splitlines()[0].split(",")
    assert header.index("Answer.S10Answer") < header.index("Answer.S2Answer")  # as Amazon wrote them
    # The importer of results into a study that has the texts reads it as well.
    for name in ("judgments.csv", "scores.csv"):
        (tmp_path / name).write_text("")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("documents.jsonl", "summaries.jsonl", "scus.csv"):
        (bare / name).write_bytes((realsumm / name).read_bytes())
    import_study(bare, "bare")
    bare_study = Study.objects.get(name="bare")
    results = (tmp_path / "mturk" / "mturk.csv").read_bytes()
    imported = import_results(bare_study, results, "mturk.csv", new_batch="from a file")
    assert imported.judgments == len(judgments)
    assert judgments_frame(bare_study)["value"].sum() == judgments["value"].sum()


def test_the_published_result_files_make_a_study_of_their_own(shared_data):
    files = [shared_data / "realsumm" / name for name in ("batch_abs_bart.csv", "batch_ext_refresh.csv")]
    call_command("import_study", *map(str, files), shape="mturk", name="published")
    study = Study.objects.get(name="published")
    assert set(study.systems.values_list("name", flat=True)) == {"bart_out", "refresh_out"}
    assert study.documents.count() == 100
    judgments = judgments_frame(study)
    assert len(judgments) == 9856  # 616 rows × 16 places
    assert (~scus_frame(study)["is_check"]).sum() == 1056


def test_label_studio_has_a_task_per_summary_and_an_annotation_per_assignment(study, tmp_path):
    export_folder(study, tmp_path / "ls", ExportOptions.checked(shapes=["label_studio"]))
    tasks = json.loads((tmp_path / "ls" / "label_studio.json").read_text())
    judgments = judgments_frame(study)
    assert len(tasks) == 12
    assert sum(len(task["annotations"]) for task in tasks) == judgments["assignment_id"].nunique()
    results = [result for task in tasks for annotation in task["annotations"] for result in annotation["result"]]
    assert len(results) == len(judgments)
    present = sum(result["value"] == {"choices": ["Present"]} for result in results)
    assert present == judgments["value"].sum()
    config = (tmp_path / "ls" / "label_studio.xml").read_text()
    assert {result["from_name"] for result in results} == {
        tag.split('"')[1] for tag in config.split("<Choices name=")[1:]
    }


def test_trusted_shapes_follow_the_filter_and_records_dont(study, tmp_path):
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    export_folder(study, tmp_path / "out", ExportOptions.checked(shapes=["summeval", "mturk"]))
    lines = (tmp_path / "out" / "summeval.jsonl").read_text().splitlines()
    judges = sum(len(json.loads(line)["turker_annotations"]) for line in lines)
    rows = len(pd.read_csv(tmp_path / "out" / "mturk.csv"))
    assert rows == judgments_frame(study)["assignment_id"].nunique() > judges


@pytest.mark.parametrize(
    ("shape", "content", "sentence"),
    [
        ("realsumm", '{"0": {"doc_id": "0"}}', "REALSumm's scores dictionary"),
        ("realsumm", "[]", "REALSumm's scores dictionary"),
        ("summeval", '{"id": "x"}\n', "model_id"),
        ("summeval", "not json\n", "row 1"),
        ("rose", '{"example_id": "1"}\n', "source"),
        ("mturk", "Input.eventId,Answer.S1Answer\nx,p\n", "Input.summaryId"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_a_sentence(tmp_path, shape, content, sentence):
    (tmp_path / "file").write_text(content)
    with pytest.raises(CommandError, match=sentence):
        call_command("import_study", str(tmp_path / "file"), shape=shape, name="x")
    assert not Study.objects.exists()


def test_sentences_come_back_exactly():
    for text in (["One .", "Two ."], ["One"], "plain", [" spaces "], ["has </t> inside"], [], ["a\nb", ""]):
        assert untagged(tagged(text)) == text
    for text in (["One .", "Two ."], ["One"], "plain", ""):
        assert unlined(lines(text)) == text


def test_every_shape_says_what_it_holds_in_the_docs():
    page = (Path(__file__).resolve().parents[3] / "docs" / "shapes.md").read_text()
    assert [name for name in SHAPES if f"`{name}`" not in page] == []
