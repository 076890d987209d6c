"""What each protocol of a study buys: the same systems, judged by ratings and by pairs."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.planning.protocols import compare_protocols, n_assignments
from analysis.tables import AnalysisError

QUALITY = np.linspace(0, 1, 5)
COLUMNS = ["doc_id", "system", "unit", "worker_id", "value", "protocol", "assignment_id", "seconds", "is_check"]


@pytest.fixture(scope="module")
def judgments() -> pd.DataFrame:
    """5 systems on 30 documents: each rated once (20 s), each pair compared once (10 s); a check pair per document."""
    rng = np.random.default_rng(1)
    rows = []
    for document in range(30):
        doc, level = f"d{document}", QUALITY + rng.normal(0, 0.2, 5)
        for n, quality in enumerate(level):
            value = float(np.clip(round(3 + 2 * (quality - 0.5) + rng.normal(0, 0.6)), 1, 5))
            rows.append((doc, f"s{n}", "coherence", "w1", value, "likert", f"L{doc}{n}", 20.0, False))
            for m in range(n):
                better = 1.0 if quality - level[m] + rng.normal(0, 0.4) > 0 else -1.0
                rows.append((doc, f"s{n}", f"vs s{m}", "w1", better, "preference", f"P{doc}{n}{m}", 10.0, False))
        rows.append((doc, "s0", "check s0", "w1", 1.0, "preference", f"C{doc}", 10.0, True))
    return pd.DataFrame(rows, columns=COLUMNS)


def test_checks_are_paid_for_and_widths_are_at_equal_cost(judgments: pd.DataFrame) -> None:
    """Likert: 150 at 0.20; preference: 300 pairs and 30 checks at 0.10."""
    bought = {row.protocol: row for row in compare_protocols(judgments, {"likert": 0.2, "preference": 0.1})}
    likert, preference = bought["likert"], bought["preference"]
    assert (likert.measure, likert.assignments, likert.cost) == ("coherence", 150, pytest.approx(30))
    assert (preference.measure, preference.assignments, preference.cost) == (
        "preference_strength",
        330,
        pytest.approx(33),
    )
    assert (likert.systems, preference.pairs) == (5, 10)
    assert min(likert.told_apart, preference.told_apart) >= 4
    assert likert.width_at_equal_cost == pytest.approx(likert.width)
    assert preference.width_at_equal_cost == pytest.approx(preference.width * sqrt(33 / 30))
    narrowest = min(likert, preference, key=lambda row: row.width)
    assert narrowest.cost_for_equal_width == pytest.approx(narrowest.cost)


def test_a_dearer_protocol_buys_less_for_the_same_money(judgments: pd.DataFrame) -> None:
    for dear, cheap in (("likert", "preference"), ("preference", "likert")):
        assert compare_protocols(judgments, {dear: 5.0, cheap: 0.01})[0].protocol == cheap


def test_systems_that_a_protocol_never_saw_are_left_out(judgments: pd.DataFrame) -> None:
    is_likert = judgments["protocol"] == "likert"
    fewer = judgments[~is_likert | judgments["system"].isin(["s1", "s2", "s3"])]
    assert {row.systems for row in compare_protocols(fewer, {"likert": 1, "preference": 1})} == {3}
    none = judgments[~is_likert | (judgments["system"] == "s1")]
    with pytest.raises(AnalysisError, match="Fewer than two systems"):
        compare_protocols(none, {"likert": 1, "preference": 1})


def test_without_ids_one_worker_s_answers_to_a_summary_are_one_assignment(judgments: pd.DataFrame) -> None:
    assert n_assignments(judgments[judgments["protocol"] == "likert"].drop(columns="assignment_id")) == 150


@pytest.mark.parametrize(
    ("rows", "prices", "sentence"),
    [
        ("likert", {"likert": 1}, "There is one protocol only"),
        ("both", {"likert": 1}, "What did an assignment of preference cost?"),
        ("none", {}, "no column protocol"),
    ],
)
def test_what_can_t_be_compared_is_said(judgments: pd.DataFrame, rows: str, prices: dict, sentence: str) -> None:
    frame = judgments[judgments["protocol"] == "likert"] if rows == "likert" else judgments
    with pytest.raises(AnalysisError, match=sentence):
        compare_protocols(frame.drop(columns="protocol") if rows == "none" else frame, prices)


def test_the_command_pays_by_the_hour_and_says_which_buys_most(judgments: pd.DataFrame, tmp_path, capsys) -> None:
    """$12 an hour: 20 s are 6.7 cents, 10 s 3.3; the fee is at least a cent."""
    path = tmp_path / "judgments.csv"
    judgments.assign(is_check=judgments["is_check"].astype(int)).to_csv(path, index=False)
    assert main(["power", str(path), "--protocols", "--wage", "12", "--json"]) == 0
    printed = capsys.readouterr()
    assert '"assignments": 330' in printed.out
    assert "For the same money " in printed.err
    assert main(["power", str(path), "--protocols"]) != 0
    assert "Say so with --prices or --wage." in capsys.readouterr().err
    assert main(["power", "--sd-document", "0.1", "--sd-worker", "0.1", "--wage", "12"]) != 0
    assert "go with --protocols" in capsys.readouterr().err
