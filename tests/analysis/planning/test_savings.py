"""What a model as judge would save: as much as PPI++ then gains, and nothing where it knows nothing."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.judges.prediction_powered import powered_systems
from analysis.planning import Variances
from analysis.planning.savings import JudgeQuality, documents_with_model, judge_quality
from analysis.tables import AnalysisError

COLUMNS = ["doc_id", "system", "unit", "worker_id", "value", "role"]
VARIANCES = Variances(document=0.5, worker=0.5)


def pilot(noise: float | None, documents: int = 60, workers: int = 3, seed: int = 0) -> pd.DataFrame:
    """Four systems; the model sees the truth with some noise, or nothing of it (None)."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(documents):
        level = rng.normal(0, 1)
        for s in range(4):
            truth = level + 0.2 * s + rng.normal(0, np.sqrt(0.5))
            rows += [
                (f"d{d}", f"s{s}", "q", f"w{w}", truth + rng.normal(0, np.sqrt(0.5)), "crowd") for w in range(workers)
            ]
            value = rng.normal() if noise is None else 2 + truth + rng.normal(0, noise)
            rows.append((f"d{d}", f"s{s}", "q", "judge", value, "model"))
    return pd.DataFrame(rows, columns=COLUMNS)


def sides(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return table[table["role"] == "crowd"], table[table["role"] == "model"]


def test_the_correlation_of_differences_is_what_it_was_made_with():
    # People's means have the variance 0.5 + 0.5/3 = 2/3, of which the model (variance 0.5 + 0.25) shares 0.5:
    # r = 0.5 / √(2/3 · 3/4) = 0.707
    quality = judge_quality(*sides(pilot(0.5, documents=2000)))
    assert quality.correlation == pytest.approx(0.5 / np.sqrt(2 / 3 * 3 / 4), abs=0.02)
    assert quality.low < quality.correlation < quality.high
    assert quality.workers == 3


def test_fewer_documents_with_a_model_are_as_exact_as_more_without():
    rng = np.random.default_rng(1)
    # r² with three workers: 0.5 (worked out above). Of 600 documents people judge n: 1 − 0.5 (1 − n/600) is left.
    quality = JudgeQuality(np.sqrt(0.5), 0.6, 0.8, 60, 3.0)
    n = documents_with_model(100, quality, VARIANCES, 3, 600)
    assert n == 55  # 55 ≥ 100 · (1 − 0.5 · (1 − 55/600)) = 54.6, and 54 < 54.5
    errors = {"people": [], "powered": []}
    for _ in range(400):
        truth = rng.normal(0, 1, 600) + rng.normal(0, np.sqrt(0.5), (2, 600))
        people = truth + rng.normal(0, np.sqrt(0.5 / 3), (2, 600))
        people -= people.mean(axis=0)  # what is compared is free of the documents' level
        model = truth + rng.normal(0, 0.5, (2, 600))
        model -= model.mean(axis=0)
        for name, judged in (("people", 100), ("powered", n)):
            seen = np.where(np.arange(600) < judged, people, np.nan)
            given = model if name == "powered" else np.full((2, 600), np.nan)
            (pair,) = powered_systems(["a", "b"], seen, given).pairs
            errors[name].append(pair.difference if pair.better == "a" else -pair.difference)
    assert np.std(errors["powered"]) == pytest.approx(np.std(errors["people"]), rel=0.1)


def test_a_model_that_knows_nothing_saves_nothing(tmp_path, capsys):
    file = tmp_path / "pilot.csv"
    pilot(None).to_csv(file, index=False)
    assert main(["power", str(file), "--models", "role=model", "--json"]) == 0
    output = capsys.readouterr()
    assert {row["assignments_saved"] for row in json.loads(output.out)} == {0}
    assert "this judge saves none of the human judgments" in output.err


def test_a_good_one_saves_more_with_more_workers_and_less_with_fewer_documents(tmp_path, capsys):
    file = tmp_path / "pilot.csv"
    pilot(0.4).to_csv(file, index=False)
    saved = []
    for options in ([], ["--model-documents", "2000"]):
        assert main(["power", str(file), "--models", "role=model", "--difference", "0.2", "--json", *options]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert all(row["documents_with_model"] < row["documents"] for row in rows)
        shares = [row["documents_with_model"] / row["documents"] for row in rows]
        assert shares == sorted(shares, reverse=True)
        saved.append([row["assignments_saved"] for row in rows])
    assert all(limited < any_number for any_number, limited in zip(*saved, strict=True))


def test_what_cannot_be_said_is_answered_with_a_sentence(tmp_path, capsys):
    with pytest.raises(AnalysisError, match="two systems of 3 documents"):
        judge_quality(*sides(pilot(0.5, documents=3)))
    file = tmp_path / "pilot.csv"
    pilot(0.5).to_csv(file, index=False)
    for options, sentence in [
        (["--model-documents", "9"], "--people and --model-documents go with --models"),
        (["--models", "role=llm"], "No row of"),
    ]:
        assert main(["power", str(file), *options]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["power", "--sd-document", "1", "--sd-worker", "1", "--models", "role=model"]) == 2
    assert "give its judgments" in capsys.readouterr().err
