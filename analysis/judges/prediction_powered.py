"""Human scores with a model's help that stay valid when the model is wrong (PPI++, Angelopoulos et al. 2023).

Of every system people judged some documents, a model judged more. The mean of the people's scores is corrected by how
the model's mean differs between the documents that people judged and the others, as far (λ) as model and people go
together:  θ = mean(y) − λ (mean of f where people judged − mean of f elsewhere).  With λ = 0 it is the people's mean.
It is valid if chance decided which documents people judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from analysis.aggregate import aggregate
from analysis.compare.adjust import Pair, adjust, beaten, clusters, letters
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PoweredMean:
    """A system's mean by people with a model's help, beside that of people alone."""

    system: str
    value: float
    low: float
    high: float
    people_value: float
    people_low: float
    people_high: float
    tuning: float
    """λ: 0 where the model is of no use, towards 1 where it says what people say."""
    n_people: int
    """Documents that people judged."""
    n_model: int
    """Documents that the model alone judged."""
    cluster: int = 0
    letters: str = ""


@dataclass(frozen=True)
class PoweredSystems:
    """All systems, best first, and all pairs."""

    systems: tuple[PoweredMean, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Estimate:
    """A mean, and what each document adds to its error."""

    value: float
    tuning: float
    influence: Floats
    n_people: int
    n_model: int

    @property
    def error(self) -> float:
        return float(np.sqrt((self.influence**2).sum()))

    def limits(self, confidence: float) -> tuple[float, float]:
        if self.n_people < 2:
            return float("nan"), float("nan")
        reach = float(stats.t.ppf((1 + confidence) / 2, self.n_people - 1)) * self.error
        return self.value - reach, self.value + reach


def powered_measures(
    people: pd.DataFrame, models: pd.DataFrame, ties: str = "not-present"
) -> dict[str, PoweredSystems]:
    """By measure, the systems from the judgments of people and of models; several models' answers are averaged."""
    human = aggregate(people, ties=ties)
    predicted = _predicted(without_checks(models), set(human["metric"]))
    results = {}
    for measure, scores in human.groupby("metric", sort=True):
        wide = scores.pivot(index="system", columns="doc_id", values="value")
        guesses = predicted[predicted["metric"] == measure]
        table = guesses.pivot(index="system", columns="doc_id", values="value").reindex(wide.index)
        documents = wide.columns.union(table.columns)
        results[str(measure)] = powered_systems(
            [str(name) for name in wide.index],
            wide.reindex(columns=documents).to_numpy(dtype=np.float64),
            table.reindex(columns=documents).to_numpy(dtype=np.float64),
        )
    return results


def _predicted(models: pd.DataFrame, measures: set[str]) -> pd.DataFrame:
    """The models' mean of each summary: of a dimension by its name, of all other units as recall."""
    metric = models["unit"].where(models["unit"].isin(measures), "litepyramid_recall")
    cells = models.assign(metric=metric).groupby(["doc_id", "system", "metric", "unit"])["value"].mean()
    return cells.groupby(["doc_id", "system", "metric"]).mean().reset_index()


def powered_mean(people: Floats, model: Floats, *, tuning: float | None = None) -> Estimate:
    """The mean over documents (NaN: not judged); without `tuning`, λ is the one that makes the error smallest.

    >>> people = np.array([3.0, 4.0, 2.0, 5.0, np.nan, np.nan, np.nan])
    >>> model = np.array([3.5, 4.0, 2.5, 4.5, 2.0, 3.0, 2.5])
    >>> estimate = powered_mean(people, model)
    >>> round(estimate.value, 3), round(estimate.tuning, 3)
    (3.016, 0.43)
    """
    by_people, by_model = np.isfinite(people), np.isfinite(model)
    both, alone = by_people & by_model, by_model & ~by_people
    if tuning is None:
        tuning = _tuning(people, model, both, alone, int(by_people.sum()))
    n, extra = int(by_people.sum()), int(alone.sum())
    influence = np.zeros(len(people))
    value = float(people[by_people].mean())
    influence[by_people] = (people[by_people] - value) / n
    if tuning:
        here, elsewhere = float(model[both].mean()), float(model[alone].mean())
        value -= tuning * (here - elsewhere)
        influence[both] -= tuning * (model[both] - here) / both.sum()
        influence[alone] = tuning * (model[alone] - elsewhere) / extra
    influence[by_people] *= _small_sample(n)
    influence[alone] *= _small_sample(extra)
    return Estimate(value, tuning, influence, n, extra)


def _tuning(
    people: Floats, model: Floats, both: npt.NDArray[np.bool_], alone: npt.NDArray[np.bool_], n_people: int
) -> float:
    """λ = cov(y, f) / ((1 + n/N) var(f)), cut to 0…1; 0 where nothing can be learned from the model."""
    n, extra = int(both.sum()), int(alone.sum())
    if n < 2 or extra < 2:
        return 0.0
    y, f = people[both], model[both]
    covariance = float(((y - y.mean()) * (f - f.mean())).mean()) * n / n_people
    variance = float(np.var(np.concatenate([f, model[alone]]), ddof=1))
    return float(np.clip(covariance / ((1 + n / extra) * variance), 0, 1)) if variance > 0 else 0.0


def _small_sample(n: int) -> float:
    return float(np.sqrt(n / (n - 1))) if n > 1 else 1.0


def powered_systems(systems: list[str], people: Floats, model: Floats, *, confidence: float = 0.95) -> PoweredSystems:
    """Means, differences and ranking from systems × documents; the errors of one document belong together."""
    without = [name for name, scores in zip(systems, people, strict=True) if not np.isfinite(scores).any()]
    if without:
        names = ", ".join(without)
        raise AnalysisError(
            f"No person judged {names}: without any human judgment a model's scores can't be corrected."
        )
    estimates = [powered_mean(y, f) for y, f in zip(people, model, strict=True)]
    order = sorted(range(len(systems)), key=lambda place: -estimates[place].value)
    couples = list(combinations(order, 2))
    pairs = [_pair(systems, estimates, a, b, confidence) for a, b in couples]
    adjusted = adjust([pair.p for pair in pairs], "holm")
    beats = beaten(couples, adjusted, len(systems), 1 - confidence)
    cluster, letter = clusters(order, beats), letters(order, beats)
    means = [
        _mean(systems[place], people[place], estimates[place], confidence, cluster[place], letter[place])
        for place in order
    ]
    named = [replace(pair, p_adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True)]
    return PoweredSystems(tuple(means), tuple(named))


def _mean(system: str, people: Floats, estimate: Estimate, confidence: float, cluster: int, letter: str) -> PoweredMean:
    alone = powered_mean(people, np.full(len(people), np.nan))
    return PoweredMean(
        system,
        estimate.value,
        *estimate.limits(confidence),
        alone.value,
        *alone.limits(confidence),
        estimate.tuning,
        estimate.n_people,
        estimate.n_model,
        cluster,
        letter,
    )


def _pair(systems: list[str], estimates: list[Estimate], a: int, b: int, confidence: float) -> Pair:
    first, second = estimates[a], estimates[b]
    difference = first.value - second.value
    error = float(np.sqrt(((first.influence - second.influence) ** 2).sum()))
    freedom = min(first.n_people, second.n_people) - 1
    if freedom < 1:
        return Pair(systems[a], systems[b], difference, *[float("nan")] * 4)
    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(difference) / error, freedom)) if error else float(difference == 0)
    return Pair(systems[a], systems[b], difference, difference - reach, difference + reach, p, float("nan"))
