"""Agreement where it matters who answered: pairs of workers, one worker against the others, workers resampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from analysis.agreement.coefficients import Kernel, agreement_weights, alpha, ratio_distance
from analysis.agreement.counts import Counts, Floats, Ints, count, unit_codes
from analysis.agreement.result import AgreementResult, Watch, interval, lost_note, unwatched
from analysis.tables import AnalysisError


@dataclass(frozen=True)
class KappaResult:
    """Cohen's kappa of one table of two raters, with its large-sample interval."""

    value: float
    se: float
    low: float
    high: float


def disagreement_weights(steps: int, weights: str | None) -> Floats:
    """0 on the diagonal; beyond it 1 (None), the distance (linear) or its square (quadratic)."""
    apart = np.abs(np.arange(steps)[:, None] - np.arange(steps)[None, :]).astype(np.float64)
    if weights is None:
        return np.asarray(apart > 0, dtype=np.float64)
    if weights not in ("linear", "quadratic"):
        raise AnalysisError(f"There are no weights {weights!r}; there are linear and quadratic, or None.")
    return np.asarray(apart if weights == "linear" else apart**2, dtype=np.float64)


def cohens_kappa(table: Floats, weights: str | None = None, confidence: float = 0.95) -> KappaResult:
    """Kappa of a square table of counts, variance after Fleiss, Cohen and Everitt (1969)."""
    table = np.asarray(table, dtype=np.float64)
    total, distance = table.sum(), disagreement_weights(len(table), weights)
    close = 1 - distance / distance.max()
    share = table / total
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed, chance = float((close * share).sum()), float(rows @ close @ columns)
    if chance >= 1 - 1e-12:
        return KappaResult(*[float("nan")] * 4)
    value = (observed - chance) / (1 - chance)
    mean = (close @ columns)[:, None] + (rows @ close)[None, :]
    spread = (share * (close - mean * (1 - value)) ** 2).sum() - (value - chance * (1 - value)) ** 2
    se = float(np.sqrt(spread / total) / (1 - chance))
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * se
    return KappaResult(value, se, value - reach, value + reach)


@dataclass(frozen=True)
class _Answers:
    """One row per judgment: unit, worker and value as numbers."""

    unit: Ints
    worker: Ints
    value: Ints
    values: Floats
    n_units: int
    n_workers: int


def _answers(rows: pd.DataFrame, counts: Counts) -> _Answers:
    worker, names = pd.factorize(rows["worker_id"], sort=True)
    return _Answers(
        counts.unit_of, worker.astype(np.int64), counts.value_of, counts.values, len(counts.table), len(names)
    )


def _pairs(answers: _Answers) -> tuple[Ints, Ints]:
    """Every pair of answers to the same unit, the worker who comes first in order on the left."""
    order = np.lexsort((answers.worker, answers.unit))
    unit = answers.unit[order]
    first_rows, second_rows = [], []
    for lag in range(1, int(np.bincount(unit).max())):
        places = np.flatnonzero(unit[lag:] == unit[:-lag])
        first_rows.append(order[places])
        second_rows.append(order[places + lag])
    return np.concatenate(first_rows or [np.zeros(0, int)]), np.concatenate(second_rows or [np.zeros(0, int)])


def _kappas(answers: _Answers, level: str, weights: Floats) -> tuple[Floats, Floats]:
    """Kappa of every pair of workers, and how many units they share."""
    first_rows, second_rows = _pairs(answers)
    steps = len(answers.values)
    pair, names = pd.factorize(answers.worker[first_rows] * answers.n_workers + answers.worker[second_rows])
    cell = (pair * steps + answers.value[first_rows]) * steps + answers.value[second_rows]
    size = len(names) * steps * steps
    tables = np.bincount(cell, weights=weights[answers.unit[first_rows]], minlength=size).reshape(-1, steps, steps)
    close = agreement_weights(answers.values, level)
    if level == "ordinal":  # the usual weights of weighted kappa on ordered categories are linear
        close = 1 - disagreement_weights(steps, "linear") / max(steps - 1, 1)
    shared = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = tables / shared[:, None, None]
        observed = (share * close).sum(axis=(1, 2))
        chance = np.einsum("pi,ij,pj->p", share.sum(axis=2), close, share.sum(axis=1))
        return np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan), shared


