"""The exam of models as judges: the alternative annotator test, agreement, repeatability, biases and the verdict."""

import json
import math

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.cli import main
from analysis.judges import examine
from analysis.judges.alternative import alternative_test
from analysis.judges.bias import biases
from analysis.tables import AnalysisError, read_table

COLUMNS = ["doc_id", "system", "unit", "worker_id", "value"]


def crowd(n_documents: int = 40, n_people: int = 3, noise: float = 0.7, seed: int = 0, **extra: object) -> pd.DataFrame:
    """People who rate two systems' summaries with some noise around what is true of each."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, size=(n_documents, 2))
    rows = [
        (f"d{d:02}", f"s{s}", "quality", f"w{w}", float(np.clip(np.round(truth[d, s] + rng.normal(0, noise)), 1, 5)))
        for d in range(n_documents)
        for s in range(2)
        for w in range(n_people)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(**extra)


def judge_like(people: pd.DataFrame, noise: float, seed: int = 1, name: str = "judge") -> pd.DataFrame:
    """A judge who answers near the people's mean."""
    means = people.groupby(["doc_id", "system", "unit"])["value"].mean().reset_index()
    rng = np.random.default_rng(seed)
    return means.assign(worker_id=name, value=means["value"] + rng.normal(0, noise, len(means)))


