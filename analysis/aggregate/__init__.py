"""From judgments to human scores: one value per summary and measure, with counts and intervals.

Yes/no units (SCUs) give `litepyramid_recall`, the share of units that are present; rated dimensions give one measure
each, named after the dimension. Which is which follows the `protocol` column where there is one; without it, units
whose values are all 0 or 1 are yes/no units. Protocols whose answers are neither have a module of their own that scores
them (`SCORED_BY`); their measures begin with the protocol's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

import numpy as np
import pandas as pd

from analysis import make_callable
from analysis.aggregate.intervals import rating_reach, recall_limits, wilson
from analysis.aggregate.worker_models import MODELS, ModelResult, answers, fit
from analysis.agreement.counts import Floats, are_unlinkable, latest
from analysis.errors import PROTOCOL as ERRORS
from analysis.errors import measures as error_measures
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

__all__ = [
    "AVERAGES",
    "SCHEMES",
    "TIES",
    "about_summaries",
    "aggregate",
    "combine",
    "decide",
    "measure_kinds",
    "measured",
    "model_of",
    "unlinkable_note",
    "wilson",
]

AVERAGES = ("mean", "median", "trimmed-mean", "z-mean")
SCHEMES = ("majority", *AVERAGES, *MODELS)
TIES = ("not-present", "present", "half", "drop")
EVERYBODY = "everybody"
CELL = ["doc_id", "system", "unit"]
SUMMARY = ["doc_id", "system"]
COLUMNS = ("doc_id", "system", "metric", "value", "n_units", "n_judgments", "n_workers", "low", "high")
YES_NO, SCALE = "litepyramid", "likert"
RATINGS_OF: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {ERRORS: error_measures}
"""By protocol: what makes ratings of summaries from its judgments, where their values are none themselves."""
SCORED_BY = {"preference": "analysis.preferences.judgments"}
"""Protocol -> the module whose `scores(judgments)` gives a scores table with COLUMNS. It stands above this room, and is
loaded where there are such judgments."""


def aggregate(
    judgments: pd.DataFrame,
    *,
    scheme: str | None = None,
    ties: str = "not-present",
    scus: pd.DataFrame | None = None,
    trim: float = 0.2,
    include_checks: bool = False,
) -> pd.DataFrame:
    """Scores of every summary: a scores table with `n_units`, `n_judgments`, `n_workers`, `low` and `high`.

    Without a `scheme`, yes/no units are decided by majority and ratings are averaged. `ties` says what an SCU is
    on which as many workers say yes as no. Models add `posterior`, the expected value under their beliefs.

    >>> answers = {"u1": (1, 1, 0), "u2": (0, 0, 0)}
    >>> rows = [("d1", "s1", unit, f"w{w}", value) for unit, three in answers.items() for w, value in enumerate(three)]
    >>> judgments = pd.DataFrame(rows, columns=["doc_id", "system", "unit", "worker_id", "value"])
    >>> aggregate(judgments)[["metric", "value", "n_units"]].to_dict("records")
    [{'metric': 'litepyramid_recall', 'value': 0.5, 'n_units': 2}]
    """
    if scheme is not None and scheme not in SCHEMES:
        raise AnalysisError(f"There is no scheme {scheme!r}; there are {', '.join(SCHEMES)}.")
    if ties not in TIES:
        raise AnalysisError(f"There is no policy for ties {ties!r}; there are {', '.join(TIES)}.")
    rows = latest(judgments if include_checks else without_checks(judgments))
    if rows.empty:
        raise AnalysisError("There are no judgments to aggregate.")
    rows = measured(rows)
    kind = measure_kinds(rows)
    scheme, rows = _identifiable(scheme, rows)
    frames = []
    yes_no = rows[kind == YES_NO]
    if len(yes_no):
        _refuse_other_values(yes_no)
        how = scheme or "majority"
        frames.append(_recall(decide(yes_no, how, ties, trim), yes_no, scus, how, ties))
    scales = rows[kind == SCALE]
    for unit, rated in scales.groupby("unit", sort=True):
        frames.append(_rating(str(unit), decide(rated, scheme or "mean", "half", trim), rated))
    for protocol, module in SCORED_BY.items():
        if len(own_rows := rows[kind == protocol]):
            frames.append(_in_order(import_module(module).scores(own_rows)))
    scores = pd.concat(frames, ignore_index=True)
    scores["role"] = "human"
    scores["scheme"] = [_scheme(metric, scheme) for metric in scores["metric"]]
    return _with_group(scores, rows)


def unlinkable_note(judgments: pd.DataFrame, scheme: str | None) -> str:
    """What is done instead when a scheme needs workers and the ids name none; empty when it needn't."""
    if scheme not in (*MODELS, "z-mean") or not are_unlinkable(judgments):
        return ""
    instead = "the plain mean is taken" if scheme == "z-mean" else "all workers are taken to err alike"
    return f"Every worker id stands in one summary only, so {scheme} can't tell worker and summary apart: {instead}."