def _cohen(answers: _Answers, level: str, weights: Floats) -> float:
    kappas, shared = _kappas(answers, level, weights)
    is_defined = ~np.isnan(kappas) & (shared > 0)
    return float(np.average(kappas[is_defined], weights=shared[is_defined])) if is_defined.any() else float("nan")


def _conger(answers: _Answers, level: str, weights: Floats) -> float:
    """Conger's kappa: chance from each worker's own habits (Gwet 2014, with missing answers)."""
    steps, close = len(answers.values), agreement_weights(answers.values, level)
    row_weight = weights[answers.unit]
    cell = np.bincount(answers.unit * steps + answers.value, minlength=answers.n_units * steps)
    table = cell.reshape(-1, steps).astype(np.float64)
    size = table.sum(axis=1)
    paired = size >= 2
    agree = (table * (table @ close - 1)).sum(axis=1)[paired] / (size * (size - 1))[paired]
    observed = float(np.average(agree, weights=weights[paired])) if weights[paired].any() else float("nan")
    votes = np.bincount(answers.worker * steps + answers.value, weights=row_weight, minlength=answers.n_workers * steps)
    votes = votes.reshape(-1, steps)
    votes = votes[votes.sum(axis=1) > 0]
    share = votes / votes.sum(axis=1, keepdims=True)
    mean, raters = share.mean(axis=0), len(share)
    if raters < 2:
        return float("nan")
    spread = np.cov(share, rowvar=False).reshape(steps, steps)
    chance = float((close * (np.outer(mean, mean) - spread / raters)).sum())
    return (observed - chance) / (1 - chance) if chance < 1 - 1e-12 else float("nan")


@dataclass(frozen=True)
class _MeanSquares:
    """Of a table in which every worker judged every unit (Shrout and Fleiss 1979)."""

    units: float
    raters: float
    error: float
    within: float
    """Of answers within a unit, workers not told apart."""
    n: float
    k: int


def _mean_squares(answers: _Answers, weights: Floats, name: str) -> _MeanSquares | None:
    """None with fewer than two units."""
    units, raters = answers.n_units, answers.n_workers
    if len(answers.unit) != units * raters:
        raise AnalysisError(f"{name} needs every worker to have judged every unit; use icc, which does not.")
    matrix = np.zeros((units, raters))
    matrix[answers.unit, answers.worker] = answers.values[answers.value]
    total = float(weights.sum())
    if total < 2:
        return None
    unit_mean = matrix.mean(axis=1)
    grand = float(np.average(unit_mean, weights=weights))
    rater_mean = np.average(matrix, axis=0, weights=weights)
    ss_units = raters * float((weights * (unit_mean - grand) ** 2).sum())
    ss_raters = total * float(((rater_mean - grand) ** 2).sum())
    ss_within = float((weights[:, None] * (matrix - grand) ** 2).sum()) - ss_units
    return _MeanSquares(
        ss_units / (total - 1),
        ss_raters / (raters - 1),
        (ss_within - ss_raters) / ((total - 1) * (raters - 1)),
        ss_within / (total * (raters - 1)),
        total,
        raters,
    )


def _icc(name: str, ratio: Callable[[_MeanSquares], tuple[float, float]]) -> Callable[[_Answers, str, Floats], float]:
    """A form of the intraclass correlation from its numerator and denominator."""

    def value(answers: _Answers, level: str, weights: Floats) -> float:
        squares = _mean_squares(answers, weights, name)
        if squares is None:
            return float("nan")
        above, below = ratio(squares)
        return above / below if below > 0 else float("nan")

    return value


