"""Strengths from preferences, and whether the answers can be trusted."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.preferences import comparisons, consistency, human_scores, metric_accuracy, strengths
from analysis.tables import AnalysisError, TableError, read_table
from tests.analysis.preferences.simulated import COLUMNS, covered, simulate


def table(*rows: str) -> pd.DataFrame:
    """`d1 x y x`: on d1, of x and y, x was preferred; everybody is worker w1 unless a fifth word says otherwise."""
    words = [row.split() for row in rows]
    return pd.DataFrame([(d, a, b, *(worker or ["w1"]), p) for d, a, b, p, *worker in words], columns=COLUMNS)


def of_systems(preferences: pd.DataFrame) -> dict[str, float]:
    return {row.system: row.strength for row in strengths(comparisons(preferences)).systems}


def news(shared_data, part: str) -> pd.DataFrame:
    preferences = read_table(shared_data / "gpt3_news" / "preferences.csv.gz", "preferences")
    return preferences[preferences["doc_id"].str.startswith(part)].reset_index(drop=True)


def test_three_of_four_are_odds_of_three():
    # log 3 = 1.0986, half of it up and half of it down
    assert of_systems(table("d1 x y x", "d2 x y x", "d3 y x x", "d4 x y y")) == pytest.approx(
        {"x": np.log(3) / 2, "y": -np.log(3) / 2}
    )


def test_ties_of_two_systems_come_out_as_davidson_has_them():
    # 4 for x, 1 for y, 2 ties: π_x/π_y = 4, and tie : x = ν √(π_y/π_x) = ν / 2 = 2 / 4, so ν = 1
    answers = ["x"] * 4 + ["y"] + ["tie"] * 2
    result = strengths(comparisons(table(*(f"d{n} x y {answer}" for n, answer in enumerate(answers)))))
    assert result.systems[0].strength - result.systems[1].strength == pytest.approx(np.log(4))
    assert result.tie_parameter == pytest.approx(1)
    assert result.systems[0].win_rate == pytest.approx(5 / 7)


@pytest.mark.parametrize("part", ["cnn", "bbc", "keyword"])
def test_without_ties_strengths_equal_choix_and_evalica(shared_data, part):
    choix, evalica = pytest.importorskip("choix"), pytest.importorskip("evalica")
    preferences = news(shared_data, part)
    preferences = preferences[preferences["preferred"] != "tie"].reset_index(drop=True)
    ours = comparisons(preferences)
    mine = np.array([of_systems(preferences)[name] for name in ours.systems])
    wins = [(a, b) if x else (b, a) for a, b, x in zip(ours.first, ours.second, ours.outcome == 1, strict=True)]
    theirs = choix.opt_pairwise(len(ours.systems), wins, tol=1e-12)
    assert mine == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    winners = [evalica.Winner.X if x else evalica.Winner.Y for x in ours.outcome == 1]
    scores = evalica.bradley_terry(
        [ours.systems[a] for a in ours.first], [ours.systems[b] for b in ours.second], winners, tolerance=1e-13
    ).scores
    logs = np.log(scores[ours.systems].to_numpy())
    assert mine == pytest.approx(logs - logs.mean(), abs=1e-6)


def test_with_ties_no_other_parameters_are_likelier(shared_data):
    """At a maximum every small step loses, and the likelihood is concave."""
    ours = comparisons(news(shared_data, "cnn"))
    result = strengths(ours)
    best = {row.system: row.strength for row in result.systems}
    theta = np.array([best[name] for name in ours.systems])

    def log_likelihood(theta, ties):
        a, b = theta[ours.first], theta[ours.second]
        utility = np.stack([a, b, np.log(ties) + (a + b) / 2])
        answer = np.where(ours.outcome == 1, 0, np.where(ours.outcome == 0, 1, 2))
        return (utility[answer, np.arange(len(answer))] - np.logaddexp.reduce(utility, axis=0)).sum()

    top = log_likelihood(theta, result.tie_parameter)
    for step in (1e-4, -1e-4):
        assert log_likelihood(theta, result.tie_parameter + step) < top
        for system in range(len(theta)):
            assert log_likelihood(theta + step * (np.arange(len(theta)) == system), result.tie_parameter) < top


def test_the_votes_on_keyword_summaries_are_those_recomputed(shared_data):
    expected = json.loads((shared_data / "gpt3_news" / "expected.json").read_text())
    votes = expected["majority_share"]["recomputed"]["keyword"]["votes"]
    result = {row.system: row for row in strengths(comparisons(news(shared_data, "keyword"))).systems}
    for system in ("gpt3", "ctrlsum"):
        assert result[system].n_comparisons == 600
        assert result[system].win_rate * 600 == pytest.approx(votes[system] + votes["tie"] / 2)
    assert result["gpt3"].letters != result["ctrlsum"].letters


def test_intervals_cover_what_endless_documents_would_give():
    assert 0.93 <= covered(runs=150, documents=30) <= 0.97  # 900 intervals; 1,000 runs each: docs/statistics


def test_equal_systems_share_a_letter_and_different_ones_do_not():
    rng = np.random.default_rng(3)
    display = {row.system: row.letters for row in strengths(comparisons(simulate(rng, 40))).systems}
    assert set(display["s1"]) & set(display["s2"])
    assert not set(display["s0"]) & set(display["s3"])


def test_one_document_has_no_interval():
    result = strengths(comparisons(table("d1 x y x", "d1 x y y w2")))
    assert all(np.isnan(row.low) and np.isnan(row.high) for row in result.systems)
    assert result.pairs[0].p == 1


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["d1 x y x", "d2 x y x"], "all answers go one way"),
        (["d1 x y x", "d2 x y y", "d1 u v u", "d2 u v v"], "never compared"),
        (["d1 x y tie"], "Every answer is a tie"),
    ],
)
def test_what_has_no_strength_is_refused_with_its_reason(rows, sentence):
    with pytest.raises(AnalysisError, match=sentence):
        strengths(comparisons(table(*rows)))


def test_a_summary_against_itself_and_a_stranger_preferred_are_named_by_row():
    with pytest.raises(TableError) as error:
        comparisons(table("d1 x y x", "d1 x x x", "d1 x y z"))
    assert "row 2, column system_b" in str(error.value)
    assert "row 3, column preferred: found 'z', expected x, y or tie" in str(error.value)


def test_circles_are_counted_per_person_and_document():
    circle = ["d1 a b a", "d1 b c b", "d1 a c c"]
    line = ["d2 a b a", "d2 b c b", "d2 a c a"]
    others = ["d3 a b a", "d3 b c b", "d3 a c c w2", "d4 a b tie", "d4 b c b", "d4 a c c"]
    result = consistency(table(*circle, *line, *others), ci=0)
    assert (result.n_triads, result.n_cycles) == (2, 1)


def test_position_is_told_where_it_was_recorded():
    preferences = table(*(f"d{n} x y {'x' if n % 4 else 'y'}" for n in range(40)), *(f"d{n} y x tie" for n in range(9)))
    assert consistency(preferences, ci=0).shown_first is None
    position = consistency(preferences.assign(shown_first="x"), ci=0).shown_first
    assert (position.value, position.n) == (0.75, 40)
    assert 0.5 < position.low < 0.75 < position.high
    turned = consistency(preferences.assign(shown_first="y"), ci=0).shown_first
    assert turned.value == 0.25


def test_agreement_does_not_depend_on_which_system_is_called_first():
    preferences = simulate(np.random.default_rng(1), 20)
    swapped = preferences.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    assert consistency(preferences, ci=0).alpha == pytest.approx(consistency(swapped, ci=0).alpha)


def test_human_scores_have_a_win_rate_per_summary_and_a_strength_per_system():
    preferences = table("d1 x y x", "d1 x z tie", "d2 x y y", "d2 y z z", "d2 x z x")
    compared = comparisons(preferences)
    scores = human_scores(compared, strengths(compared)).set_index(["doc_id", "system", "metric"])["value"]
    assert scores["d1", "x", "preference_win_rate"] == 0.75  # one of one and a half of one
    assert scores["d2", "z", "preference_win_rate"] == 0.5
    assert scores["*"].index.get_level_values("system").nunique() == 3


def test_a_metric_is_right_where_it_prefers_what_most_people_prefer():
    votes = ["d1 x y x", "d1 x y x w2", "d1 x y y w3", "d2 x y y", "d3 x y x", "d3 x y y w2"]
    cells = {("d1", "x"): 2, ("d1", "y"): 1, ("d2", "x"): 2, ("d2", "y"): 1, ("d3", "x"): 0, ("d3", "y"): 0}
    scores = pd.DataFrame(
        [(*key, "m", value) for key, value in cells.items()], columns=["doc_id", "system", "metric", "value"]
    )
    (result,) = metric_accuracy(table(*votes), scores)
    assert (result.accuracy, result.n_pairs) == (0.5, 2)  # right on d1, wrong on d2; d3 is even


def test_the_command_prints_systems_pairs_and_metrics_and_writes_scores(tmp_path, capsys):
    path, out = tmp_path / "preferences.csv", tmp_path / "human.csv"
    simulate(np.random.default_rng(5), 40).assign(shown_first="s0").to_csv(path, index=False)
    assert main(["preferences", str(path), "--json", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    rows = json.loads(printed.out)
    assert rows[0]["system"] == "s0"
    assert set(rows[0]) >= {"strength", "low", "high", "win_rate", "letters"}
    assert "go in a circle" in printed.err
    written = read_table(out, "scores")
    assert set(written["metric"]) == {"preference_strength", "preference_win_rate"}
    assert set(written["role"]) == {"human"}
    assert main(["preferences", str(path), "--pairs", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6
    assert main(["preferences", str(path), "--scores", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["accuracy"] > 0.8  # win rates follow the votes they are made of


def test_several_dimensions_are_never_pooled_unasked(tmp_path, capsys):
    path = tmp_path / "preferences.csv"
    answers = simulate(np.random.default_rng(5), 10)
    pd.concat([answers.assign(unit="coherence"), answers.assign(unit="fluency")]).to_csv(path, index=False)
    assert main(["preferences", str(path)]) == 2
    assert "--unit: coherence, fluency" in capsys.readouterr().err
    assert main(["preferences", str(path), "--unit", "taste"]) == 2
    assert "there are coherence, fluency" in capsys.readouterr().err
    assert main(["preferences", str(path), "--unit", "fluency"]) == 0
