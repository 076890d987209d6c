"""Comparing systems: clusters, corrections, and a test that is not fooled by judgments that belong together."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from analysis.compare.adjust import clusters, letters
from analysis.compare.systems import compare_systems
from analysis.tables import AnalysisError
from tests.analysis.support import table


def study(
    quality: dict[str, float], seed: int = 0, documents: int = 30, workers: int = 6, bias: float = 0.0
) -> pd.DataFrame:
    """Ratings; each worker likes each system by its own taste (`bias`), the same on every document."""
    rng = np.random.default_rng(seed)
    taste = {(w, s): rng.normal(0, bias) for w in range(workers) for s in quality}
    return table(
        [
            (f"d{d:02}", system, "coherence", f"w{w}", mean + taste[w, system] + rng.normal(0, 1))
            for d in range(documents)
            for w in range(workers)
            for system, mean in quality.items()
        ]
    )


def unlinkable_crowd(documents=30, seed=0):
    """Three ids per summary, none of them seen twice, as in REALSumm's release; systems differ by .3 and .1."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", f"s{s}", "coherence", f"w{d}-{s}-{w}", 3 + 0.3 * s + effect + 0.5 * rng.normal())
        for d in range(documents)
        for s, effect in enumerate(0.5 * rng.normal(size=4))
        for w in range(3)
    ]
    return pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])


def test_ids_that_name_no_worker_are_not_redrawn_as_workers():
    """A made-up level of workers made 78 of REALSumm's pairs out of 116."""
    judgments = unlinkable_crowd()
    result = compare_systems(judgments, resamples=500)
    assert result.resample == "documents"
    assert "Every worker id stands in one summary only" in result.warnings[0]
    assert [pair.p for pair in result.pairs] == [
        pair.p for pair in compare_systems(judgments, resamples=500, resample="documents").pairs
    ]
    with pytest.raises(AnalysisError, match="workers can't be redrawn; use --resample documents"):
        compare_systems(judgments, resamples=500, resample="workers")
    linked = judgments.assign(worker_id=judgments["worker_id"].str[-1])
    assert compare_systems(linked, resamples=500).resample == "both"


def test_letters_say_which_pairs_differ_where_clusters_say_nothing():
    # 0 beats 2 and 3, 1 beats 3: no line separates all above from all below, and yet three pairs differ.
    beats = np.zeros((4, 4), dtype=bool)
    beats[0, 2] = beats[0, 3] = beats[1, 3] = True
    assert clusters([0, 1, 2, 3], beats) == [1, 1, 1, 1]
    assert letters([0, 1, 2, 3], beats) == ["a", "ab", "bc", "c"]


def test_letters_tell_exactly_the_pairs_that_differ():
    rng = np.random.default_rng(0)
    for n in (2, 7, 25):
        beats = np.triu(rng.random((n, n)) < 0.3, 1)
        display = letters(list(range(n)), beats)
        sets = [set(re.findall(r"[a-z]\d*", text)) for text in display]
        for i in range(n):
            for j in range(i + 1, n):
                assert bool(sets[i] & sets[j]) == (not beats[i, j])


def test_systems_are_ordered_and_clustered() -> None:
    comparison = compare_systems(study({"good": 4, "same": 4, "bad": 2}), resamples=300)
    assert {s.system: s.cluster for s in comparison.systems} == {"good": 1, "same": 1, "bad": 2}
    assert comparison.systems[-1].system == "bad"
    assert all(s.low < s.value < s.high for s in comparison.systems)
    pair = next(p for p in comparison.pairs if {p.better, p.worse} == {"good", "bad"})
    assert pair.difference == pytest.approx(2, abs=0.3)
    assert pair.p_adjusted < 0.05
    assert (comparison.systems[0].n_documents, comparison.systems[0].n_workers) == (30, 6)


def test_a_difference_that_is_only_the_workers_taste_is_not_claimed() -> None:
    plain = clustered = 0
    for seed in range(20):
        comparison = compare_systems(study({"a": 3, "b": 3}, seed, workers=8, bias=0.7), resamples=200, seed=seed)
        plain += comparison.pairs[0].p_plain < 0.05
        clustered += comparison.pairs[0].p_adjusted < 0.05
        if comparison.pairs[0].p_plain < 0.05 <= comparison.pairs[0].p_adjusted:
            assert "would call 1 more pairs different" in comparison.warnings[0]
    # No system is better. The plain test claims one most of the time, the clustered one seldom (nominal: 1 of 20).
    assert plain >= 8
    assert clustered <= 4


def test_too_few_resamples_are_blamed_instead_of_dependence() -> None:
    six = study({name: 1 + i for i, name in enumerate("abcdef")}, documents=10)
    # 15 pairs and 200 resamples: the least p after Holm is 15/201 = 0.075.
    (warning,) = compare_systems(six, resamples=200).warnings
    assert "200 resamples are too few for 15 pairs, as no p falls below 0.075" in warning
    enough = compare_systems(six, resamples=400)
    assert not any("too few" in sentence for sentence in enough.warnings)


@pytest.mark.parametrize("resample", ["documents", "workers"])
def test_the_permutation_test_finds_a_plain_difference(resample: str) -> None:
    result = compare_systems(study({"a": 4, "b": 3}, workers=8), test="permutation", resample=resample, resamples=500)
    assert result.pairs[0].better == "a"
    assert result.pairs[0].p < 0.05
    equal = compare_systems(study({"a": 3, "b": 3}), test="permutation", resample=resample, resamples=500)
    assert equal.pairs[0].p > 0.05


def test_the_permutation_p_is_exact_for_few_documents() -> None:
    # Two documents, both 1 better: of the 4 swaps the two that swap both or none are as far from 0: p = 1/2.
    rows = [("d1", "a", "u", "w", 3), ("d1", "b", "u", "w", 2), ("d2", "a", "u", "w", 5), ("d2", "b", "u", "w", 4)]
    comparison = compare_systems(table(rows), test="permutation", resample="documents", resamples=4000)
    assert comparison.pairs[0].p == pytest.approx(0.5, abs=0.03)


def test_the_same_seed_gives_the_same_answer_whatever_the_order() -> None:
    judgments = study({"a": 4, "b": 3.8})
    shuffled = judgments.sample(frac=1, random_state=1)
    first, second = (compare_systems(rows, resamples=100, seed=7) for rows in (judgments, shuffled))
    assert first.pairs[0].p == second.pairs[0].p
    assert first.systems[0].low == pytest.approx(second.systems[0].low)


@pytest.mark.parametrize(
    ("judgments", "options", "sentence"),
    [
        (table([("d", "s", "u", "w", 1)]), {}, r"one system only \(s\)"),
        (study({"a": 1, "b": 2}), {"unit": "fluency"}, "no dimension 'fluency'; there are coherence"),
        (study({"a": 1, "b": 2}), {"test": "t"}, "no test 't'; there are bootstrap, permutation"),
        (study({"a": 1, "b": 2}), {"test": "permutation"}, "swaps within documents or within workers"),
        (
            pd.concat([study({"a": 1, "b": 2}), study({"a": 1, "b": 2}).assign(unit="fluency")]),
            {},
            "with --unit: coherence, fluency",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(judgments, options, sentence) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        compare_systems(judgments, **options)
