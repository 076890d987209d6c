"""Which systems can be told apart, by a test that knows whose judgments belong together.

Judgments of one document or of one worker are alike, and a test that ignores it finds far too much (Steen and Markert
2021: up to eight times as many false alarms). Here documents and workers are resampled as wholes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse, stats

from analysis.aggregate import SCALE, YES_NO, about_summaries, measure_kinds, measured
from analysis.agreement.counts import Floats, Ints, are_unlinkable, latest
from analysis.agreement.result import Watch, unwatched
from analysis.compare.adjust import CORRECTIONS, Pair, adjust, beaten, clusters, letters
from analysis.correlate.resample import percentile_interval
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

__all__ = ["CORRECTIONS", "RESAMPLE", "TESTS", "SystemComparison", "SystemMean", "SystemPair", "compare_systems"]

RESAMPLE = ("both", "documents", "workers")
TESTS = ("bootstrap", "permutation")
UNLINKABLE = "Every worker id stands in one summary only, so that worker and summary can't be told apart"
CELLS = 2_000_000
"""How many numbers a block of resamples may hold at once."""


FIXED_WORKERS = (
    "Workers are taken as they are, though they judge several documents each: with habits of their own such intervals "
    "may cover 80 %, not 95; both redraws workers too."
)


@dataclass(frozen=True)
class SystemMean:
    """A system's mean over documents, with its interval and the cluster of systems it can't be told from."""

    system: str
    value: float
    low: float
    high: float
    n_documents: int
    n_workers: int
    cluster: int
    letters: str = ""
    """Systems that share a letter can't be told apart; those that share none differ."""


@dataclass(frozen=True)
class SystemPair(Pair):
    """A pair whose p is clustered by documents, workers or both."""

    p_plain: float
    """Welch's t-test that takes every judgment as independent, adjusted in the same way."""


@dataclass(frozen=True)
class SystemComparison:
    """All systems, best first, and all pairs."""

    systems: tuple[SystemMean, ...]
    pairs: tuple[SystemPair, ...]
    measure: str
    test: str
    resample: str
    resamples: int
    seed: int
    alpha: float
    correction: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Scores:
    """One row per worker and summary: the mean of the worker's values."""

    document: Ints
    system: Ints
    worker: Ints
    value: Floats
    systems: list[str]
    n_documents: int
    n_workers: int


def compare_systems(
    judgments: pd.DataFrame,
    *,
    unit: str | None = None,
    test: str = "bootstrap",
    resample: str = "both",
    resamples: int | None = None,
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    watch: Watch = unwatched,
) -> SystemComparison:
    """Compare all pairs of systems on yes/no units together, or on one rated dimension (`unit`).

    Without `resamples` there are at least 1,000, and as many as the correction for all pairs needs.
    """
    for name, choices, option in (
        (test, TESTS, "test"),
        (resample, RESAMPLE, "resampling"),
        (correction, CORRECTIONS, "correction"),
    ):
        if name not in choices:
            raise AnalysisError(f"There is no {option} {name!r}; there are {', '.join(choices)}.")
    if test == "permutation" and resample == "both":
        raise AnalysisError("A permutation test swaps within documents or within workers; resample one of them.")
    rows, measure = _measured(latest(without_checks(judgments)), unit)
    notes: tuple[str, ...] = ()
    if resample != "documents" and are_unlinkable(rows):
        if resample == "workers":
            raise AnalysisError(f"{UNLINKABLE} and workers can't be redrawn; use --resample documents.")
        resample, notes = "documents", (f"{UNLINKABLE}: documents alone are redrawn.",)
    elif resample == "documents" and rows.groupby("worker_id")["doc_id"].nunique().max() > 1:
        notes = (FIXED_WORKERS,)
    scores = _scores(rows)
    if len(scores.systems) < 2:
        raise AnalysisError(f"There is one system only ({scores.systems[0]}); a comparison needs two.")
    resamples = resamples or _enough(len(scores.systems), alpha)
    observed = _means(scores, np.ones((1, scores.n_documents)), np.ones((1, scores.n_workers)))[0]
    samples = _bootstrap(scores, resample, resamples, seed, watch)
    order = np.argsort(-observed, kind="stable")
    pairs = [(int(a), int(b)) for i, a in enumerate(order) for b in order[i + 1 :]]
    if test == "bootstrap":
        p = np.array([_bootstrap_p(samples[:, a] - samples[:, b], observed[a] - observed[b]) for a, b in pairs])
    else:
        p = np.array([_permutation_p(scores, a, b, resample, resamples, seed) for a, b in pairs])
    adjusted = adjust(p, correction)
    plain = adjust(np.array([_plain_p(scores, a, b) for a, b in pairs]), correction)
    comparisons = [
        _pair(scores, observed, samples, pair, numbers)
        for pair, numbers in zip(pairs, zip(p, adjusted, plain, strict=True), strict=True)
    ]
    beats = beaten(pairs, adjusted, len(order), alpha)
    ranked = [int(system) for system in order]
    cluster, letter = clusters(ranked, beats), letters(ranked, beats)
    systems = [_mean(scores, observed, samples, s, cluster[s], letter[s]) for s in ranked]
    smallest_p = _least_p(resamples, len(pairs), correction)
    warnings = _too_few(resamples, len(pairs), smallest_p) if smallest_p >= alpha else _warnings(adjusted, plain, alpha)
    warnings = (*notes, *warnings)
    return SystemComparison(
        tuple(systems), tuple(comparisons), measure, test, resample, resamples, seed, alpha, correction, warnings
    )


