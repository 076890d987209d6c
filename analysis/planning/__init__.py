"""How many documents, workers and check items a study needs, and what that costs.

A system's score on one document varies for two reasons: documents suit systems differently, and workers differ on
the same summary. With D documents and k workers per summary the difference of two systems has the variance
(2 v_document + 2 v_worker / k) / D, and its test is a paired t-test over documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.aggregate import about_summaries
from analysis.agreement.counts import latest
from analysis.compare.williams import williams
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

MOST_DOCUMENTS = 20_000
CROWDS = ("direct", "mturk", "prolific")


@dataclass(frozen=True)
class Variances:
    """What a pilot (or an assumption) says about the scatter of scores."""

    document: float
    """Variance of a system's true score between documents, beyond what all systems share."""
    worker: float
    """Variance between workers on the same summary."""
    source: str = "assumed"


@dataclass(frozen=True)
class Plan:
    """One way to reach the wanted power."""

    workers: int
    """Workers per summary."""
    documents: int | None
    """Documents needed; None when no number up to 20,000 is enough."""
    power: float
    checks: int
    """Check items per worker."""
    judged_summaries: int
    assignments: int
    cost: float


@dataclass(frozen=True)
class CheckPlan:
    """How many check items tell careless workers from careful ones."""

    checks: int
    detected: float
    """Share of careless workers who fail too many."""
    false_alarms: float
    """Share of careful workers who do."""


def pilot_variances(judgments: pd.DataFrame) -> Variances:
    """Variance components from a pilot: workers within summaries, and documents within pairs of systems."""
    rows = about_summaries(latest(without_checks(judgments)))
    scores = rows.groupby(["doc_id", "system", "worker_id"])["value"].mean().reset_index()
    cells = scores.groupby(["doc_id", "system"])["value"].agg(["mean", "var", "size"])
    several = cells[cells["size"] >= 2]
    if several.empty:
        raise AnalysisError("No summary of the pilot was judged by two workers; the scatter of workers is unknown.")
    worker = float(np.average(several["var"], weights=several["size"] - 1))
    means, sizes = cells["mean"].unstack("system"), cells["size"].unstack("system")
    if means.shape[1] < 2 or len(means) < 3:
        raise AnalysisError("A pilot needs at least two systems on three documents.")
    estimates = []
    for first in range(means.shape[1]):
        for second in range(first + 1, means.shape[1]):
            difference = (means.iloc[:, first] - means.iloc[:, second]).dropna()
            noise = (worker / sizes.iloc[:, first] + worker / sizes.iloc[:, second]).reindex(difference.index).mean()
            if len(difference) >= 3:
                estimates.append((float(difference.var()) - float(noise)) / 2)
    if not estimates:
        raise AnalysisError("No two systems of the pilot share three documents.")
    return Variances(max(float(np.mean(estimates)), 0.0), worker, "pilot")


def system_power(difference: float, variances: Variances, documents: int, workers: int, alpha: float = 0.05) -> float:
    """The probability that a paired t-test over documents tells two systems apart (noncentral t)."""
    if documents < 2:
        return 0.0
    variance = 2 * variances.document + 2 * variances.worker / workers
    if variance <= 0:
        return 1.0 if difference else alpha
    shift = abs(difference) / np.sqrt(variance / documents)
    edge = stats.t.ppf(1 - alpha / 2, documents - 1)
    power = stats.nct.sf(edge, documents - 1, shift) + stats.nct.cdf(-edge, documents - 1, shift)
    # Far out the noncentral t is not representable; the normal distribution is exact enough there.
    return float(power) if np.isfinite(power) else float(stats.norm.sf(edge - shift))


