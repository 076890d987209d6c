"""Workers in figures, and which rules caught whom."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.agreement import agreement
from analysis.filters import apply_rules
from analysis.filters.base import Decision
from analysis.filters.caught import caught_by, examine_filter, share_right
from analysis.filters.workers import FIGURES, beside_others, standing_out, worker_figures
from tests.analysis.support import table

COLUMNS = "doc_id system unit worker_id value seconds is_check expected"


def example_judgments() -> pd.DataFrame:
    """Two who agree on four units and take their time; w2 says the contrary, in a second, and fails a check."""
    rows = []
    for unit, value in enumerate([1, 0, 1, 1]):
        rows += [("d", "s", f"u{unit}", worker, value, 8 + unit, False, None) for worker in ("w0", "w1")]
        rows += [("d", "s", f"u{unit}", "w2", 1 - value, 1, False, None)]
    rows += [("d", "s", "k0", "w0", 0, 50, True, None), ("d", "s", "k1", "w0", 1, 50, True, 1)]
    rows += [("d", "s", "k0", "w2", 1, 50, True, None), ("d", "s", "k1", "w2", 1, 50, True, 1)]
    return table(rows, COLUMNS)


def test_each_workers_figures_by_hand() -> None:
    figures = worker_figures(example_judgments()).set_index("worker_id")
    # w0 and w1: 8, 9, 10, 11 seconds, median 9.5; w2 always 1. Checks' 50 seconds count nowhere.
    assert figures["answers"].to_dict() == {"w0": 4, "w1": 4, "w2": 4}
    assert figures["seconds"].to_dict() == {"w0": 9.5, "w1": 9.5, "w2": 1.0}
    # An empty expected answer is 0: w2's 1 on k0 is wrong, the 1 on k1 right. w1 met no check.
    assert figures["checks"].to_dict() == {"w0": 2, "w1": 0, "w2": 2}
    assert figures["failed"].to_dict() == {"w0": 0, "w1": 0, "w2": 1}
    alphas = {result.group: result.value for result in agreement(example_judgments(), by="worker_id")}
    assert figures["agreement"].to_dict() == alphas
    assert alphas["w2"] < alphas["w0"] == alphas["w1"]
    assert figures.index.tolist() == ["w2", "w0", "w1"]  # the worst first, then by name


def test_without_times_and_right_answers_the_rest_is_said() -> None:
    figures = worker_figures(example_judgments().drop(columns=["seconds", "expected"])).set_index("worker_id")
    assert figures["seconds"].isna().all()
    assert figures["failed"].to_dict() == {"w0": 1, "w1": 0, "w2": 2}  # every right answer is taken for 0
    assert worker_figures(example_judgments().drop(columns="is_check"))["checks"].tolist() == [0, 0, 0]


def test_checks_alone_give_no_figures() -> None:
    judgments = example_judgments()
    figures = worker_figures(judgments[judgments["is_check"]])
    assert figures.empty
    assert list(figures.columns) == FIGURES
    assert standing_out(figures).empty
    assert standing_out(worker_figures(judgments.iloc[:0])).empty


def test_who_is_fast_or_fails_checks_stands_out() -> None:
    flags = standing_out(worker_figures(example_judgments())).set_index("worker_id")
    # The workers' median is 9.5 s, a third of it 3.17: w2's 1 s is below. One of two checks is more than a quarter.
    assert flags["is_fast"].to_dict() == {"w0": False, "w1": False, "w2": True}
    assert flags["fails_checks"].to_dict() == {"w0": False, "w1": False, "w2": True}


@pytest.mark.parametrize(("failed", "checks", "flag"), [(0, 0, False), (1, 4, False), (1, 3, True)])
def test_up_to_a_quarter_of_failed_checks_is_an_honest_slip(failed: int, checks: int, flag: bool) -> None:
    figures = pd.DataFrame({"seconds": [float("nan")], "failed": [failed], "checks": [checks]})
    flags = standing_out(figures).iloc[0]
    assert (bool(flags["is_fast"]), bool(flags["fails_checks"])) == (False, flag)


def test_an_answer_stands_beside_the_mean_of_the_others() -> None:
    judgments = table(
        [
            ("d", "s", "u", "w0", 5),
            ("d", "s", "u", "w1", 1),
            ("d", "s", "u", "w2", 2),  # the others of w0: (1 + 2) / 2
            ("d", "s", "v", "w0", 4),  # nobody else
            ("d", "t", "u", "w1", 3),
        ]
    )
    rows = beside_others(judgments, "w0")
    assert rows[["unit", "value"]].to_numpy().tolist() == [["u", 5], ["v", 4]]
    assert (rows["mean"].iloc[0], rows["count"].iloc[0]) == (1.5, 2)
    assert math.isnan(rows["mean"].iloc[1])
    assert beside_others(judgments, "nobody").empty


def drop(worker: str, rule: str, doc: str = "") -> Decision:
    return Decision(rule, worker, "", {}, {}, {"doc_id": doc, "system": "s"} if doc else {})


def test_caught_is_who_is_dropped_everywhere_or_on_more_than_half() -> None:
    judgments = table([(doc, "s", unit, "w", 1) for doc in "abcd" for unit in ("u", "v")])  # four tasks
    two_drops = [drop("w", "majority-dissent", doc) for doc in "ab"]  # 2 / 4
    three_drops = [*two_drops, drop("w", "majority-dissent", "c")]  # 3 / 4
    assert caught_by(two_drops, judgments) == {}
    assert caught_by(three_drops, judgments) == {"w": ["majority-dissent"]}
    assert caught_by([drop("w", "time")], judgments) == {"w": ["time"]}
    assert caught_by([*two_drops, drop("w", "checks")], judgments) == {"w": ["checks"]}  # shares of two rules don't add
    assert caught_by([], judgments) == {}


def with_truth() -> pd.DataFrame:
    """The judgments with the truth: w0 and w1 are right everywhere, w2 nowhere."""
    judgments = example_judgments()
    is_right = judgments["worker_id"] != "w2"
    return judgments.assign(right=is_right, assignment_id=judgments["worker_id"])


def test_a_filter_held_against_the_truth_by_hand() -> None:
    # w2 fails 1 of 2 checks, more than a quarter. Before 8 of 12 answers are right, afterwards 8 of 8.
    examined = examine_filter(with_truth(), ["checks[minimum=2]"])
    assert examined.caught == {"w2": ("checks",)}
    assert examined.answers == {"w0": 1.0, "w1": 1.0, "w2": 0.0}
    assert (examined.right_before, examined.right_after) == (8 / 12, 1.0)
    assert examined.lost == 1
    assert examined.agreement_after == 1.0 > (examined.agreement_before or 0.0)
    assert apply_rules(with_truth(), ["checks[minimum=2]"]).kept["worker_id"].nunique() == 2


def test_without_rules_or_answers_nothing_is_caught() -> None:
    idle = examine_filter(with_truth(), [])
    assert (idle.caught, idle.lost, idle.right_before, idle.right_after) == ({}, 0, 8 / 12, 8 / 12)
    nothing = examine_filter(example_judgments().iloc[:0], ["time"])
    assert (nothing.answers, nothing.right_before) == ({}, None)
    assert share_right(with_truth().query("is_check")) is None