def _enough(systems: int, alpha: float) -> int:
    """Resamples enough for the smallest p to survive a correction for all pairs, at least 1,000."""
    pairs = systems * (systems - 1) / 2
    return int(min(max(1000, np.ceil(2 * pairs / alpha)), 50_000))


def _measured(rows: pd.DataFrame, unit: str | None) -> tuple[pd.DataFrame, str]:
    if rows.empty:
        raise AnalysisError("There are no judgments to compare systems by.")
    rows = measured(about_summaries(rows))
    dimensions = sorted(rows.loc[measure_kinds(rows) == SCALE, "unit"].unique())
    if unit is not None:
        units = sorted(rows["unit"].unique())
        if unit not in units:
            raise AnalysisError(f"There is no dimension {unit!r}; there are {', '.join(units[:20])}.")
        return rows[rows["unit"] == unit], unit
    kinds = measure_kinds(rows)
    if (kinds == YES_NO).all():
        return rows, "share of units present"
    if len(dimensions) == 1 and (kinds == SCALE).all():
        return rows, str(dimensions[0])
    raise AnalysisError(f"Choose the dimension to compare by with --unit: {', '.join(dimensions)}.")


def _scores(rows: pd.DataFrame) -> _Scores:
    means = rows.groupby(["doc_id", "system", "worker_id"], sort=True)["value"].mean().reset_index()
    document, documents = pd.factorize(means["doc_id"], sort=True)
    system, systems = pd.factorize(means["system"], sort=True)
    worker, workers = pd.factorize(means["worker_id"], sort=True)
    value = means["value"].to_numpy(dtype=np.float64)
    return _Scores(document, system, worker, value, [str(s) for s in systems], len(documents), len(workers))


def _means(scores: _Scores, documents: Floats, workers: Floats) -> Floats:
    """Each system's mean over documents of the mean over workers, for many weightings (rows) of both."""
    n_systems, draws = len(scores.systems), len(documents)
    size = scores.n_documents * n_systems
    place = (np.arange(len(scores.value)), scores.document * n_systems + scores.system)
    cells = sparse.csr_matrix((np.ones(len(scores.value)), place), shape=(len(scores.value), size))
    weight = workers[:, scores.worker]
    total = np.asarray(weight @ cells).reshape(draws, scores.n_documents, n_systems)
    summed = np.asarray((weight * scores.value) @ cells).reshape(total.shape)
    value = np.divide(summed, total, out=np.zeros_like(summed), where=total > 0)
    with np.errstate(invalid="ignore"):
        means = np.einsum("rd,rds->rs", documents, value) / np.einsum("rd,rds->rs", documents, (total > 0) * 1.0)
    return np.asarray(means, dtype=np.float64)


