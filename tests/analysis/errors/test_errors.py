"""Marked errors: rates, penalties, scores, and agreement on the places."""

import json
from collections.abc import Iterable

import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.aggregate import aggregate
from analysis.agreement import agreement
from analysis.cli import main
from analysis.correlate import correlate
from analysis.errors import Marks, place_agreement, rates, read_marks, read_weights, with_weights
from analysis.errors.from_spans import judgments_from_spans
from analysis.errors.gamma import gamma
from analysis.filters import apply_rules
from analysis.tables import AnalysisError, TableError, read_table, write_table
from tests.analysis.errors.simulated import simulate_marking

CATEGORIES = ("entity", "omission")


def said(
    doc: str,
    system: str,
    worker: str,
    marks: Iterable[tuple] = (),
    *,
    overall: float | None = None,
    words: int = 50,
    characters: int = 100,
) -> list[dict]:
    """What one person said of one summary; a mark is (category, severity) or (category, severity, start, end)."""
    place: dict = {"doc_id": doc, "system": system, "worker_id": worker, "protocol": "errors"}
    rows = []
    for category in CATEGORIES:
        own = [mark for mark in marks if mark[0] == category]
        spans = [
            {"severity": severity, **dict(zip(("start", "end"), at, strict=False))} for _name, severity, *at in own
        ]
        points = sum({"minor": 1, "major": 5}[mark[1]] for mark in own)
        rows.append(
            {**place, "unit": category, "value": points, "spans": spans, "words": words, "characters": characters}
        )
    if overall is not None:
        rows.append({**place, "unit": "overall", "value": overall, "words": words, "characters": characters})
    return rows


