"""How well metrics follow a human measure: system, summary and global correlations with their doubt.

System level: the correlation of the systems' mean scores. Summary level: the correlation over systems per
document, averaged over documents. Global: the correlation over all summaries at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis import make_callable
from analysis.correlate.coefficients import (
    COEFFICIENTS,
    NO_INTERVAL,
    Floats,
    Interval,
    UnknownName,
    coefficient,
    complete,
)
from analysis.correlate.intervals import (
    ESTIMANDS,
    INTERVALS,
    WITHOUT_DRAWS,
    caution,
    cell_noise,
    closed_interval,
    corrected_samples,
    kind_of,
)
from analysis.correlate.noise import QUIET
from analysis.correlate.resample import (
    LEVELS,
    draw,
    draw_weights,
    global_samples,
    percentile_interval,
    resampled_means,
    snap,
    summary_samples,
    system_samples,
    tail_share,
    weights_of,
)
from analysis.correlate.score_cube import ScoreCube, build_cube, over_documents
from analysis.correlate.true_means import LEAST, true_mean_samples
from analysis.sentence import Sentence, join_sentences, some_of
from analysis.tables import AnalysisError

__all__ = [
    "ESTIMANDS",
    "FEW_SYSTEMS",
    "INTERVALS",
    "UNDEFINED",
    "CorrelationResult",
    "Options",
    "Point",
    "TooFewSystems",
    "bootstrap_samples",
    "correlate",
    "interval_caution",
    "per_document",
    "percentile_interval",
    "point_estimate",
    "system_means",
    "system_value",
    "weights_of",
]

UNDEFINED = ("drop", "zero")
FEW_SYSTEMS = 3


class TooFewSystems(AnalysisError):
    """Not enough systems for any correlation."""


@dataclass(frozen=True)
class CorrelationResult:
    """One metric against the human measure."""

    metric: str
    level: str
    coefficient: str
    value: float
    """NaN when undefined."""
    n_used: int
    """Systems at system level, documents with a defined correlation at summary level, cells at global."""
    n_undefined: int
    """Documents whose correlation is undefined; at the other levels 1 when the value itself is."""
    low: float
    high: float
    resample: str = ""
    """What was resampled for the interval: systems, inputs, both; empty without one."""
    resamples: int = 0
    seed: int = 0
    undefined: str = "drop"
    """What became of undefined documents: left out of the mean, or counted as 0."""
    score: str = "mean"
    """How a system's score was made of its documents'."""
    interval: str = ""
    note: str = ""
    """What a reader should know about this number, in one sentence; empty when nothing."""


@dataclass(frozen=True)
class Options:
    """Which correlation is wanted, and how its interval is made; `correlate` says what each may be."""

    level: str = "system"
    coefficient: str = "pearson"
    ci: int = 0
    resample: str = "systems"
    seed: int = 0
    undefined: str = "drop"
    score: str = "mean"
    interval: str = "auto"
    confidence: float = 0.95


@dataclass(frozen=True)
class Point:
    """A correlation without its interval."""

    value: float
    n_used: int
    n_undefined: int


def correlate(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    level: str = "system",
    coefficient: str = "pearson",
    ci: int = 0,
    resample: str = "systems",
    seed: int = 0,
    undefined: str = "drop",
    score: str = "mean",
    interval: str = "auto",
    confidence: float = 0.95,
) -> list[CorrelationResult]:
    """Correlate metrics with a human measure.

    `ci` is the number of resamples (0: no interval), `resample` what the interval speaks of (`ESTIMANDS`).
    `interval` is how it is made: `"auto"` takes the kind that covers best, `"exact"` and `"fisher"` need no resamples,
    `"true-means"` draws what endless documents would give (with `resample="inputs"`), `"bootstrap"` are expanded
    percentile intervals and `"percentile"` plain ones. A metric that lacks some systems is judged on the systems it
    has, and its result says so.

    >>> import pandas as pd
    >>> means = {"human": [1, 2, 3, 4], "good": [1, 2, 4, 5], "poor": [3, 1, 2, 2]}
    >>> rows = [("d1", f"s{s}", metric, value) for metric, values in means.items() for s, value in enumerate(values)]
    >>> scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> [(result.metric, round(result.value, 3)) for result in correlate(scores, human="human")]
    [('good', 0.99), ('poor', -0.316)]
    """
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    cube.index(human)
    names = cube.beside(human) if metrics is None else list(metrics)
    kind = kind_of(interval, level, coefficient, resample) if ci or interval != "auto" else "bootstrap"
    options = Options(level, coefficient, ci, resample, seed, undefined, score, kind, confidence)
    _check_options(options)
    if level != "global" and len(cube.systems) < 2:
        raise TooFewSystems(
            f"The scores hold {len(cube.systems)} system, and a correlation over systems needs at least "
            f"{FEW_SYSTEMS}; add systems, or correlate at the global level."
        )
    return [_correlate_one(cube, human, metric, options) for metric in names]


def _check_options(options: Options) -> None:
    for option, name, choices in (
        ("level", options.level, LEVELS),
        ("coefficient", options.coefficient, tuple(COEFFICIENTS)),
        ("policy for undefined values", options.undefined, UNDEFINED),
        ("kind of interval", options.interval, INTERVALS),
    ):
        if name not in choices:
            raise UnknownName(option, name, choices)


def _correlate_one(cube: ScoreCube, human: str, metric: str, options: Options) -> CorrelationResult:
    x, z = cube.matrix(metric), cube.matrix(human)
    sides = cube.system_scores(metric, options.score), cube.system_scores(human, options.score)
    fixed = tuple(side if cube.is_whole(name) else None for side, name in zip(sides, (metric, human), strict=True))
    if options.level == "system":
        keep = np.asarray(np.isfinite(sides[0]) & np.isfinite(sides[1]))
    else:
        _refuse_whole(fixed, (metric, human), options.level)
        keep = np.asarray((np.isfinite(x) & np.isfinite(z)).any(axis=1))
    x, z = x[keep], z[keep]
    kept_fixed = tuple(side[keep] if side is not None else None for side in fixed)
    if options.interval == "true-means" and not _has_noise(x, options, fixed):
        options = replace(options, interval="bootstrap")
    point = point_estimate(x, z, options, (sides[0][keep], sides[1][keep]))
    low_high = _interval(x, z, point, options, (kept_fixed[0], kept_fixed[1]))
    return CorrelationResult(
        metric,
        options.level,
        options.coefficient,
        point.value,
        point.n_used,
        point.n_undefined,
        low_high.low,
        low_high.high,
        options.resample if options.ci or options.interval in WITHOUT_DRAWS else "",
        options.ci if options.interval not in WITHOUT_DRAWS else 0,
        options.seed,
        options.undefined,
        options.score,
        options.interval if options.ci or options.interval in WITHOUT_DRAWS else "",
        _note(cube, human, metric, keep, point, options, sides),
    )


def _refuse_whole(fixed: tuple[Floats | None, ...], names: tuple[str, str], level: str) -> None:
    for side, name in zip(fixed, names, strict=True):
        if side is not None:
            raise AnalysisError(
                f"{name} has one score per system (doc_id *), so it has no {level}-level correlation; use "
                "the system level."
            )


def point_estimate(x: Floats, z: Floats, options: Options, sides: tuple[Floats, Floats] | None = None) -> Point:
    """The correlation of two systems × documents matrices."""
    if options.level == "summary":
        return _summary_point(x, z, options)
    if options.level == "system":
        a, b = sides if sides else (over_documents(x, options.score), over_documents(z, options.score))
        value = system_value(options.coefficient, a, b)
        return Point(value, int((np.isfinite(a) & np.isfinite(b)).sum()), int(math.isnan(value)))
    a, b = complete(x.ravel(), z.ravel())
    value = float(coefficient(options.coefficient)(a, b))
    return Point(value, int(np.isfinite(a).sum()), int(math.isnan(value)))


def system_value(name: str, a: Floats, b: Floats) -> float:
    """The coefficient of two vectors of system scores; means equal but for rounding count as tied."""
    tied_a, tied_b = snap(a), snap(b)
    if name != "pearson":
        return float(coefficient(name)(tied_a, tied_b))
    if math.isnan(float(coefficient(name)(tied_a, tied_b))):
        return math.nan
    return float(coefficient(name)(a, b))


def per_document(x: Floats, z: Floats, name: str) -> Floats:
    """The correlation over systems of every document; NaN where undefined."""
    return np.asarray(coefficient(name)(x.T, z.T))


def _summary_point(x: Floats, z: Floats, options: Options) -> Point:
    paired = (np.isfinite(x) & np.isfinite(z)).sum(axis=0)
    values = per_document(x[:, paired > 0], z[:, paired > 0], options.coefficient)
    undefined = int(np.isnan(values).sum())
    if options.undefined == "zero":
        values = np.nan_to_num(values)
    defined = values[np.isfinite(values)]
    return Point(float(defined.mean()) if defined.size else math.nan, int(defined.size), undefined)


def _interval(
    x: Floats,
    z: Floats,
    point: Point,
    options: Options,
    fixed: tuple[Floats | None, Floats | None],
) -> Interval:
    if options.interval in WITHOUT_DRAWS:
        n = point.n_used
        if options.level == "summary":
            n = int((np.isfinite(x) & np.isfinite(z)).sum(axis=0).max(initial=0))
        is_noisy = options.level == "system" and options.resample == "both"
        noise = cell_noise(x, z, fixed) if is_noisy else QUIET
        return closed_interval(options.interval, options.coefficient, point.value, n, options.confidence, noise)
    if not options.ci or not math.isfinite(point.value):
        return NO_INTERVAL
    if options.level != "system":
        has_both = (np.isfinite(x) & np.isfinite(z)).any(axis=0)
        x, z = x[:, has_both], z[:, has_both]
    redrawn = x.shape[1] if options.resample == "inputs" else x.shape[0]
    if redrawn < 2:  # every resample of one item is that item
        return NO_INTERVAL
    if options.interval == "true-means":
        samples = true_mean_samples(options.coefficient, x, z, options.ci, options.seed)
        return percentile_interval(samples, options.confidence) if samples.size else Interval(-1.0, 1.0)
    weights = draw(options.seed, options.ci, options.resample, x.shape[0], x.shape[1])
    is_corrected = options.interval == "bootstrap" and options.coefficient == "pearson"
    if weights[1] is not None and is_corrected and _has_noise(x, options, fixed):
        samples = corrected_samples(x, z, weights[0], weights[1])
    else:
        samples = bootstrap_samples(x, z, options, weights, fixed)
    return percentile_interval(samples, options.confidence, redrawn if options.interval == "bootstrap" else None)


def interval_caution(result: CorrelationResult, systems: int) -> str:
    """Where an interval over so many systems is known not to cover what it speaks of, in one sentence."""
    return caution(result.interval, result.level, result.coefficient, result.resample, systems)


def _has_noise(x: Floats, options: Options, fixed: tuple[Floats | None, ...]) -> bool:
    """Whether the documents' noise in the systems' means is known."""
    is_mean = options.level == "system" and options.score == "mean"
    return is_mean and x.shape[1] > 1 and x.shape[0] >= LEAST and all(side is None for side in fixed)


def bootstrap_samples(
    x: Floats,
    z: Floats,
    options: Options,
    weights: tuple[Floats | None, Floats | None],
    fixed: tuple[Floats | None, Floats | None] = (None, None),
) -> Floats:
    """The correlation of every resample; `weights` are those of systems and of documents."""
    if options.level == "system":
        return system_samples(options.coefficient, x, z, *weights, options.score, fixed)
    if options.level == "summary":
        return summary_samples(options.coefficient, x, z, *weights, options.undefined)
    return global_samples(options.coefficient, x, z, *weights)


def _note(
    cube: ScoreCube,
    human: str,
    metric: str,
    keep: np.ndarray,
    point: Point,
    options: Options,
    sides: tuple[Floats, Floats],
) -> Sentence:
    notes = []
    left_out = [cube.systems[i] for i in np.flatnonzero(~keep)]
    if left_out:
        notes.append(
            Sentence(
                "%(metric)s: %(n)s of %(all)s systems left out for want of scores of it or of %(human)s (%(names)s).",
                {"metric": metric, "n": len(left_out), "all": len(keep), "human": human, "names": some_of(left_out)},
            )
        )
    n = int(keep.sum())
    if options.level != "global" and n < FEW_SYSTEMS:
        notes.append(
            Sentence(
                "%(metric)s: only %(n)s systems have both scores; a correlation over fewer than %(few)s systems is "
                "always 1, -1 or undefined and says nothing.",
                {"metric": metric, "n": n, "few": FEW_SYSTEMS},
            )
        )
    if math.isnan(point.value):
        reason = _reason(human, metric, n, options, sides)
        notes.append(
            Sentence(
                "%(metric)s: the correlation is undefined because %(reason)s.", {"metric": metric, "reason": reason}
            )
        )
    elif point.n_undefined:
        became = Sentence("left out") if options.undefined == "drop" else Sentence("counted as 0")
        notes.append(
            Sentence(
                "%(metric)s: %(n)s documents with an undefined correlation were %(became)s.",
                {"metric": metric, "n": point.n_undefined, "became": became},
            )
        )
    return join_sentences(notes)


def _reason(human: str, metric: str, n: int, options: Options, sides: tuple[Floats, Floats]) -> Sentence:
    if n < 2:
        return Sentence("fewer than two systems have both scores")
    if options.level != "system":
        return Sentence("one side is constant wherever both are given")
    has_both = np.isfinite(sides[0]) & np.isfinite(sides[1])
    constant = metric if np.ptp(snap(sides[0][has_both])) == 0 else human
    if has_both.all():
        return Sentence("the scores of %(name)s are the same for all systems", {"name": constant})
    return Sentence("the scores of %(name)s are the same for all systems that have both", {"name": constant})


def system_means(
    scores: pd.DataFrame | ScoreCube, metric: str, ci: int = 1000, seed: int = 0, confidence: float = 0.95
) -> pd.DataFrame:
    """Every system's mean with a bootstrap interval over documents: system, group, value, low, high, n."""
    cube = scores if isinstance(scores, ScoreCube) else build_cube(scores)
    matrix, values = cube.matrix(metric), cube.system_scores(metric)
    low, high = np.full((2, len(values)), np.nan)
    if ci and cube.documents and not cube.is_whole(metric):
        has_scores = np.isfinite(matrix).any(axis=0)
        means = resampled_means(matrix[:, has_scores], draw_weights(seed, ci, int(has_scores.sum()), 1))
        tail = 100 * tail_share(confidence, int(has_scores.sum()))
        is_scored = np.isfinite(matrix).any(axis=1)
        low[is_scored], high[is_scored] = np.nanpercentile(means[:, is_scored], [tail, 100 - tail], axis=0)
    frame = pd.DataFrame(
        {
            "system": list(cube.systems),
            "group": list(cube.groups),
            "value": values,
            "low": low,
            "high": high,
            "n": np.isfinite(matrix).sum(axis=1),
        }
    )
    scored: pd.DataFrame = frame[np.isfinite(frame["value"])]
    return scored.sort_values("value", ascending=False, ignore_index=True)


make_callable(__name__, correlate)
