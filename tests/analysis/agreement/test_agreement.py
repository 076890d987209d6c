"""Agreement: published cases, both readings of undefined, intervals by cluster, and what can't be worked out."""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.agreement import agreement, coefficients
from analysis.agreement.coefficients import LEVELS, alpha, alpha_of_table
from analysis.agreement.counts import count, patterns
from analysis.agreement.raters import cohens_kappa
from analysis.bootstrap import tail_share
from analysis.tables import AnalysisError
from tests.analysis.support import cases, from_matrix, table

IRRCAC = {"gwet": "ac1", "fleiss": "fleiss", "bp": "brennan-prediger", "conger": "conger", "krippendorff": "alpha"}


def value(judgments: pd.DataFrame, **options) -> float:
    (result,) = agreement(judgments, **options)
    return result.value


@pytest.mark.parametrize("case", cases("alpha_"), ids=lambda case: case["id"])
def test_the_cases_of_krippendorff_and_irrcac(case: dict) -> None:
    ratings = case["inputs"]["raters_by_units"]
    judgments = from_matrix(ratings)
    if isinstance(case["expected"], str):  # the package raises; we say undefined
        assert np.isnan(value(judgments))
        return
    for level in LEVELS:
        assert value(judgments, level=level) == pytest.approx(case["expected"][level], abs=case["tol"])
    for irrcac_name, coefficient in IRRCAC.items():
        expected = case["expected"][f"irrCAC_{irrcac_name}"]["value"]
        assert value(judgments, coefficient=coefficient) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("case", cases("cohen_"), ids=lambda case: case["id"])
def test_the_cases_of_cohens_kappa(case: dict) -> None:
    result = cohens_kappa(np.array(case["inputs"]["table"]), case["inputs"]["weights"])
    assert result.value == pytest.approx(case["expected"]["kappa"], abs=case["tol"])
    assert result.se == pytest.approx(case["expected"]["se"], abs=case["tol"])
    assert [result.low, result.high] == pytest.approx(case["expected"]["ci"], abs=case["tol"])


@pytest.mark.parametrize("case", cases("fleiss_"), ids=lambda case: case["id"])
def test_the_cases_of_fleiss_and_randolph(case: dict) -> None:
    rows = [[v for v, n in enumerate(unit) for _ in range(n)] for unit in case["inputs"]["table"]]
    judgments = from_matrix(np.array(rows, dtype=float).T.tolist())
    assert value(judgments, coefficient="fleiss") == pytest.approx(case["expected"]["fleiss"], abs=case["tol"])
    bp = value(judgments, coefficient="brennan-prediger")
    assert bp == pytest.approx(case["expected"]["randolph"], abs=case["tol"])


def test_alpha_by_hand() -> None:
    # Units (1,1) (0,0) (1,0): D_o = 2 * 1 ordered pairs / 6 values = 1/3; marginals 3 and 3, so
    # D_e = 2 * 3 * 3 / (6 * 5) = 3/5; alpha = 1 - (1/3) / (3/5) = 4/9.
    assert value(from_matrix([[1, 0, 1], [1, 0, 0]])) == pytest.approx(4 / 9)


def test_icc_by_hand() -> None:
    # Units (1,2) (3,4): means 1.5 and 3.5. MSB = 2 * (1 + 1) / 1 = 4, MSW = (0.5 + 0.5) / 2 = 0.5;
    # ICC(1) = (4 - 0.5) / (4 + 0.5) = 7/9. Two-way: the second rater is 1 higher everywhere, MSE = 0,
    # MSR = 2 * (0.25 + 0.25) / 1 = 1, ICC(2,1) = 4 / (4 + 2 * 1 / 2) = 0.8.
    judgments = from_matrix([[1, 3], [2, 4]])
    assert value(judgments, coefficient="icc", level="interval") == pytest.approx(7 / 9)
    assert value(judgments, coefficient="icc2", level="interval") == pytest.approx(0.8)


def test_weighted_kappa_of_pairs_equals_the_table() -> None:
    first, second = [1, 2, 3, 3, 1, 2], [1, 3, 3, 2, 1, 2]
    counts = np.zeros((3, 3))
    for a, b in zip(first, second, strict=True):
        counts[a - 1, b - 1] += 1
    judgments = from_matrix([first, second])
    for level, weights in (("nominal", None), ("ordinal", "linear"), ("interval", "quadratic")):
        kappa = value(judgments, coefficient="cohen", level=level)
        assert kappa == pytest.approx(cohens_kappa(counts, weights).value)


