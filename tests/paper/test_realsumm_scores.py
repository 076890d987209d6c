"""REALSumm from the published scores: every corrected number of Exp-I to Exp-IV."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from analysis.compare import compare
from analysis.correlate import correlate
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.experiments.pairwise import pairwise_f1
from analysis.experiments.topk import top_k
from analysis.tables import read_table

pytestmark = pytest.mark.paper
FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "realsumm"
HUMAN = "litepyramid_recall"
GROUPS = ["abs", "ext", "mix"]
TOLERANCE = 1e-9


@cache
def expected() -> dict:
    if not FOLDER.exists():
        pytest.skip(f"the REALSumm data is not here: {FOLDER}")
    return json.loads((FOLDER / "expected.json").read_text())["meta"]["corrected"]


@cache
def cube(group: str) -> ScoreCube:
    scores = read_table(FOLDER / "scores.csv.gz", "scores")
    return build_cube(scores if group == "mix" else scores[scores["group"] == group])


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_system_and_summary_level_correlations(group, coefficient):
    for level in ("system", "summary"):
        paper = expected()[group][f"{level}_level"]
        results = correlate(cube(group), human=HUMAN, metrics=list(paper), level=level, coefficient=coefficient)
        for result in results:
            assert result.value == pytest.approx(paper[result.metric][coefficient], abs=TOLERANCE)
            assert result.n_used == (len(cube(group).systems) if level == "system" else 100)
            assert result.n_undefined == 0
        zeros = correlate(
            cube(group), human=HUMAN, metrics=list(paper), level="summary", coefficient=coefficient, undefined="zero"
        )
        for result in zeros if level == "summary" else []:
            assert result.value == pytest.approx(paper[result.metric][f"{coefficient}_nan0"], abs=TOLERANCE)


@pytest.mark.parametrize("group", GROUPS)
def test_human_means(group):
    paper = expected()[group]["human_system_mean"]
    means = dict(zip(cube(group).systems, cube(group).system_scores(HUMAN), strict=True))
    # The extractive BART is called bart_out_ext in the table.
    for system, value in paper.items():
        name = "bart_out_ext" if group == "ext" and system == "bart_out" else system
        assert means[name] == pytest.approx(value, abs=TOLERANCE)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_top_k(group, coefficient):
    paper = expected()[group]["top_k"]
    metrics = list(next(iter(paper.values())))
    correlations = {
        (r.k, r.metric): r.value for r in top_k(cube(group), human=HUMAN, metrics=metrics, coefficient=coefficient)
    }
    assert sorted({k for k, _ in correlations}) == sorted(map(int, paper))
    for k, row in paper.items():
        for metric, values in row.items():
            assert correlations[int(k), metric] == pytest.approx(values[coefficient], abs=TOLERANCE)


@pytest.mark.parametrize("group", GROUPS)
def test_williams_one_sided(group):
    paper = expected()[group]["williams_p_one_sided"]
    metrics = list(expected()[group]["system_level"])
    comparison = compare(cube(group), human=HUMAN, metrics=metrics, test="williams", correction="none")
    by_pair = {f"{pair.better}>{pair.worse}": pair for pair in comparison.pairs}
    assert set(by_pair) == set(paper)
    for name, p in paper.items():
        if p is None:  # the first metric correlates less: the paper prints a dash, we a p above one half
            assert by_pair[name].difference < 0
            assert by_pair[name].p > 0.5
        else:
            assert by_pair[name].p == pytest.approx(p, abs=TOLERANCE)


@pytest.mark.parametrize("group", GROUPS)
def test_pairwise_f1_and_its_ceiling(group):
    paper = expected()[group]["pairwise_bootstrap"]
    metrics = [name for name in paper["f1_weighted"] if name != HUMAN]
    results = pairwise_f1(cube(group), human=HUMAN, metrics=metrics, sides=1)
    assert results[0].pairs == paper["pairs"]
    for result in results:
        published = paper["f1_weighted"][result.metric]
        assert abs(result.f1 - published["mean"]) <= 3 * published["sd"], result.metric
    assert results[-1].is_ceiling


def test_on_mix_rouge_2_beats_all_others_and_on_ext_nothing_beats_anything():
    """The paper's two findings of Exp-I, without correction as in the paper."""
    metrics = list(expected()["mix"]["system_level"])
    mix = compare(cube("mix"), human=HUMAN, metrics=metrics, test="williams", correction="none")
    assert [item.metric for item in mix.standings if item.optimal] == ["rouge_2_recall"]
    ext = compare(cube("ext"), human=HUMAN, metrics=metrics, test="williams", correction="holm")
    assert all(item.optimal for item in ext.standings)
