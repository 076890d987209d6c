"""Correlations leave out summaries that were scored against themselves."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.correlate import correlate
from analysis.correlate.score_cube import ReferencesLeftOut
from tests.analysis._matrices import table


@pytest.fixture
def scores() -> pd.DataFrame:
    """Four systems whose metric is noise, and a human reference that gets the best of both measures."""
    rng = np.random.default_rng(3)
    human, metric = rng.random((5, 12)), rng.random((5, 12))
    human[4] = metric[4] = 5.0
    rows = table(h=human, m=metric)
    whole = pd.DataFrame([("*", "s4", "m", 5.0)], columns=["doc_id", "system", "metric", "value"])
    rows = pd.concat([rows, whole], ignore_index=True)
    return rows.assign(is_reference=(rows["system"] == "s4") & (rows["metric"] == "m") & (rows["doc_id"] != "*"))


def test_they_would_decide_a_correlation_and_are_left_out_with_a_sentence(scores: pd.DataFrame) -> None:
    with pytest.warns(ReferencesLeftOut, match=r"12 summaries that are a reference of their own document \(s4\)"):
        (left_out,) = correlate(scores, human="h")
    (kept,) = correlate(scores.drop(columns="is_reference"), human="h")
    (without,) = correlate(scores[scores["system"] != "s4"].drop(columns="is_reference"), human="h")
    assert left_out.value == without.value
    assert kept.value > 0.99 > left_out.value


def test_the_command_says_so_and_keeps_them_on_request(scores: pd.DataFrame, tmp_path, capsys) -> None:
    path = tmp_path / "scores.csv"
    scores.to_csv(path, index=False)
    assert main(["correlate", str(path), "--human", "h", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "12 summaries that are a reference of their own document (s4) were left out" in err
    assert "--with-references" in err
    assert json.loads(out)[0]["n_used"] == 4
    assert main(["correlate", str(path), "--human", "h", "--json", "--with-references"]) == 0
    out, err = capsys.readouterr()
    assert "left out" not in err
    assert json.loads(out)[0]["n_used"] == 5


def test_the_report_leaves_them_out_and_warns(scores: pd.DataFrame, tmp_path, capsys) -> None:
    path = tmp_path / "scores.csv"
    scores.to_csv(path, index=False)
    assert main(["report", str(path), "--human", "h", "--ci", "100", "--out", str(tmp_path / "report")]) == 0
    capsys.readouterr()
    warnings = (tmp_path / "report" / "warnings.txt").read_text()
    assert "12 summaries that are a reference of their own document (s4) were left out" in warnings
    assert "On these 4 systems" in (tmp_path / "report" / "index.html").read_text()
