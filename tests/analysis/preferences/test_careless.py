"""Judgments of pairs in the judgments table: what they mean, and whether the filters find planted careless workers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.aggregate import aggregate, measure_kinds
from analysis.cli import main
from analysis.filters import apply_rules
from analysis.preferences import comparisons, preferences_of, strengths
from analysis.report import judgments_behind
from tests.analysis.simulated_crowd import CROWD, RULES_TOGETHER, Kind

COLUMNS = ["doc_id", "system", "unit", "worker_id", "value", "position"]


def crowd_of_pairs(
    seed: int, answers: int = 20, checks: int = 8, per_pair: int = 5
) -> tuple[pd.DataFrame, dict[str, str]]:
    """A crowd with known truth as in `simulated_crowd`, at pairs; who says yes to everything says A to every pair."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in CROWD for _ in range(kind.workers)]
    n_pairs = -(-len(kinds) * answers // per_pair)
    truth = rng.choice([-1, 1], n_pairs)
    deal = np.concatenate([rng.permutation(n_pairs) for _ in range(per_pair)])
    rows = []
    for number, kind in enumerate(kinds):
        for pair in dict.fromkeys(deal[number * answers : (number + 1) * answers].tolist()):
            key = (f"d{pair // 10:03}", f"s{pair % 10}", f"vs s{10 + pair % 7}")
            rows.append((*key, f"w{number:03}", *answer(rng, kind, int(truth[pair]), 0.95), False, np.nan))
        for check in range(checks):
            key = (f"d{check:03}", f"s{number % 10}", f"check s{number % 10}")
            rows.append((*key, f"w{number:03}", *answer(rng, kind, 1, 0.99), True, 1.0))
    names = [*COLUMNS, "seconds", "is_check", "expected"]
    frame = pd.DataFrame(rows, columns=names).assign(protocol="preference")
    return frame, {f"w{number:03}": kind.name for number, kind in enumerate(kinds)}


def answer(rng: np.random.Generator, kind: Kind, truth: int, skill: float) -> tuple[float, int, float]:
    """The value about the judged summary, where it stood, and the seconds it took."""
    position = int(rng.integers(1, 3))
    side = 1 if position == 1 else -1
    value = side if rng.random() < kind.otherwise else -side
    if rng.random() < kind.attention:
        value = truth if rng.random() < skill else -truth
    return float(value), position, float(kind.seconds * np.exp(rng.normal(0, 0.4)))


@pytest.mark.parametrize("answers", [20, 40])
def test_200_planted_workers_are_found_as_well_as_for_litepyramid(answers: int) -> None:
    """14 crowds with 15 planted workers and 45 careful ones each; the bounds are those of LitePyramid's own test."""
    n_planted = n_found = n_careful = n_wronged = 0
    for seed in range(14):
        judgments, kinds = crowd_of_pairs(seed, answers)
        dropped = {decision.worker_id for decision in apply_rules(judgments, RULES_TOGETHER, seed).decisions}
        planted = {worker for worker, kind in kinds.items() if kind != "careful"}
        n_planted, n_found = n_planted + len(planted), n_found + len(planted & dropped)
        n_careful, n_wronged = n_careful + len(kinds) - len(planted), n_wronged + len(dropped - planted)
    assert n_planted == 210
    assert n_found >= 0.95 * n_planted
    assert n_wronged <= 0.02 * n_careful


# The table


@pytest.fixture
def judgments() -> pd.DataFrame:
    """Two people on three pairs of one document, x before y before z; one tie; a check."""
    rows = [
        ("d1", "x", "vs y", "a", 1, 1),
        ("d1", "x", "vs y", "b", 1, 2),
        ("d1", "z", "vs y", "a", -1, 1),
        ("d1", "z", "vs y", "b", 0, 2),
        ("d1", "z", "vs x", "a", -1, 2),
        ("d1", "z", "vs x", "b", 1, 1),
        ("d1", "x", "check x", "a", 1, 1),
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(protocol="preference", is_check=[False] * 6 + [True])


def test_a_row_is_a_preference_between_its_system_and_the_one_its_unit_names(judgments: pd.DataFrame) -> None:
    table = preferences_of(judgments[~judgments["is_check"]])
    assert table["preferred"].tolist() == ["x", "x", "y", "tie", "x", "z"]
    assert table["shown_first"].tolist() == ["x", "y", "z", "y", "x", "z"]
    assert table["system_b"].tolist() == ["y", "y", "y", "y", "x", "x"]


def test_aggregate_gives_win_rates_and_strengths_beside_other_protocols_measures(judgments: pd.DataFrame) -> None:
    """x wins 3 of 4, y 1 and a tie of 4, z 1 and a tie of 4."""
    ratings = [("d1", system, "coherence", "a", value, 1) for system, value in (("x", 4), ("y", 2), ("z", 3))]
    rated = pd.DataFrame(ratings, columns=COLUMNS).assign(protocol="likert", is_check=False)
    scores = aggregate(pd.concat([judgments, rated], ignore_index=True))
    rates = scores[scores["metric"] == "preference_win_rate"].set_index("system")
    assert rates["value"].to_dict() == {"x": 0.75, "y": 0.375, "z": 0.375}
    assert rates["n_units"].to_dict() == {"x": 2, "y": 2, "z": 2}
    assert rates["n_judgments"].to_dict() == {"x": 4, "y": 4, "z": 4}
    whole = scores[scores["metric"] == "preference_strength"].set_index("system")["value"]
    fitted = {row.system: row.strength for row in strengths(comparisons(preferences_of(judgments))).systems}
    assert whole.to_dict() == pytest.approx(fitted)
    assert scores.loc[scores["metric"] == "coherence", "value"].tolist() == [4, 2, 3]
    assert set(scores["role"]) == {"human"}


def test_where_strengths_are_infinite_there_are_win_rates_alone(judgments: pd.DataFrame) -> None:
    always = judgments[judgments["unit"] == "vs y"].assign(value=1.0)
    assert set(aggregate(always)["metric"]) == {"preference_win_rate"}


def test_pairs_are_no_dimensions_and_a_measure_knows_its_judgments(judgments: pd.DataFrame) -> None:
    assert set(measure_kinds(judgments)) == {"preference"}
    units = judgments.assign(protocol="litepyramid", unit="u1", value=1.0)
    both = pd.concat([judgments, units], ignore_index=True)
    assert set(judgments_behind(both, "preference_win_rate")["protocol"]) == {"preference"}
    assert set(judgments_behind(both, "litepyramid_recall")["protocol"]) == {"litepyramid"}
    assert set(judgments_behind(both, "pyramid_score")["protocol"]) == {"litepyramid"}


def test_the_command_reads_a_judgments_table(judgments: pd.DataFrame, tmp_path, capsys) -> None:
    path = tmp_path / "judgments.csv"
    judgments.assign(is_check=judgments["is_check"].astype(int)).to_csv(path, index=False)
    assert main(["preferences", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "no bias can be told" in printed
    judgments.assign(protocol="likert").to_csv(path, index=False)
    assert main(["preferences", str(path)]) != 0
    assert "has no judgments of pairs" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["systems", "mixed", "power"])
def test_commands_that_need_ratings_say_where_pairs_are_scored(
    judgments: pd.DataFrame, tmp_path, capsys, command
) -> None:
    path = tmp_path / "judgments.csv"
    judgments.assign(is_check=judgments["is_check"].astype(int)).to_csv(path, index=False)
    assert main([command, str(path)]) != 0
    assert "aggregate and preferences score them" in capsys.readouterr().err
