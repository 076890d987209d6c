"""Accuracy on pairs as the machine-translation metrics tasks report it, for every metric of a scores table.

Soft pairwise accuracy compares p values of pairs of systems (Thompson et al. 2024). acc*eq counts the pairs of
summaries of one document that metric and people order alike, a tie being right where people tie (Deutsch et al. 2023);
the threshold below which two metric scores are tied is fitted on other documents than it is used on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.correlate.coefficients import Floats
from analysis.correlate.score_cube import ScoreCube, build_cube
from analysis.experiments.ties import calibrate_ties, soft_pairwise_accuracy
from analysis.tables import AnalysisError


@dataclass(frozen=True)
class PairAccuracy:
    """How one metric orders pairs."""

    metric: str
    soft: float
    """Soft pairwise accuracy over pairs of systems; NaN with fewer than two systems that have all scores."""
    accuracy: float
    """acc*eq on held-out documents, all pairs of summaries of a document pooled."""
    plain: float
    """The same with only equal metric scores as ties."""
    epsilon: float
    """Median of the folds' thresholds."""
    pairs: int
    folds: int


def pair_accuracy(
    scores: pd.DataFrame | ScoreCube,
    *,
    human: str,
    metrics: Sequence[str] | None = None,
    folds: int = 5,
    permutations: int = 1000,
    seed: int = 0,
) -> list[PairAccuracy]:
    """Soft pairwise accuracy and acc*eq with a held-out threshold, for every metric.

    >>> import numpy as np
    >>> human = np.array([[1, 2, 3, 1], [2, 2, 3, 2], [3, 3, 1, 2]])
    >>> rows = [(f"d{d}", f"s{s}", name, float(cells[s, d])) for name, cells in (("h", human), ("m", human * 2))
    ...         for s in range(3) for d in range(4)]
    >>> scores = pd.DataFrame(rows, columns=["doc_id", "system", "metric", "value"])
    >>> [(one.metric, one.soft, one.accuracy, one.pairs) for one in pair_accuracy(scores, human="h", folds=2)]
    [('m', 1.0, 1.0, 12)]
    """
    cube = (scores if isinstance(scores, ScoreCube) else build_cube(scores)).scaled()
    people = cube.matrix(human)
    names = [name for name in cube.metrics if name != human] if metrics is None else list(metrics)
    if folds < 2 or len(cube.documents) < 2:
        raise AnalysisError(
            f"A threshold on held-out documents needs two documents and two folds; there are {len(cube.documents)} "
            f"documents and {folds} folds."
        )
    fold_of = np.random.default_rng(seed).permutation(len(cube.documents)) % min(folds, len(cube.documents))
    return [
        _accuracy(name, cube.matrix(name), people, fold_of, permutations, seed)
        for name in names
        if not cube.is_whole(name)
    ]


def _accuracy(
    name: str, metric: Floats, people: Floats, fold_of: np.ndarray, permutations: int, seed: int
) -> PairAccuracy:
    gaps, truth, document = _pairs(metric, people)
    hits, thresholds = 0, []
    for fold in np.unique(fold_of):
        held_out = fold_of == fold
        epsilon = calibrate_ties(metric[:, ~held_out].T, people[:, ~held_out].T).epsilon
        is_here = held_out[document]
        hits += int((_order(gaps[is_here], epsilon) == truth[is_here]).sum())
        thresholds.append(epsilon)
    total = len(gaps)
    undefined = float("nan")
    return PairAccuracy(
        name,
        _soft(metric, people, permutations, seed),
        hits / total if total else undefined,
        float((np.sign(gaps) == truth).mean()) if total else undefined,
        float(np.median(thresholds)),
        total,
        len(thresholds),
    )


def _pairs(metric: Floats, people: Floats) -> tuple[Floats, Floats, np.ndarray]:
    """Of every pair of summaries of one document: the metric's gap, the sign of people's, and the document."""
    i, j = np.triu_indices(len(metric), 1)
    gaps, truth = metric[i] - metric[j], np.sign(people[i] - people[j])
    document = np.broadcast_to(np.arange(metric.shape[1]), gaps.shape)
    is_defined = np.isfinite(gaps) & np.isfinite(truth)
    return gaps[is_defined], truth[is_defined], document[is_defined]


def _order(gaps: Floats, epsilon: float) -> Floats:
    return np.where(np.abs(gaps) <= epsilon, 0.0, np.sign(gaps))


def _soft(metric: Floats, people: Floats, permutations: int, seed: int) -> float:
    """On the systems and documents that both have in full."""
    both = np.isfinite(metric) & np.isfinite(people)
    systems = both.any(axis=1)
    documents = both[systems].all(axis=0) if systems.any() else np.zeros(metric.shape[1], dtype=bool)
    cells = np.ix_(systems, documents)
    if systems.sum() < 2 or not documents.any():
        return float("nan")
    return soft_pairwise_accuracy(metric[cells], people[cells], permutations, seed)
