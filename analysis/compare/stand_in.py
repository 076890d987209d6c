"""Can a metric stand in for people? Shown, refuted, or too little data: every metric is tested, none is picked first.

The claim is about the correlation of the systems' true means, over systems of this kind: had every system been judged
on endless documents. Stand in means at least .8, with either sign.

shown     the interval of the metric, simultaneous over all metrics, lies beyond .8: over all systems, within their
          groups taken together, and in every group by itself
refuted   that interval lies inside ±.8; "none can" needs only every metric's own interval there, for a study says it
          wrongly only if it is wrong about the one metric that can
open      everything else

Either must hold, at 80 %, whichever one system is left out: the limits are exact for normal scores only, and one system
far from the others can make or hide a correlation. Both limits are corrected for the noise of the documents: what it
hides is given back, what noise common to both sides makes up is taken out. docs/statistics/verdicts.md has the
simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analysis.compare.pairs import flip_metrics
from analysis.correlate import FEW_SYSTEMS, system_value
from analysis.correlate.coefficients import Floats
from analysis.correlate.exact import exact_limits
from analysis.correlate.noise import QUIET, Noise, noise_of
from analysis.correlate.score_cube import ScoreCube

Ints = npt.NDArray[np.intp]
THRESHOLD = 0.8
ALPHA = 0.05
SHOWN, REFUTED, OPEN = "shown", "refuted", "too little data"
LEAST_IN_GROUP = 4
"""Smaller groups count among all groups together, and aren't judged by themselves."""
LOOSER = 4
"""Without a system the tails are so much wider: 80 % instead of 95. Normal scores lose hardly any answer by it, and
skewed or heavy-tailed ones are wrong in 3 % instead of 7 % of studies with a true r of .75."""


@dataclass(frozen=True)
class GroupVerdict:
    """One metric within one group of systems, simultaneous over all metrics; NaN and ±1 where nothing can be told."""

    group: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class StandIn:
    """One metric's answer. A metric that runs the other way is turned: `value` and its limits are those of −metric."""

    metric: str
    answer: str
    value: float
    low: float
    high: float
    """Simultaneous over all metrics, for the correlation of the true means."""
    own_low: float
    own_high: float
    """The same for this metric alone."""
    n: int
    turned: bool
    noise: Noise
    hangs_on: str
    """The system without which the answer would be another one; empty if there is none."""
    ruled_out: bool
    """Refuted by its own interval, whichever system is left out."""
    within: GroupVerdict | None
    """All groups together, every system less its group's mean; None without groups."""
    groups: tuple[GroupVerdict, ...]

    @property
    def only_overall(self) -> bool:
        """Beyond the threshold over all systems, but not within the groups."""
        return self.answer != SHOWN and self.low > THRESHOLD and not self.hangs_on

    @property
    def failed_groups(self) -> tuple[GroupVerdict, ...]:
        """Groups in which it is below the threshold for sure."""
        return tuple(group for group in self.groups if group.high < THRESHOLD)

    @property
    def open_groups(self) -> tuple[GroupVerdict, ...]:
        """Groups large enough to be judged by themselves in which it isn't shown."""
        return tuple(group for group in self.groups if group.n >= LEAST_IN_GROUP and not group.low > THRESHOLD)

    @property
    def small_groups(self) -> tuple[GroupVerdict, ...]:
        return tuple(group for group in self.groups if group.n < LEAST_IN_GROUP)

    @property
    def holds_within(self) -> bool:
        """Beyond the threshold within the groups together, and in each that can be judged by itself."""
        return self.within is None or (self.within.low > THRESHOLD and not self.open_groups)


@dataclass(frozen=True)
class StudyVerdict:
    """What the study says about all its metrics."""

    answer: str
    metrics: tuple[StandIn, ...]
    """Best first; metrics whose correlation is undefined are left out."""
    single_document: bool = False

    def with_answer(self, answer: str) -> tuple[StandIn, ...]:
        return tuple(result for result in self.metrics if result.answer == answer)


