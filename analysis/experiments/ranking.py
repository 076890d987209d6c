"""Systems ranked by a metric, with paired tests between them (Graham 2015, Table 3 and Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from analysis.compare.adjust import adjust
from analysis.correlate.coefficients import Floats, UnknownName
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.tables import AnalysisError

SLACK = 1e-12
"""Differences that are smaller than this share of the scores come from rounding."""
TESTS = ("auto", "t", "wilcoxon", "randomisation")


@dataclass(frozen=True)
class SystemTest:
    """Is the first system better than the second by this metric?"""

    better: str
    worse: str
    difference: float
    p: float
    p_adjusted: float
    n: int
    """Documents that both have."""


@dataclass(frozen=True)
class Ranking:
    """The systems by score and all their comparisons."""

    systems: tuple[str, ...]
    values: tuple[float, ...]
    tests: tuple[SystemTest, ...]
    test: str
    """The test that was used: t, wilcoxon or randomisation."""
    why: str
    """Why this one."""
    not_normal: tuple[str, ...]
    """Systems whose scores Shapiro and Wilk's test finds not normal at 5 %, corrected for their number (Holm)."""


def rank_systems(
    scores: pd.DataFrame | ScoreCube,
    metric: str,
    *,
    score: str = "mean",
    test: str = "auto",
    correction: str = "none",
    resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Rank systems by mean or median and test every pair.

    auto: the paired t-test for means when the scores of all systems look normal, Wilcoxon's signed-rank test for
    medians, a randomisation test otherwise.
    """
    if test not in TESTS:
        raise UnknownName("test", test, TESTS)
    cube = scores if isinstance(scores, ScoreCube) else build_cube(scores)
    matrix, values = cube.scaled().matrix(metric), cube.system_scores(metric, score)
    tested = np.flatnonzero(np.isfinite(matrix).sum(axis=1) >= 3)
    if len(tested) < 2:
        raise AnalysisError(f"Fewer than two systems have {metric} on three documents; there is nothing to compare.")
    not_normal = tuple(cube.systems[i] for i in tested[adjust([_normal_p(matrix[i]) for i in tested], "holm") < 0.05])
    used_test, why = _choose(test, score, len(not_normal))
    order = tested[np.argsort(-values[tested], kind="stable")]
    results = [_test_pair(matrix[i], matrix[j], used_test, resamples, seed) for i, j in combinations(order.tolist(), 2)]
    adjusted = adjust([p for p, _ in results], correction)
    tests = tuple(
        SystemTest(cube.systems[i], cube.systems[j], float(values[i] - values[j]), p, float(q), n)
        for (i, j), (p, n), q in zip(combinations(order.tolist(), 2), results, adjusted, strict=True)
    )
    names = tuple(cube.systems[i] for i in order)
    return Ranking(names, tuple(float(values[i]) for i in order), tests, used_test, why, not_normal)


def _normal_p(row: Floats) -> float:
    values = row[np.isfinite(row)]
    return float(stats.shapiro(values).pvalue) if np.ptp(values) > 0 else 0.0


def _choose(test: str, score: str, n_abnormal: int) -> tuple[str, str]:
    if test != "auto":
        return test, "as asked"
    if score == "median":
        return "wilcoxon", "systems are ranked by medians"
    if n_abnormal:
        return "randomisation", f"{n_abnormal} systems have scores that are not normal (Shapiro–Wilk, adjusted p < .05)"
    return "t", "no system's scores differ from normal (Shapiro–Wilk)"


def _test_pair(a: Floats, b: Floats, test: str, resamples: int, seed: int) -> tuple[float, int]:
    """One-sided p of a being better than b, and the number of shared documents."""
    has_both = np.isfinite(a) & np.isfinite(b)
    gaps = a[has_both] - b[has_both]
    n = len(gaps)
    if n < 2:
        return float("nan"), n
    gaps[np.abs(gaps) <= SLACK * max(np.abs(a[has_both]).max(), np.abs(b[has_both]).max())] = 0
    if not gaps.any():
        return 1.0, n
    if test == "t":
        if np.ptp(gaps) <= SLACK * np.abs(gaps).max():
            return 0.0 if gaps[0] > 0 else 1.0, n
        return float(stats.ttest_1samp(gaps, 0, alternative="greater").pvalue), n
    if test == "wilcoxon":
        return float(stats.wilcoxon(gaps, alternative="greater").pvalue), n
    signs = np.random.default_rng([seed, 11]).integers(0, 2, (resamples, n)) * 2 - 1
    return float(((signs @ gaps >= gaps.sum() - SLACK * np.abs(gaps).sum()).sum() + 1) / (resamples + 1)), n
