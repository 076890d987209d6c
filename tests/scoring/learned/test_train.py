"""Learned metrics: the regression, its honest figures, its file, and its use as a metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import scoring
from analysis.tables import write_table
from scoring import registry
from scoring.base import Family
from scoring.cli import main
from scoring.errors import NotReady
from scoring.learned.examples import Examples
from scoring.learned.model_file import read_model, write_model
from scoring.learned.ridge import fit, make_folds, out_of_fold
from scoring.learned.train import Settings, report
from scoring.texts import Document, Text

WORDS = "cat dog rain sun bird fish tree house river stone wind snow king queen road ship".split()  # noqa: SIM905
DOCUMENTS, SYSTEMS = 12, 10


class Study:
    """A made-up study: texts of random words, and a human measure that is 0.6 rouge-1-r + 0.4 rouge-1-p + noise."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(7)
        references = [" ".join(rng.choice(WORDS, 12)) for _ in range(DOCUMENTS)]
        rows = []
        for number, reference in enumerate(references):
            for system in range(SYSTEMS):
                copied_words = [word for word in reference.split() if rng.random() < 0.3 + 0.06 * system]
                added = rng.choice(WORDS, int(rng.integers(1, 10)))
                rows.append((f"d{number:02}", f"s{system}", " ".join([*copied_words, *added])))
        self.folder = folder
        self.documents = pd.DataFrame(
            {
                "doc_id": [f"d{number:02}" for number in range(DOCUMENTS)],
                "references": [[reference] for reference in references],
                "source": references,
            }
        )
        self.summaries = pd.DataFrame(rows, columns=["doc_id", "system", "summary"])
        scores = scoring.evaluate(self.summaries, self.documents, "rouge-1-r,rouge-1-p")
        wide = scores.pivot(index=["doc_id", "system"], columns="metric", values="value").reset_index()
        noise = rng.normal(0, 0.02, len(wide))
        human = wide.assign(metric="judged", value=0.6 * wide["rouge-1-r"] + 0.4 * wide["rouge-1-p"] + noise)
        self.human = pd.DataFrame(human[["doc_id", "system", "metric", "value"]]).rename_axis(columns=None)
        write_table(self.documents, folder / "documents.jsonl", "documents")
        write_table(self.summaries, folder / "summaries.jsonl", "summaries")
        write_table(self.human, folder / "human.csv", "scores")

    def arguments(self, command: str, out: str, *options: str) -> list[str]:
        files = {
            "--summaries": "summaries.jsonl",
            "--documents": "documents.jsonl",
            "--scores": "human.csv",
            "--out": out,
        }
        placed = [word for option, file in files.items() for word in (option, str(self.folder / file))]
        return [command, *placed, "--human", "judged", "--ci", "200", *options]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def model(study: Study) -> Path:
    assert main(study.arguments("fit", "both.json", "--metrics", "rouge-1-r,rouge-1-p,length")) == 0
    return study.folder / "both.json"


@pytest.fixture
def counting() -> Iterator[list[int]]:
    """A metric that counts how many summaries it has scored."""
    scored: list[int] = []

    @registry.metric("counting", title="Words", citation="none", reference="none", needs=())
    class Counting(Family):
        def score(self, document: Document, summaries: Sequence[Text], columns: Sequence[str]) -> list[list[float]]:
            scored.append(len(summaries))
            return [[float(len(str(text).split()))] for text in summaries]

    yield scored
    registry.forget("counting")


