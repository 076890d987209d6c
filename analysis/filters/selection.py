"""What a filter would have done to noise, and what it does for answers that it didn't look at.

Dropping those who disagree raises agreement by construction, also that of coin flips. Two readings tell selection from
improvement: the same rules on shuffled answers (who judged what stays, the answers are dealt anew), and agreement on
one half of the units after decisions that were made on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement import alpha_samples, pooled_alpha
from analysis.agreement.counts import codes_of, is_mixed
from analysis.bootstrap import percentile_limits
from analysis.filters.base import Decision
from analysis.sentence import Sentence, Value, join_sentences
from analysis.tables import AnalysisError

RESAMPLES = 400
MOST_SHUFFLES, ROWS_SHUFFLED = 20, 200_000
"""Large tables need few shuffles: their agreement by chance hardly varies."""
MOST_DIMENSIONS = 20
"""More units than that are SCUs of one document each, whatever they are called."""
IMPROVES, SELECTS, CHANCE, NOTHING, UNKNOWN = "improves", "selects", "chance", "nothing", "unknown"

Drop = Callable[[pd.DataFrame], tuple[pd.DataFrame, Callable[[pd.DataFrame], pd.DataFrame]]]
"""Applies the rules: what they keep, and how to leave the same workers out of other rows."""


@dataclass(frozen=True)
class SelectionEffect:
    """Agreement (pooled alpha) before and after a filter, and how much of the gain is selection."""

    before: float
    after: float
    shuffled_before: float
    shuffled_after: float
    """The same rules on shuffled answers, the mean over shuffles."""
    held_out: float
    """Agreement after decisions made on the other half of the units; NaN when that can't be had."""
    gain_low: float
    gain_high: float
    """95 % interval of `held_out` less `before`, documents redrawn."""
    verdict: str

    def sentence(self) -> Sentence:
        """One sentence for Quality, Report and the methods paragraph."""
        values: dict[str, Value] = {
            name: "–" if value != value else f"{value:.3f}"
            for name, value in vars(self).items()
            if isinstance(value, float)
        }
        if self.verdict == NOTHING:
            return Sentence("The filter leaves every answer in: alpha %(before)s.", values)
        return join_sentences([_what_it_does(self.verdict, values), _on_shuffled(values)])


def _on_shuffled(values: dict[str, Value]) -> Sentence:
    return Sentence("On shuffled answers the same rules go from %(shuffled_before)s to %(shuffled_after)s.", values)


def _what_it_does(verdict: str, values: dict[str, Value]) -> Sentence:
    if verdict == IMPROVES:
        return Sentence(
            "The filter improves agreement: alpha %(before)s before, %(after)s after, and %(held_out)s on answers that "
            "its decisions didn't look at.",
            values,
        )
    if verdict == SELECTS:
        return Sentence(
            "The filter does no more than selection would: alpha %(before)s before and %(after)s after, but "
            "%(held_out)s on answers that its decisions didn't look at.",
            values,
        )
    if verdict == CHANCE:
        return Sentence(
            "This crowd's agreement is not above chance (alpha %(before)s before the filter, %(after)s after it): no "
            "filter repairs it.",
            values,
        )
    return Sentence(
        "Alpha is %(before)s before the filter and %(after)s after it; how much of that is selection can't be told "
        "from so few answers.",
        values,
    )