ITEMS = table(
    # item a: alpha 4/9 (see above); item b: all equal, undefined; item c: judged once, undefined
    [("a", "s", f"u{i}", f"w{r}", v) for r, row in enumerate([[1, 0, 1], [1, 0, 0]]) for i, v in enumerate(row)]
    + [("b", "s", "u0", "w0", 1), ("b", "s", "u0", "w1", 1), ("c", "s", "u0", "w0", 0)]
)


def test_both_readings_of_undefined() -> None:
    (dropped,) = agreement(ITEMS, per=["doc_id", "system"])
    (as_one,) = agreement(ITEMS, per=["doc_id", "system"], undefined="one")
    assert (dropped.value, dropped.n_units, dropped.n_undefined) == (pytest.approx(4 / 9), 3, 2)
    # An item judged once shows no agreement at all, so only the unanimous one counts as 1.
    assert (as_one.value, as_one.n_units, as_one.n_undefined) == (pytest.approx((4 / 9 + 1) / 2), 3, 2)


def test_by_gives_one_result_per_value() -> None:
    results = agreement(ITEMS, by="doc_id")
    assert [result.group for result in results] == ["a", "b", "c"]
    assert results[0].value == pytest.approx(4 / 9)
    assert np.isnan(results[1].value)
    assert "All answers are equal (1)" in results[1].notes[0]
    assert "one worker (w0)" in results[2].notes[0]


def test_by_worker_compares_each_with_the_others() -> None:
    # w2 answers against w0 and w1 on every unit: D_o = 1. Its answers 0,1,0,1 and theirs 1,0,1,0, paired at
    # random, differ half of the time: alpha = 1 - 1 / 0.5 = -1. w0 agrees with one of two others: D_o = 1/2,
    # the others' answers are half 0 and half 1, so D_e = 1/2 and alpha = 0.
    judgments = from_matrix([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]])
    alphas = {result.group: result.value for result in agreement(judgments, by="worker_id")}
    assert alphas == {"w0": pytest.approx(0), "w1": pytest.approx(0), "w2": pytest.approx(-1)}
    shares = agreement(judgments, by="worker_id", coefficient="raw")
    assert [result.value for result in shares] == pytest.approx([0.5, 0.5, 0.0])


RATINGS = st.lists(
    st.lists(st.sampled_from([None, 1.0, 2.0, 3.0, 5.0]), min_size=6, max_size=6), min_size=2, max_size=5
)


def both_alphas(matrix: np.ndarray, level: str) -> tuple[float, float]:
    """Alpha of raters × units as it is printed, and as the kernel of the resamples has it."""
    counts = count(from_matrix(matrix.tolist()))
    resampled = alpha(np.ones((1, len(counts.table))), counts.table, counts.values, level)[0]
    return alpha_of_table(counts.table, counts.values, level), resampled


@pytest.mark.filterwarnings("error")
@settings(max_examples=100, deadline=None)
@given(RATINGS, st.sampled_from(LEVELS))
def test_alpha_is_what_the_package_says_and_what_the_resamples_take(ratings: list, level: str) -> None:
    matrix = np.array(ratings, dtype=float)
    printed, resampled = both_alphas(matrix, level)
    assert printed == pytest.approx(resampled, abs=1e-12, nan_ok=True)
    paired = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:  # the package raises or divides by zero; we say undefined
        assert np.isnan(printed)
    else:
        expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
        assert printed == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_both_alphas_are_equal_on_long_tables_of_many_values(level: str) -> None:
    rng = np.random.default_rng(5)
    matrix = rng.choice([0.0, 0.5, 1, 3, 17, 40, 99], (6, 300))
    matrix[rng.random(matrix.shape) < 0.4] = np.nan
    printed, resampled = both_alphas(matrix, level)
    assert printed == pytest.approx(resampled, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("ratings", "undefined"),
    [([[1], [2]], False), ([[1, 2, 3]], True), ([[2, 2], [2, 2]], True), ([[1, 2], [1, np.nan]], True)],
    ids=["one unit", "one rater", "constant", "constant where two judged"],
)
def test_both_alphas_are_undefined_alike(ratings: list, undefined: bool, level: str) -> None:
    printed, resampled = both_alphas(np.array(ratings, dtype=float), level)
    assert np.isnan(printed) == undefined
    assert printed == pytest.approx(resampled, abs=1e-12, nan_ok=True)


def test_every_printed_alpha_comes_from_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(krippendorff, "alpha", lambda **_: 0.25)
    (over_all,), (over_documents,) = agreement(noisy(), ci=20), agreement(noisy(), per=["doc_id"], ci=20)
    assert (over_all.value, over_documents.value) == (0.25, 0.25)
    assert over_all.low > 0.25  # the resamples are the kernel's
    assert [result.value for result in agreement(noisy(), by="doc_id")] == [0.25] * 10


