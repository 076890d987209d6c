"""Aggregation: policies for ties, measures by protocol, models of workers, and their invariances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.aggregate import SCHEMES, aggregate, combine, unlinkable_note, wilson, without_bias
from analysis.aggregate.worker_models import MODELS, answers, fit
from analysis.cli import main
from analysis.tables import AnalysisError, check_table
from tests.analysis.support import cases, table


def votes(*units: str) -> pd.DataFrame:
    """Judgments of one summary: `votes("110", "10")` has one unit with votes 1, 1, 0 and one with a tie."""
    return table(
        [("d", "s", f"u{u}", f"w{w}", int(vote)) for u, unit in enumerate(units) for w, vote in enumerate(unit)]
    )


def only(scores: pd.DataFrame, metric: str = "litepyramid_recall") -> float:
    (value,) = scores.loc[scores["metric"] == metric, "value"]
    return value


def test_ids_that_name_no_worker_teach_a_model_nothing_about_workers():
    """Each id in one summary: z-scores per worker would wipe out what tells summaries apart."""
    rng = np.random.default_rng(0)
    rows = [
        (f"d{d}", "s", f"u{u}", f"w{d}-{w}", 1 + int(d >= 10) * 3 + int(rng.random() < 0.3))
        for d in range(20)
        for u in range(4)
        for w in range(3)
    ]
    ratings = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"]).assign(protocol="likert")
    spread = aggregate(ratings, scheme="z-mean")["value"].std()
    assert spread == pytest.approx(aggregate(ratings, scheme="mean")["value"].std())
    yes_no = ratings.assign(value=(ratings["value"] > 2).astype(int), protocol="litepyramid")
    for scheme in ("dawid-skene", "mace"):
        assert "all workers are taken to err alike" in unlinkable_note(yes_no, scheme)
        one_worker = aggregate(yes_no, scheme=scheme)
        assert one_worker["n_workers"].eq(3).all()
        # Other ids of the same kind change nothing: nothing hangs on which answers share an id.
        other_ids = yes_no.assign(worker_id="x" + yes_no["worker_id"].str.swapcase())
        assert one_worker["value"].tolist() == aggregate(other_ids, scheme=scheme)["value"].tolist()
    assert unlinkable_note(yes_no, "majority") == ""
    assert unlinkable_note(yes_no.assign(worker_id=yes_no["worker_id"].str[-1]), "mace") == ""


def test_an_interval_of_a_recall_knows_that_workers_err():
    """Of 400 summaries judged by three workers who err in 20 %, Wilson's interval covers the true recall of too few."""
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.02, 0.25, 400)
    truth = rng.random((400, 12)) < shares[:, None]
    says = truth[:, None, :] ^ (rng.random((400, 3, 12)) < 0.2)
    summary, worker, unit = np.indices(says.shape).reshape(3, -1)
    frame = pd.DataFrame({"doc_id": summary.astype(str), "system": "s", "unit": unit.astype(str)})
    scores = aggregate(frame.assign(worker_id=worker.astype(str), value=says.ravel().astype(int)))
    true = scores["doc_id"].astype(int).map(dict(enumerate(shares)))
    low, high = wilson(scores["value"].to_numpy() * 12, np.full(400, 12.0))
    assert ((low <= true) & (true <= high)).mean() < 0.88
    assert scores["low"].le(true).mul(scores["high"].ge(true)).mean() > 0.92
    assert scores["low"].le(scores["value"]).all()
    assert scores["high"].ge(scores["value"]).all()


def test_workers_who_happen_to_agree_make_no_rating_beyond_doubt():
    ratings = pd.DataFrame(
        [
            (f"d{d}", "s", "coherence", f"w{w}", value)
            for d, values in enumerate([(5, 5, 5), (1, 3, 4), (2, 2, 4)])
            for w, value in enumerate(values)
        ],
        columns=["doc_id", "system", "unit", "worker_id", "value"],
    )
    first = aggregate(ratings).set_index("doc_id").loc["d0"]
    assert first["low"] < 5 < first["high"]


def test_recall_is_present_units_divided_by_units() -> None:
    # 3-0 present, 2-1 present, 1-2 not, 0-3 not, 2-2 a tie: not present; 2 of 5
    scores = aggregate(votes("111", "110", "100", "000", "1100"))
    assert only(scores) == 2 / 5
    row = scores.iloc[0]
    assert (row["n_units"], row["n_judgments"], row["n_workers"], row["scheme"]) == (5, 16, 4, "majority")


@pytest.mark.parametrize(
    ("ties", "expected"), [("not-present", 1 / 3), ("present", 2 / 3), ("half", 1.5 / 3), ("drop", 1 / 2)]
)
def test_the_policy_for_ties_is_named(ties: str, expected: float) -> None:
    assert only(aggregate(votes("111", "10", "000"), ties=ties)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [("mean", (4 + 5 + 5 + 1 + 5) / 5), ("median", 5), ("trimmed-mean", (4 + 5 + 5) / 3), ("majority", 5)],
)
def test_ratings_by_scheme(scheme: str, expected: float) -> None:
    rows = [("d", "s", "coherence", f"w{i}", v) for i, v in enumerate([4, 5, 5, 1, 5])]
    assert only(aggregate(table(rows), scheme=scheme), "coherence") == pytest.approx(expected)