def documents_needed(
    difference: float, variances: Variances, workers: int, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """The smallest number of documents that reaches the power, by bisection."""
    low, high = 1, 2
    while system_power(difference, variances, high, workers, alpha) < power:
        low, high = high, high * 2
        if low >= MOST_DOCUMENTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if system_power(difference, variances, middle, workers, alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def plan(
    difference: float,
    variances: Variances,
    *,
    workers: Sequence[int] = (1, 2, 3, 4, 5),
    systems: int = 2,
    power: float = 0.8,
    alpha: float = 0.05,
    price: float = 0.0,
    fee: float | None = None,
    crowd: str = "mturk",
) -> list[Plan]:
    """For each number of workers per summary what is needed, and what the assignments cost on a crowd.

    Check items stand among the units of ordinary tasks (like REALSumm's BLANK statements), so they cost nothing more.
    """
    if difference == 0:
        raise AnalysisError("No study can tell two systems apart that do not differ; give a difference above 0.")
    if not 0 < power < 1 or not 0 < alpha < 1:
        raise AnalysisError("Power and alpha lie between 0 and 1, such as 0.8 and 0.05.")
    checks = checks_needed().checks
    plans = []
    for count in workers:
        if count < 1:
            raise AnalysisError(f"{count} workers can't judge a summary; give whole numbers from 1.")
        documents = documents_needed(difference, variances, count, power, alpha)
        tasks = (documents or 0) * systems
        assignments = tasks * count
        reached = system_power(difference, variances, documents, count, alpha) if documents else float("nan")
        plans.append(
            Plan(
                count, documents, reached, checks, tasks, assignments, assignments * with_fee(price, count, crowd, fee)
            )
        )
    return plans


def with_fee(price: float, workers: int, crowd: str = "mturk", fee: float | None = None) -> float:
    """What one assignment costs with the market's fee; `fee` (a share) overrides the crowd's own.

    MTurk and markets that speak its API take 20 % and at least $0.01, and another 20 % when a task has ten or more
    assignments; your own annotators (direct) cost no fee. Prolific's depends on the account: give it as `fee`.
    """
    if crowd not in CROWDS:
        raise AnalysisError(f"There is no crowd {crowd!r}; there are {', '.join(CROWDS)}.")
    if fee is not None:
        return price * (1 + fee)
    if crowd == "prolific":
        raise AnalysisError("Prolific's fee depends on the account; give it with --fee, such as 0.33.")
    if crowd == "direct" or price == 0:
        return price
    return price + max(price * (0.4 if workers >= 10 else 0.2), 0.01)


def checks_needed(
    careless: float = 0.5,
    careful: float = 0.03,
    max_failed: float = 0.25,
    detected: float = 0.95,
    false_alarms: float = 0.02,
) -> CheckPlan:
    """The fewest check items with which careless workers (who fail this share) are found and careful ones pass."""
    for size in range(1, 201):
        max_failures = int(np.floor(max_failed * size + 1e-9))
        detection, false_alarm = (float(stats.binom.sf(max_failures, size, share)) for share in (careless, careful))
        if detection >= detected and false_alarm <= false_alarms:
            return CheckPlan(size, detection, false_alarm)
    raise AnalysisError("No number of check items up to 200 tells these workers apart; they fail too alike.")


@dataclass(frozen=True)
class MetricPower:
    """The power to tell two metrics apart with a number of systems."""

    systems: int
    power: float


def metric_power(
    r12: float,
    r13: float,
    r23: float,
    systems: Sequence[int] = (10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200),
    *,
    alpha: float = 0.05,
    samples: int = 2000,
    seed: int = 0,
) -> list[MetricPower]:
    """How often Williams' one-sided test finds the better of two metrics, by simulation.

    1 is the human score, 2 the better metric, 3 the other; scores are drawn from a normal distribution with these
    correlations, one triple per system.
    """
    matrix = np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]], dtype=np.float64)
    if np.linalg.eigvalsh(matrix).min() < -1e-9:
        raise AnalysisError(f"No scores can have the correlations {r12:g}, {r13:g} and {r23:g} at once.")
    if r23 >= 1 - 1e-9:
        raise AnalysisError("Two metrics that correlate by 1 score alike; no number of systems tells them apart.")
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(matrix + 1e-12 * np.eye(3))
    points = []
    for n in systems:
        if n < 4:
            raise AnalysisError(f"Williams' test needs at least 4 systems, not {n}.")
        scores = rng.standard_normal((samples, n, 3)) @ root.T
        scores -= scores.mean(axis=1, keepdims=True)
        scores /= np.sqrt((scores**2).sum(axis=1, keepdims=True))
        r = np.einsum("sni,snj->sij", scores, scores)
        points.append(MetricPower(n, float((williams(r[:, 0, 1], r[:, 0, 2], r[:, 1, 2], n).p < alpha).mean())))
    return points
