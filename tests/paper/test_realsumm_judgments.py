"""REALSumm's judgments give the numbers of the paper (Bhandari et al. 2020), worked out afresh."""

from __future__ import annotations

import json

import pytest

from analysis.cli import main
from tests.analysis.support import shared

pytestmark = pytest.mark.paper


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "expected", "undefined"),
    [
        ([], 0.719545, 0),
        (["--per", "doc_id,system", "--undefined", "one"], 0.664570, 76),
        (["--per", "doc_id,system", "--undefined", "one", "--where", "group=abs"], 0.722076, 56),
        (["--per", "doc_id,system", "--undefined", "one", "--where", "group=ext"], 0.591382, 20),
        (["--per", "doc_id,system", "--undefined", "drop"], 0.654054, 76),
        (["--include-checks"], 0.781816, 0),
    ],
)
def test_alpha_in_all_its_readings(capsys, options: list[str], expected: float, undefined: int) -> None:
    # expected.json, "alpha": all_25, abs_14, ext_11, all_25_over_16_statements_incl_BLANK
    (row,) = run(capsys, "agreement", str(shared("realsumm", "judgments.csv.gz")), *options)
    assert row["value"] == pytest.approx(expected, abs=5e-7)
    assert row["n_undefined"] == undefined


def test_alpha_by_group_stands_side_by_side(capsys) -> None:
    rows = run(capsys, "agreement", str(shared("realsumm", "judgments.csv.gz")), "--by", "group", "--ci", "200")
    expected = json.loads(shared("realsumm", "expected.json").read_text())["alpha"]
    found = {row["group"]: row for row in rows}
    assert found["abs"]["value"] == pytest.approx(expected["abs_14"]["pooled"], abs=1e-9)
    assert found["ext"]["value"] == pytest.approx(expected["ext_11"]["pooled"], abs=1e-9)
    assert all(row["low"] < row["value"] < row["high"] for row in rows)