def test_ratings_carry_a_t_interval() -> None:
    # 1, 2, 3: mean 2, standard error 1/sqrt(3), t(0.975; 2) = 4.302652730: 2 -+ 2.484138
    scores = aggregate(table([("d", "s", "fluency", f"w{v}", v) for v in (1, 2, 3)]))
    assert scores.iloc[0][["value", "low", "high"]].tolist() == pytest.approx([2, 2 - 2.484138, 2 + 2.484138])


def test_wilson_by_hand() -> None:
    # 5 of 10 with z = 1.959964: centre 0.5, reach 1.959964 * sqrt(0.025 + 0.0096036) / 1.3841459 = 0.263405
    low, high = wilson(np.array([5.0]), np.array([10.0]))
    assert (low[0], high[0]) == pytest.approx((0.236595, 0.763405), abs=2e-6)


def test_the_protocol_column_decides_the_measure() -> None:
    rows = votes("10", "11").assign(protocol="likert")
    assert sorted(aggregate(rows)["metric"]) == ["u0", "u1"]
    mixed = pd.concat(
        [votes("11").assign(protocol="litepyramid"), table([("d", "s", "fluency", "w", 1)]).assign(protocol="likert")]
    )
    assert sorted(aggregate(mixed)["metric"]) == ["fluency", "litepyramid_recall"]


def test_without_a_protocol_the_values_decide() -> None:
    rows = pd.concat([votes("10", "11"), table([("d", "s", "fluency", "w0", 4), ("d", "s", "fluency", "w1", 1)])])
    scores = aggregate(rows)
    assert sorted(scores["metric"]) == ["fluency", "litepyramid_recall"]
    ratings = table([("d", "s", "fluency", "w", 1), ("d", "s", "coherence", "w", 3)])
    assert sorted(aggregate(ratings)["metric"]) == ["coherence", "fluency"]


def test_a_third_value_of_a_yes_no_unit_is_refused() -> None:
    with pytest.raises(AnalysisError, match="Unit u1 of document d, system s has the value 2; a yes/no unit is 0"):
        aggregate(votes("10", "12").assign(protocol="litepyramid"))


def test_checks_are_left_out_and_groups_carried() -> None:
    rows = votes("11", "00", "11").assign(group="abs", is_check=lambda f: f["unit"] == "u2")
    scores = aggregate(rows)
    assert only(scores) == 1 / 2
    assert scores["group"].tolist() == ["abs"]
    assert only(aggregate(rows, include_checks=True)) == 2 / 3
    check_table(scores, "scores")


def test_weights_of_scus_give_the_pyramid_score() -> None:
    # u0 (weight 3) is present, u1 (weight 1) is not: 3 / 4; the recall does not know weights: 1 / 2
    scus = table([("d", "u0", "a", 3.0), ("d", "u1", "b", 1.0)], "doc_id scu_id text weight")
    scores = aggregate(votes("11", "00"), scus=scus)
    assert only(scores) == 1 / 2
    assert only(scores, "pyramid_score") == 3 / 4
    with pytest.raises(AnalysisError, match="no unit u2 for document d"):
        aggregate(votes("1", "0", "1"), scus=scus)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(AnalysisError, match="no scheme 'vote'; there are majority, mean"):
        aggregate(votes("1"), scheme="vote")
    with pytest.raises(AnalysisError, match="no policy for ties 'yes'; there are not-present"):
        aggregate(votes("1"), ties="yes")


def test_z_mean_takes_a_strict_and_a_mild_worker_to_the_same_scale() -> None:
    # Both rank the summaries alike, the mild one two points higher: after correction they agree on each.
    rows = table(
        [("d", f"s{i}", "fluency", "strict", v) for i, v in enumerate([1, 2, 3])]
        + [("d", f"s{i}", "fluency", "mild", v) for i, v in enumerate([3, 4, 5])]
    )
    corrected = rows.assign(value=without_bias(rows))
    assert corrected.groupby("system")["value"].std().max() == pytest.approx(0, abs=1e-12)
    assert corrected["value"].mean() == pytest.approx(3)


def test_grahams_combinations() -> None:
    assert combine([0.5], [3.0], "arithmetic", (1, 5)) == pytest.approx([0.5])
    assert combine([0.25], [1.0], "geometric") == pytest.approx([0.5])
    assert combine([0.5], [1.0], "harmonic") == pytest.approx([2 / 3])
    assert combine([0.0], [0.0], "harmonic") == pytest.approx([0])


def case_answers(case: dict):
    inputs = case["inputs"]
    return answers(pd.Series(inputs["task"]), pd.Series(inputs["worker"]), pd.Series(inputs["label"]))