_ICC: dict[str, Callable[[_MeanSquares], tuple[float, float]]] = {
    "icc1": lambda m: (m.units - m.within, m.units + (m.k - 1) * m.within),
    "icc1k": lambda m: (m.units - m.within, m.units),
    "icc2": lambda m: (m.units - m.error, m.units + (m.k - 1) * m.error + m.k * (m.raters - m.error) / m.n),
    "icc2k": lambda m: (m.units - m.error, m.units + (m.raters - m.error) / m.n),
    "icc3": lambda m: (m.units - m.error, m.units + (m.k - 1) * m.error),
    "icc3k": lambda m: (m.units - m.error, m.units),
}
"""ICC(1,1), (1,k), (2,1), (2,k), (3,1), (3,k): one-way, two-way random, two-way mixed; of one answer or of the mean."""


RATER_COEFFICIENTS: dict[str, Callable[[_Answers, str, Floats], float]] = {
    "cohen": _cohen,
    "conger": _conger,
    **{name: _icc(name, ratio) for name, ratio in _ICC.items()},
}


def of_raters(rows: pd.DataFrame, start: AgreementResult, counts: Counts, watch: Watch = unwatched) -> AgreementResult:
    """A coefficient that needs to know who answered; its interval by resampling units or what they belong to."""
    if start.per or start.cluster == "worker_id":
        raise AnalysisError(f"{start.coefficient} is there pooled, resampling units, documents or systems.")
    answers, function = _answers(rows, counts), RATER_COEFFICIENTS[start.coefficient]
    value = function(answers, start.level, np.ones(answers.n_units))
    low, high, notes = float("nan"), float("nan"), start.notes
    if start.resamples:
        if start.cluster == "unit":
            cluster_of, size = np.arange(answers.n_units), answers.n_units
        else:
            cluster_of, size = unit_codes(rows, [str(start.cluster)], counts)
        rng = np.random.default_rng(start.seed)
        draws = (rng.multinomial(size, np.full(size, 1 / size)) for _ in watch(range(start.resamples), start.resamples))
        samples = [function(answers, start.level, draw[cluster_of].astype(np.float64)) for draw in draws]
        low, high = interval(np.array(samples))
        notes += lost_note(np.array(samples))
    paired = int((counts.table.sum(axis=1) >= 2).sum())
    cluster = start.cluster if start.resamples else None
    undefined = int(np.isnan(value))
    return replace(
        start, value=value, n_units=paired, n_undefined=undefined, low=low, high=high, cluster=cluster, notes=notes
    )


def _distance(counts: Counts, level: str) -> Floats:
    """The difference function of alpha as a table; ordinal ranks come from all answers."""
    if level == "nominal":
        return 1 - np.eye(len(counts.values))
    if level == "ratio":
        return ratio_distance(counts.values)
    marginal = counts.table.sum(axis=0)
    scale = np.cumsum(marginal) - marginal / 2 if level == "ordinal" else counts.values
    return np.asarray((scale[:, None] - scale[None, :]) ** 2, dtype=np.float64)


def of_workers(judgments: pd.DataFrame, start: AgreementResult) -> list[AgreementResult]:
    """Each worker against the others who judged the same units (leave-one-out).

    alpha: 1 - D_o / D_e, where D_o is the mean difference between the worker's answer and the others' answers to
    the same unit, and D_e what it would be if the worker's answers and theirs were paired at random; raw: 1 - D_o.
    """
    if start.coefficient not in ("alpha", "raw") or start.per:
        raise AnalysisError("By worker_id there are alpha and raw, without --per.")
    counts = count(judgments)
    distance = _distance(counts, start.level)
    size = counts.table.sum(axis=1)
    worker, names = pd.factorize(judgments["worker_id"], sort=True)
    other_answers = counts.table[counts.unit_of]
    other_answers[np.arange(len(other_answers)), counts.value_of] -= 1
    paired = size[counts.unit_of] >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        other_answers /= (size[counts.unit_of] - 1)[:, None]
    observed = (other_answers * distance[counts.value_of]).sum(axis=1)
    rng = np.random.default_rng(start.seed)
    results = []
    for code, name in enumerate(names):
        rows = np.flatnonzero((worker == code) & paired)
        blank = replace(start, group=str(name), n_units=len(rows), n_judgments=int((worker == code).sum()))
        results.append(_of_worker(blank, observed[rows], counts.value_of[rows], other_answers[rows], distance, rng))
    return results


