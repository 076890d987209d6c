"""Is one metric really better than another? All pairs at once, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from analysis import make_callable
from analysis.compare.adjust import CORRECTIONS, adjust, clusters, optimal
from analysis.compare.pairs import (
    Outcome,
    Plan,
    flip_metrics,
    negative_metrics,
    run_tests,
    system_vectors,
    williams_at_once,
)
from analysis.compare.permutation import SLACK
from analysis.compare.williams import ALTERNATIVES
from analysis.correlate import TooFewSystems
from analysis.correlate.coefficients import COEFFICIENTS, UnknownName
from analysis.correlate.resample import LEVELS, SCHEMES
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.sentence import Sentence
from analysis.tables import AnalysisError

MOST_RESAMPLES = 20_000
MOST_DRAWS = 100_000
"""Pairs that the first draws leave open are drawn again, four times as often, up to this."""
SURE = 2.58
"""Standard errors of a drawn p within which it may lie (99 %)."""
ADAPTIVE = ("perm-systems", "perm-inputs", "bootstrap")
TESTS = ("perm-systems", "williams", "perm-inputs", "perm-both", "perm-both-xor", "bootstrap")

POPULATION = {
    "perm-systems": Sentence(
        "PERM-SYSTEMS swaps the metrics' scores system by system: its null says that either metric could have "
        "scored any of the systems, so it speaks of other systems of this kind on these same documents."
    ),
    "perm-inputs": Sentence(
        "PERM-INPUTS swaps the metrics' scores document by document: it speaks of other documents for these "
        "very systems, and says nothing about other systems."
    ),
    "perm-both": Sentence(
        "PERM-BOTH swaps single cells: its null is that the metrics are interchangeable on every summary; when a "
        "metric favours some systems it calls too many differences significant."
    ),
    "perm-both-xor": Sentence(
        "PERM-BOTH (xor) swaps whole systems and whole documents at once: its null is that the metrics are "
        "interchangeable in systems and in documents."
    ),
    "williams": Sentence(
        "Williams' test takes the systems as a sample from a normal population: it speaks of other systems of "
        "this kind on these same documents."
    ),
}


@dataclass(frozen=True)
class PairTest:
    """The test of the hypothesis that `better` correlates more than `worse`."""

    better: str
    worse: str
    difference: float
    """Correlation of `better` minus that of `worse`; negative when it isn't better."""
    statistic: float
    """Williams' t; for the other tests the difference that p refers to (of standardised scores when swapped)."""
    p: float
    """NaN when undefined. With the one-sided alternative above .5 for a metric that isn't better."""
    p_adjusted: float
    n: int
    """Systems that human, better and worse all have."""


@dataclass(frozen=True)
class Standing:
    """Where one metric stands among all."""

    metric: str
    value: float
    optimal: bool
    """No other metric is significantly better."""
    cluster: int
    """Metrics of one cluster can't all be told apart; 1 is the best."""
    beaten_by: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """All ordered pairs, and what they amount to."""

    pairs: tuple[PairTest, ...]
    standings: tuple[Standing, ...]
    test: str
    level: str
    coefficient: str
    alternative: str
    correction: str
    resamples: int
    """0 for tests that need none; the number of swaps when all were enumerated."""
    exact: bool
    seed: int
    alpha: float
    population: Sentence
    flipped: tuple[str, ...]
    """Metrics with a negative correlation whose sign was turned as a whole."""
    unsettled: tuple[tuple[str, str], ...] = ()
    """Pairs whose p lies so close to the level that other draws could decide otherwise: not significant."""

    @property
    def least_p(self) -> float:
        """The least adjusted p that these swaps or draws can give; 0 for tests without."""
        tests = sum(pair.p == pair.p for pair in self.pairs) // (2 if self.alternative == "two-sided" else 1)
        if not self.resamples or not tests:
            return 0.0
        smallest_p = 1 / (self.resamples if self.exact else self.resamples + 1)
        return min(1.0, smallest_p * tests) if self.correction in ("holm", "bonferroni") else smallest_p

    def left_to_chance(self) -> str:
        """A sentence when the draws, not the data, would decide some pairs; otherwise nothing."""
        if not self.unsettled:
            return ""
        if len(self.unsettled) == 1:
            return Sentence(
                "One of the comparisons lies so close to the level that other random draws could decide otherwise; it "
                "counts as not significant."
            )
        return Sentence(
            "%(n)s of the comparisons lie so close to the level that other random draws could decide otherwise; they "
            "count as not significant.",
            {"n": len(self.unsettled)},
        )

    def too_coarse(self) -> str:
        """A sentence when no difference could have been found significant, however large; otherwise nothing."""
        if self.least_p < self.alpha:
            return ""
        draws = Sentence("%(n)s draws were made", {"n": self.resamples})
        return Sentence(
            "No difference between metrics can be significant here: %(how)s, so no p falls below %(p)s after the "
            "correction. Take Williams' test, fewer metrics, or more systems.",
            {
                "how": Sentence("only %(n)s swaps exist", {"n": self.resamples}) if self.exact else draws,
                "p": f"{self.least_p:.2g}",
            },
        )


