"""Planning: power against simulation, document numbers, check items, and REALSumm's sampling."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.planning import (
    Variances,
    checks_needed,
    documents_needed,
    metric_power,
    pilot_variances,
    plan,
    system_power,
    with_fee,
)
from analysis.planning.sample import sample_documents
from analysis.tables import AnalysisError
from tests.analysis.support import table


def test_power_is_what_a_simulated_study_shows() -> None:
    variances, difference, documents, workers = Variances(0.04, 0.02), 0.12, 40, 2
    rng = np.random.default_rng(0)
    spread = np.sqrt(2 * variances.document + 2 * variances.worker / workers)
    studies = rng.normal(difference, spread, (4000, documents))
    share_detected = (stats.ttest_1samp(studies, 0, axis=1).pvalue < 0.05).mean()
    assert system_power(difference, variances, documents, workers) == pytest.approx(share_detected, abs=0.025)


def test_more_workers_help_less_than_more_documents() -> None:
    variances = Variances(0.04, 0.02)
    assert (
        system_power(0.1, variances, 40, 2) < system_power(0.1, variances, 40, 4) < system_power(0.1, variances, 80, 2)
    )


def test_the_smallest_number_of_documents_is_found() -> None:
    variances = Variances(0.0217, 0.0117)
    documents = documents_needed(0.05, variances, 3)
    assert system_power(0.05, variances, documents, 3) >= 0.8 > system_power(0.05, variances, documents - 1, 3)
    assert documents_needed(1e-6, variances, 3) is None


def test_a_plan_counts_assignments_and_money() -> None:
    (plan_row,) = plan(0.1, Variances(0.04, 0.02), workers=[3], systems=10, price=0.2, fee=0.2)
    assert plan_row.judged_summaries == plan_row.documents * 10
    assert plan_row.assignments == plan_row.judged_summaries * 3
    assert plan_row.cost == pytest.approx(plan_row.assignments * 0.24)


def test_fees_follow_the_crowd() -> None:
    # facts on markets: 20 %, 40 % from ten assignments on, at least one cent
    assert with_fee(0.20, 4) == pytest.approx(0.24)
    assert with_fee(0.20, 10) == pytest.approx(0.28)
    assert with_fee(0.02, 4) == pytest.approx(0.03)
    assert with_fee(0.20, 4, "direct") == 0.20
    assert with_fee(0.30, 4, "prolific", fee=1 / 3) == pytest.approx(0.40)
    with pytest.raises(AnalysisError, match="give it with --fee"):
        with_fee(0.2, 4, "prolific")


def test_a_pilot_gives_back_the_variances_it_was_made_with() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for doc in range(400):
        easy = rng.normal(0, 1)
        for system in ("a", "b", "c"):
            true = easy + rng.normal(0, 0.3)
            rows += [(f"d{doc}", system, "u", f"w{doc}{system}{k}", true + rng.normal(0, 0.5)) for k in range(3)]
    variances = pilot_variances(table(rows))
    # What documents do to all systems alike (deviation 1) must not count.
    assert variances.document == pytest.approx(0.09, abs=0.02)
    assert variances.worker == pytest.approx(0.25, abs=0.02)
    assert variances.source == "pilot"


def test_check_items_tell_careless_from_careful() -> None:
    check_plan = checks_needed()
    max_failures = int(0.25 * check_plan.checks)
    assert stats.binom.sf(max_failures, check_plan.checks, 0.5) == pytest.approx(check_plan.detected)
    assert check_plan.detected >= 0.95
    assert check_plan.false_alarms <= 0.02
    with pytest.raises(AnalysisError, match="they fail too alike"):
        checks_needed(careless=0.26, careful=0.25)


def test_more_systems_tell_metrics_apart() -> None:
    powers = [point.power for point in metric_power(0.9, 0.7, 0.7, (10, 30, 100), samples=400)]
    assert powers == sorted(powers)
    assert powers[0] < 0.6 < 0.99 < powers[-1]
    (level,) = metric_power(0.8, 0.8, 0.7, (30,), samples=4000)
    assert level.power == pytest.approx(0.05, abs=0.015)  # equal metrics: the level of the test
    with pytest.raises(AnalysisError, match="No scores can have the correlations"):
        metric_power(0.9, -0.9, 0.9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plan(0.0, Variances(1, 1)), "do not differ"),
        (lambda: plan(0.1, Variances(1, 1), workers=[0]), "0 workers can't judge"),
        (lambda: plan(0.1, Variances(1, 1), power=1.2), "between 0 and 1"),
        (lambda: pilot_variances(table([("d", "s", "u", "w", 1)])), "judged by two workers"),
        (lambda: metric_power(0.5, 0.4, 0.3, (3,)), "at least 4 systems"),
        (lambda: metric_power(1, 1, 1), "score alike"),
    ],
)
def test_impossible_plans_are_answered_with_a_sentence(call, sentence: str) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        call()


def many_scores(documents: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return table(
        [
            (f"d{d:03}", f"s{s}", metric, rng.normal(d / documents, 0.1))
            for metric in ("m1", "m2")
            for d in range(documents)
            for s in range(5)
        ],
        "doc_id system metric value",
    )


def test_one_document_comes_from_each_cell_and_none_twice() -> None:
    scores = many_scores()
    sample = sample_documents(scores, ["m1", "m2"], seed=3)
    assert len(sample.documents) == 2 * 5 * 4
    assert len({document.doc_id for document in sample.documents}) == 40
    assert sample.short == 0
    cells = {(document.metric, document.bin, document.slice) for document in sample.documents}
    assert len(cells) == 40
    # 200 documents in 5 bins of 40 by mean: a document of bin b has rank between 40 (b - 1) and 40 b.
    means = scores[scores["metric"] == "m1"].groupby("doc_id")["value"].mean().rank()
    for document in sample.documents:
        if document.metric == "m1":
            assert 40 * (document.bin - 1) < means[document.doc_id] <= 40 * document.bin


def test_sampling_repeats_with_its_seed_and_differs_with_another() -> None:
    scores = many_scores()
    first, repeated, reseeded = (sample_documents(scores, seed=seed).documents for seed in (1, 1, 2))
    assert first == repeated != reseeded
    shuffled = scores.sample(frac=1, random_state=0)
    assert [d.doc_id for d in sample_documents(shuffled, seed=1).documents] == [d.doc_id for d in first]


def test_a_full_cell_is_counted_not_filled_twice() -> None:
    sample = sample_documents(many_scores(20), ["m1", "m2"])
    assert len(sample.documents) == 20
    assert sample.short == 20
    with pytest.raises(AnalysisError, match="19 documents can't fill 5 bins of 4 slices"):
        sample_documents(many_scores(19))
    with pytest.raises(AnalysisError, match="no metric 'rouge'; they have m1, m2"):
        sample_documents(many_scores(20), ["rouge"])
