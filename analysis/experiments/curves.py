"""How agreement between metrics fades as scores rise (Peyrard 2019, Figures 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.correlate.coefficients import Floats, UnknownName
from analysis.experiments.ranges import Topic, topics

RULES = ("mean", "threshold")


@dataclass(frozen=True)
class Disagreement:
    """Share of summary pairs that two metrics order differently, among the pairs of one score."""

    a: str
    b: str
    score: float
    """Rule `mean`: the middle of the bin, which holds the pair's mean normalised score under the two metrics. Rule
    `threshold`: what both summaries reach at least, by their mean normalised score under the two metrics."""
    share: float
    pairs: int


@dataclass(frozen=True)
class Consistency:
    """F/N of one summary: of those better for at least one metric, the share better for all (equation 1)."""

    doc_id: str
    system: str
    score: float
    """Mean of the normalised metrics."""
    ratio: float
    better_for_one: int


def normalised(topic: Topic) -> Floats:
    """Every metric between 0 and 1 within the topic; a constant metric is 0."""
    low, high = topic.values.min(axis=0), topic.values.max(axis=0)
    return np.asarray((topic.values - low) / np.where(high > low, high - low, 1))


def disagreement(
    scores: pd.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    pairs_per_topic: int = 5000,
    bins: int = 10,
    seed: int = 0,
    rule: str = "mean",
) -> list[Disagreement]:
    """Disagreement of all pairs of metrics by score; pairs of summaries are drawn within topics.

    A pair that either metric ties is left out: it has no order to disagree about. The rule `mean` bins pairs by their
    mean score: near both ends of the scale the two summaries are close to each other and hard to order, so that the
    curve bends up at both. The rule `threshold` takes all pairs of which both reach a score (the paper's question).
    """
    if rule not in RULES:
        raise UnknownName("rule for disagreement", rule, RULES)
    names, topic_list = topics(scores, metrics)
    rng = np.random.default_rng(seed)
    sides: list[Floats] = []
    for topic in topic_list:
        values = normalised(topic)
        i, j = rng.integers(0, len(values), (2, pairs_per_topic))
        keep = i != j
        sides.append(np.stack([values[i[keep]], values[j[keep]]]))
    drawn_pairs = np.concatenate(sides, axis=1)
    results = []
    for a, b in combinations(range(len(names)), 2):
        gap = drawn_pairs[0] - drawn_pairs[1]
        order = gap[:, a] * gap[:, b]
        for score, is_in in _levels(drawn_pairs[:, :, [a, b]].mean(axis=2), bins, rule):
            chosen = is_in & (order != 0)
            if chosen.any():
                share = float((order[chosen] < 0).mean())
                results.append(Disagreement(names[a], names[b], score, share, int(chosen.sum())))
    return results


def _levels(level: Floats, bins: int, rule: str) -> Iterator[tuple[float, np.ndarray]]:
    """Each score with the pairs that belong to it; `level` holds the two summaries' scores."""
    place = np.minimum((level.mean(axis=0) * bins).astype(int), bins - 1)
    for cell in range(bins):
        if rule == "mean":
            yield (cell + 0.5) / bins, place == cell
        else:
            yield cell / bins, np.asarray((level >= cell / bins).all(axis=0))


def consistency(
    scores: pd.DataFrame, *, metrics: Sequence[str] | None = None, samples: int = 5000, seed: int = 0
) -> list[Consistency]:
    """F/N of randomly drawn summaries; a summary that nothing betters has no ratio and is left out."""
    _, topic_list = topics(scores, metrics)
    rng = np.random.default_rng(seed)
    sizes = np.array([len(topic.systems) for topic in topic_list])
    draws = np.sort(rng.choice(int(sizes.sum()), min(samples, int(sizes.sum())), replace=False))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    results = []
    for number, topic in enumerate(topic_list):
        values = normalised(topic)
        inside = draws[(draws >= starts[number]) & (draws < starts[number + 1])] - starts[number]
        for place in inside:
            better = topic.values > topic.values[place]
            n_any, n_all = int(better.any(axis=1).sum()), int(better.all(axis=1).sum())
            if n_any:
                mean = float(values[place].mean())
                results.append(Consistency(topic.doc_id, topic.systems[place], mean, n_all / n_any, n_any))
    return results
