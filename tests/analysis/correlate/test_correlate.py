"""Correlations of metrics with a human measure: cases of independent packages, and what must not break."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.cli import main
from analysis.correlate import TooFewSystems, correlate, per_document, system_means
from analysis.correlate.coefficients import (
    COEFFICIENTS,
    UnknownName,
    accuracy,
    coefficient,
    fisher_interval,
    pair_counts,
    tau_b,
)
from analysis.correlate.score_cube import MissingMeasure
from tests.analysis._matrices import cases, matrix, table

LEVEL = {"system": "system", "input": "summary", "global": "global"}


def value(x, z, level, name, **options):
    return correlate(table(m=x, h=z), human="h", level=level, coefficient=name, **options)[0]


@pytest.mark.parametrize("variant", ["plain", "ties", "nan"])
def test_all_levels_and_coefficients_agree_with_nlpstats(variant):
    case = cases()[f"corr_{variant}"]
    x, z = matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"])
    for key, expected in case["expected"].items():
        level, name = key.split("/")
        assert value(x, z, LEVEL[level], name).value == pytest.approx(expected, abs=case["tol"]), key


@pytest.mark.parametrize("variant", ["plain", "ties", "nan"])
def test_fisher_intervals_agree_with_nlpstats(variant):
    case = cases()[f"fisher_{variant}"]
    x, z = matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"])
    for key, expected in case["expected"].items():
        level, name = key.split("/")
        result = value(x, z, LEVEL[level], name, interval="fisher")
        assert [result.low, result.high] == pytest.approx(expected, abs=case["tol"]), key


@pytest.mark.parametrize("variant", ["plain", "ties", "nan"])
def test_per_document_values_and_the_zero_policy_agree_with_scipy(variant):
    case = cases()[f"per_input_{variant}"]
    x, z = matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"])
    zero = cases()[f"nan_policy_zero_{variant}"]["expected"]
    for name, expected in case["expected"].items():
        values = [math.nan if v is None else v for v in expected]
        assert per_document(x, z, name) == pytest.approx(values, abs=1e-9, nan_ok=True)
        assert value(x, z, "summary", name, undefined="zero").value == pytest.approx(zero[name], abs=1e-9)


def test_system_level_takes_different_documents_for_metric_and_human():
    case = cases()["corr_system_unpaired_inputs"]
    human = table(h=matrix(case["inputs"]["Z"]))
    metric = table(m=matrix(case["inputs"]["X"])).assign(doc_id=lambda rows: "other-" + rows["doc_id"])
    scores = pd.concat([human, metric])
    for name, expected in case["expected"].items():
        result = correlate(scores, human="h", coefficient=name)[0]
        assert result.value == pytest.approx(expected, abs=case["tol"])


@pytest.mark.parametrize("variant", ["ties", "noties", "constm"])
def test_kendall_variants_agree_with_mt_metrics_eval(variant):
    case = cases()[f"kendall_variants_{variant}"]
    metric, gold = (np.array(case["inputs"][side], dtype=float) for side in ("metric", "gold"))
    expected = {key: math.nan if v is None else v for key, v in case["expected"].items()}
    assert float(coefficient("kendall")(metric, gold)) == pytest.approx(expected["b"], nan_ok=True)
    assert float(coefficient("kendall-c")(metric, gold)) == pytest.approx(expected["c"], nan_ok=True)
    for key, epsilon in (("", 0.0), ("/eps0.25", 0.25), ("/eps0.5", 0.5), ("/eps1.0", 1.0)):
        assert float(accuracy(metric, gold, epsilon)) == pytest.approx(expected[f"acc23{key}"])
        tau = float(tau_b(pair_counts(metric, gold, epsilon)))
        assert tau == pytest.approx(expected[f"b{key}"], nan_ok=True)
    n_right, pairs = expected["agreement"]
    counts = pair_counts(metric, gold)
    assert (counts.concordant + counts.tied_both, counts.total) == (n_right, pairs)


@pytest.mark.parametrize("variant", ["plain", "ties"])
def test_global_and_item_correlations_agree_with_mt_metrics_eval(variant):
    case = cases()[f"mtme_corr_{variant}"]
    x, z = matrix(case["inputs"]["X"]), matrix(case["inputs"]["Z"])
    for name in ("Pearson", "Spearman", "Kendall"):
        correlation = value(x, z, "global", name.lower()).value
        assert correlation == pytest.approx(case["expected"][f"{name}/none"], abs=1e-9)
        # Their "sys" averages over systems the correlation across documents: ours with the table turned.
        turned = value(x.T, z.T, "summary", name.lower()).value
        assert turned == pytest.approx(case["expected"][f"{name}/sys"], abs=1e-9)


def test_worked_example_by_hand():
    # means: metric 1, 2, 3, 5; human 1, 3, 2, 4. Five of six pairs agree: tau = (5 − 1) / 6.
    x = [[1, 1], [2, 2], [3, 3], [5, 5]]
    z = [[1, 1], [3, 3], [2, 2], [4, 4]]
    assert value(x, z, "system", "kendall").value == pytest.approx(4 / 6)
    assert value(x, z, "system", "accuracy").value == pytest.approx(5 / 6)
    # Spearman: differences of ranks 0, 1, 1, 0: 1 − 6·2 / (4·15) = 0.8.
    assert value(x, z, "system", "spearman").value == pytest.approx(0.8)


def test_constant_documents_are_counted_and_left_out_or_zero():
    x = [[1, 7, 3], [2, 7, 1], [3, 7, 2]]
    z = [[1, 1, 3], [2, 2, 1], [3, 3, 2]]
    dropped = value(x, z, "summary", "pearson")
    assert (dropped.value, dropped.n_used, dropped.n_undefined) == (pytest.approx(1.0), 2, 1)
    zeroed = value(x, z, "summary", "pearson", undefined="zero")
    assert (zeroed.value, zeroed.n_undefined) == (pytest.approx(2 / 3), 1)
    assert "1 documents with an undefined correlation were left out" in dropped.note


def test_all_constant_is_undefined_with_a_reason():
    # Means of five and of six copies of 0.3 differ in the last bit; that is no difference.
    x = np.full((4, 6), 0.3)
    x[0, 5] = np.nan
    result = value(x, np.arange(24).reshape(4, 6), "system", "pearson", ci=50)
    assert math.isnan(result.value)
    assert math.isnan(result.low)
    assert result.n_undefined == 1
    assert "m are the same for all systems" in result.note


def test_documents_without_any_pair_are_not_counted_as_zero():
    x = [[1, 2, 5], [2, 1, 6], [3, 3, 7]]
    z = [[1, 1, np.nan], [2, 2, np.nan], [3, 3, np.nan]]
    result = value(x, z, "summary", "pearson", undefined="zero")
    assert (result.value, result.n_used, result.n_undefined) == (pytest.approx((1 + 0.5) / 2), 2, 0)


def test_two_systems_give_one_with_a_warning_and_one_system_is_refused():
    result = value([[1, 2], [3, 4]], [[1, 1], [2, 2]], "system", "pearson")
    assert result.value == pytest.approx(1.0)
    assert "fewer than 3 systems" in result.note
    with pytest.raises(TooFewSystems, match="needs at least 3"):
        value([[1, 2]], [[1, 1]], "system", "pearson")


def test_a_metric_that_lacks_systems_is_judged_on_those_it_has():
    x = np.arange(8.0).reshape(4, 2)
    x[3] = np.nan
    result = value(x, [[1, 1], [2, 2], [3, 3], [0, 0]], "system", "pearson")
    assert (result.value, result.n_used) == (pytest.approx(1.0), 3)
    assert "1 of 4 systems left out" in result.note
    assert "s3" in result.note


def test_whole_system_scores_stand_beside_means():
    scores = table(h=[[1, 1], [2, 2], [3, 3]], m=[[3, 3], [2, 2], [1, 1]])
    bleu = pd.DataFrame({"doc_id": "*", "system": ["s0", "s1", "s2"], "metric": "bleu", "value": [10, 20, 30]})
    all_scores = pd.concat([scores, bleu])
    values = {r.metric: r.value for r in correlate(all_scores, human="h")}
    assert values == {"bleu": pytest.approx(1.0), "m": pytest.approx(-1.0)}
    with pytest.raises(ValueError, match="one score per system"):
        correlate(all_scores, human="h", metrics=["bleu"], level="summary")


def test_medians_for_the_systems_score():
    # medians: metric 1, 2, 3; its means 4, 2, 3.
    x = [[1, 1, 10], [2, 2, 2], [3, 3, 3]]
    z = [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
    assert value(x, z, "system", "spearman", score="median").value == pytest.approx(1.0)
    assert value(x, z, "system", "spearman", score="mean").value == pytest.approx(-0.5)


def test_unknown_names_are_answered_with_the_known_ones():
    scores = table(h=[[1], [2]], m=[[1], [2]])
    with pytest.raises(MissingMeasure, match="Measures there: h, m"):
        correlate(scores, human="coverage")
    with pytest.raises(UnknownName, match="pearson, spearman, kendall"):
        correlate(scores, human="h", coefficient="tau")
    with pytest.raises(UnknownName, match="system, summary, global"):
        correlate(scores, human="h", level="corpus")


def test_order_of_rows_changes_nothing():
    rng = np.random.default_rng(3)
    scores = table(h=rng.random((6, 5)), m=rng.random((6, 5)))
    shuffled = scores.sample(frac=1, random_state=1)
    options = {"human": "h", "ci": 200, "coefficient": "kendall", "resample": "both"}
    assert correlate(scores, **options) == correlate(shuffled, **options)


def test_fisher_interval_by_hand():
    # atanh(.5) = .549306; 1.959964 / sqrt(28 − 3) = .391993; tanh(.157313), tanh(.941299).
    interval = fisher_interval("pearson", 0.5, 28)
    assert (interval.low, interval.high) == (pytest.approx(0.156028, abs=1e-6), pytest.approx(0.735818, abs=1e-6))


def test_system_means_have_intervals_over_documents():
    scores = table(h=[[0, 1, 0, 1], [1, 1, 1, 1]])
    means = system_means(scores, "h", ci=500, seed=1)
    assert means["system"].tolist() == ["s1", "s0"]
    assert means["value"].tolist() == [1.0, 0.5]
    assert means.loc[0, ["low", "high"]].tolist() == [1.0, 1.0]
    assert means.loc[1, "low"] < 0.5 < means.loc[1, "high"]
    assert means["n"].tolist() == [4, 4]


def test_the_command_prints_the_fields_of_the_design(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "scores.csv"
    table(h=rng.random((5, 4)), a=rng.random((5, 4)), b=np.ones((5, 4))).to_csv(path, index=False)
    assert main(["correlate", str(path), "--human", "h", "--ci", "100", "--interval", "bootstrap", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert list(rows[0]) == ["metric", "level", "coefficient", "value", "n_used", "n_undefined", "low", "high"]
    assert [row["metric"] for row in rows] == ["a", "b"]
    assert rows[1]["value"] is None
    assert "b are the same for all systems" in err
    assert "seed 0" in err
    assert main(["correlate", str(path), "--human", "coverage"]) == 2
    assert "Measures there: a, b, h" in capsys.readouterr().err


@pytest.mark.parametrize("figure", ["bars", "levels", "scatter"])
def test_every_figure_is_drawn(tmp_path, figure):
    rng = np.random.default_rng(0)
    path, plot = tmp_path / "scores.csv", tmp_path / "f.svg"
    table(h=rng.random((5, 4)), a=rng.random((5, 4))).to_csv(path, index=False)
    assert main(["correlate", str(path), "--human", "h", "--ci", "20", "--figure", figure, "--plot", str(plot)]) == 0
    assert plot.read_text().startswith("<svg")


# ── properties ──

SCORE = st.integers(-3, 3).map(float)


@st.composite
def two_matrices(draw):
    shape = draw(st.tuples(st.integers(3, 6), st.integers(1, 4)))
    return tuple(draw(arrays(float, shape, elements=SCORE)) for _ in range(2))


def is_close(a, b):
    return a == pytest.approx(b, abs=1e-9, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(two_matrices(), st.sampled_from(["system", "summary", "global"]), st.sampled_from(list(COEFFICIENTS)))
def test_what_must_not_matter(matrices, level, name):
    x, z = matrices
    correlation = value(x, z, level, name).value
    assert math.isnan(correlation) or -1 <= correlation <= 1
    # A metric's unit, the order of the systems and of the documents, and which side is called human.
    assert is_close(value(x * 8 + 4, z, level, name).value, correlation)
    assert is_close(value(x[::-1], z[::-1], level, name).value, correlation)
    assert is_close(value(x[:, ::-1], z[:, ::-1], level, name).value, correlation)
    assert is_close(value(z, x, level, name).value, correlation)
    if name != "accuracy":
        assert is_close(value(-x, z, level, name).value, -correlation)


def test_one_document_can_not_be_resampled():
    """Every resample of it is the same, and an interval without width would claim certainty."""
    rows = [("d", f"s{n}", metric, value) for n in range(6) for metric, value in (("h", n), ("m", (n * 5) % 7))]
    scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    for interval in ("bootstrap", "percentile"):
        result = correlate(scores, human="h", level="summary", ci=50, resample="inputs", interval=interval)[0]
        assert math.isfinite(result.value)
        assert (math.isnan(result.low), math.isnan(result.high)) == (True, True)
    assert math.isfinite(correlate(scores, human="h", level="summary", ci=50)[0].high)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", ["system", "summary", "global"])
def test_a_metric_without_any_value_is_undefined(coefficient, level):
    rows = [
        (f"d{d}", f"s{s}", m, None if m == "empty" else d * s)
        for d in range(3)
        for s in range(4)
        for m in ("h", "empty")
    ]
    scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"]).astype({"value": float})
    result = correlate(scores, human="h", level=level, coefficient=coefficient, ci=10)[0]
    assert (math.isnan(result.value), math.isnan(result.low), result.n_used) == (True, True, 0)
    assert "left out for want of scores" in result.note


def test_a_side_that_is_constant_only_where_both_are_given_is_named():
    human = [[0.5], [0.5], [0.5], [0.9]]
    (result,) = correlate(table(m=[[1], [2], [3], [np.nan]], h=human), human="h")
    assert math.isnan(result.value)
    assert "because the scores of h are the same for all systems that have both" in result.note
