"""One pair of metrics put to one test: what `analysis.compare` runs for every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analysis.compare.permutation import p_values, standardise, swap_masks, swapped_differences, swapped_vectors
from analysis.compare.williams import ALTERNATIVES, williams
from analysis.correlate import system_value
from analysis.correlate.coefficients import Floats, coefficient
from analysis.correlate.resample import draw, global_samples, summary_samples, system_samples
from analysis.correlate.score_cube import ScoreCube, over_documents
from analysis.tables import AnalysisError


@dataclass(frozen=True)
class Plan:
    """How to test."""

    test: str
    level: str
    coefficient: str
    alternative: str
    resamples: int
    resample: str
    seed: int
    score: str
    undefined: str


@dataclass(frozen=True)
class Trio:
    """Human, first and second metric on the systems that all three have."""

    x: Floats
    y: Floats
    z: Floats
    a: Floats
    b: Floats
    human: Floats
    is_whole: tuple[bool, bool, bool]


@dataclass(frozen=True)
class Outcome:
    """What the test of one pair found."""

    first: float
    second: float
    statistic: float
    p: dict[str, float]
    """p of `first` being greater, less, or different."""
    n: int
    swaps: int = 0
    exact: bool = False


def system_vectors(cube: ScoreCube, human: str, metrics: Sequence[str], score: str) -> Floats:
    """System scores of the human measure (first) and of every metric."""
    return np.stack([cube.system_scores(name, score) for name in [human, *metrics]])


def negative_metrics(cube: ScoreCube, human: str, metrics: Sequence[str], plan: Plan) -> list[str]:
    """Metrics whose correlation with the human measure is below zero."""
    outcomes = {name: make_trio(cube, human, name, name, plan) for name in metrics}
    return [name for name, trio in outcomes.items() if level_value(trio.x, trio.z, trio.a, trio.human, plan) < 0]


def flip_metrics(cube: ScoreCube, names: Sequence[str]) -> ScoreCube:
    """The cube with these metrics turned, so that all their correlations change sign together."""
    if not names:
        return cube
    sign = np.array([-1.0 if name in names else 1.0 for name in cube.metrics])
    return replace(cube, values=cube.values * sign[:, None, None], whole_systems=cube.whole_systems * sign[:, None])


def make_trio(cube: ScoreCube, human: str, first: str, second: str, plan: Plan) -> Trio:
    """The three measures on the systems (and cells, below system level) that all have."""
    names = (first, second, human)
    x, y, z = (cube.matrix(name) for name in names)
    a, b, h = (cube.system_scores(name, plan.score) for name in names)
    is_whole = (cube.is_whole(first), cube.is_whole(second), cube.is_whole(human))
    if plan.level == "system":
        keep = np.isfinite(a) & np.isfinite(b) & np.isfinite(h)
        return Trio(x[keep], y[keep], z[keep], a[keep], b[keep], h[keep], is_whole)
    if any(is_whole):
        raise AnalysisError(
            f"{names[is_whole.index(True)]} has one score per system (doc_id *), so metrics can be compared with it at "
            "the system level only."
        )
    present = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    rows, columns = present.any(axis=1), present.any(axis=0)
    x, y, z = (np.where(present, side, np.nan)[np.ix_(rows, columns)] for side in (x, y, z))
    return Trio(x, y, z, a[rows], b[rows], h[rows], is_whole)


def level_value(x: Floats, z: Floats, a: Floats, human: Floats, plan: Plan) -> float:
    """The correlation of one metric with another or with the human measure, at the level of the plan."""
    if plan.level == "system":
        return system_value(plan.coefficient, a, human)
    if plan.level == "global":
        return float(coefficient(plan.coefficient)(x.ravel(), z.ravel()))
    return float(summary_samples(plan.coefficient, x, z, None, None, plan.undefined)[0])


def run_tests(
    cube: ScoreCube, human: str, pairs: Sequence[tuple[str, str]], plan: Plan, jobs: int = 1
) -> Iterator[Outcome]:
    """Put all pairs to the test, in their order, in several processes if asked."""
    if jobs <= 1 or len(pairs) < 2:
        yield from (run_test(cube, human, pair, plan) for pair in pairs)
        return
    from concurrent.futures import ProcessPoolExecutor

    step = max(1, -(-len(pairs) // (4 * jobs)))
    batches = [pairs[start : start + step] for start in range(0, len(pairs), step)]
    with ProcessPoolExecutor(jobs) as pool:
        for outcomes in pool.map(partial(_run_batch, cube, human, plan), batches):
            yield from outcomes


def _run_batch(cube: ScoreCube, human: str, plan: Plan, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
    return [run_test(cube, human, pair, plan) for pair in pairs]


def run_test(cube: ScoreCube, human: str, pair: tuple[str, str], plan: Plan) -> Outcome:
    """Put one pair to the test."""
    trio = make_trio(cube, human, *pair, plan)
    n = trio.z.shape[0]
    first = level_value(trio.x, trio.z, trio.a, trio.human, plan)
    second = level_value(trio.y, trio.z, trio.b, trio.human, plan)
    if n < 3:
        nothing = dict.fromkeys(ALTERNATIVES, float("nan"))
        return Outcome(first, second, float("nan"), nothing, n)
    if plan.test == "williams":
        return _williams_pair(trio, first, second, plan)
    if plan.test == "bootstrap":
        return _bootstrap_pair(trio, first, second, plan)
    samples, exact, observed = _swap_samples(trio, plan)
    return Outcome(first, second, observed, p_values(samples, observed, exact), n, len(samples), exact)


def _swap_samples(trio: Trio, plan: Plan) -> tuple[Floats, bool, float]:
    """The differences after swapping, whether these are all there are, and the difference before it."""
    no_swap = np.zeros((1, trio.z.shape[0], max(1, trio.z.shape[1])), dtype=bool)
    masks, exact = swap_masks(plan.test, plan.seed, plan.resamples, *trio.z.shape)
    if plan.level == "system" and plan.test == "perm-systems":
        a, b = _standard_vectors(trio, plan.score)
        human = trio.human if trio.is_whole[2] else over_documents(standardise(trio.z), plan.score)
        observed = swapped_vectors(plan.coefficient, a, b, human, no_swap)
        return swapped_vectors(plan.coefficient, a, b, human, masks), exact, float(observed[0])
    if any(trio.is_whole):
        raise AnalysisError(
            f"{plan.test} swaps scores of documents, and a metric here has one score per system; use perm-systems."
        )
    x, y, z = standardise(trio.x), standardise(trio.y), standardise(trio.z)
    before = swapped_differences(plan.coefficient, plan.level, x, y, z, no_swap, plan.undefined)
    swapped = swapped_differences(plan.coefficient, plan.level, x, y, z, masks, plan.undefined)
    return swapped, exact, float(before[0])


def _standard_vectors(trio: Trio, score: str) -> tuple[Floats, Floats]:
    """System scores on one scale: that of the cells, or of the system scores where a metric has no cells."""
    if trio.is_whole[0] or trio.is_whole[1]:
        return standardise(trio.a), standardise(trio.b)
    return over_documents(standardise(trio.x), score), over_documents(standardise(trio.y), score)


def _bootstrap_pair(trio: Trio, first: float, second: float, plan: Plan) -> Outcome:
    rows, columns = draw(plan.seed, plan.resamples, plan.resample, *trio.z.shape)
    samples = []
    for cells, is_whole, scores in ((trio.x, trio.is_whole[0], trio.a), (trio.y, trio.is_whole[1], trio.b)):
        if plan.level == "system":
            fixed = (scores if is_whole else None, trio.human if trio.is_whole[2] else None)
            correlations = system_samples(plan.coefficient, cells, trio.z, rows, columns, plan.score, fixed)
        elif plan.level == "summary":
            correlations = summary_samples(plan.coefficient, cells, trio.z, rows, columns, plan.undefined)
        else:
            correlations = global_samples(plan.coefficient, cells, trio.z, rows, columns)
        samples.append(correlations)
    observed = first - second
    shifted = samples[0] - samples[1] - observed
    return Outcome(first, second, observed, p_values(shifted, observed, False), trio.z.shape[0], plan.resamples)


def _williams_pair(trio: Trio, first: float, second: float, plan: Plan) -> Outcome:
    between = level_value(trio.x, trio.y, trio.a, trio.b, plan)
    n = trio.z.shape[0]
    sample = int(np.isfinite(trio.z).sum()) if plan.level == "global" else n
    if plan.level == "summary":
        sample = int(np.isfinite(trio.z).sum(axis=0).max(initial=0))
    results = {name: williams(first, second, between, sample, name) for name in ALTERNATIVES}
    p = {name: float(result.p) for name, result in results.items()}
    return Outcome(first, second, float(results["greater"].t), p, n)


def williams_at_once(cube: ScoreCube, human: str, metrics: Sequence[str], plan: Plan) -> dict[tuple[str, str], Outcome]:
    """All pairs in one call, for complete scores."""
    vectors = system_vectors(cube, human, metrics, plan.score)
    values = np.array([system_value(plan.coefficient, row, vectors[0]) for row in vectors[1:]])
    i, j = np.triu_indices(len(metrics), 1)
    between = _correlation_matrix(plan.coefficient, vectors[1:])[i, j]
    n = vectors.shape[1]
    results = [williams(values[i], values[j], between, n, name) for name in ALTERNATIVES]
    return {
        (metrics[a], metrics[b]): Outcome(
            float(values[a]),
            float(values[b]),
            float(results[0].t[k]),
            {name: float(result.p[k]) for name, result in zip(ALTERNATIVES, results, strict=True)},
            n,
        )
        for k, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True))
    }


def _correlation_matrix(name: str, vectors: Floats) -> Floats:
    if name == "pearson":
        centred = vectors - vectors.mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True))
        return np.asarray(np.clip(unit @ unit.T, -1, 1))
    return np.stack([np.asarray(coefficient(name)(vectors, row[None, :])) for row in vectors])