def test_a_straight_line_is_found() -> None:
    # y = 3 + 2a − b, on values that are far from mean 0 and deviation 1; the third never changes.
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(10, 5, 60), rng.normal(-3, 0.1, 60), np.full(60, 0.1)])
    target = 3 + 2 * values[:, 0] - values[:, 1]
    documents = [str(number // 4) for number in range(60)]
    ridge = fit(values, target, documents, seed=0)
    assert ridge.penalty == pytest.approx(1e-5)
    assert ridge.weights / ridge.scales == pytest.approx([2, -1, 0], abs=0.02)
    assert ridge.predict(np.array([[12.0, -3.0, 0.1]])) == pytest.approx([30.0], abs=0.05)


def test_noise_is_penalised() -> None:
    rng = np.random.default_rng(1)
    values, target = rng.normal(size=(60, 20)), rng.normal(size=60)
    ridge = fit(values, target, [str(number // 4) for number in range(60)], seed=0)
    assert ridge.penalty >= 1.0


def test_a_document_is_never_split_between_folds() -> None:
    documents = [f"d{number % 7}" for number in range(50)]
    folds = make_folds(documents, 3, seed=5)
    assert {name: {f for d, f in zip(documents, folds, strict=True) if d == name} for name in documents} == {
        name: {folds[documents.index(name)]} for name in documents
    }
    assert sorted(np.bincount(folds[:7]).tolist()) == [2, 2, 3]
    assert (make_folds(documents, 3, seed=5) == folds).all()


def test_a_prediction_does_not_know_its_own_document() -> None:
    rng = np.random.default_rng(2)
    values, target = rng.normal(size=(40, 3)), rng.normal(size=40)
    documents = [f"d{number // 4}" for number in range(40)]
    predictions = out_of_fold(values, target, documents, 10, seed=0)
    changed_target = target.copy()
    changed_target[:4] += 100
    changed_predictions = out_of_fold(values, changed_target, documents, 10, seed=0)
    assert (predictions[:4] == changed_predictions[:4]).all()
    assert (predictions[4:] != changed_predictions[4:]).all()


@pytest.mark.parametrize(
    ("name", "function"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)]
)
def test_correlations_equal_scipy(name: str, function: object) -> None:
    rng = np.random.default_rng(3)
    human = rng.integers(0, 4, (5, 8)).astype(float)
    metric = human + rng.integers(0, 3, (5, 8))
    human[0, 2] = human[3, 5] = np.nan
    metric[2] = 0.1
    mask = np.isfinite(human)
    documents, systems = np.nonzero(mask)
    examples = Examples(
        [str(d) for d in documents], [str(s) for s in systems], ["m"], [None], metric[mask][:, None], human[mask], 0
    )
    rows = report(examples, human[mask], Settings("judged", resamples=10, coefficient=name), "learned")
    ingredient = {row.level: row for row in rows if row.metric == "m"}
    means = [np.array([np.nanmean(table[mask[:, s], s]) for s in range(8)]) for table in (metric, human)]
    assert ingredient["system"].value == pytest.approx(function(*means)[0])  # type: ignore[operator]
    by_document = [function(metric[d][mask[d]], human[d][mask[d]])[0] for d in (0, 1, 3, 4)]  # type: ignore[operator]
    assert ingredient["summary"].value == pytest.approx(np.mean(by_document))  # document 2 has no correlation
    assert [row.value for row in rows if row.metric == "learned"] == pytest.approx([1, 1])


def test_intervals_are_those_of_the_slow_loop() -> None:
    rng = np.random.default_rng(4)
    target = rng.normal(size=(6, 5))
    scores, predictions = target + rng.normal(size=(6, 5)), target + rng.normal(size=(6, 5)) / 2
    names = [(f"d{d}", f"s{s}") for d in range(6) for s in range(5)]
    documents, systems = [d for d, _ in names], [s for _, s in names]
    examples = Examples(documents, systems, ["m"], [None], scores.reshape(-1, 1), target.ravel(), 0)
    rows = report(examples, predictions.ravel(), Settings("judged", seed=9, resamples=50), "learned")
    draws, samples = np.random.default_rng(9), []
    for _ in range(50):
        cells = np.ix_(draws.integers(0, 6, 6), draws.integers(0, 5, 5))
        means = [table[cells].mean(axis=0) for table in (predictions, scores, target)]
        samples.append([np.corrcoef(side, means[2])[0, 1] for side in means[:2]])
    low, high = np.nanpercentile(samples, [2.5, 97.5], axis=0)
    assert [row.low for row in rows[:2]] == pytest.approx(low.tolist())
    assert [row.high for row in rows[:2]] == pytest.approx(high.tolist())
    gain = np.subtract(*np.transpose(samples))
    assert rows[1].difference_low == pytest.approx(np.nanpercentile(gain, 2.5))


def test_means_that_are_equal_but_for_rounding_are_tied() -> None:
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point; the first two systems are tied all the same.
    target = np.array([[0.1, 0.3, 0.9], [0.2, 0.2, 0.9], [0.3, 0.1, 0.9]])
    scores = np.array([[1.0, 2.0, 3.0]] * 3)
    documents, systems = [str(n // 3) for n in range(9)], [str(n % 3) for n in range(9)]
    examples = Examples(documents, systems, ["m"], [None], scores.reshape(-1, 1), target.ravel(), 0)
    rows = report(examples, target.ravel(), Settings("judged", resamples=0, coefficient="kendall"), "learned")
    # Of three pairs two are concordant and one is tied: tau-b = 2 / sqrt(3 * 2).
    assert rows[1].value == pytest.approx(2 / np.sqrt(6))


def test_fit_says_what_the_metric_is_worth(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(study.arguments("fit", "told.json", "--metrics", "rouge-1-r,rouge-1-p,length", "--json")) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["metric"], row["level"]) for row in rows[:2]] == [("told", "system"), ("rouge-1-r", "system")]
    summary = {row["metric"]: row for row in rows if row["level"] == "summary"}
    # The human measure needs both precision and recall, so that their mixture beats each of them.
    best = next(row for row in summary.values() if row["is_best"])
    assert best["metric"] in {"rouge-1-r", "rouge-1-p"}
    assert summary["told"]["value"] > 0.95 > best["value"]
    assert best["difference"] == pytest.approx(summary["told"]["value"] - best["value"])
    assert 0 < best["difference_low"] <= best["difference"] <= best["difference_high"]
    sentence = f"At the summary level told follows judged better than its best ingredient, {best['metric']} ("
    assert sentence in rows[0]["verdict"]


def test_the_file_is_plain_and_the_same_each_time(study: Study, model: Path) -> None:
    content = json.loads(model.read_text())
    assert content["training"] | {"hash": ""} == {
        "hash": "", "summaries": 120, "documents": 12, "systems": 10, "dropped": 0
    }  # fmt: skip
    assert content["seed"] == 0
    assert content["cross_validation"]["folds"] == 10
    assert content["cross_validation"]["r_squared"] > 0.9
    assert [ingredient["signature"] for ingredient in content["ingredients"]] == [
        registry.signature(name) for name in ("rouge-1-r", "rouge-1-p", "length")
    ]
    # 0.6 and 0.4, as they were mixed, but for the noise.
    slopes = [ingredient["weight"] / ingredient["scale"] for ingredient in content["ingredients"]]
    assert slopes == pytest.approx([0.6, 0.4, 0.0], abs=0.1)
    assert main(study.arguments("fit", "again.json", "--metrics", "rouge-1-r,rouge-1-p,length", "--name", "both")) == 0
    assert (study.folder / "again.json").read_bytes() == model.read_bytes()


def test_the_model_is_a_metric(study: Study, model: Path) -> None:
    name = f"learned[model={model}]"
    scores = scoring.evaluate(study.summaries, study.documents, [name, "rouge-1-r", "rouge-1-p", "length"])
    wide = scores.pivot(index=["doc_id", "system"], columns="metric", values="value")
    file = json.loads(model.read_text())
    expected = file["intercept"] + sum(
        row["weight"] * (wide[row["metric"]] - row["mean"]) / row["scale"] for row in file["ingredients"]
    )
    assert wide[name].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    signature = scores.attrs["signatures"][name]
    assert f"trained:{file['training']['hash']}" in signature
    assert all(ingredient["signature"] in signature for ingredient in file["ingredients"])
    # Alone, without its ingredients' rows, for one text, and in several processes: the same.
    learned_scores = scoring.evaluate(study.summaries, study.documents, name, jobs=2)
    assert set(learned_scores["metric"]) == {name}
    assert learned_scores["value"].tolist() == wide[name].tolist()
    first = study.summaries.iloc[0]
    reference = study.documents["references"][0]
    (value,) = registry.get(name).evaluate_example(first["summary"], reference).values()
    assert value == wide[name].iloc[0]


def test_an_ingredient_is_computed_once_and_cached(study: Study, counting: list[int], tmp_path: Path) -> None:
    assert main(study.arguments("fit", "counted.json", "--metrics", "counting,rouge-1-r")) == 0
    name = f"learned[model={study.folder / 'counted.json'}]"
    assert sum(counting) == 120
    counting.clear()
    first = scoring.evaluate(study.summaries, study.documents, [name, "counting"], cache=tmp_path)
    assert sum(counting) == 120
    second = scoring.evaluate(study.summaries, study.documents, [name, "rouge-1-r"], cache=tmp_path)
    assert sum(counting) == 120
    learned_values = [frame.loc[frame["metric"] == name, "value"].tolist() for frame in (first, second)]
    assert learned_values[0] == learned_values[1]


def test_a_metric_of_a_corpus_can_be_an_ingredient(study: Study) -> None:
    assert main(study.arguments("fit", "corpus.json", "--metrics", "cider,rouge-1-r")) == 0
    name = f"learned[model={study.folder / 'corpus.json'}]"
    scores = scoring.evaluate(study.summaries, study.documents, [name, "cider"])
    wide = scores.pivot(index=["doc_id", "system"], columns="metric", values="value")
    assert wide["cider"].max() > 0
    # The signature names the corpus that CIDEr has seen in this run.
    assert scores.attrs["signatures"]["cider"] in scores.attrs["signatures"][name]
    texts = study.summaries.merge(study.documents, on="doc_id")
    batch = registry.get(name).evaluate_batch(texts["summary"].tolist(), texts["references"].tolist(), aggregate=False)
    assert len(batch) == 120


def test_a_learned_metric_can_learn_from_a_learned_one(study: Study, model: Path) -> None:
    assert main(study.arguments("fit", "second.json", "--metrics", f"learned[model={model}],length")) == 0
    name = f"learned[model={study.folder / 'second.json'}]"
    scores = scoring.evaluate(study.summaries, study.documents, name)
    assert scores["value"].notna().all()


def test_scores_of_a_table_are_enough(study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = study.human.assign(metric="elsewhere", value=study.human["value"] * 2 + 1)
    write_table(pd.concat([study.human, table]), tmp_path / "scores.csv", "scores")
    command = ["fit", "--scores", str(tmp_path / "scores.csv"), "--human", "judged", "--out", str(tmp_path / "m.json")]
    assert main([*command, "--ci", "20"]) == 0
    assert "The model is" in capsys.readouterr().out
    with pytest.raises(NotReady, match="its ingredient elsewhere came from a table and cannot be computed"):
        registry.get(f"learned[model={tmp_path / 'm.json'}]").require_ready()


def test_a_model_by_its_name(study: Study, model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCORING_MODELS", str(tmp_path))
    (tmp_path / "other-file.json").write_bytes(model.read_bytes())
    (tmp_path / "broken.json").write_text("{}")
    assert registry.get("learned[model=both]").ready().ok
    assert registry.get("learned[model=other-file]").ready().ok
    assert "there is no model file" in registry.get("learned[model=nobody]").ready().missing


def test_what_is_missing_is_said(model: Path, tmp_path: Path) -> None:
    missing = registry.get("learned").ready().missing
    assert "it has to be trained: python -m scoring fit --summaries S" in missing
    assert registry.signature("learned") == "learned|model:none|version:0.1.0"
    (tmp_path / "bad.json").write_text("[1]")
    assert "is not a model" in registry.get(f"learned[model={tmp_path / 'bad.json'}]").ready().missing
    trained = read_model(model)
    older = replace(trained.ingredients[0], signature="rouge-1-r|version:0.0.1")
    write_model(replace(trained, ingredients=(older,)), tmp_path / "old.json")
    missing = registry.get(f"learned[model={tmp_path / 'old.json'}]").ready().missing
    assert "its ingredient rouge-1-r was rouge-1-r|version:0.0.1 in training and is rouge-1-r|" in missing


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (["--human", "judget"], "There is no judget in the scores; near ones are judged."),
        (["--metrics", "judged"], "judged is what is to be foretold"),
        (["--metrics", "length", "--folds", "1"], "Folds are 2 or more"),
        (["--metrics", "length", "--seed", "-1"], "a seed is 0 or more"),
        (["--metrics", "length", "--ci", "99999999999"], "resamples 0 to 1,000,000"),
    ],
)
def test_refusals(study: Study, change: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(study.arguments("fit", "no.json", *change)) == 2
    assert sentence in capsys.readouterr().err
    assert not (study.folder / "no.json").exists()


def test_metrics_without_texts_are_refused(study: Study, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    human, out = str(study.folder / "human.csv"), str(tmp_path / "m.json")
    assert main(["fit", "--scores", human, "--human", "judged", "--out", out, "--metrics", "rouge-1-r"]) == 2
    assert "The scores have no rouge-1-r; give --summaries and --documents" in capsys.readouterr().err
    assert main(["fit", "--scores", human, human, "--human", "judged", "--out", out]) == 2
    assert "The scores have judged of document d00, system s0 twice" in capsys.readouterr().err


def test_the_explanation_adds_up(study: Study, model: Path) -> None:
    first = study.summaries.iloc[0]
    why = scoring.explain(f"learned[model={model}]", first["summary"], study.documents["references"][0])
    intercept = json.loads(model.read_text())["intercept"]
    added = [float(step.rsplit("adds ", 1)[1].rstrip(".")) for step in why.steps[1:]]
    assert intercept + sum(added) == pytest.approx(why.value, abs=1e-4)