def _bootstrap(scores: _Scores, resample: str, resamples: int, seed: int, watch: Watch) -> Floats:
    rng = np.random.default_rng(seed)
    samples, step = [], max(1, CELLS // len(scores.value))
    starts = range(0, resamples, step)
    for first in watch(starts, len(starts)):
        draws = min(step, resamples - first)
        documents = _draw(rng, draws, scores.n_documents, resample in ("both", "documents"))
        workers = _draw(rng, draws, scores.n_workers, resample in ("both", "workers"))
        samples.append(_means(scores, documents, workers))
    return np.concatenate(samples)


def _draw(rng: np.random.Generator, draws: int, size: int, is_drawn: bool) -> Floats:
    """How often each of `size` clusters is in each resample; once everywhere when they are not resampled."""
    if not is_drawn:
        return np.ones((draws, size))
    picks = rng.integers(0, size, (draws, size)) + size * np.arange(draws)[:, None]
    return np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size).astype(np.float64)


def _bootstrap_p(samples: Floats, observed: float) -> float:
    """Two-sided: how often a resample is as far from the observed difference as that is from zero."""
    samples = samples[~np.isnan(samples)]
    beyond = int((np.abs(samples - observed) >= abs(observed) - 1e-12).sum())
    return (beyond + 1) / (len(samples) + 1)


def _permutation_p(scores: _Scores, a: int, b: int, resample: str, resamples: int, seed: int) -> float:
    """Swap the two systems within whole documents (or within all that one worker judged)."""
    pair = np.isin(scores.system, [a, b])
    sign = np.where(scores.system[pair] == a, 1.0, -1.0)
    cluster = (scores.document if resample == "documents" else scores.worker)[pair]
    frame = pd.DataFrame({"cluster": cluster, "a": sign > 0, "value": scores.value[pair]})
    means = frame.groupby(["cluster", "a"])["value"].mean().unstack("a").dropna()
    if means.empty:
        return 1.0
    difference = (means[True] - means[False]).to_numpy(dtype=np.float64)
    flips = np.random.default_rng(seed).choice([-1.0, 1.0], size=(resamples, len(difference)))
    beyond = int((np.abs(flips @ difference) >= abs(difference.sum()) - 1e-12).sum())
    return (beyond + 1) / (resamples + 1)


def _plain_p(scores: _Scores, a: int, b: int) -> float:
    first, second = (scores.value[scores.system == system] for system in (a, b))
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else 0.0
    return float(stats.ttest_ind(first, second, equal_var=False).pvalue)


def _pair(
    scores: _Scores, observed: Floats, samples: Floats, pair: tuple[int, int], numbers: tuple[float, float, float]
) -> SystemPair:
    a, b = pair
    low, high = percentile_interval(samples[:, a] - samples[:, b])
    difference = float(observed[a] - observed[b])
    p, adjusted, plain = (float(number) for number in numbers)
    return SystemPair(scores.systems[a], scores.systems[b], difference, low, high, p, adjusted, plain)


def _mean(scores: _Scores, observed: Floats, samples: Floats, system: int, cluster: int, letter: str) -> SystemMean:
    is_system = scores.system == system
    low, high = percentile_interval(samples[:, system])
    return SystemMean(
        scores.systems[system],
        float(observed[system]),
        low,
        high,
        len(np.unique(scores.document[is_system])),
        len(np.unique(scores.worker[is_system])),
        cluster,
        letter,
    )


def _least_p(resamples: int, pairs: int, correction: str) -> float:
    """The least adjusted p that so many resamples can give."""
    smallest_p = 1 / (resamples + 1)
    return min(1.0, smallest_p * pairs) if correction in ("holm", "bonferroni") else smallest_p


def _too_few(resamples: int, pairs: int, smallest_p: float) -> tuple[str, ...]:
    return (
        f"No two systems can be told apart here: {resamples} resamples are too few for {pairs} pairs, as no p falls "
        f"below {smallest_p:.2g} after the correction. Take more with --resamples.",
    )


def _warnings(adjusted: Floats, plain: Floats, alpha: float) -> tuple[str, ...]:
    n_plain_only = int(((plain < alpha) & (adjusted >= alpha)).sum())
    if not n_plain_only:
        return ()
    n_different = int((adjusted < alpha).sum())
    return (
        f"A plain t-test that takes every judgment as independent would call {n_plain_only} more pairs different "
        f"than the {n_different} found here; judgments of one document or worker belong together.",
    )