def _identifiable(scheme: str | None, rows: pd.DataFrame) -> tuple[str | None, pd.DataFrame]:
    """Scheme and judgments such that nothing is learned about workers who are none."""
    if not unlinkable_note(rows, scheme):
        return scheme, rows
    return ("mean", rows) if scheme == "z-mean" else (scheme, rows.assign(model_worker=EVERYBODY))


def _scheme(metric: str, scheme: str | None) -> str:
    if metric.startswith(tuple(f"{protocol}_" for protocol in SCORED_BY)):
        return "own"
    return scheme or ("majority" if metric in ("litepyramid_recall", "pyramid_score") else "mean")


def measured(judgments: pd.DataFrame) -> pd.DataFrame:
    """The judgments with ratings in place of those whose protocol has its own way from answers to measures."""
    if "protocol" not in judgments.columns:
        return judgments
    for protocol, ratings in RATINGS_OF.items():
        is_own = judgments["protocol"] == protocol
        if is_own.any():
            judgments = pd.concat([judgments[~is_own], ratings(judgments[is_own])], ignore_index=True)
    return judgments


def about_summaries(judgments: pd.DataFrame) -> pd.DataFrame:
    """Judgments that say how good a summary is by itself; AnalysisError where all are scored on the whole."""
    if "protocol" not in judgments.columns:
        return judgments
    is_own = judgments["protocol"].isin(list(SCORED_BY))
    if is_own.any() and is_own.all():
        names = ", ".join(sorted(judgments["protocol"].unique()))
        raise AnalysisError(f"Judgments by {names} rate no summary by itself; aggregate and preferences score them.")
    return judgments[~is_own]


def measure_kinds(rows: pd.DataFrame) -> pd.Series:
    """For each judgment whether it answers a yes/no unit, rates a dimension, or follows a protocol with own scores."""
    values = rows["value"].groupby(rows["unit"])
    zero_one = values.max().le(1) & values.min().ge(0) & ~rows["value"].mod(1).ne(0).groupby(rows["unit"]).any()
    only_ones = values.min().eq(1)
    if not zero_one.all() and zero_one[~only_ones].sum() == 0:
        zero_one &= ~only_ones  # a dimension that everybody rated 1, beside others rated higher
    kind = rows["unit"].map(zero_one).map({True: YES_NO, False: SCALE})
    if "protocol" in rows.columns:
        own_kinds = {**dict.fromkeys(RATINGS_OF, SCALE), **{protocol: protocol for protocol in SCORED_BY}}
        protocol_kinds = rows["protocol"].map({"litepyramid": YES_NO, "scu": YES_NO, "likert": SCALE, **own_kinds})
        kind = protocol_kinds.where(protocol_kinds.notna(), kind)
    return kind


def _refuse_other_values(rows: pd.DataFrame) -> None:
    invalid_rows = rows[~rows["value"].isin([0, 1])]
    if len(invalid_rows):
        first = invalid_rows.iloc[0]
        raise AnalysisError(
            f"Unit {first['unit']} of document {first['doc_id']}, system {first['system']} has the value "
            f"{first['value']:g}; a yes/no unit is 0 (not present) or 1 (present)."
        )


