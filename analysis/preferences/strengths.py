"""Strengths of systems from preferences: Bradley and Terry's model, with ties as Davidson (1970) has them.

With strengths π and a tie parameter ν, system i is preferred to j with probability
π_i / (π_i + π_j + ν √(π_i π_j)), and the tie has ν √(π_i π_j) in its numerator. Without ties ν is 0 and the model is
Bradley and Terry's. Strengths are given as logarithms that sum to 0: a difference of 0.7 means twice as often.

Answers to one document are alike, so that intervals come from the documents' scores (a sandwich, with Student's t of
one degree less than there are documents).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats

from analysis.agreement.counts import Floats
from analysis.compare.adjust import Pair, adjust, beaten, clusters, letters
from analysis.preferences.comparisons import Comparisons
from analysis.tables import AnalysisError

STEPS = 100
CLOSE = 1e-12
LIMIT = 10.0
"""The longest step of a log strength at once."""
SINGULAR = 1e-10


@dataclass(frozen=True)
class Strength:
    """One system among the others."""

    system: str
    strength: float
    """Logarithm; the systems' sum to 0."""
    low: float
    high: float
    win_rate: float
    """Share of its comparisons in which it was preferred, a tie counting half."""
    n_comparisons: int
    cluster: int
    letters: str
    """Systems that share a letter can't be told apart; those that share none differ."""


@dataclass(frozen=True)
class Strengths:
    """All systems, strongest first, and all pairs."""

    systems: tuple[Strength, ...]
    pairs: tuple[Pair, ...]
    tie_parameter: float
    """Davidson's ν; 0 without ties."""
    n_documents: int
    alpha: float


@dataclass(frozen=True)
class Fit:
    """Log strengths (sum 0), then log ν where there are ties, with their covariance by documents."""

    parameters: Floats
    covariance: Floats
    has_ties: bool


def strengths(comparisons: Comparisons, *, alpha: float = 0.05) -> Strengths:
    """Every system's strength with its interval, and every pair's difference, p by Holm.

    Raises AnalysisError where the strengths are infinite: a group of systems that was never preferred to the rest.
    """
    model = fit(comparisons)
    n_systems, n_documents = len(comparisons.systems), len(comparisons.documents)
    theta, covariance = model.parameters[:n_systems], model.covariance[:n_systems, :n_systems]
    reach = _quantile(n_documents, alpha)
    order = [int(system) for system in np.argsort(-theta, kind="stable")]
    places = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    p = np.array([_p(theta[a] - theta[b], _spread(covariance, a, b), n_documents) for a, b in places])
    adjusted = adjust(p, "holm")
    pairs = []
    beats = beaten(places, adjusted, n_systems, alpha)
    for (a, b), plain, after in zip(places, p, adjusted, strict=True):
        difference, spread = float(theta[a] - theta[b]), reach * _spread(covariance, a, b)
        names = comparisons.systems[a], comparisons.systems[b]
        pairs.append(Pair(*names, difference, difference - spread, difference + spread, float(plain), float(after)))
    cluster, letter = clusters(order, beats), letters(order, beats)
    tally = comparisons.tally()
    systems = []
    for system in order:
        n = int(tally[system].sum() + tally[:, system].sum())
        value, spread = float(theta[system]), float(reach * np.sqrt(covariance[system, system]))
        rate = float(tally[system].sum() / n)
        interval = value, value - spread, value + spread
        systems.append(Strength(comparisons.systems[system], *interval, rate, n, int(cluster[system]), letter[system]))
    ties = float(np.exp(model.parameters[-1])) if model.has_ties else 0.0
    return Strengths(tuple(systems), tuple(pairs), ties, n_documents, alpha)


def fit(comparisons: Comparisons) -> Fit:
    """Maximum likelihood by Newton's steps; the likelihood is concave."""
    _check_finite(comparisons)
    has_ties = bool(comparisons.is_tie.any())
    parameters = np.zeros(len(comparisons.systems) + has_ties)
    for _ in range(STEPS):
        gradient, curvature = _derivatives(comparisons, parameters, has_ties)
        step = _inverse(curvature) @ gradient.sum(axis=0)
        parameters = parameters + step * min(1.0, LIMIT / max(float(np.abs(step).max()), CLOSE))
        if np.abs(step).max() < CLOSE:
            break
    else:
        raise AnalysisError("The strengths didn't settle in 100 steps; no number is given.")
    return Fit(parameters, _sandwich(comparisons, parameters, has_ties), has_ties)


