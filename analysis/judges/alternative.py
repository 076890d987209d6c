"""The alternative annotator test: may a judge stand in for one of the people (Calderon, Reichart and Dror 2025)?

Each person in turn is left out. On every item the person and the judge are held against the others who judged it; the
judge has the advantage where it is at least as close to them. It wins over the person if the person's advantage beyond
the judge's is below ε (one-sided t-test, Benjamini and Yekutieli's correction). ω is the share of people it wins over,
ρ its mean share of advantages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.bootstrap import percentile_limits
from analysis.compare.adjust import adjust

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SCORES = ("rmse", "accuracy")
EPSILONS = (0.1, 0.15, 0.2)
"""The authors' advice for answers of crowd workers, trained people and experts."""
FEW_ITEMS = 30
"""A person with fewer items is not tested against."""
FALSE_DISCOVERIES = 0.05


@dataclass(frozen=True)
class Rival:
    """One person that the judge was tested against."""

    person: str
    n_items: int
    advantage: float
    """Share of items on which the judge is at least as close to the others as this person."""
    p_value: float


@dataclass(frozen=True)
class AlternativeTest:
    """What the test says of one judge; NaN where nobody could be tested against."""

    omega: float
    rho: float
    rho_low: float
    rho_high: float
    epsilon: float
    n_items: int
    """Items that the judge and two or more people answered."""
    rivals: tuple[Rival, ...]


@dataclass(frozen=True)
class _Duel:
    """The judge against one person, item by item."""

    person: str
    items: Ints
    judge_wins: Floats
    person_wins: Floats


def alternative_test(
    judge: Floats,
    people: Floats,
    names: list[str],
    documents: Ints,
    *,
    score: str = "rmse",
    epsilon: float = 0.2,
    resamples: int = 1000,
    seed: int = 0,
) -> AlternativeTest:
    """The test of a judge's answers to items against people × items (NaN: not judged); `documents` is each item's."""
    several = (np.isfinite(people).sum(axis=0) >= 2) & np.isfinite(judge)
    duels = [_duel(judge, people, place, name, several, score) for place, name in enumerate(names)]
    duels = [duel for duel in duels if len(duel.items) >= FEW_ITEMS]
    rivals = tuple(_rival(duel, epsilon) for duel in duels)
    if not rivals:
        nan = float("nan")
        return AlternativeTest(nan, nan, nan, nan, epsilon, int(several.sum()), ())
    adjusted = adjust([rival.p_value for rival in rivals], "by")
    low, high = _rho_limits(duels, documents, resamples, seed)
    return AlternativeTest(
        float((adjusted <= FALSE_DISCOVERIES).mean()),
        float(np.mean([rival.advantage for rival in rivals])),
        low,
        high,
        epsilon,
        int(several.sum()),
        rivals,
    )


def _duel(judge: Floats, people: Floats, place: int, name: str, several: npt.NDArray[np.bool_], score: str) -> _Duel:
    items = np.flatnonzero(several & np.isfinite(people[place]))
    others = np.delete(people, place, axis=0)[:, items]
    judge_off, person_off = (_distance(answers[items], others, score) for answers in (judge, people[place]))
    return _Duel(name, items, (judge_off <= person_off).astype(float), (person_off <= judge_off).astype(float))


def _distance(answers: Floats, others: Floats, score: str) -> Floats:
    """How far answers lie from the others': mean square difference, or the share that answered otherwise."""
    differences = np.where(np.isfinite(others), others - answers, 0.0)
    misses = differences**2 if score == "rmse" else (differences != 0).astype(float)
    return np.asarray(misses.sum(axis=0) / np.maximum(np.isfinite(others).sum(axis=0), 1))


def _rival(duel: _Duel, epsilon: float) -> Rival:
    lead = duel.person_wins - duel.judge_wins
    if np.ptp(lead) == 0:  # a t-test of equal numbers has no spread to go by
        p_value = 0.0 if lead[0] < epsilon else 1.0
    else:
        p_value = float(stats.ttest_1samp(lead, epsilon, alternative="less").pvalue)
    return Rival(duel.person, len(duel.items), float(duel.judge_wins.mean()), p_value)


def _rho_limits(duels: list[_Duel], documents: Ints, resamples: int, seed: int) -> tuple[float, float]:
    """ρ's interval: documents are redrawn, as the items of one belong together."""
    _, codes = np.unique(documents, return_inverse=True)
    size = int(codes.max()) + 1
    if not resamples or size < 2:
        return float("nan"), float("nan")
    weights = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=resamples)
    shares = np.zeros(resamples)
    with np.errstate(invalid="ignore"):
        for duel in duels:
            wins = np.bincount(codes[duel.items], weights=duel.judge_wins, minlength=size)
            shares += (weights @ wins) / (weights @ np.bincount(codes[duel.items], minlength=size))
    return percentile_limits(shares / len(duels), n=size)