def decide(rows: pd.DataFrame, scheme: str, ties: str = "not-present", trim: float = 0.2) -> pd.DataFrame:
    """One decided value per unit of a summary: columns doc_id, system, unit, n, decided (and posterior)."""
    if scheme in MODELS:
        return _by_model(rows, scheme)
    if scheme == "z-mean":
        rows = rows.sort_values([*SUMMARY, "unit", "worker_id"])  # sums round by the order of the rows
        rows = rows.assign(value=without_bias(rows))
    values_by_cell = rows.groupby(CELL, sort=True)["value"]
    decided = values_by_cell.agg(n="size", decided="mean").reset_index()
    if scheme == "majority":
        decided["decided"] = _majority(rows, ties)
    elif scheme == "median":
        decided["decided"] = values_by_cell.median().to_numpy()
    elif scheme == "trimmed-mean":
        decided["decided"] = _trimmed(rows, trim)
    return decided[decided["decided"].notna()].reset_index(drop=True)


def _majority(rows: pd.DataFrame, ties: str) -> Floats:
    """The value with a strict majority over every other; a tie by policy (of 0 and 1: not-present is 0)."""
    counts = rows.groupby([*CELL, "value"], sort=True).size().rename("n").reset_index()
    best = counts[counts["n"] == counts.groupby(CELL)["n"].transform("max")]
    winners_by_cell = best.groupby(CELL, sort=True)["value"]
    majority, tied = winners_by_cell.mean().to_numpy(copy=True), winners_by_cell.size().to_numpy() > 1
    if ties == "not-present":
        majority[tied] = winners_by_cell.min().to_numpy()[tied]
    elif ties == "present":
        majority[tied] = winners_by_cell.max().to_numpy()[tied]
    elif ties == "drop":
        majority[tied] = np.nan
    return np.asarray(majority, dtype=np.float64)


def _trimmed(rows: pd.DataFrame, trim: float) -> Floats:
    """The mean without the lowest and the highest share of the values."""
    if not 0 <= trim < 0.5:
        raise AnalysisError(f"{trim:g} can't be trimmed from each end; give a share from 0 to below 0.5.")
    ordered = rows.sort_values([*CELL, "value"])
    values_by_cell = ordered.groupby(CELL, sort=True)["value"]
    rank, size = values_by_cell.cumcount(), values_by_cell.transform("size")
    cut = np.floor(size * trim + 1e-9)
    trimmed = ordered[(rank >= cut) & (rank < size - cut)]
    return np.asarray(trimmed.groupby(CELL, sort=True)["value"].mean(), dtype=np.float64)


def _by_model(rows: pd.DataFrame, scheme: str) -> pd.DataFrame:
    key = rows.groupby(CELL, sort=True).ngroup()
    workers = rows["model_worker"] if "model_worker" in rows else rows["worker_id"]
    model = fit(scheme, answers(key, workers, rows["value"]))
    cells = rows[CELL].assign(key=key).drop_duplicates("key").sort_values("key")
    decided = cells[CELL].reset_index(drop=True)
    decided["n"] = rows.groupby(CELL, sort=True).size().to_numpy()
    decided["decided"] = np.array(model.label(), dtype=np.float64)
    decided["posterior"] = model.posterior @ np.array(model.labels, dtype=np.float64)
    return decided


def model_of(judgments: pd.DataFrame, scheme: str) -> ModelResult:
    """The model itself: beliefs about every unit and the skill of every worker."""
    rows = latest(without_checks(judgments))
    return fit(scheme, answers(rows.groupby(CELL, sort=True).ngroup(), rows["worker_id"], rows["value"]))


def without_bias(rows: pd.DataFrame) -> pd.Series:
    """Ratings as the average worker would have given them: z-scores per worker and unit name, put back on the scale.

    A worker whose ratings of a dimension don't vary, or who gave only one, is centred and scaled like everybody.
    """
    by_unit = rows.groupby("unit")["value"]
    centre, width = by_unit.transform("mean"), by_unit.transform("std").fillna(0)
    by_worker = rows.groupby(["unit", "worker_id"])["value"]
    own_centre, own_width = by_worker.transform("mean"), by_worker.transform("std").fillna(0)
    is_flat = (own_width == 0) | (by_worker.transform("size") < 2)
    score = (rows["value"] - own_centre.where(~is_flat, centre)) / own_width.where(~is_flat, width).replace(0, 1)
    return centre + score * width


def _counts(rows: pd.DataFrame) -> pd.DataFrame:
    by_summary = rows.groupby(SUMMARY, sort=True)
    return by_summary.agg(n_judgments=("value", "size"), n_workers=("worker_id", "nunique")).reset_index()


