"""REALSumm's judgments give the numbers of the paper (Bhandari et al. 2020), worked out afresh."""

from __future__ import annotations

import json

import pytest

from analysis.cli import main
from analysis.tables import read_table
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
    by_group = {row["group"]: row for row in rows}
    assert by_group["abs"]["value"] == pytest.approx(expected["abs_14"]["pooled"], abs=1e-9)
    assert by_group["ext"]["value"] == pytest.approx(expected["ext_11"]["pooled"], abs=1e-9)
    assert all(row["low"] < row["value"] < row["high"] for row in rows)


def test_all_2500_recalls_are_the_published_ones(capsys, tmp_path) -> None:
    out = tmp_path / "human.csv"
    run(capsys, "aggregate", str(shared("realsumm", "judgments.csv.gz")), "--out", str(out))
    our_scores = read_table(out, "scores").set_index(["doc_id", "system"])
    published = read_table(shared("realsumm", "scores.csv.gz"), "scores")
    published = published[published["metric"] == "litepyramid_recall"].set_index(["doc_id", "system"])
    assert len(published) == len(our_scores) == 2500
    # The published fractions were divided in another order: 299 of them differ in the last bit (4/9 is printed as
    # 0.4444444444444445), none by more.
    assert (our_scores["value"].reindex(published.index) - published["value"]).abs().max() <= 2.3e-16
    assert (our_scores["group"].reindex(published.index) == published["group"]).all()


def test_real_scus_as_weights_give_the_same_recall(capsys, tmp_path) -> None:
    # one reference, all weights 1: the weighted pyramid score is the recall
    arguments = [
        "aggregate",
        str(shared("realsumm", "judgments.csv.gz")),
        "--scus",
        str(shared("realsumm", "scus.csv")),
    ]
    rows = run(capsys, *arguments)
    values = {name: {} for name in ("litepyramid_recall", "pyramid_score")}
    for row in rows:
        values[row["metric"]][row["doc_id"], row["system"]] = row["value"]
    assert len(values["pyramid_score"]) == 2500
    assert values["pyramid_score"] == pytest.approx(values["litepyramid_recall"])