def true_limits(r: Floats, n: int, tail: float, noise: Noise) -> tuple[Floats, Floats]:
    """Limits of the true means' correlation: what noise makes up is taken out, what it hides is given back."""
    limits = exact_limits(r, n, tail)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = ((limit - noise.shared) / noise.reach for limit in limits)
    is_known = noise.reach > 0  # nothing but noise: every correlation of the true means is possible
    return np.where(is_known, np.clip(low, -1, 1), -1.0), np.where(is_known, np.clip(high, -1, 1), 1.0)


def without_each(a: Floats, b: Floats) -> Floats:
    """Pearson's r without each system in turn, along a new last axis."""
    a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    k = a.shape[-1] / (a.shape[-1] - 1)  # leaving one out moves the mean as well
    ab, aa, bb = ((x * z).sum(axis=-1, keepdims=True) - k * x * z for x, z in ((a, b), (a, a), (b, b)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.clip(np.nan_to_num(ab / np.sqrt(np.maximum(aa * bb, 0)), posinf=0, neginf=0), -1, 1))


def limits_without_each(a: Floats, b: Floats, tail: float, noise: Noise) -> tuple[Floats, Floats]:
    """The limits without each system in turn; a metric that then runs the other way has limits below zero."""
    r = without_each(a, b)
    noise = Noise(*(np.asarray(variance)[..., None] for variance in (noise.metric, noise.human, noise.shared)))
    low, high = true_limits(np.abs(r), a.shape[-1] - 1, LOOSER * tail, noise)
    return np.where(r < 0, -high, low), np.where(r < 0, -low, high)


def answers(low: Floats, high: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Where limits show that a metric can stand in, and where they refute it."""
    return (low > THRESHOLD) | (high < -THRESHOLD), (low > -THRESHOLD) & (high < THRESHOLD)


def study_answer(shown: np.ndarray, own_refuted: np.ndarray) -> np.ndarray:
    """The answer of a study from its metrics along the last axis."""
    all_refuted = own_refuted.all(axis=-1) & (own_refuted.shape[-1] > 0)
    return np.where(shown.any(axis=-1), SHOWN, np.where(all_refuted, REFUTED, OPEN))


def judge_metrics(cube: ScoreCube, human: str, metrics: Sequence[str]) -> StudyVerdict:
    """The answer for every metric, and for the study."""
    cube = cube.scaled()
    defined = [name for name in metrics if _is_defined(cube, human, name)]
    single = len(cube.documents) == 1 and not cube.is_whole(human)
    results = [_judge(cube, human, name, len(defined), single) for name in defined]
    results.sort(key=lambda result: -result.value)
    shown = np.array([result.answer == SHOWN for result in results], dtype=bool)
    refuted_alone = np.array([result.ruled_out for result in results], dtype=bool)
    answer = str(study_answer(shown, refuted_alone)) if results and not single else OPEN
    return StudyVerdict(answer, tuple(results), single)


def _is_defined(cube: ScoreCube, human: str, metric: str) -> bool:
    a, b = cube.system_scores(metric), cube.system_scores(human)
    keep = np.isfinite(a) & np.isfinite(b)
    return bool(keep.sum() >= FEW_SYSTEMS and np.isfinite(system_value("pearson", a[keep], b[keep])))


def _noise(cube: ScoreCube, human: str, metric: str, places: Ints) -> Noise:
    """The noise of the means of some systems, as far as their scores by document tell it."""
    judged_cube = cube.keep_systems(places)
    a, b = judged_cube.system_scores(metric), judged_cube.system_scores(human)
    x, z = judged_cube.matrix(metric), judged_cube.matrix(human)
    if cube.is_whole(human) or z.shape[1] < 2:
        return QUIET
    if cube.is_whole(metric):  # of the metric's noise nothing is known
        return Noise(np.asarray(0.0), noise_of(z, z, b, b).human, np.asarray(0.0))
    return noise_of(x, z, a, b)


def _judge(cube: ScoreCube, human: str, metric: str, tests: int, single: bool) -> StandIn:
    a, b = cube.system_scores(metric), cube.system_scores(human)
    places = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
    turned = system_value("pearson", a[places], b[places]) < 0
    if turned:
        cube = flip_metrics(cube, [metric])
        a = -a
    x, z = a[places], b[places]
    r, noise = np.asarray(system_value("pearson", x, z)), _noise(cube, human, metric, places)
    low, high = true_limits(r, len(places), ALPHA / 2 / tests, noise)
    own_low, own_high = true_limits(r, len(places), ALPHA / 2, noise)
    members = _members(cube, places)
    within = _within(a, b, members, ALPHA / 2 / tests, noise)
    groups = tuple(_group(cube, human, metric, name, members[name], ALPHA / 2 / tests) for name in members)
    answer, weak = OPEN, -1
    if not single:
        answer, weak = _answer((low, high), limits_without_each(x, z, ALPHA / 2 / tests, noise))
    answer_alone = _answer((own_low, own_high), limits_without_each(x, z, ALPHA / 2, noise))[0]
    system = cube.systems[places[weak]] if weak >= 0 else ""
    ruled_out = answer_alone == REFUTED and not single
    result = StandIn(
        metric,
        answer,
        float(r),
        float(low),
        float(high),
        float(own_low),
        float(own_high),
        len(places),
        turned,
        noise,
        system,
        ruled_out,
        within,
        groups,
    )
    return replace(result, answer=OPEN) if answer == SHOWN and not result.holds_within else result


def _answer(limits: tuple[Floats, Floats], without: tuple[Floats, Floats]) -> tuple[str, int]:
    """The answer, and which system it hangs on (-1: none)."""
    for name, is_answer, still in zip((SHOWN, REFUTED), answers(*limits), answers(*without), strict=True):
        if is_answer and still.all():
            return name, -1
        if is_answer:
            return OPEN, int(np.argmin(without[0]) if name == SHOWN else np.argmax(without[1]))
    return OPEN, -1


def _members(cube: ScoreCube, places: Ints) -> dict[str, Ints]:
    """The systems of every group that has two or more; nothing when there is one group only."""
    groups = np.array(cube.groups)
    members = {str(name): places[groups[places] == name] for name in np.unique(groups[places]) if name}
    members = {name: systems for name, systems in members.items() if len(systems) > 1}
    return members if len(members) > 1 else {}


def _within(a: Floats, b: Floats, members: dict[str, Ints], tail: float, noise: Noise) -> GroupVerdict | None:
    """The correlation when every system is taken less its group's mean: what is left when kinds aren't told apart."""
    if not members:
        return None
    x, z = (np.concatenate([side[systems] - side[systems].mean() for systems in members.values()]) for side in (a, b))
    everything = np.concatenate(list(members.values()))
    freedom = len(x) - len(members)
    vx, vz = (x * x).sum() / freedom, (z * z).sum() / freedom
    if min(vx, vz) <= 0:
        return GroupVerdict("", float("nan"), -1.0, 1.0, len(x))
    shares = a[everything].var(ddof=1) / vx, b[everything].var(ddof=1) / vz
    own_noise = Noise(noise.metric * shares[0], noise.human * shares[1], noise.shared * np.sqrt(shares[0] * shares[1]))
    # About the means of G groups r is distributed as over n - G + 1 systems.
    r = np.asarray((x * z).sum() / freedom / np.sqrt(vx * vz))
    low, high = true_limits(r, freedom + 1, tail, own_noise)
    return GroupVerdict("", float(r), float(low), float(high), len(x))


def _group(cube: ScoreCube, human: str, metric: str, name: str, places: Ints, tail: float) -> GroupVerdict:
    """One group by itself."""
    a, b = cube.system_scores(metric)[places], cube.system_scores(human)[places]
    r = system_value("pearson", a, b) if len(places) >= LEAST_IN_GROUP else float("nan")
    if not np.isfinite(r):
        return GroupVerdict(name, float("nan"), -1.0, 1.0, len(places))
    low, high = true_limits(np.asarray(r), len(places), tail, _noise(cube, human, metric, places))
    return GroupVerdict(name, float(r), float(low), float(high), len(places))