def table(*rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame([row for group in rows for row in group])


def test_errors_per_hundred_words_of_all_who_looked():
    # x: 3 errors in 2 × 50 words; 1 + 5 points of 50 words leave 88, 1 point leaves 98: the mean is 93
    judgments = table(
        said("d1", "x", "w1", [("entity", "minor", 0, 4), ("omission", "major")], overall=60),
        said("d1", "x", "w2", [("entity", "minor", 2, 4)], overall=80),
        said("d1", "y", "w1", overall=100),
    )
    x, y = rates(read_marks(judgments))
    assert (x.n_errors, x.n_minor, x.n_major, x.per_100_words) == (3, 2, 1, 3.0)
    assert (x.mqm, x.esa) == (93.0, 70.0)
    assert (y.n_errors, y.per_100_words, y.mqm, y.esa) == (0, 0.0, 100.0, 100.0)
    assert np.isnan([x.low, x.high, y.low]).all(), "one document tells nothing about others"
    by_category = rates(read_marks(judgments), by=["system", "category"])
    assert [(row.system, row.category, row.n_errors) for row in by_category] == [
        ("x", "entity", 2),
        ("x", "omission", 1),
        ("y", "entity", 0),
        ("y", "omission", 0),
    ]


def test_the_weights_are_the_studys():
    judgments = table(said("d1", "x", "w1", [("entity", "minor", 0, 4), ("omission", "major")]))
    # 0.5 + 10 points of 50 words are 21 per 100
    (rate,) = rates(read_marks(judgments), weights=read_weights("minor=0.5,major=10"))
    assert rate.mqm == pytest.approx(79)
    weighted = with_weights(judgments, read_weights("minor=0.5,major=10"))
    assert list(weighted["value"]) == [0.5, 10]
    with pytest.raises(AnalysisError, match="The weight 'minor' can't be read"):
        read_weights("minor")


def test_documents_are_redrawn_as_a_whole():
    """The interval of a ratio whose clusters differ: it holds the truth about as often as it says."""
    rng = np.random.default_rng(3)
    n_documents, hits, runs = 40, 0, 200
    for run in range(runs):
        groups = []
        for doc in range(n_documents):
            level = rng.gamma(2, 1)  # a document's own number of errors, the same for both who look
            for worker in ("w1", "w2"):
                n = min(int(rng.poisson(level)), 25)
                marks = [("entity", "minor", place, place + 1) for place in range(n)]
                groups.append(said(f"d{doc}", "x", worker, marks, words=40))
        (rate,) = rates(read_marks(table(*groups)), ci=300, seed=run)
        hits += rate.low <= 100 * 2 / 40 <= rate.high
    assert 0.91 <= hits / runs <= 0.985


def test_alpha_asks_at_every_character():
    # Of 10 characters w1 marks 0-4 and w2 marks 2-6: both at 2, one alone at 4, nobody at 4.
    # o_01 = 4, n_1 = 8, n_0 = 12: alpha = 1 - (20 - 1) · 2 · 4 / (2 · 8 · 12) = 1 - 19 · 4 / 96
    judgments = table(
        said("d1", "x", "w1", [("entity", "minor", 0, 4)], characters=10),
        said("d1", "x", "w2", [("entity", "major", 2, 6)], characters=10),
    )
    results = {result.of: result for result in place_agreement(read_marks(judgments))}
    assert results["any error"].value == pytest.approx(1 - 19 * 4 / 96)
    assert results["entity"].value == results["category"].value == results["any error"].value
    assert np.isnan(results["omission"].value), "nobody marked one at any place"
    assert results["any error"].n_characters == 10


def test_alpha_equals_that_of_single_characters():
    rng = np.random.default_rng(1)
    groups, codes = [], []
    for doc in range(6):
        of_document = np.zeros((3, 30), dtype=int)
        for worker in range(3):
            spans = [(start, start + int(rng.integers(1, 9))) for start in rng.choice(20, size=2, replace=False)]
            marks = [("entity", "minor", int(start), int(end)) for start, end in spans]  # they may overlap
            groups.append(said(f"d{doc}", "x", f"w{worker}", marks, characters=30))
            for start, end in spans:
                of_document[worker, start:end] = 1
        codes.append(of_document)
    expected = krippendorff.alpha(reliability_data=np.concatenate(codes, axis=1), level_of_measurement="nominal")
    result = place_agreement(read_marks(table(*groups)))[0]
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert result.low < result.value < result.high


def test_overlapping_marks_of_two_categories_are_one_label_together():
    marks = [("entity", "minor", 0, 6), ("omission", "minor", 4, 8)]
    both = table(*(said("d1", "x", worker, marks, characters=10) for worker in ("w1", "w2")))
    assert [round(result.value, 12) for result in place_agreement(read_marks(both))] == [1, 1, 1, 1]


def test_gamma_is_the_packages():
    pytest.importorskip("pygamma_agreement")
    near = table(
        said("d1", "x", "w1", [("entity", "minor", 0, 10), ("omission", "minor", 50, 60)]),
        said("d1", "x", "w2", [("entity", "minor", 1, 10), ("omission", "minor", 52, 60)]),
    )
    far = table(
        said("d1", "x", "w1", [("entity", "minor", 0, 10)]), said("d1", "x", "w2", [("omission", "minor", 70, 90)])
    )
    assert gamma(read_marks(near)).value > 0.9
    assert gamma(read_marks(far)).value < 0.2
    assert gamma(read_marks(near), seed=4) == pytest.approx(gamma(read_marks(near), seed=4), nan_ok=True)


def test_human_scores_are_higher_for_better_summaries():
    judgments = table(
        *(said(d, "x", w, [("entity", "major", 0, 4)], overall=60) for d in ("d1", "d2") for w in ("w1", "w2")),
        *(said(d, "y", w, overall=90) for d in ("d1", "d2") for w in ("w1", "w2")),
    )
    scores = aggregate(judgments).set_index(["metric", "system", "doc_id"])["value"]
    assert scores["mqm", "x", "d1"] == 90  # 5 points of 50 words
    assert scores["mqm_omission", "x", "d1"] == 100
    assert scores["esa", "y", "d2"] == 90
    assert set(scores.index.get_level_values(0)) == {"mqm", "mqm_entity", "mqm_omission", "esa"}


def test_without_words_points_are_the_measure():
    judgments = table(said("d1", "x", "w1", [("entity", "major", 0, 4)])).drop(columns="words")
    scores = aggregate(judgments).set_index("metric")["value"]
    assert scores.to_dict() == {"mqm_points": -5, "mqm_points_entity": -5, "mqm_points_omission": 0}


def test_a_span_outside_the_text_is_named():
    judgments = table(said("d1", "x", "w1", [("entity", "minor", 90, 101)]))
    with pytest.raises(TableError, match=r"found 90 to 101 \(document d1.*inside the 100 characters"):
        read_marks(judgments)
    broken = judgments.assign(spans=["[{", "[]"])
    with pytest.raises(TableError, match="a JSON list"):
        read_marks(broken)
    with pytest.raises(AnalysisError, match="no column spans"):
        read_marks(judgments.drop(columns="spans"))
    with pytest.raises(AnalysisError, match="no row of judgments has the protocol errors"):
        read_marks(judgments.assign(protocol="likert"))


def test_the_command_reads_what_it_wrote(tmp_path, capsys):
    judgments = table(
        *(
            said(f"d{d}", system, w, [("entity", "major", 0, 4)] * (d % 2 + (system == "x")), overall=70 - d)
            for d in range(6)
            for system in "xyz"
            for w in ("w1", "w2")
        ),
    )
    path, out, spans = tmp_path / "judgments.csv", tmp_path / "scores.csv", tmp_path / "spans.csv"
    cells = [json.dumps(cell) if isinstance(cell, list) else "" for cell in judgments["spans"]]
    write_table(judgments.assign(spans=cells), path, "judgments")
    assert main(["errors", str(path), "--out", str(out), "--spans", str(spans), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in rows] == ["x", "y", "z"]
    assert rows[0]["n_errors"] == len(pd.read_csv(spans).query("system == 'x'")) == 18
    assert rows[0]["low"] < rows[0]["per_100_words"] < rows[0]["high"]
    scores = read_table(out, "scores")
    assert set(scores["role"]) == {"human"}
    metric = scores[scores["metric"] == "mqm"].assign(metric="guess", role="")
    both = pd.concat([scores, metric], ignore_index=True)
    assert correlate(both, human="mqm", metrics=["guess"])[0].value == pytest.approx(1)
    assert main(["errors", str(path), "--agreement"]) == 0
    assert "any error" in capsys.readouterr().out
    assert main(["systems", str(path), "--unit", "mqm"]) == 0
    assert main(["errors", str(path), "--gamma"]) == 2


def test_marked_hallucinations(shared_data):
    """Maynez et al. (2020): three people marked spans in each of 2,500 summaries; all spans are taken as major."""
    folder = shared_data / "xsum_hallucination"
    spans = pd.read_csv(folder / "spans.csv.gz", dtype={"doc_id": str, "worker_id": str})
    summaries = read_table(folder / "summaries.jsonl.gz", "summaries")
    spans = spans.rename(columns={"type": "category"}).assign(severity="major", start=spans["start"] - 1)
    lengths = summaries.assign(length=summaries["summary"].str.len())[["doc_id", "system", "length"]]
    inside = spans.merge(lengths, on=["doc_id", "system"])
    with pytest.raises(TableError, match="found -1 to 130"):  # 39 begin before their text
        read_marks(judgments_from_spans(inside, read_table(folder / "judgments.csv.gz", "judgments"), summaries))
    inside = inside.assign(start=inside["start"].clip(lower=0), end=inside[["end", "length"]].min(axis=1))
    inside = inside[inside["start"] < inside["end"]]
    people = read_table(folder / "judgments.csv.gz", "judgments")
    marks = read_marks(judgments_from_spans(inside, people, summaries))
    expected = json.loads((folder / "expected.json").read_text())
    assert (len(marks.errors), len(marks.annotations)) == (expected["counts"]["spans"], 7500)
    results = {result.of: result for result in place_agreement(marks, ci=100)}
    by_hand = krippendorff.alpha(reliability_data=_characters(marks), level_of_measurement="nominal")
    assert results["any error"].value == pytest.approx(by_hand, abs=1e-9)
    assert [round(results[of].value, 3) for of in results] == [0.802, 0.78, 0.789, 0.665]
    by_system = {rate.system: rate.per_100_words for rate in rates(marks, ci=100)}
    assert sorted(by_system, key=by_system.__getitem__)[:2] == ["Gold", "PtGen"]


def _characters(marks: Marks) -> np.ndarray:
    """Marked or not at every character of every summary: three people down, characters across."""
    columns = []
    errors = dict(list(marks.errors.groupby(["doc_id", "system", "worker_id"])))
    for key, people in marks.annotations.groupby(["doc_id", "system"]):
        cells = np.zeros((len(people), int(people["characters"].iloc[0])), dtype=int)
        for row, worker in enumerate(people["worker_id"]):
            for error in errors.get((*key, worker), marks.errors.iloc[:0]).itertuples():
                cells[row, int(error.start) : int(error.end)] = 1
        columns.append(cells)
    return np.concatenate(columns, axis=1)


def test_the_whole_is_on_a_scale_of_its_own():
    """0 to 100 beside penalty points: pooled, everybody would agree that the whole is larger."""
    rng = np.random.default_rng(2)
    groups = [
        said(
            f"d{d}", "x", w, [("entity", "minor", 0, 4)] * int(rng.integers(0, 3)), overall=float(rng.integers(0, 100))
        )
        for d in range(20)
        for w in ("w1", "w2", "w3")
    ]
    judgments = table(*groups)
    (pooled,) = agreement(judgments, level="interval")
    (points,) = agreement(judgments[judgments["unit"] != "overall"].reset_index(drop=True), level="interval")
    assert pooled.value == points.value
    assert "scale of its own" in " ".join(pooled.notes)
    assert {result.group for result in agreement(judgments, level="interval", by="unit")} == {*CATEGORIES, "overall"}
    only = judgments[judgments["unit"] == "overall"].reset_index(drop=True)
    assert agreement(only, level="interval")[0].n_units == 20


def test_planted_careless_people_are_found():
    """200 of 800 don't look: half mark at random, half never mark anything."""
    judgments, careless = simulate_marking(seed=1)
    dropped = {
        decision.worker_id
        for decision in apply_rules(judgments, ("time", "straightlining", "worker-agreement")).decisions
    }
    assert len(careless & dropped) == 200
    assert len(dropped - careless) <= 6  # 1 % of the 600 who look
    by_answers_alone = {decision.worker_id for decision in apply_rules(judgments, ("worker-agreement",)).decisions}
    assert len(careless & by_answers_alone) >= 190
