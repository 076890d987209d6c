"""The worked examples of docs/statistics/human-scores.md are what the program says."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.aggregate import SCHEMES, aggregate
from analysis.agreement import agreement
from analysis.agreement.coefficients import KERNELS
from analysis.agreement.raters import RATER_COEFFICIENTS
from analysis.filters import RULES, apply_rules
from analysis.planning import checks_needed
from tests.analysis.simulated_crowd import detection
from tests.analysis.support import table

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "statistics" / "human-scores.md").read_text()


def example() -> pd.DataFrame:
    """The table of the page."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| scu")]
    rows = [
        ("1", "a", unit, worker, int(answer))
        for unit, *answers in lines
        for worker, answer in zip(("ann", "ben", "cid"), answers, strict=True)
    ]
    return table(rows)


def test_alpha_of_the_example() -> None:
    assert agreement(example())[0].value == pytest.approx(1 - (1 / 3) / (70 / 132))
    assert "= 0.371429" in PAGE
    assert agreement(example())[0].value == pytest.approx(0.371429, abs=5e-7)


def test_bens_agreement_with_the_others() -> None:
    alphas = {result.group: result.value for result in agreement(example(), by="worker_id")}
    assert alphas["ben"] == pytest.approx(0.5)


def test_the_recall_and_the_dropped_workers_of_the_example() -> None:
    assert aggregate(example())["value"].tolist() == [0.25]
    for ties, expected in (("first", {"ann"}), ("all", {"ann", "cid"}), ("none", set())):
        decisions = apply_rules(example(), ["majority-dissent"], ties=ties).decisions
        assert {decision.worker_id for decision in decisions} == expected


def test_every_rule_setting_scheme_and_coefficient_is_on_the_page() -> None:
    for kind in RULES.values():
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{kind.name}` |")]
        assert {name for name in kind.defaults if f"`{name}`" not in line} == set()
    for name in (*SCHEMES, *KERNELS, *RATER_COEFFICIENTS):
        assert f"`{name}`" in PAGE


def test_the_simulated_crowd_is_as_the_page_says() -> None:
    counts = {row.kind: row for row in detection(range(20), 20)}
    expected = "| 20 | " + " | ".join(
        f"{counts[kind].dropped} of {counts[kind].workers}" for kind in ("careless", "always-yes", "random", "careful")
    )
    assert expected in PAGE


def test_the_number_of_check_items_is_as_the_page_says() -> None:
    assert f"in at most 2 of 100: {checks_needed().checks}." in PAGE