def _of_worker(
    start: AgreementResult,
    observed: Floats,
    codes: Ints,
    other_answers: Floats,
    distance: Floats,
    rng: np.random.Generator,
) -> AgreementResult:
    if not len(observed):
        note = f"{start.group} judged no unit that anybody else judged."
        return replace(start, n_undefined=1, notes=(note,))
    answers = np.eye(len(distance))[codes]

    def value(weights: Floats) -> Floats:
        total = weights.sum(axis=1)
        disagreement = weights @ observed / total
        if start.coefficient == "raw":
            return np.asarray(1 - disagreement / distance.max() if distance.size > 1 else 1 - disagreement)
        chance = np.einsum("ri,ij,rj->r", weights @ answers, distance, weights @ other_answers) / total**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(chance > 0, 1 - disagreement / chance, np.nan)

    point = float(value(np.ones((1, len(observed))))[0])
    low = high = float("nan")
    if start.resamples:
        size = len(observed)
        draws = rng.multinomial(size, np.full(size, 1 / size), size=start.resamples)
        low, high = interval(value(draws.astype(np.float64)))
    cluster = "unit" if start.resamples else None
    return replace(
        start, value=point, n_undefined=int(np.isnan(point)), low=low, high=high, cluster=cluster, n_workers=1
    )


def resampled_workers(
    rows: pd.DataFrame, start: AgreementResult, kernel: Kernel, counts: Counts, watch: Watch = unwatched
) -> Floats:
    """Alpha of resampled workers. A worker drawn twice does not count as agreeing with itself.

    With w_i how often worker i was drawn, m_u the drawn answers of unit u and q_u = m_u^2 - sum w_i^2 the pairs of
    different workers, a unit contributes m_u times its mean difference over those pairs.
    """
    if kernel is not alpha:
        raise AnalysisError("Workers can be resampled for alpha only; choose another --cluster.")
    answers = _answers(rows, counts)
    steps, size = len(counts.values), answers.n_workers
    rng = np.random.default_rng(start.seed)
    samples = []
    for _ in watch(range(start.resamples), start.resamples):
        draw = rng.multinomial(size, np.full(size, 1 / size)).astype(np.float64)
        weight = draw[answers.worker]
        cell = np.bincount(answers.unit * steps + answers.value, weights=weight, minlength=counts.table.size)
        self_pairs = np.bincount(answers.unit, weights=weight**2, minlength=answers.n_units)
        table = np.asarray(cell.reshape(-1, steps), dtype=np.float64)
        samples.append(_weighted_alpha(table, self_pairs.astype(np.float64), counts.values, start.level))
    return np.array(samples)


def _weighted_alpha(table: Floats, self_pairs: Floats, values: Floats, level: str) -> float:
    size = table.sum(axis=1)
    pairs = size**2 - self_pairs
    table, size, pairs = table[pairs > 0], size[pairs > 0], pairs[pairs > 0]
    marginal = table.sum(axis=0)
    distance = _distance(Counts(values, table, *[np.zeros(0, dtype=np.int64)] * 3), level)
    expected = float(marginal @ distance @ marginal)
    total = float(marginal.sum())
    if expected <= 0 or total <= 1:
        return float("nan")
    observed = float((size * ((table @ distance) * table).sum(axis=1) / pairs).sum())
    return 1 - (total - 1) * observed / expected
