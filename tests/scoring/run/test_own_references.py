"""References that stand among the systems: told, marked, and scored against the others on request."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import scoring
from analysis.tables import read_table
from scoring.cli import main
from scoring.errors import OwnReferenceWarning, ScoringError

REFERENCES = ["the cat sat", "a dog ran off", "the cat ran"]


@pytest.fixture
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Document 1 has three references, of which the system `human` is the second; document 2 has one."""
    documents = pd.DataFrame({"doc_id": ["1", "2"], "source": "", "references": [REFERENCES, ["rain fell"]]})
    rows = [
        ("1", "human", "a dog  ran off"),
        ("1", "m", "the cat sat down"),
        ("2", "m", "rain"),
        ("2", "human", "snow"),
    ]
    return pd.DataFrame(rows, columns=["doc_id", "system", "summary"]), documents


def test_a_reference_scored_against_itself_is_told_and_marked(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    with pytest.warns(OwnReferenceWarning, match=r"1 summaries are a reference of their own document \(human\)"):
        scores = scoring.evaluate(*tables, "rouge-1-r[best],bleu")
    marked = scores[scores["is_reference"]]
    assert set(zip(marked["doc_id"], marked["system"], strict=True)) == {("1", "human")}
    assert marked.set_index("metric").loc["rouge-1-r[multi=best]", "value"] == 1.0


def test_metrics_without_references_and_tables_without_such_rows_stay_as_they_were(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    summaries, documents = tables
    assert "is_reference" not in scoring.evaluate(summaries, documents, "length")
    assert "is_reference" not in scoring.evaluate(summaries[summaries["system"] == "m"], documents, "rouge-1-r")


def test_leave_one_out_by_hand(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    scores = scoring.evaluate(*tables, "rouge-1-r[best]", references="leave-one-out")
    values = scores.set_index(["doc_id", "system"])["value"]
    # human, document 1, is the second reference: against "the cat sat" (0 of 3) and "the cat ran" (ran: 1 of 3).
    assert values["1", "human"] == pytest.approx(1 / 3, abs=1e-5)
    # m, "the cat sat down": without the first reference 2/3 (the cat … of "the cat ran"), otherwise 1: mean 8/9.
    assert values["1", "m"] == pytest.approx((2 / 3 + 1 + 1) / 3, abs=1e-5)
    # Document 2 has one reference, which nothing can be left out of.
    assert values["2", "m"] == pytest.approx(0.5)
    assert "is_reference" not in scores
    (signature,) = scores.attrs["signatures"].values()
    assert signature.endswith("|references:leave-one-out")
    with pytest.raises(ScoringError, match="all, leave-one-out"):
        scoring.evaluate(*tables, "rouge-1-r", references="some")


def test_the_only_reference_has_no_score_without_itself() -> None:
    documents = pd.DataFrame({"doc_id": ["1"], "source": "", "references": [["rain fell"]]})
    summaries = pd.DataFrame({"doc_id": ["1", "1"], "system": ["human", "m"], "summary": ["rain fell", "rain"]})
    values = scoring.evaluate(summaries, documents, "rouge-1-r", references="leave-one-out").set_index("system")[
        "value"
    ]
    assert pd.isna(values["human"])
    assert values["m"] == 0.5


@pytest.mark.parametrize("suffix", ["csv", "jsonl.gz", "parquet"])
def test_the_command_marks_and_leaves_out_in_turn(
    tables: tuple[pd.DataFrame, pd.DataFrame],
    tmp_path: Path,
    suffix: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summaries, documents = tables
    summaries.to_json(tmp_path / "summaries.jsonl", orient="records", lines=True)
    documents.to_json(tmp_path / "documents.jsonl", orient="records", lines=True)
    monkeypatch.setattr("scoring.run.files.ROWS", 1)  # a piece per document: only the first has the column
    texts = ["--summaries", str(tmp_path / "summaries.jsonl"), "--documents", str(tmp_path / "documents.jsonl")]
    out = tmp_path / f"scores.{suffix}"
    assert main(["run", *texts, "--metrics", "rouge-1-r,bleu", "--out", str(out)]) == 0
    assert "are scored against themselves" in capsys.readouterr().err
    table = read_table(out, "scores")
    assert table["is_reference"].sum() == 2  # two metrics of one summary
    assert len(table) == 2 * 4 + 2
    assert (
        main(["run", *texts, "--metrics", "rouge-1-r", "--out", str(out), "--references", "leave-one-out", "--json"])
        == 0
    )
    (line,) = json.loads(capsys.readouterr().out)
    assert line["signature"].endswith("|references:leave-one-out")
    assert "is_reference" not in read_table(out, "scores")


def test_a_missing_model_does_not_stop_the_others_if_asked(
    tables: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summaries, documents = tables
    summaries.to_json(tmp_path / "summaries.jsonl", orient="records", lines=True)
    documents.to_json(tmp_path / "documents.jsonl", orient="records", lines=True)
    command = [
        "run",
        "--summaries",
        str(tmp_path / "summaries.jsonl"),
        "--documents",
        str(tmp_path / "documents.jsonl"),
    ]
    out = tmp_path / "scores.csv"
    command += ["--out", str(out), "--metrics", "rouge-1-r,bertscore-f[model=/nowhere]"]
    assert main(command) == 2
    assert not out.exists()
    assert main([*command, "--skip-missing"]) == 0
    error = capsys.readouterr().err
    assert "Left out: bertscore-f[model=/nowhere] cannot run here" in error
    assert set(read_table(out, "scores")["metric"]) == {"rouge-1-r"}
    assert main([*command[:-1], "bertscore-f[model=/nowhere]", "--skip-missing"]) == 2