def _recall(
    decided: pd.DataFrame, rows: pd.DataFrame, scus: pd.DataFrame | None, scheme: str, ties: str
) -> pd.DataFrame:
    """Present units divided by units; with weights also the weighted pyramid score."""
    by_summary = decided.groupby(SUMMARY, sort=True)
    scores = by_summary["decided"].agg(present="sum", n_units="size").reset_index()
    scores["value"] = scores["present"] / scores["n_units"]
    if "posterior" in decided:
        scores["posterior"] = by_summary["posterior"].mean().to_numpy()
    scores = scores.merge(_counts(rows), on=SUMMARY)
    scores["low"], scores["high"] = recall_limits(scores, rows, scheme, ties)
    scores = scores.drop(columns="present")
    recall = scores.assign(metric="litepyramid_recall")
    if scus is None:
        return _in_order(recall)
    weighted = _pyramid(decided, scus)
    pyramid = scores.drop(columns=["value", "low", "high", "posterior"], errors="ignore")
    pyramid = pyramid.merge(weighted, on=SUMMARY).assign(metric="pyramid_score", low=np.nan, high=np.nan)
    return _in_order(pd.concat([recall, pyramid], ignore_index=True))


def _pyramid(decided: pd.DataFrame, scus: pd.DataFrame) -> pd.DataFrame:
    """The weight of the present SCUs divided by the weight of all (several references: weight = how many have it)."""
    units = without_checks(scus).rename(columns={"scu_id": "unit"})
    weight = units["weight"].fillna(1.0) if "weight" in units else pd.Series(1.0, index=units.index)
    cells = decided.merge(units.assign(weight=weight)[["doc_id", "unit", "weight"]], on=["doc_id", "unit"], how="left")
    unknown = cells[cells["weight"].isna()]
    if len(unknown):
        first = unknown.iloc[0]
        raise AnalysisError(f"The SCU table has no unit {first['unit']} for document {first['doc_id']}.")
    cells["found"] = cells["decided"] * cells["weight"]
    sums = cells.groupby(SUMMARY, sort=True)[["found", "weight"]].sum().reset_index()
    return sums.assign(value=sums["found"] / sums["weight"])[[*SUMMARY, "value"]]


def _rating(unit: str, decided: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    scores = decided.rename(columns={"decided": "value"}).drop(columns=["unit", "n"]).merge(_counts(rows), on=SUMMARY)
    reach = rating_reach(rows, SUMMARY)
    scores = scores.assign(metric=unit, n_units=1, low=scores["value"] - reach, high=scores["value"] + reach)
    return _in_order(scores)


def _in_order(scores: pd.DataFrame) -> pd.DataFrame:
    extra = [name for name in scores.columns if name not in COLUMNS]
    return scores[[*COLUMNS, *extra]]


def _with_group(scores: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    if "group" not in rows.columns:
        return scores
    groups = rows.drop_duplicates(SUMMARY).set_index(SUMMARY)["group"]
    of_rows = pd.Series(groups.reindex(pd.MultiIndex.from_frame(scores[SUMMARY])).to_numpy(), index=scores.index)
    if "group" in scores:  # a summary that stands in nobody's own row
        of_rows = scores.pop("group").where(lambda group: group.notna(), of_rows)
    scores.insert(2, "group", of_rows)
    return scores


def combine(
    coverage: Sequence[float], quality: Sequence[float], mean: str = "arithmetic", scale: tuple[float, float] = (0, 1)
) -> Floats:
    """Coverage and linguistic quality in one number (Graham 2015, table 4): arithmetic, geometric or harmonic mean.

    `scale` is the range of the quality ratings, e.g. (1, 5); they are put on 0 to 1 first.
    """
    first = np.asarray(coverage, dtype=np.float64)
    second = (np.asarray(quality, dtype=np.float64) - scale[0]) / (scale[1] - scale[0])
    if mean == "arithmetic":
        return (first + second) / 2
    if mean == "geometric":
        return np.sqrt(first * second)
    if mean == "harmonic":
        total = first + second
        return np.where(total > 0, 2 * first * second / np.where(total > 0, total, 1), 0.0)
    raise AnalysisError(f"There is no combination {mean!r}; there are arithmetic, geometric, harmonic.")


make_callable(__name__, aggregate)