def _check_finite(comparisons: Comparisons) -> None:
    """Finite strengths need, between any two systems, a chain of preferences or ties each way (Ford 1957)."""
    if len(comparisons.systems) < 2:
        raise AnalysisError("There is one system only; preferences need two.")
    if comparisons.is_tie.all():
        raise AnalysisError("Every answer is a tie; no strength can be told.")
    size = (len(comparisons.systems),) * 2
    is_above = sparse.csr_matrix(comparisons.tally() > 0)
    n_parts, part_of = sparse.csgraph.connected_components(is_above, connection="strong")
    if n_parts == 1:
        return
    together, _ = sparse.csgraph.connected_components(is_above, directed=False)
    names = [comparisons.systems[i] for i in range(size[0]) if part_of[i] == part_of[0]]
    if together > 1:
        raise AnalysisError(f"{_list(names)} and the other systems were never compared, not even by way of others.")
    raise AnalysisError(
        f"Between {_list(names)} and the other systems all answers go one way, so that strengths are infinite; "
        "win rates are defined all the same, or compare them with more documents."
    )


def _list(names: list[str]) -> str:
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")


def _features(comparisons: Comparisons, has_ties: bool) -> Floats:
    """For each answer the features of its three outcomes: first, second, tie."""
    n, size = len(comparisons.outcome), len(comparisons.systems) + has_ties
    features = np.zeros((n, 3 if has_ties else 2, size))
    rows = np.arange(n)
    features[rows, 0, comparisons.first] = 1
    features[rows, 1, comparisons.second] = 1
    if has_ties:
        features[rows, 2] = (features[:, 0] + features[:, 1]) / 2
        features[rows, 2, -1] = 1
    return features


def _derivatives(comparisons: Comparisons, parameters: Floats, has_ties: bool) -> tuple[Floats, Floats]:
    """Each answer's gradient, and the curvature of them all (its sign turned)."""
    features = _features(comparisons, has_ties)
    utility = features @ parameters
    chance = np.exp(utility - utility.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    expected = np.einsum("nk,nkp->np", chance, features)
    answer = np.where(comparisons.is_tie, 2, np.where(comparisons.outcome == 1, 0, 1))
    gradient = features[np.arange(len(answer)), answer] - expected
    curvature = np.einsum("nk,nkp,nkq->pq", chance, features, features) - expected.T @ expected
    return gradient, curvature


def _inverse(curvature: Floats) -> Floats:
    """Strengths are told apart only: what all have in common has no curvature, and stays 0."""
    return np.asarray(np.linalg.pinv(curvature, rcond=SINGULAR, hermitian=True))


def _sandwich(comparisons: Comparisons, parameters: Floats, has_ties: bool) -> Floats:
    gradient, curvature = _derivatives(comparisons, parameters, has_ties)
    n_documents = len(comparisons.documents)
    if n_documents < 2:
        return np.full(curvature.shape, np.nan)
    scores = np.zeros((n_documents, len(parameters)))
    np.add.at(scores, comparisons.document, gradient)
    bread = _inverse(curvature)
    return np.asarray(n_documents / (n_documents - 1) * bread @ scores.T @ scores @ bread)


def _spread(covariance: Floats, a: int, b: int) -> float:
    """Standard error of a difference."""
    return float(np.sqrt(max(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b], 0)))


def _p(difference: float, spread: float, n_documents: int) -> float:
    """Two-sided; 1 where there is nothing to say how sure it is."""
    if not spread > 0:
        return 1.0
    return float(2 * stats.t.sf(abs(difference) / spread, n_documents - 1))


def _quantile(n_documents: int, alpha: float) -> float:
    return float(stats.t.ppf(1 - alpha / 2, n_documents - 1)) if n_documents > 1 else float("nan")