def plain_test(judge: dict, people: dict[str, dict], epsilon: float) -> tuple[float, float]:
    """ω and ρ straight from the paper's words, one item after the other."""
    p_values, advantages = [], []
    for name, answers in people.items():
        leads, wins = [], []
        for item, answer in answers.items():
            others = [p[item] for other, p in people.items() if other != name and item in p]
            if item not in judge or not others:
                continue
            judge_off, person_off = (math.sqrt(sum((x - o) ** 2 for o in others)) for x in (judge[item], answer))
            wins.append(judge_off <= person_off)
            leads.append(int(person_off <= judge_off) - int(judge_off <= person_off))
        p_values.append(stats.ttest_1samp(leads, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    m = len(p_values)
    bound = 0.05 / m / sum(1 / k for k in range(1, m + 1))  # Benjamini and Yekutieli's for the smallest of m
    below = [p <= bound * (rank + 1) for rank, p in enumerate(sorted(p_values))]
    n_wins = max((rank + 1 for rank, is_below in enumerate(below) if is_below), default=0)
    return n_wins / m, float(np.mean(advantages))


def test_advantages_can_be_counted_with_a_pencil():
    # Others of w1 are w2 and w3. Item 0: the judge (3) is off by 1 and 0 → 1/2, w1 (1) by 1 and 2 → 5/2: advantage.
    # Item 1: the judge (5) against 2 and 2 → 9, w1 (2) → 0: none. So 1 of 2. For w2 (others 1 and 3): 2 against 1, and
    # 9 against 0: none of 2. For w3 (others 1 and 2) the same answer as the judge's on item 0: 1 of 2.
    people = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
    copies = np.tile(people, 15)  # 30 items
    result = alternative_test(np.tile([3.0, 5.0], 15), copies, ["w1", "w2", "w3"], np.arange(30), resamples=0)
    assert [rival.advantage for rival in result.rivals] == [0.5, 0.0, 0.5]
    assert result.rho == pytest.approx(1 / 3)
    assert result.omega == 0


def test_every_judge_and_dimension_of_summeval_comes_out_as_expected(shared_data, capsys):
    files = [str(shared_data / name / "judgments.csv.gz") for name in ("summeval", "summeval_llm")]
    options = ["--people", "role=expert", "--models", "role=llm", "--ci", "0", "--json"]
    assert main(["judges", *files, *options]) == 0
    rows = {row["judge"]: row for row in json.loads(capsys.readouterr().out)}
    expected = json.loads((shared_data / "summeval_llm" / "expected.json").read_text())["alt_test"]["rows"]
    assert len(expected) == 6
    for judge, row in expected.items():
        assert rows[judge]["omega"] == pytest.approx(row["recomputed"]["winning_rate"], abs=1e-6)
        assert rows[judge]["rho"] == pytest.approx(row["recomputed"]["advantage_probability"], abs=1e-6)
        p_values = [person["p_value"] for person in rows[judge]["people"]]
        assert p_values == pytest.approx(row["recomputed"]["p_values_by_excluded_expert"], abs=1e-9)
    assert rows["gpt-4o"]["alpha_people"] == pytest.approx(0.718696778185825, abs=1e-9)

    assert main(["judges", *files, *options, "--by", "unit"]) == 0
    by_unit = json.loads(capsys.readouterr().out)
    assert len(by_unit) == 15 * 4
    people = read_table(files[0], "judgments").query("role == 'expert'")
    models = read_table(files[1], "judgments")
    for row in by_unit:
        unit = people[people["unit"] == row["group"]]
        answers = models[(models["worker_id"] == row["judge"]) & (models["unit"] == row["group"])]
        key = ["doc_id", "system"]
        by_person = {name: rows.set_index(key)["value"].to_dict() for name, rows in unit.groupby("worker_id")}
        omega, rho = plain_test(answers.set_index(key)["value"].to_dict(), by_person, 0.2)
        assert (row["omega"], row["rho"]) == pytest.approx((omega, rho), abs=1e-6), (row["judge"], row["group"])


def test_a_judge_near_the_peoples_mean_may_replace_one_of_them():
    people = crowd()
    (exam,) = examine(people, judge_like(people, 0.1), resamples=200)
    assert exam.test.omega == 1
    assert exam.verdict.startswith("May replace one of the people: it wins over 3 of 3 at ε 0.2")
    assert exam.test.rho_low < exam.test.rho < exam.test.rho_high
    assert exam.people.low < exam.people.value < exam.together.value


def test_a_judge_that_guesses_may_do_neither():
    people = crowd()
    guesses = judge_like(people, 0).assign(value=np.random.default_rng(2).integers(1, 6, 80).astype(float))
    (exam,) = examine(people, guesses, resamples=200)
    assert exam.test.omega == 0
    assert exam.verdict.startswith("May neither stand beside people nor replace one")
    assert exam.change.high < 0


def test_a_judge_no_worse_than_the_margin_stands_beside_people():
    people = crowd(n_documents=150, n_people=6, noise=0.4)
    (exam,) = examine(people, judge_like(people, 0.55), resamples=200, epsilon=0.1)
    assert exam.test.omega < 0.5
    assert exam.verdict.startswith("May stand beside people, not replace one")


@pytest.mark.parametrize(
    ("n_documents", "n_people", "begin"), [(10, 3, "Not enough items"), (40, 1, "Not enough people")]
)
def test_too_little_is_said_to_be_too_little(n_documents, n_people, begin):
    people = crowd(n_documents, n_people)
    (exam,) = examine(people, judge_like(people, 0.1), resamples=50)
    assert exam.verdict.startswith(begin)
    assert np.isnan(exam.test.omega)


def test_a_judge_that_answers_half_is_examined_on_half():
    people = crowd()
    (exam,) = examine(people, judge_like(people, 0.1).iloc[::2], resamples=0)
    assert (exam.n_items, exam.n_human_items) == (40, 80)


def test_samples_of_an_item_are_averaged_and_tell_repeatability():
    people = crowd()
    first, second = (judge_like(people, 0.5, seed).round({"value": 0}) for seed in (1, 2))
    samples = pd.concat([first.assign(assignment_id="a"), second.assign(assignment_id="b")], ignore_index=True)
    (exam,) = examine(people, samples, resamples=0)
    mean = first.assign(value=(first["value"] + second["value"]) / 2)
    assert exam.test.rho == examine(people, mean, resamples=0)[0].test.rho
    ratings = np.stack([first["value"], second["value"]])
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement="interval")
    assert exam.repeatability == pytest.approx(expected, abs=1e-12)
    assert np.isnan(examine(people, first, resamples=0)[0].repeatability)


def test_yes_and_no_are_scored_by_accuracy_and_what_most_samples_say():
    people = crowd().assign(value=lambda rows: (rows["value"] > 3).astype(float))
    answers = people[people["worker_id"] == "w0"].assign(worker_id="judge")
    samples = pd.concat([answers.assign(assignment_id=str(n)) for n in range(3)], ignore_index=True)
    samples.loc[samples["assignment_id"] == "2", "value"] = 1 - samples["value"]
    (exam,) = examine(people, samples, resamples=0)
    (alone,) = examine(people, answers, resamples=0)
    assert exam.test.rivals == alone.test.rivals
    assert alone.with_each["w0"].value == 1


def test_planted_biases_are_found_and_absent_ones_are_not():
    people = crowd(n_documents=100, group="ext")
    people.loc[people["system"] == "s1", "group"] = "abs"
    rng = np.random.default_rng(5)
    lengths = {
        (d, s): float(rng.integers(20, 80)) for d, s in set(zip(people["doc_id"], people["system"], strict=True))
    }
    judge = judge_like(people, 0.2).assign(position=lambda rows: rng.integers(0, 6, len(rows)))
    judge["group"] = np.where(judge["system"] == "s1", "abs", "ext")
    words = np.array([lengths[key] for key in zip(judge["doc_id"], judge["system"], strict=True)])
    judge["value"] += 0.02 * (words - 50) + 0.4 * (judge["system"] == "s1")
    (exam,) = examine(people, judge, lengths=lengths, kin={"judge": "s1"}, resamples=500)
    found = {bias.name: bias for bias in exam.biases}
    assert set(found) == {"length", "position", "group abs", "group ext", "kin s1"}
    assert found["length"].low > 0.5
    assert found["kin s1"].value == pytest.approx(0.4, abs=0.15)
    assert found["group ext"].value == pytest.approx(-found["group abs"].value)
    assert found["kin s1"].is_clear
    assert not found["position"].is_clear


def test_the_interval_of_a_bias_that_is_not_there_covers_nothing_in_95_of_100():
    n_clear = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({"doc_id": np.repeat(np.arange(60), 2), "position": rng.permutation(120)})
        rows["difference"] = rng.normal(0, 1, 60)[rows["doc_id"]] + rng.normal(0, 1, 120)  # documents have their own
        (bias,) = biases(rows, None, 200, seed)
        n_clear += bias.is_clear
    assert 8 <= n_clear <= 34  # 20 expected; outside this range with a chance of 0.3 %


def write(folder, name: str, rows: pd.DataFrame) -> str:
    rows.to_csv(folder / name, index=False)
    return str(folder / name)


def test_the_command_reads_several_files_and_says_who_failed_checks(tmp_path, capsys):
    people = crowd(role="crowd", is_check=False)
    checks = pd.DataFrame([("d00", "s0", f"c{n}", "judge", n % 2) for n in range(4)], columns=COLUMNS)
    judge = pd.concat([judge_like(people, 0.1).assign(is_check=False), checks.assign(is_check=True)]).assign(
        role="model"
    )
    files = [write(tmp_path, "people.csv", people), write(tmp_path, "judge.csv", judge)]
    assert main(["judges", *files, "--json", "--ci", "100"]) == 0
    output = capsys.readouterr()
    (row,) = json.loads(output.out)
    assert {"judge", "group", "omega", "rho", "epsilon", "n_items", "n_people"} <= set(row)
    assert {"alpha_people", "alpha_with", "repeatability"} <= set(row)
    assert (row["judge"], row["group"], row["epsilon"], row["repeatability"]) == ("judge", None, 0.2, None)
    assert (row["checks"], row["checks_failed"]) == (4, 2)
    assert "judge: failed 2 of 4 check items." in output.err
    assert main(["judges", *files, "--epsilon", "0.1", "--by", "system"]) == 0
    assert "May replace" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "No judgment in people.csv has the role model (roles: crowd); say with --models column=value"),
        (["--models", "role"], "--models role has no '='"),
        (["--models", "worker_id=nobody"], "No row of people.csv has worker_id=nobody"),
        (["--models", "role=crowd"], "All judgments in people.csv are the models'"),
        (["--models", "worker_id=w0", "--people", "role=expert"], "No row of people.csv has role=expert"),
        (["--models", "worker_id=w0", "--kin", "w1=s0"], "--kin w1=s0 names no judge"),
        (["--models", "worker_id=w0", "--by", "dimension"], "The judgments have no column 'dimension'"),
    ],
)
def test_what_cannot_be_examined_is_answered_with_a_sentence(tmp_path, capsys, options, sentence):
    assert main(["judges", write(tmp_path, "people.csv", crowd(role="crowd")), *options]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_an_exam_without_items_or_with_an_unknown_level_is_refused():
    people = crowd()
    with pytest.raises(AnalysisError, match="answers of people and of a judge"):
        examine(people, people.head(0))
    with pytest.raises(AnalysisError, match="no level 'ratio-like'"):
        examine(people, judge_like(people, 0.1), level="ratio-like")


def test_a_judge_of_other_items_is_not_examined():
    people = crowd()
    (exam,) = examine(people, judge_like(people, 0.1).assign(unit="other"), resamples=20)
    assert exam.n_items == 0
    assert exam.verdict.startswith("Not enough items")
