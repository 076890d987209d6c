"""Correlations and tests don't depend on the unit of the scores, however large or small: 2^±k changes no digit."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from analysis.compare import compare
from analysis.correlate import correlate
from analysis.experiments.dimensions import metrics_by_metric
from analysis.experiments.pairwise import pairwise_f1
from analysis.experiments.ranking import rank_systems
from analysis.experiments.topk import top_k
from analysis.experiments.variants import compare_variants
from tests.analysis._matrices import table

WILD = [2.0**700, 2.0**-700]  # about 5e210 and 2e-211: their squares are infinite and 0


def study(unit: float) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    human = rng.random((6, 9))
    close, far = (human + rng.normal(0, spread, human.shape) for spread in (0.2, 0.6))
    return table(human=human, near=close * unit, far=far * unit)


FINDINGS = {
    **{
        f"correlate-{level}": lambda scores, level=level: [
            astuple(result) for result in correlate(scores, human="human", level=level, ci=50, resample="both")
        ]
        for level in ("system", "summary", "global")
    },
    **{
        test: lambda scores, test=test: [
            astuple(pair) for pair in compare(scores, human="human", test=test, resamples=50).pairs
        ]
        for test in ("williams", "perm-both", "bootstrap")
    },
    "topk": lambda scores: [astuple(result) for result in top_k(scores, human="human")],
    "pairwise": lambda scores: [astuple(result) for result in pairwise_f1(scores, human="human", resamples=50)],
    "variants": lambda scores: [astuple(result) for result in compare_variants(scores, human="human")[0]],
    "metrics": lambda scores: [astuple(result) for result in metrics_by_metric(scores, coefficient="pearson")],
    **{
        f"rank-{test}": lambda scores, test=test: [
            (pair.better, pair.worse, pair.p) for pair in rank_systems(scores, "near", test=test).tests
        ]
        for test in ("t", "wilcoxon", "randomisation", "auto")
    },
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", WILD)
@pytest.mark.parametrize("name", FINDINGS)
def test_a_unit_changes_no_digit(name: str, unit: float) -> None:
    analyse: Any = FINDINGS[name]
    assert analyse(study(unit)) == analyse(study(1.0))


def test_ranks_of_small_scores_are_shown_with_their_digits(capsys, tmp_path) -> None:
    study(2.0**-700).to_csv(tmp_path / "scores.csv", index=False)
    assert main(["rank", str(tmp_path / "scores.csv"), "--metric", "near"]) == 0
    assert "e-211" in capsys.readouterr().out.partition("By mean near:")[2]
