"""Human scores with a model's help: equal to ppi-python, valid whatever the model says, no worse than people alone."""

import json

import numpy as np
import pandas as pd
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

from analysis.aggregate import aggregate
from analysis.cli import main
from analysis.judges.prediction_powered import powered_mean, powered_systems
from analysis.tables import AnalysisError, read_table

COLUMNS = ["doc_id", "system", "unit", "worker_id", "value", "role"]
NOBODY = np.nan


def study(kind: str, rng: np.random.Generator, n: int, extra: int, systems: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Scores of systems × documents by people (only of the first n documents) and by a model; true means 3, 3.1, …

    Easy documents are easy for every system, and for the model as well.
    """
    truth = (
        3 + 0.1 * np.arange(systems)[:, None] + rng.normal(0, 0.7, n + extra) + rng.normal(0, 0.7, (systems, n + extra))
    )
    people = truth + rng.normal(0, 0.5, truth.shape)
    model = {
        "good": truth + rng.normal(0, 0.3, truth.shape),
        "useless": rng.normal(3, 1, truth.shape),
        "biased": 4.5 + 0.5 * truth - 0.6 * np.arange(systems)[:, None] + rng.normal(0, 0.4, truth.shape),
        "contrary": 6 - truth,
    }[kind]
    people[:, n:] = NOBODY
    return people, model


@pytest.mark.parametrize(("n", "extra"), [(5, 5), (20, 200), (100, 30)])
@pytest.mark.parametrize("kind", ["good", "useless", "biased", "contrary"])
def test_means_and_errors_are_those_of_ppi_python(kind, n, extra):
    (people,), (model,) = study(kind, np.random.default_rng(n), n, extra)
    estimate = powered_mean(people, model)
    parts = people[:n], model[:n], model[n:]
    assert estimate.value == pytest.approx(float(np.squeeze(ppi_mean_pointestimate(*parts))), abs=1e-8)
    low, high = (float(np.squeeze(limit)) for limit in ppi_mean_ci(*parts, alpha=0.05))
    # theirs divides squares by n, ours by n − 1, for people's documents and for the others
    theirs = estimate.influence / np.where(np.isfinite(people), np.sqrt(n / (n - 1)), np.sqrt(extra / (extra - 1)))
    assert 1.959963984540054 * np.sqrt((theirs**2).sum()) == pytest.approx((high - low) / 2, abs=1e-8)


def test_one_can_be_worked_out_with_a_pencil():
    # People 2 and 4 where the model has 1 and 3: covariance 1. Elsewhere it has 1, 1, 5, 5: of all six the mean is 8/3,
    # the squares sum to 62 − 6 · 64/9 = 58/3, the variance is 58/15. λ = 1 / ((1 + 2/4) · 58/15) = 5/29.
    estimate = powered_mean(np.array([2.0, 4, *[NOBODY] * 4]), np.array([1.0, 3, 1, 1, 5, 5]))
    assert estimate.tuning == pytest.approx(5 / 29)
    assert estimate.value == pytest.approx(3 + 5 / 29)  # the model's mean is 2 here and 3 elsewhere


@pytest.mark.parametrize("kind", ["good", "useless", "biased"])
def test_intervals_cover_and_are_no_wider_than_peoples(kind):
    runs, n, extra = 2000, 30, 150
    means = differences = 0
    widths = []
    for seed in range(runs):
        people, model = study(kind, np.random.default_rng(seed), n, extra, systems=2)
        result = powered_systems(["s0", "s1"], people, model)
        for row in result.systems:
            widths.append((row.high - row.low) / (row.people_high - row.people_low))
        first = next(row for row in result.systems if row.system == "s0")
        means += first.low <= 3 <= first.high
        (pair,) = result.pairs
        true = 0.1 if pair.better == "s1" else -0.1
        differences += pair.low <= true <= pair.high
    assert 0.93 <= means / runs <= 0.97
    assert 0.93 <= differences / runs <= 0.97
    assert max(widths) <= 1.03
    if kind == "good":
        assert np.mean(widths) < 0.8


def test_a_model_that_says_nothing_leaves_the_peoples_mean():
    (people,), (model,) = study("contrary", np.random.default_rng(1), 20, 100)
    for answers in (model, np.full(120, 4.0), np.where(np.isfinite(people), model, NOBODY), np.full(120, NOBODY)):
        estimate = powered_mean(people, answers)
        assert estimate.tuning == 0
        assert estimate.value == pytest.approx(np.nanmean(people))


def test_documents_that_people_judged_and_the_model_did_not_still_count():
    (people,), (model,) = study("good", np.random.default_rng(2), 40, 100)
    partial = np.where(np.arange(140) < 20, NOBODY, model)
    estimate, alone = powered_mean(people, partial), powered_mean(people, np.full(140, NOBODY))
    assert estimate.n_people == 40
    assert 0 < estimate.tuning < powered_mean(people, model).tuning
    assert estimate.error < alone.error


def test_a_system_that_no_person_judged_is_refused():
    people, model = study("good", np.random.default_rng(3), 10, 10, systems=2)
    people[1] = NOBODY
    with pytest.raises(AnalysisError, match="No person judged s1"):
        powered_systems(["s0", "s1"], people, model)


def judgments(units: list[str], scale: int) -> pd.DataFrame:
    """Two systems, 40 documents; three people judge the first 15, a model all of them, and it is generous."""
    rng = np.random.default_rng(7)
    rows = []
    for d in range(40):
        for s in range(2):
            for unit in units:
                truth = rng.uniform(0.1, 0.7) + 0.2 * s
                if d < 15:
                    rows += [
                        (f"d{d:02}", f"s{s}", unit, f"w{w}", float(rng.binomial(scale, truth)), "crowd")
                        for w in range(3)
                    ]
                rows.append(
                    (f"d{d:02}", f"s{s}", unit, "judge", float(rng.binomial(scale, min(1, truth + 0.1))), "model")
                )
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.parametrize(
    ("units", "scale", "measures"),
    [(["coherence", "fluency"], 4, ["coherence", "fluency"]), (["u1", "u2", "u3"], 1, ["litepyramid_recall"])],
)
def test_the_command_gives_systems_pairs_and_a_table_of_its_own_name(tmp_path, capsys, units, scale, measures):
    table = judgments(units, scale)
    file, out = tmp_path / "judgments.csv", tmp_path / "powered.csv"
    table.to_csv(file, index=False)
    call = ["aggregate", str(file), "--scheme", "prediction-powered", "--json"]
    assert main([*call, "--out", str(out)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["metric"] for row in rows] == [measure for measure in measures for _ in range(2)]
    human = aggregate(table[table["role"] == "crowd"])
    for row in rows:
        alone = human[(human["metric"] == row["metric"]) & (human["system"] == row["system"])]["value"]
        assert row["people_value"] == pytest.approx(alone.mean())
        assert (row["n_people"], row["n_model"]) == (15, 25)
        assert row["low"] < row["value"] < row["high"]
    scores = read_table(out, "scores")
    assert set(scores["metric"]) == {f"{measure}_prediction_powered" for measure in measures}
    assert set(scores["doc_id"]) == {"*"}
    assert main([*call, "--pairs"]) == 0
    (first, *_others) = json.loads(capsys.readouterr().out)
    assert {"better", "worse", "difference", "low", "high", "p", "p_adjusted"} <= set(first)


def test_models_are_left_out_of_human_scores_and_agreement_unless_asked_for(tmp_path, capsys):
    table = judgments(["coherence"], 4)
    file = tmp_path / "judgments.csv"
    table.to_csv(file, index=False)
    people = tmp_path / "people.csv"
    table[table["role"] == "crowd"].to_csv(people, index=False)
    for command in ("aggregate", "agreement"):
        outputs = []
        for path in (file, people):
            assert main([command, str(path), "--json"]) == 0
            outputs.append(capsys.readouterr())
        assert outputs[0].out == outputs[1].out
        assert "80 judgments by models (role model) were left out." in outputs[0].err
    assert main(["aggregate", str(file), "--where", "role=model", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 80
    only_models = tmp_path / "models.csv"
    table[table["role"] == "model"].to_csv(only_models, index=False)
    assert main(["agreement", str(only_models)]) == 2
    assert "All judgments are models'" in capsys.readouterr().err


def test_options_of_the_scheme_are_refused_with_others(tmp_path, capsys):
    file = tmp_path / "judgments.csv"
    judgments(["coherence"], 4).to_csv(file, index=False)
    assert main(["aggregate", str(file), "--pairs"]) == 2
    assert "go with --scheme prediction-powered" in capsys.readouterr().err