def test_a_table_too_large_for_the_package_is_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = agreement(noisy())[0].value
    monkeypatch.setattr(krippendorff, "alpha", None)
    monkeypatch.setattr(coefficients, "PACKAGE_CELLS", 80 * 2 * 2 - 1)
    assert agreement(noisy())[0].value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(RATINGS, st.integers(0, 10**6), st.sampled_from(["alpha", "ac1", "ac2", "fleiss", "raw", "cohen", "conger"]))
def test_order_and_names_change_nothing(ratings: list[list[float | None]], seed: int, coefficient: str) -> None:
    judgments = from_matrix(ratings)
    if judgments["worker_id"].nunique() < 2:
        return
    before = value(judgments, coefficient=coefficient)
    shuffled = judgments.sample(frac=1, random_state=seed).reset_index(drop=True)
    renamed = shuffled.assign(worker_id=[f"x{hash((w, seed)) % 10**9}" for w in shuffled["worker_id"]])
    relabelled = renamed.assign(value=renamed["value"].map({1.0: 7.0, 2.0: 3.0, 3.0: 11.0, 5.0: 4.0}))
    assert value(shuffled, coefficient=coefficient) == pytest.approx(before, nan_ok=True)
    assert value(renamed, coefficient=coefficient) == pytest.approx(before, nan_ok=True)
    if coefficient != "ac2":
        assert value(relabelled, coefficient=coefficient) == pytest.approx(before, nan_ok=True)


