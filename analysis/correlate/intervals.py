"""Intervals of correlations: what each speaks of, and how it is made so that it covers that.

Redrawing documents adds their noise a second time to means that already carry it once, so plain percentiles of such
resamples lie too low (of 25 systems on 100 documents 2 to 80 % cover the true means' correlation). Here the noise is
measured and taken out: the true means are drawn (`true_means`), or the limits of the exact interval are corrected.
docs/statistics/coverage.md has the coverage of every kind, simulated by `python -m benchmarks coverage`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from analysis.correlate.coefficients import Floats, Interval, fisher_interval
from analysis.correlate.exact import LEAST, exact_interval
from analysis.correlate.noise import QUIET, Noise, mean_covariance, noise_of
from analysis.correlate.resample import resampled_means
from analysis.sentence import Sentence
from analysis.tables import AnalysisError

INTERVALS = ("auto", "exact", "fisher", "true-means", "bootstrap", "percentile")
WITHOUT_DRAWS = ("exact", "fisher")
FEW = 10
"""Systems below which ranks and resamples are too coarse."""
CLOSED_FORM = ("pearson", "spearman", "kendall")

ESTIMANDS = {
    "systems": Sentence("other systems of this kind, judged on these same documents"),
    "inputs": Sentence("these systems, judged on all documents of this kind: their true means"),
    "both": Sentence("other systems of this kind, judged on all documents of this kind: the true means"),
}
"""What an interval speaks of, by what is redrawn."""


def kind_of(interval: str, level: str, coefficient: str, resample: str) -> str:
    """The kind behind `auto`: the one that covers best (docs/statistics/coverage.md)."""
    if interval == "true-means" and (level, resample) != ("system", "inputs"):
        raise AnalysisError(
            "Intervals by true-means speak of these systems on all documents: take them at system level with inputs."
        )
    if interval != "auto":
        return "fisher" if interval == "exact" and coefficient in ("spearman", "kendall") else interval
    if (level, resample) == ("system", "inputs"):
        return "true-means"
    if level != "system" or coefficient not in CLOSED_FORM:
        return "bootstrap"
    return "exact" if coefficient == "pearson" else "fisher"


def closed_interval(kind: str, coefficient: str, r: float, n: int, confidence: float, noise: Noise) -> Interval:
    """The exact or Fisher's interval, with the documents' noise taken out when there is any."""
    interval = exact_interval(r, n, confidence) if kind == "exact" else fisher_interval(coefficient, r, n, confidence)
    if noise is QUIET or not math.isfinite(interval.low):
        return interval
    low, high = (_as_pearson(coefficient, limit) - float(noise.shared) for limit in interval)
    reach = float(noise.reach)
    if reach <= 0:  # nothing but noise: every correlation of the true means is possible
        return Interval(-1.0, 1.0)
    ends = (_from_pearson(coefficient, float(np.clip(limit / reach, -1, 1))) for limit in (low, high))
    return Interval(*ends)


def _as_pearson(coefficient: str, value: float) -> float:
    """The correlation of normal scores that have this rank correlation."""
    if coefficient == "kendall":
        return math.sin(math.pi / 2 * value)
    return 2 * math.sin(math.pi / 6 * value) if coefficient == "spearman" else value


def _from_pearson(coefficient: str, value: float) -> float:
    if coefficient == "kendall":
        return 2 / math.pi * math.asin(value)
    return 6 / math.pi * math.asin(value / 2) if coefficient == "spearman" else value


def cell_noise(x: Floats, z: Floats, fixed: tuple[Floats | None, Floats | None]) -> Noise:
    """The noise of the means of x and z; none is known of whole-system scores or of one document."""
    if any(side is not None for side in fixed) or x.shape[1] < 2:
        return QUIET
    return noise_of(x, z, *(np.nanmean(side, axis=1) for side in (x, z)))


def corrected_samples(x: Floats, z: Floats, rows: Floats | None, columns: Floats) -> Floats:
    """Pearson's r of resampled system means with the noise of the documents, once drawn and once redrawn, taken out."""
    means = [resampled_means(side, columns) for side in (x, z)]
    weights = np.ones_like(means[0]) if rows is None else rows
    weights = weights * np.isfinite(means[0]) * np.isfinite(means[1])
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = (np.nan_to_num(side) for side in means)
        a, b = (side - (weights * side).sum(axis=1, keepdims=True) / total for side in (a, b))
        freedom = total[:, 0] - 1
        aa, bb, ab = ((weights * left * right).sum(axis=1) / freedom for left, right in ((a, a), (b, b), (a, b)))
        noise = 2 * mean_covariance(x, z)
        aa, bb, ab = aa - noise[0, 0], bb - noise[1, 1], ab - noise[0, 1]
        r = np.clip(ab / np.sqrt(aa * bb), -1, 1)
    # Where noise is all there is, the true means may correlate in any way, most likely with the sign that is left.
    return np.asarray(np.where((aa > 0) & (bb > 0), r, np.sign(ab)))


def caution(kind: str, level: str, coefficient: str, resample: str, systems: int) -> str:
    """What an interval can't do, where the simulation says so; empty where it covers (docs/statistics/coverage.md)."""
    if not kind:
        return ""
    if level != "system":
        if resample == "inputs" or systems >= FEW:
            return ""
        return Sentence("Resamples of so few systems are too alike: these intervals may cover less than they say.")
    if resample != "systems" and (kind == "percentile" or (kind == "bootstrap" and coefficient != "pearson")):
        return Sentence(
            "Redrawn documents add their noise a second time and it isn't taken out here, so these intervals lie too "
            "low; --interval auto gives corrected ones."
        )
    if coefficient != "pearson" and systems < FEW:
        return Sentence("Ranks of so few systems take few values, so these intervals are wider than need be.")
    return ""


def is_skewed(scores: Floats) -> bool:
    """Whether system scores are not normal by Shapiro and Wilk's test at 5 %: intervals of r are too narrow then."""
    values = scores[np.isfinite(scores)]
    return len(values) >= LEAST and bool(np.ptp(values) > 0) and float(stats.shapiro(values).pvalue) < 0.05