@pytest.mark.parametrize("case", cases("dawid_skene"), ids=lambda case: case["id"])
def test_the_case_of_dawid_and_skene(case: dict) -> None:
    result, expected = fit("dawid-skene", case_answers(case)), case["expected"]
    np.testing.assert_allclose(result.posterior, expected["probas"], atol=case["tol"])
    assert result.label() == expected["labels"]
    np.testing.assert_allclose(result.prior, expected["priors"], atol=case["tol"])
    for key, row in expected["errors"].items():
        worker, label = key.strip("()").split(", ")
        errors = result.errors[result.workers.index(worker.strip("'")), int(label)]
        np.testing.assert_allclose(errors, row, atol=case["tol"])


@pytest.mark.parametrize("case", cases("mace"), ids=lambda case: case["id"])
def test_the_case_of_mace(case: dict) -> None:
    result, expected = fit("mace", case_answers(case)), case["expected"]
    np.testing.assert_allclose(result.posterior, expected["probas"], atol=case["tol"])
    assert result.label() == expected["labels"]
    np.testing.assert_allclose(result.skill, [row[1] for row in expected["spamming"]], atol=case["tol"])


@pytest.mark.parametrize("case", cases("majority_vote"), ids=lambda case: case["id"])
def test_the_cases_of_weighted_votes(case: dict) -> None:
    data, expected = case_answers(case), case["expected"]
    best = np.argmax(data.votes, axis=1)  # argmax takes the smaller label of a tie: not present
    assert best.tolist() == expected["mv"]
    for name in ("wawa", "zbs"):
        result = fit(name, data)
        skills = dict(zip(result.workers, result.skill, strict=True))
        assert skills == pytest.approx(expected[name], abs=case["tol"])


ANSWERS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 1)),
    min_size=4,
    max_size=30,
    unique_by=lambda a: a[:2],
)


@settings(max_examples=40, deadline=None)
@given(ANSWERS, st.integers(0, 10**6), st.sampled_from(sorted(MODELS)))
def test_order_and_names_change_nothing(rows: list[tuple[int, int, int]], seed: int, model: str) -> None:
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    if frame["label"].nunique() < 2:
        return

    def posterior(data: pd.DataFrame) -> np.ndarray:
        return fit(model, answers(data["task"], data["worker"], data["label"]), 60).posterior

    before = posterior(frame)
    shuffled = frame.sample(frac=1, random_state=seed)
    order = np.random.default_rng(seed).permutation(5)
    renamed = shuffled.assign(worker=[f"x{order[worker]}" for worker in shuffled["worker"]])
    np.testing.assert_allclose(posterior(shuffled), before, atol=1e-6)
    np.testing.assert_allclose(posterior(renamed), before, atol=1e-6)
    if model in ("dawid-skene", "one-coin", "mace"):
        relabelled = renamed.assign(label=1 - renamed["label"])
        np.testing.assert_allclose(posterior(relabelled)[:, ::-1], before, atol=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shuffled_rows_give_the_same_scores(scheme: str) -> None:
    rng = np.random.default_rng(2)
    rows = table(
        [
            (f"d{d}", f"s{s}", f"u{u}", f"w{w}", int(rng.random() < 0.2 + 0.5 * (u % 2)))
            for d in range(3)
            for s in range(2)
            for u in range(4)
            for w in range(7)
            if rng.random() < 0.8
        ]
    )
    shuffled = rows.sample(frac=1, random_state=3).reset_index(drop=True)
    scores = aggregate(rows, scheme=scheme), aggregate(shuffled, scheme=scheme)
    pd.testing.assert_frame_equal(*scores, check_exact=True)


def test_even_votes_are_spoken_of_where_there_are_scus(tmp_path, capsys) -> None:
    for unit, spoken in (("u1", True), ("coherence", False)):
        values = (0, 1) if spoken else (1, 5)
        path = tmp_path / f"{unit}.csv"
        table([("d", "s", unit, f"w{n}", value) for n, value in enumerate(values)]).to_csv(path, index=False)
        assert main(["aggregate", str(path)]) == 0
        assert ("even votes" in capsys.readouterr().out) == spoken


def test_dawid_skene_sees_through_an_always_yes_worker() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    rows = []
    for unit, true in enumerate(truth):
        for worker in ("a", "b", "c"):
            rows.append(("d", "s", f"u{unit:03}", worker, int(true if rng.random() < 0.9 else 1 - true)))
        rows += [("d", "s", f"u{unit:03}", worker, 1) for worker in ("yes1", "yes2")]
    frame = table(rows)
    data = answers(frame["unit"], frame["worker_id"], frame["value"].astype(int))
    majority = (data.votes[:, 1] > data.votes[:, 0]).astype(int)
    model = np.array(fit("dawid-skene", data).label())
    assert (model == truth).mean() > 0.95 > (majority == truth).mean()