def noisy(seed: int = 0, documents: int = 10, units: int = 8, workers: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for doc in range(documents):
        for unit in range(units):
            truth = rng.integers(0, 2)
            for worker in range(workers):
                answer = truth if rng.random() < 0.85 else 1 - truth
                rows.append((f"d{doc}", "s", f"u{unit}", f"w{worker}", int(answer)))
    return table(rows)


def looped_interval(judgments: pd.DataFrame, cluster: list[str], resamples: int) -> tuple[float, float]:
    """The slow way: put the columns of each drawn cluster side by side and work alpha out anew."""
    rng = np.random.default_rng(1)
    wide = judgments.pivot(index="worker_id", columns=["doc_id", "unit"], values="value")
    groups = [group.to_numpy() for _, group in wide.T.groupby(level=cluster)]
    alphas = []
    for _ in range(resamples):
        resample = [groups[place] for place in rng.integers(0, len(groups), len(groups))]
        alphas.append(both_alphas(np.concatenate(resample).T, "nominal")[0])
    tail = tail_share(0.95, len(groups) if cluster == ["doc_id"] else None)
    return tuple(np.quantile(alphas, [tail, 1 - tail]))


@pytest.mark.parametrize(("cluster", "columns"), [("unit", ["doc_id", "unit"]), ("doc_id", ["doc_id"])])
def test_the_interval_is_that_of_the_slow_loop(cluster: str, columns: list[str]) -> None:
    judgments = noisy()
    (result,) = agreement(judgments, ci=4000, cluster=cluster, seed=3)
    assert result.low < result.value < result.high
    assert (result.low, result.high) == pytest.approx(looped_interval(judgments, columns, 3000), abs=0.03)
    assert (result.cluster, result.resamples, result.seed) == (cluster, 4000, 3)


def test_seeds_repeat_and_row_order_does_not_matter() -> None:
    judgments = noisy()
    shuffled = judgments.sample(frac=1, random_state=1).reset_index(drop=True)
    for cluster in ("unit", "doc_id", "worker_id"):
        (first,) = agreement(judgments, ci=50, cluster=cluster, seed=5)
        (second,) = agreement(shuffled, ci=50, cluster=cluster, seed=5)
        (third,) = agreement(judgments, ci=50, cluster=cluster, seed=6)
        assert (first.low, first.high) == pytest.approx((second.low, second.high))
        assert (first.low, first.high) != (third.low, third.high)


def test_a_worker_drawn_twice_does_not_agree_with_itself() -> None:
    # Two workers who always differ: every resample with both is at -1 or below chance; one with only w0 twice is
    # undefined, not perfect agreement.
    judgments = from_matrix([[1, 0, 1, 0], [0, 1, 0, 1]])
    (result,) = agreement(judgments, ci=50, cluster="worker_id")
    assert result.high < 0
    assert any("undefined" in note for note in result.notes)


def test_per_item_intervals_resample_whole_items() -> None:
    (result,) = agreement(noisy(), per=["doc_id"], ci=500, cluster="unit")
    assert result.cluster == "item"
    assert result.low < result.value < result.high
    judgments = noisy().assign(unit_group=lambda frame: frame["unit"])
    with pytest.raises(AnalysisError, match="spans several values of unit_group"):
        agreement(judgments, per=["doc_id"], ci=10, cluster="unit_group")


@pytest.mark.parametrize(
    ("judgments", "options", "sentence"),
    [
        (table([("d", "s", "u", "w", 1), ("d", "s", "v", "w", 0)]), {}, r"All judgments come from one worker \(w\)"),
        (from_matrix([[1], [1]]), {"by": "dimension"}, "no column 'dimension'; they have doc_id"),
        (from_matrix([[1], [1]]), {"level": "cardinal"}, "no level 'cardinal'; there are nominal, ordinal"),
        (from_matrix([[1], [1]]), {"coefficient": "kappa"}, "no coefficient 'kappa'; there are alpha"),
        (from_matrix([[1], [1]]), {"ci": -1}, "-1 resamples can't be drawn"),
        (
            table([("d", "s", "u", "w", 1), ("d", "s", "u", "w", 0), ("d", "s", "u", "v", 0)]),
            {},
            "Worker w judged unit u of document d, system s, more than once",
        ),
        (
            table([("d", "s", "scu1", "w", 0), ("d", "s", "scu1", "v", 1), ("d", "s", "coherence", "w", 5)]),
            {},
            "mix yes/no units such as scu1 and scales such as coherence",
        ),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(judgments, options, sentence) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        agreement(judgments, **options)


@pytest.mark.parametrize("ci", [0, 10])
def test_the_ratio_level_has_no_place_for_negative_values(ci: int) -> None:
    with pytest.raises(AnalysisError, match="values of 0 or more, and there is -2; take the level interval"):
        agreement(from_matrix([[-2.0, 2.0, -2.0], [2.0, -2.0, 2.0]]), level="ratio", ci=ci)


def test_units_judged_once_are_counted_in_a_note() -> None:
    (result,) = agreement(from_matrix([[1, 0, 1], [1, 0, None]]))
    assert result.notes == ("1 of 3 units were judged once only and say nothing about agreement.",)
    assert result.n_units == 2


def test_the_last_round_counts_unless_rounds_are_compared() -> None:
    first, second = from_matrix([[1, 2], [2, 1]]).assign(round=1), from_matrix([[1, 2], [1, 2]]).assign(round=2)
    rounds = pd.concat([first, second], ignore_index=True)
    assert value(rounds) == value(second) == 1
    assert [result.group for result in agreement(rounds, by="round")] == ["1", "2"]
    assert agreement(rounds, by="round")[0].value == pytest.approx(value(first))


def test_patterns_are_the_distinct_rows() -> None:
    counts = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(float)
    rows, pattern_of = patterns(counts)
    assert len(rows) == len({tuple(row) for row in counts.tolist()})
    np.testing.assert_array_equal(rows[pattern_of], counts)


@pytest.mark.parametrize("coefficient", ["alpha", "ac1", "icc", "cohen", "conger", "icc2"])
def test_one_cluster_gives_no_interval(coefficient):
    """Every resample of one document is that document: an interval without width would claim certainty."""
    rows = [("d", f"s{i}", "u", f"w{j}", (i * j) % 2) for i in range(4) for j in range(3)]
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    result = agreement(frame, coefficient=coefficient, ci=20, cluster="doc_id")[0]
    assert np.isfinite(result.value)
    assert (np.isnan(result.low), np.isnan(result.high)) == (True, True)
    assert "one doc_id only" in " ".join(result.notes)
    assert np.isfinite(agreement(frame, coefficient=coefficient, ci=20, cluster="system")[0].high)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("coefficient", ["alpha", "icc", "cohen", "conger", "icc2"])
@pytest.mark.parametrize("values", [[1, 1, 1], [0, 1, 1]], ids=["constant", "one unit"])
def test_whatever_is_undefined_says_why(coefficient, values):
    rows = [("d", "s", "u", f"w{n}", value) for n, value in enumerate(values)]
    frame = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    result = agreement(frame, coefficient=coefficient, level="interval")[0]
    assert bool(result.notes) == bool(np.isnan(result.value))


def test_all_six_forms_of_the_intraclass_correlation():
    # Shrout and Fleiss 1979, Table 2 (six targets, four judges) and Table 4.
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    rows = [("d", "s", f"u{u}", f"w{w}", v) for u, row in enumerate(ratings) for w, v in enumerate(row)]
    judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    printed = {"icc1": 0.17, "icc2": 0.29, "icc3": 0.71, "icc1k": 0.44, "icc2k": 0.62, "icc3k": 0.91}
    for name, expected in printed.items():
        assert round(value(judgments, coefficient=name, level="interval"), 2) == expected
    assert value(judgments, coefficient="icc1", level="interval") == pytest.approx(
        value(judgments, coefficient="icc", level="interval")
    )
    with pytest.raises(ValueError, match="icc3k needs every worker"):
        agreement(judgments[1:], coefficient="icc3k", level="interval")
