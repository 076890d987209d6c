"""Do metrics agree with each other, and where on the scale? (Peyrard 2019)

Kendall's tau-b between two metrics over the summaries of one topic (`doc_id`), averaged over topics, on three
ranges: the whole of it, the average range (the summaries people judged), and the top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.correlate.coefficients import Floats, UnknownName, kendall
from analysis.correlate.score_cube import WHOLE, MissingMeasure, human_measures
from analysis.tables import AnalysisError

TOP_RULES = ("baseline", "topk", "union")


@dataclass(frozen=True)
class Topic:
    """The summaries of one topic: summaries × metrics."""

    doc_id: str
    systems: tuple[str, ...]
    values: Floats
    is_judged: np.ndarray
    """Which of them people judged."""


@dataclass(frozen=True)
class RangeTau:
    """Agreement of two metrics on one range."""

    a: str
    b: str
    range: str
    """whole, average or top."""
    tau: float
    """Mean over topics; NaN when it is defined for none."""
    topics: int
    undefined: int
    """Topics left out because tau is undefined there."""
    summaries: float
    """Mean number of summaries per topic."""


def topics(
    scores: pd.DataFrame,
    metrics: Sequence[str] | None = None,
    human: str | None = None,
    texts: pd.DataFrame | None = None,
    baseline: str | None = None,
) -> tuple[tuple[str, ...], list[Topic]]:
    """The metrics in order of appearance and the table topic by topic; summaries lacking a metric are left out.

    With `texts` (a summaries table) equal texts within a topic count once; of those, the baseline's is kept.
    """
    measures = list(dict.fromkeys(scores["metric"]))
    for name in [*(metrics or []), *([human] if human else [])]:
        if name not in measures:
            raise MissingMeasure(f"The scores hold no measure {name!r}. Measures there: {', '.join(measures)}.")
    people = {human, *human_measures(scores)}
    names = tuple(metrics) if metrics is not None else tuple(name for name in measures if name not in people)
    if len(names) < 2:
        raise AnalysisError(f"Agreement between metrics needs two of them, and there is {len(names)}.")
    rows = scores[(scores["doc_id"] != WHOLE) & scores["metric"].isin([*names, human or names[0]])]
    rows = rows.assign(system=_with_group(rows))
    wide = rows.set_index(["doc_id", "system", "metric"])["value"].unstack("metric")
    if texts is not None:
        wide = _drop_equal_texts(wide, texts, baseline)
    order = list(dict.fromkeys(rows["doc_id"]))
    groups = dict(tuple(wide.groupby(level="doc_id", sort=False)))
    by_topic = []
    for doc_id in order:
        if doc_id not in groups:
            continue
        group = groups[doc_id]
        values = group[list(names)].to_numpy(dtype=float)
        complete = np.isfinite(values).all(axis=1)
        is_judged = group[human].notna().to_numpy() if human else np.zeros(len(group), dtype=bool)
        systems = group.index.get_level_values("system").astype(str)
        by_topic.append(Topic(str(doc_id), tuple(systems[complete]), values[complete], np.asarray(is_judged)[complete]))
    return names, [topic for topic in by_topic if len(topic.systems)]


def _with_group(rows: pd.DataFrame) -> pd.Series:
    system = rows["system"].astype(str)
    if "group" not in rows.columns:
        return system
    group = rows["group"].fillna("").astype(str)
    clash = pd.DataFrame({"s": system, "g": group}).drop_duplicates().groupby("s")["g"].nunique()
    several = clash[clash > 1].index
    return system.where(~system.isin(several), group + "/" + system)


def _drop_equal_texts(wide: pd.DataFrame, texts: pd.DataFrame, baseline: str | None) -> pd.DataFrame:
    texts = texts.sort_values("system", key=lambda names: names != baseline, kind="stable")
    plain_texts = texts["summary"].map(lambda text: text if isinstance(text, str) else "\n".join(text))
    keyed = texts.assign(text=plain_texts).drop_duplicates(["doc_id", "text"])
    keep = pd.MultiIndex.from_frame(keyed[["doc_id", "system"]])
    everything = pd.MultiIndex.from_frame(texts[["doc_id", "system"]])
    result: pd.DataFrame = wide[wide.index.isin(keep) | ~wide.index.isin(everything)]
    return result


def top_rows(topic: Topic, pair: tuple[int, int], rule: str, k: int, baseline: str | None) -> np.ndarray:
    """Positions of the top summaries of a topic, for two metrics.

    baseline: better than that system for at least one of all metrics (the paper's text). topk: the k best of each of
    the two, summaries among both kept twice (its released code). union: the same without duplicates.
    """
    if rule not in TOP_RULES:
        raise UnknownName("rule for the top", rule, TOP_RULES)
    if rule == "baseline":
        if baseline not in topic.systems:
            raise AnalysisError(f"Topic {topic.doc_id} has no complete scores of the baseline {baseline!r}.")
        bar = topic.values[topic.systems.index(str(baseline))]
        return np.flatnonzero((topic.values > bar).any(axis=1))
    best = [np.argsort(-topic.values[:, side], kind="stable")[:k] for side in pair]
    return np.concatenate(best) if rule == "topk" else np.union1d(best[0], best[1])


def range_correlations(
    scores: pd.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    human: str | None = None,
    top: str = "union",
    k: int = 50,
    baseline: str | None = None,
    texts: pd.DataFrame | None = None,
    progress: Callable[[Iterator[tuple[int, int]], int], Iterator[tuple[int, int]]] | None = None,
) -> list[RangeTau]:
    """Tau-b of every pair of metrics on the whole range, the average range (with `human`) and the top."""
    if top == "baseline" and not baseline:
        raise AnalysisError("The top above a baseline needs the name of the baseline system.")
    names, topic_list = topics(scores, metrics, human, texts, baseline)
    pairs: Iterator[tuple[int, int]] = combinations(range(len(names)), 2)
    if progress:
        pairs = progress(pairs, len(names) * (len(names) - 1) // 2)
    results = []
    for pair in pairs:
        rows = {"whole": [np.arange(len(topic.systems)) for topic in topic_list]}
        if human:
            rows["average"] = [np.flatnonzero(topic.is_judged) for topic in topic_list]
        rows["top"] = [top_rows(topic, pair, top, k, baseline) for topic in topic_list]
        for name, rows_by_topic in rows.items():
            results.append(_range(names, pair, name, topic_list, rows_by_topic))
    return results


def _range(
    names: tuple[str, ...], pair: tuple[int, int], name: str, topic_list: list[Topic], rows: list[np.ndarray]
) -> RangeTau:
    values = []
    for topic, topic_rows in zip(topic_list, rows, strict=True):
        cells = topic.values[topic_rows]
        values.append(float(kendall(cells[:, pair[0]], cells[:, pair[1]])) if len(cells) > 1 else math.nan)
    defined = [value for value in values if math.isfinite(value)]
    return RangeTau(
        names[pair[0]],
        names[pair[1]],
        name,
        float(np.mean(defined)) if defined else math.nan,
        len(defined),
        len(values) - len(defined),
        float(np.mean([len(topic_rows) for topic_rows in rows])) if rows else 0.0,
    )