def selection_effect(rows: pd.DataFrame, drop: Drop, level: str, seed: int = 0) -> SelectionEffect | None:
    """The effect of rules on these judgments (check items among them go along); None where alpha can't be had."""
    ordinary = _ordinary(rows)
    if ordinary["worker_id"].nunique() < 2 or is_mixed(ordinary):
        return None
    before = pooled_alpha(ordinary, level)
    kept = _ordinary(drop(rows)[0])
    after = _alpha(kept, level)
    shuffled_before, shuffled_after = _shuffled(rows, drop, level, seed)
    held_out_rows = _cross_fitted(rows, drop, seed)
    held_out, low, high = _gain(ordinary, held_out_rows, level, seed)
    floor = percentile_limits(alpha_samples(ordinary, level, RESAMPLES, seed), n=ordinary["doc_id"].nunique())[0]
    if len(kept) == len(ordinary):
        verdict = NOTHING
    elif not floor > 0:
        verdict = CHANCE
    elif np.isnan(low):
        verdict = UNKNOWN
    else:
        verdict = IMPROVES if low > 0 else SELECTS
    return SelectionEffect(before, after, shuffled_before, shuffled_after, held_out, low, high, verdict)


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order that pseudonyms have no part in where assignments have ids: answers are dealt by it."""
    names = ["doc_id", "system", "unit", "assignment_id" if "assignment_id" in rows.columns else "worker_id"]
    return rows.iloc[np.argsort(codes_of(rows, names)[0], kind="stable")].reset_index(drop=True)


def _ordinary(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["is_check"].astype(bool)] if "is_check" in rows.columns else rows


def _alpha(rows: pd.DataFrame, level: str) -> float:
    return pooled_alpha(rows, level) if rows["worker_id"].nunique() > 1 else float("nan")


def _shuffled(rows: pd.DataFrame, drop: Drop, level: str, seed: int) -> tuple[float, float]:
    """Alpha before and after the rules when all answers (of a dimension, where there are some) are dealt anew."""
    rng = np.random.default_rng([seed, 11])
    ordinary = _ordinary(rows)
    by_kind = np.zeros(len(ordinary), dtype=np.int64)
    if _are_dimensions(ordinary):
        by_kind, _ = codes_of(ordinary, ["unit"])
    pairs = []
    for _ in range(int(np.clip(ROWS_SHUFFLED // max(len(rows), 1), 1, MOST_SHUFFLES))):
        order = np.lexsort((rng.random(len(ordinary)), by_kind))
        values = ordinary["value"].to_numpy(copy=True)
        values[np.argsort(by_kind, kind="stable")] = values[order]
        dealt = rows.copy()
        dealt["value"] = dealt["value"].astype(float)
        dealt.loc[ordinary.index, "value"] = values
        try:
            kept = drop(dealt)[0]
        except AnalysisError:  # the rules would leave nobody
            continue
        pairs.append((_alpha(_ordinary(dealt), level), _alpha(_ordinary(kept), level)))
    if not pairs:
        return float("nan"), float("nan")
    before, after = np.nanmean(pairs, axis=0)
    return float(before), float(after)


def _are_dimensions(rows: pd.DataFrame) -> bool:
    """Whether units are dimensions that all documents share; scu01 of one document isn't scu01 of another."""
    n_units, n_documents = rows["unit"].nunique(), rows["doc_id"].nunique()
    return n_units <= MOST_DIMENSIONS and len(rows[["doc_id", "unit"]].drop_duplicates()) == n_units * n_documents


def _folds(rows: pd.DataFrame, seed: int) -> np.ndarray:
    """0 or 1 for each row: half of every summary's units, or half of the summaries where each has one unit."""
    rng = np.random.default_rng([seed, 12])
    unit, n_units = codes_of(rows, ["doc_id", "system", "unit"])
    item_of_row, n_items = codes_of(rows, ["doc_id", "system"])
    item = np.zeros(n_units, dtype=np.int64)
    item[unit] = item_of_row
    if n_items == n_units:
        item = np.zeros(n_units, dtype=np.int64)
    order = np.lexsort((rng.random(n_units), item))
    start = np.searchsorted(item[order], item[order])
    fold = np.zeros(n_units, dtype=np.int64)
    fold[order] = (np.arange(n_units) - start + item[order]) % 2
    return fold[unit]


def _cross_fitted(rows: pd.DataFrame, drop: Drop, seed: int) -> pd.DataFrame | None:
    """Every answer judged by decisions that were made without its unit; check items are no such units."""
    fold = _folds(rows, seed)
    is_check = np.zeros(len(rows), dtype=bool)
    if "is_check" in rows.columns:
        is_check = rows["is_check"].astype(bool).to_numpy()
    parts = []
    for number in (0, 1):
        try:
            leave_out = drop(rows[(fold != number) | is_check].reset_index(drop=True))[1]
        except AnalysisError:
            return None
        parts.append(leave_out(rows[(fold == number) & ~is_check]))
    return pd.concat(parts)


def _gain(before: pd.DataFrame, after: pd.DataFrame | None, level: str, seed: int) -> tuple[float, float, float]:
    """Alpha on answers not looked at, and the interval of its gain, the same documents redrawn on both sides."""
    if after is None or after["worker_id"].nunique() < 2:
        return float("nan"), float("nan"), float("nan")
    value, n = pooled_alpha(after, level), before["doc_id"].nunique()
    if after["doc_id"].nunique() != n or n < 2:
        return value, float("nan"), float("nan")
    samples = [alpha_samples(rows, level, RESAMPLES, seed) for rows in (after, before)]
    return value, *percentile_limits(samples[0] - samples[1], n=n)


def rules_as_drop(
    apply: Callable[[pd.DataFrame], tuple[pd.DataFrame, Sequence[Decision]]],
    marks: Callable[[pd.DataFrame, Sequence[Decision]], pd.Series],
) -> Drop:
    """A `Drop` from a function that applies rules and one that marks the rows which decisions concern."""

    def drop(rows: pd.DataFrame) -> tuple[pd.DataFrame, Callable[[pd.DataFrame], pd.DataFrame]]:
        kept, decisions = apply(rows)

        def leave_out(others: pd.DataFrame) -> pd.DataFrame:
            by_shape: dict[tuple[str, ...], list[Decision]] = {}
            for decision in decisions:
                by_shape.setdefault(tuple(decision.item), []).append(decision)
            for same_shape in by_shape.values():
                others = others[(marks(others, same_shape) < 0).to_numpy()]
            return others

        return kept, leave_out

    return drop
