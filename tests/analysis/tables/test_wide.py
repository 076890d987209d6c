"""Wide tables: a column per measure, read with --wide, hinted at without."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.tables.wide import lengthen, read_wide


@pytest.fixture
def wide() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [(d, f"s{s}", s + rng.random(), s + rng.random(), "a word") for d in range(1, 4) for s in range(5)]
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "recall", "rouge-1-r[stem]", "comment"])
    frame.loc[0, "rouge-1-r[stem]"] = np.nan
    return frame


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_every_column_of_numbers_is_a_measure(wide: pd.DataFrame, tmp_path, suffix: str) -> None:
    path = tmp_path / f"scores.{suffix}"
    {
        "csv": lambda: wide.to_csv(path, index=False),
        "jsonl": lambda: wide.to_json(path, orient="records", lines=True),
        "parquet": lambda: wide.to_parquet(path),
    }[suffix]()
    scores = read_wide(path)
    assert sorted(scores["metric"].unique()) == ["recall", "rouge-1-r[stem]"]
    assert len(scores) == 29  # one cell was empty
    assert set(scores["doc_id"]) == {"1", "2", "3"}


def test_the_command_reads_it_and_hints_at_it(wide: pd.DataFrame, tmp_path, capsys) -> None:
    path = tmp_path / "scores.csv"
    wide.to_csv(path, index=False)
    assert main(["correlate", str(path), "--human", "recall"]) == 2
    assert "It has a column per measure: read it with --wide." in capsys.readouterr().err
    assert main(["correlate", str(path), "--human", "recall", "--wide", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["metric"] == "rouge-1-r[stem]"
    (tmp_path / "other.csv").write_text("name,age\nann,3\n")
    assert main(["correlate", str(tmp_path / "other.csv"), "--human", "recall"]) == 2
    assert "--wide" not in capsys.readouterr().err
    assert main(["correlate", str(tmp_path / "other.csv"), "--human", "recall", "--wide"]) == 2


def test_a_table_without_numbers_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="no column of numbers beside doc_id, system"):
        lengthen(pd.DataFrame({"doc_id": ["1"], "system": ["a"], "note": ["fine"]}))
