"""Which answers deserve a second look: SummEval's rule for ratings, majorities for units, and the widest spreads."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.agreement.contested import (
    contested,
    contested_ratings,
    contested_units,
    rating_reasons,
    unit_reasons,
    widest_spread,
)
from tests.analysis.support import table


def scores(*values: float, doc: str = "d") -> pd.DataFrame:
    return table([(doc, "s", "coherence", f"e{i}", value) for i, value in enumerate(values)])


@pytest.mark.parametrize(
    ("values", "reasons"),
    [
        ([1, 4, 5], ["alone", "", ""]),  # 1 is 3 away from 4; 4 and 5 are within 1 point
        ([4, 1, 1], ["alone", "", ""]),
        ([2, 3, 5], ["", "", "alone"]),  # 5 is 3 away from 2; 2 and 3 are within 1 point
        ([1, 3, 5], ["apart"] * 3),  # 4 apart, and no two within 1 point around an outlier
        ([1, 1, 5, 5], ["apart"] * 4),
        ([1, 4], ["apart"] * 2),  # with two nobody can say who is off
        ([3, 5, 5], [""] * 3),  # 2 points are not more than 2
        ([1, 2, 3], [""] * 3),
        ([2, 2, 2], [""] * 3),
    ],
)
def test_summeval_s_rule(values: list[float], reasons: list[str]) -> None:
    assert rating_reasons(values, gap=2, near=1) == reasons


def test_the_thresholds_move_the_rule() -> None:
    assert rating_reasons([3, 5, 5], gap=1, near=1) == ["alone", "", ""]
    assert rating_reasons([1, 3, 5], gap=2, near=2) == ["apart"] * 3  # 1 and 5 both qualify: nobody is alone


@pytest.mark.parametrize(
    ("values", "majority", "split"),
    [
        ([1, 1, 0, 0], 0.5, True),
        ([1, 1, 1, 0], 0.5, False),
        ([1, 1, 1, 0], 0.75, True),  # 3 of 4 are not more than three quarters
        ([1, 0], 0.5, True),
    ],
)
def test_a_unit_without_a_clear_majority_is_contested(values: list[float], majority: float, split: bool) -> None:
    assert unit_reasons(values, majority) == [("split" if split else "")] * len(values)


def test_only_the_rows_to_look_at_are_returned() -> None:
    frame = pd.DataFrame(
        {
            "doc_id": ["a"] * 6,
            "system": ["s"] * 6,
            "unit": ["coherence"] * 3 + ["fluency"] * 3,
            "worker_id": ["x", "y", "z"] * 2,
            "value": [1, 4, 5, 3, 3, 4],
        }
    )
    rows = contested_ratings(frame)
    assert rows[["unit", "worker_id", "reason"]].to_numpy().tolist() == [["coherence", "x", "alone"]]
    assert len(contested_units(frame.assign(value=[1, 0, 0, 1, 0, 0]))) == 0


def contested_workers(*values: float) -> list[str]:
    return contested(scores(*values))["worker_id"].tolist()


def test_the_one_who_stands_apart_looks_again() -> None:
    assert contested_workers(5, 1, 1) == ["e0"]
    assert contested_workers(5, 1, 2) == ["e0"]
    assert "from the others (1, 2)" in contested(scores(5, 1, 2))["reason"].iloc[0]


def test_without_that_pattern_all_look_again() -> None:
    # 5, 3, 1: the ends differ by 4, but the others are 2 apart whoever is left out
    assert contested_workers(5, 3, 1) == ["e0", "e1", "e2"]
    # two annotators: nobody knows which of them stands apart
    assert contested_workers(5, 1) == ["e0", "e1"]


def test_differences_up_to_two_points_are_not_contested() -> None:
    assert contested_workers(5, 3, 3) == []
    assert list(contested(scores(5, 3, 3)).columns) == ["doc_id", "system", "unit", "worker_id", "value", "reason"]
    assert contested(scores(5, 3, 3), spread=1)["worker_id"].tolist() == ["e0"]


def test_of_two_contested_items_the_first_by_name_comes_first() -> None:
    rows = contested(pd.concat([scores(5, 3, 1, doc="e"), scores(1, 4, 5, doc="d")], ignore_index=True))
    assert rows[["doc_id", "worker_id"]].to_numpy().tolist() == [["d", "e0"], ["e", "e0"], ["e", "e1"], ["e", "e2"]]
    assert rows["reason"].iloc[0] == "differs by more than 2 from the others (4, 5)"
    assert rows["reason"].iloc[3] == "scores differ by more than 2 (1, 3, 5)"


def test_checks_are_never_contested_and_the_last_round_counts() -> None:
    check = scores(1, 5, doc="c").assign(is_check=True)
    first, second = scores(1, 5, 5).assign(is_check=False, round=1), scores(5).assign(is_check=False, round=2)
    assert contested(pd.concat([check, first], ignore_index=True))["worker_id"].tolist() == ["e0"]
    assert contested(pd.concat([check, first, second], ignore_index=True)).empty  # e0 came round to 5


def test_the_widest_spreads_by_hand() -> None:
    # 1, 5: mean 3, variance (4 + 4) / 1 = 8; 1, 1, 4: mean 2, variance (1 + 1 + 4) / 2 = 3; 3, 3 don't differ
    judgments = pd.concat([scores(1, 1, 4, doc="a"), scores(1, 5, doc="b"), scores(3, 3, doc="c")])
    rows = widest_spread(judgments)
    assert rows[["doc_id", "count", "mean"]].to_numpy().tolist() == [["b", 2, 3.0], ["a", 3, 2.0]]
    assert rows["std"].tolist() == pytest.approx([8**0.5, 3**0.5])
    assert widest_spread(judgments, limit=1)["doc_id"].tolist() == ["b"]
    assert widest_spread(judgments.assign(is_check=True)).empty


def test_equal_spreads_come_by_the_number_of_answers_then_by_name() -> None:
    # 0, 1: variance 1/2; 0, 0, 1, 1: 1/3; the two with 1/2 come by name
    judgments = pd.concat([scores(0, 0, 1, 1, doc="a"), scores(0, 1, doc="z"), scores(1, 0, doc="b")])
    assert widest_spread(judgments)["doc_id"].tolist() == ["b", "z", "a"]
