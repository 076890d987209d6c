"""Variants, options, combinations and ranked systems (Graham 2015)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.cli import main
from analysis.compare.williams import williams
from analysis.experiments.ranking import rank_systems
from analysis.experiments.variants import (
    combine_human,
    compare_combinations,
    compare_variants,
    coverage_score,
    letter_score,
    option_shares,
    parse_variant,
)
from tests.analysis._matrices import table


def study():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(16, 1)) + rng.normal(size=(16, 20)) * 0.3
    close, fair = (human + rng.normal(size=human.shape) * size for size in (0.3, 2.0))
    scores = table(**{"h": human, "rouge-2-p[stem,stop]": close, "rouge-l-r": fair})
    bleu = pd.DataFrame(
        {"doc_id": "*", "system": [f"s{i}" for i in range(16)], "metric": "bleu", "value": rng.random(16)}
    )
    return pd.concat([scores, bleu], ignore_index=True)


def test_options_are_read_from_the_name():
    su4 = parse_variant("rouge-su4-f[stem,multi=best]", "median")
    assert (su4.family, su4.part, su4.stem, su4.stop, su4.score) == ("rouge-su4", "f", True, False, "median")
    assert parse_variant("rouge_2_f_score", "mean").part == "f"
    assert parse_variant("bleu", "whole").part == ""


def test_means_and_medians_are_variants_and_bleu_stands_alone():
    results, comparison = compare_variants(study(), human="h")
    assert sorted(r.variant.name for r in results) == [
        "bleu whole",
        "rouge-2-p[stem,stop] mean",
        "rouge-2-p[stem,stop] median",
        "rouge-l-r mean",
        "rouge-l-r median",
    ]
    assert results[0].variant.name == "rouge-2-p[stem,stop] mean"
    assert results[0].optimal
    assert not next(r for r in results if r.variant.name == "bleu whole").optimal
    assert comparison.test == "williams"


def test_a_pair_of_variants_is_tested_as_by_hand():
    scores = study()
    _, comparison = compare_variants(scores, human="h")
    wide = scores[scores["doc_id"] != "*"].pivot_table(index="system", columns="metric", values="value")
    median = scores[scores["metric"] == "rouge-l-r"].groupby("system")["value"].median()
    r12 = np.corrcoef(wide["h"], wide["rouge-2-p[stem,stop]"])[0, 1]
    r13, r23 = np.corrcoef(wide["h"], median)[0, 1], np.corrcoef(wide["rouge-2-p[stem,stop]"], median)[0, 1]
    pair = next(p for p in comparison.pairs if (p.better, p.worse) == ("rouge-2-p[stem,stop] mean", "rouge-l-r median"))
    assert pair.p == pytest.approx(float(williams(r12, r13, r23, 16).p), abs=1e-12)


def test_shares_of_options_among_the_optimal():
    results, _ = compare_variants(study(), human="h")
    shares = {(s.option, s.setting): s.share for s in option_shares(results)}
    assert shares["stemming", "stemmed"] == 100
    assert shares["summary score", "precision"] == 100
    assert sum(share for (option, _), share in shares.items() if option == "system score") == pytest.approx(100)


def test_combinations_of_human_scores_by_hand():
    scores = combine_human(table(coverage=[[0.2], [0.0]], quality=[[0.8], [0.5]]), "coverage", "quality")
    values = scores.set_index(["metric", "system"])["value"]
    assert values["human:mean", "s0"] == pytest.approx(0.5)
    assert values["human:geometric", "s0"] == pytest.approx(0.4)
    assert values["human:harmonic", "s0"] == pytest.approx(0.32)
    # Nothing covered: the harmonic mean is 0, not undefined.
    assert values["human:harmonic", "s1"] == 0
    assert coverage_score(3, 0.5, 6) == 0.25
    assert [letter_score(letter) for letter in "ABCDE"] == [1, 0.75, 0.5, 0.25, 0]
    with pytest.raises(ValueError, match="A, B, C, D, E"):
        letter_score("F")


def test_every_combination_lists_the_same_variants():
    rng = np.random.default_rng(1)
    scores = table(**{name: rng.random((9, 5)) for name in ("coverage", "quality", "a", "b")})
    results = compare_combinations(scores, coverage="coverage", quality="quality", best=1)
    variants = {}
    for row in results:
        variants.setdefault(row.combination, set()).add(row.variant)
    assert list(variants) == ["mean", "geometric", "harmonic", "coverage", "quality"]
    assert len({frozenset(names) for names in variants.values()}) == 1


def test_193_variants_are_compared():
    rng = np.random.default_rng(0)
    human = rng.random((20, 3))
    scores = table(h=human, **{f"m{i}": human + rng.random((20, 3)) * 4 for i in range(96)})
    bleu = pd.DataFrame(
        {"doc_id": "*", "system": [f"s{i}" for i in range(20)], "metric": "bleu", "value": rng.random(20)}
    )
    results, comparison = compare_variants(pd.concat([scores, bleu]), human="h")
    assert len(results) == 193
    assert len(comparison.pairs) == 193 * 192


# ── ranked systems ──


def test_paired_t_tests_when_scores_look_normal():
    rng = np.random.default_rng(0)
    matrix = rng.normal(np.array([[0.5], [0.7], [0.6]]), 0.1, (3, 30))
    ranking = rank_systems(table(m=matrix), "m")
    assert ranking.systems == ("s1", "s2", "s0")
    assert ranking.test == "t"
    pair = next(t for t in ranking.tests if (t.better, t.worse) == ("s1", "s0"))
    assert pair.p == pytest.approx(stats.ttest_rel(matrix[1], matrix[0], alternative="greater").pvalue)


def test_medians_take_wilcoxon_and_odd_scores_randomisation():
    rng = np.random.default_rng(3)
    matrix = rng.exponential(np.array([[1.0], [3.0]]), (2, 40))
    assert rank_systems(table(m=matrix), "m", score="median").test == "wilcoxon"
    ranking = rank_systems(table(m=matrix), "m")
    assert ranking.test == "randomisation"
    assert ranking.not_normal == ("s0", "s1")
    assert "not normal" in ranking.why
    assert ranking.tests[0].p == pytest.approx(1 / 1001)


def test_equal_systems_have_p_one():
    row = [0.1, 0.5, 0.4, 0.2]
    for test in ("t", "wilcoxon", "randomisation"):
        assert rank_systems(table(m=[row, row]), "m", test=test).tests[0].p == 1.0


@pytest.mark.filterwarnings("error")
def test_rounding_is_no_difference_between_systems():
    """0.1 + 0.2 is 0.3 and a bit. A difference that is the same everywhere, but for such bits, is certain."""
    row = np.array([0.3, 0.5, 0.7, 0.9, 0.4])
    noisy = row + 4e-16
    for test in ("t", "wilcoxon", "randomisation"):
        assert rank_systems(table(m=[noisy, row]), "m", test=test).tests[0].p == 1.0
    assert rank_systems(table(m=[row + 0.1, row]), "m", test="t").tests[0].p == 0.0
    # The scale of the scores doesn't matter: 32 signs of 5 differences, of which only the given ones reach the sum.
    gaps = np.array([0.5, 0.1, 0.2, 0.3, 0.4])
    large, tiny = (rank_systems(table(m=[s * (row + gaps), s * row]), "m", test="randomisation") for s in (1, 1e-13))
    assert tiny.tests[0].p == large.tests[0].p < 0.1


def test_the_commands(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    study().to_csv(path, index=False)
    plot = str(tmp_path / "p.svg")
    assert main(["variants", str(path), "--human", "h", "--json", "--plot", plot]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"name", "family", "part", "stem", "stop", "score", "value", "optimal"} == set(rows[0])
    assert main(["variants", str(path), "--human", "h", "--table", "options"]) == 0
    assert "stemmed" in capsys.readouterr().out
    assert main(["variants", str(path), "--table", "combinations"]) == 2
    assert "--coverage and --quality" in capsys.readouterr().err
    assert main(["rank", str(path), "--metric", "rouge-l-r", "--json", "--plot", plot]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)[0]) == ["better", "worse", "difference", "p", "p_adjusted", "n"]
    assert "Test: t, one-sided" in err or "Test: randomisation, one-sided" in err