def compare(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    test: str = "perm-systems",
    level: str = "system",
    coefficient: str = "pearson",
    alternative: str = "greater",
    correction: str = "holm",
    resamples: int | None = None,
    resample: str = "systems",
    seed: int = 0,
    score: str = "mean",
    undefined: str = "drop",
    alpha: float = 0.05,
    flip: bool = False,
    jobs: int = 1,
    progress: Callable[[Iterator[Outcome], int], Iterator[Outcome]] | None = None,
) -> Comparison:
    """Test every ordered pair of metrics. `flip` turns metrics that correlate negatively, as wholes.

    Without `resamples`, as many are drawn as a significant result needs under the correction (at most 20,000), and more
    for pairs that these leave open (at most 100,000).
    `jobs` processes share the pairs; the numbers are the same for any number of them.

    >>> import pandas as pd
    >>> means = {"human": [1, 2, 3, 4, 5, 6], "good": [1, 2, 4, 5, 5, 7], "poor": [3, 1, 2, 2, 1, 3]}
    >>> rows = [("d1", f"s{s}", metric, value) for metric, values in means.items() for s, value in enumerate(values)]
    >>> scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> comparison = compare(scores, human="human", test="williams")
    >>> [(pair.better, pair.worse, round(pair.difference, 3)) for pair in comparison.pairs]
    [('good', 'poor', 0.976), ('poor', 'good', -0.976)]
    """
    plan = Plan(test, level, coefficient, alternative, resamples or 0, resample, seed, score, undefined)
    _check(plan, correction)
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    cube.index(human)
    names = cube.beside(human) if metrics is None else list(dict.fromkeys(metrics))
    for name in names:
        cube.index(name)
    if len(names) < 2:
        raise AnalysisError(f"A comparison needs at least two metrics, and there is {len(names)}.")
    if len(cube.systems) < 3:
        raise TooFewSystems(
            f"The scores hold {len(cube.systems)} systems; metrics can be compared on 3 systems or more."
        )
    if resamples is None:
        plan = replace(plan, resamples=enough_resamples(len(names), alternative, correction, alpha))
    flipped = tuple(negative_metrics(cube, human, names, plan)) if flip else ()
    cube = flip_metrics(cube, flipped)
    if test == "williams" and level == "system" and not np.isnan(system_vectors(cube, human, names, score)).any():
        outcomes = williams_at_once(cube, human, names, plan)
    else:
        pairs = list(combinations(names, 2))
        results = run_tests(cube, human, pairs, plan, jobs)
        outcomes = dict(zip(pairs, progress(results, len(pairs)) if progress else results, strict=True))
    while resamples is None and test in ADAPTIVE and plan.resamples < MOST_DRAWS:
        open_pairs = _unsettled(outcomes, plan, correction, alpha)
        pairs = [pair for pair in outcomes if pair in open_pairs or pair[::-1] in open_pairs]
        if not pairs:
            break
        plan = replace(plan, resamples=min(4 * plan.resamples, MOST_DRAWS))
        outcomes |= dict(zip(pairs, run_tests(cube, human, pairs, plan, jobs), strict=True))
    unsettled = _unsettled(outcomes, plan, correction, alpha)
    ordered = _adjusted(_ordered(outcomes, plan.alternative), correction, plan.alternative)
    most_swaps = max(outcomes.values(), key=lambda outcome: outcome.swaps)
    return Comparison(
        tuple(ordered),
        tuple(_standings(names, outcomes, [pair for pair in ordered if not _is_in(pair, unsettled)], alpha)),
        test,
        level,
        coefficient,
        alternative,
        correction,
        most_swaps.swaps,
        most_swaps.exact,
        seed,
        alpha,
        _population(test, resample),
        flipped,
        tuple(unsettled),
    )


def _is_in(test: PairTest, pairs: Sequence[tuple[str, str]]) -> bool:
    return (test.better, test.worse) in pairs


def _unsettled(
    outcomes: dict[tuple[str, str], Outcome], plan: Plan, correction: str, alpha: float
) -> list[tuple[str, str]]:
    """Ordered pairs whose verdict could change with the draws: p a few standard errors up or down decides."""
    tests = _ordered(outcomes, plan.alternative)
    draws = [_draws_of(outcomes, test) for test in tests]
    if not any(draws):
        return []
    bounds = []
    for side in (-SURE, SURE):
        moved = [replace(test, p=_moved(test.p, n, side)) for test, n in zip(tests, draws, strict=True)]
        bounds.append([test.p_adjusted < alpha for test in _adjusted(moved, correction, plan.alternative)])
    pairs = zip(tests, *bounds, strict=True)
    return [(test.better, test.worse) for test, low, high in pairs if low != high and test.difference > SLACK]


def _draws_of(outcomes: dict[tuple[str, str], Outcome], test: PairTest) -> int:
    """How many random draws a pair's p comes from; 0 when it comes from none, or from all swaps there are."""
    outcome = outcomes.get((test.better, test.worse)) or outcomes[test.worse, test.better]
    return 0 if outcome.exact else outcome.swaps


def _moved(p: float, draws: int, errors: float) -> float:
    """p so many standard errors up or down: Wilson's interval for the share of draws beyond the observed difference."""
    if not draws or math.isnan(p):
        return p
    share, square = max(0.0, (p * (draws + 1) - 1) / draws), errors * errors / draws
    reach = errors * math.sqrt(share * (1 - share) / draws + square / draws / 4)
    return min(1.0, max(0.0, (share + square / 2 + reach) / (1 + square)))


def _population(test: str, resample: str) -> Sentence:
    if test != "bootstrap":
        return POPULATION[test]
    return Sentence(
        "The paired bootstrap redraws %(resample)s: it speaks of other %(resample)s of this kind; with few of them it "
        "is only approximate.",
        {"resample": "documents" if resample == "inputs" else resample},
    )


def enough_resamples(metrics: int, alternative: str, correction: str, alpha: float) -> int:
    """Draws with which the least p, 1 / (draws + 1), can be significant after the correction, twice over."""
    tests = metrics * (metrics - 1) // (2 if alternative == "two-sided" else 1)
    n_resamples = math.ceil(2 * tests / alpha / 1000) * 1000 if correction != "none" else 1000
    return min(max(1000, n_resamples), MOST_RESAMPLES)


def _check(plan: Plan, correction: str) -> None:
    for option, name, choices in (
        ("test", plan.test, TESTS),
        ("level", plan.level, LEVELS),
        ("coefficient", plan.coefficient, tuple(COEFFICIENTS)),
        ("alternative", plan.alternative, ALTERNATIVES),
        ("correction", correction, CORRECTIONS),
        ("way of resampling", plan.resample, SCHEMES),
    ):
        if name not in choices:
            raise UnknownName(option, name, choices)


def _ordered(outcomes: dict[tuple[str, str], Outcome], alternative: str) -> list[PairTest]:
    """Both orders of every pair; the hypothesis is always about the one called better."""
    turned = {"greater": "less", "less": "greater", "two-sided": "two-sided"}
    tests = []
    for (first, second), outcome in outcomes.items():
        gap = outcome.first - outcome.second
        tests.append(PairTest(first, second, gap, outcome.statistic, outcome.p[alternative], math.nan, outcome.n))
        reverse_p = outcome.p[turned[alternative]]
        tests.append(PairTest(second, first, -gap, -outcome.statistic, reverse_p, math.nan, outcome.n))
    return sorted(tests, key=lambda test: (test.better, test.worse))


def _adjusted(tests: list[PairTest], correction: str, alternative: str) -> list[PairTest]:
    """Both orders of a pair count as two hypotheses when one-sided, as one when two-sided."""
    if alternative != "two-sided":
        adjusted = adjust([test.p for test in tests], correction)
        return [replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)]
    one_order = [test for test in tests if test.better < test.worse]
    by_pair = {
        frozenset((test.better, test.worse)): float(p)
        for test, p in zip(one_order, adjust([test.p for test in one_order], correction), strict=True)
    }
    return [replace(test, p_adjusted=by_pair[frozenset((test.better, test.worse))]) for test in tests]


def _standings(
    metrics: Sequence[str], outcomes: dict[tuple[str, str], Outcome], tests: list[PairTest], alpha: float
) -> list[Standing]:
    values: dict[str, float] = {}
    for (first, second), outcome in outcomes.items():
        values.setdefault(first, outcome.first)
        values.setdefault(second, outcome.second)
    place = {name: i for i, name in enumerate(metrics)}
    beats = np.zeros((len(metrics), len(metrics)), dtype=bool)
    for test in tests:
        won = test.p_adjusted < alpha and test.difference > SLACK
        beats[place[test.better], place[test.worse]] = won
    order = sorted(
        range(len(metrics)), key=lambda i: -values[metrics[i]] if values[metrics[i]] == values[metrics[i]] else 9
    )
    best, cluster = optimal(beats), clusters(order, beats)
    return [
        Standing(
            metrics[i],
            values[metrics[i]],
            bool(best[i]) and math.isfinite(values[metrics[i]]),
            cluster[i],
            tuple(metrics[j] for j in np.flatnonzero(beats[:, i]).tolist()),
        )
        for i in order
    ]


make_callable(__name__, compare)
