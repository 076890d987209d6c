"""Judgments as counts: how often each unit got each value. Everything about agreement is worked out from these.

A unit is one thing that several workers judge: one SCU (or one dimension) of one summary. Memory is units × values,
never units × values × values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables import AnalysisError, key_codes
from analysis.tables.batches import latest_batches

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

UNIT = ("doc_id", "system", "unit")
OTHER_SCALES: Mapping[str, tuple[str, ...]] = {"errors": ("overall",)}
"""By protocol: units on a scale of their own (0 to 100 beside penalty points), which nothing pools with the others."""


@dataclass(frozen=True)
class Counts:
    """Units × values, with what each row of the judgments belongs to."""

    values: Floats
    """The distinct values, ascending."""
    table: Floats
    """How often each unit (row) got each value (column)."""
    unit_of: Ints
    """For each judgment its row in the table."""
    value_of: Ints
    """For each judgment its column in the table."""
    first: Ints
    """For each unit the position of one of its judgments: what is the same for all judgments of a unit is there."""


def count(judgments: pd.DataFrame) -> Counts:
    """Count the answers of every unit."""
    codes, unit_keys = pd.factorize(key_codes(judgments, list(UNIT)))
    values, value_of = value_codes(judgments["value"].to_numpy(dtype=np.float64))
    size = len(unit_keys) * len(values)
    if size > 2**27:
        raise AnalysisError(
            f"{len(unit_keys):,} units with {len(values):,} different values are too many to count; "
            "round the values to fewer steps first."
        )
    table = np.bincount(codes * len(values) + value_of, minlength=size).reshape(len(unit_keys), len(values))
    first = np.zeros(len(unit_keys), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return Counts(values, table.astype(np.float64), codes.astype(np.int64), value_of, first)


def value_codes(values: Floats) -> tuple[Floats, Ints]:
    """The distinct values in order, and for each value which of them it is."""
    codes, unique = pd.factorize(values)
    order = np.argsort(unique)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return unique[order], rank[codes]


def patterns(table: Floats) -> tuple[Floats, Ints]:
    """The distinct rows of a table of counts, and for each row which of them it is.

    A study has few ways to answer a unit (nine for four workers and two values), so that resampling thousands of
    units becomes drawing how often each pattern occurs.
    """
    weights = np.random.default_rng(7).integers(1, 2**40, table.shape[1]).astype(np.float64)
    keys = table @ weights  # whole numbers below 2**53: exact, equal for equal rows
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rows = table[first]
    if not np.array_equal(rows[inverse], table):  # two different rows met in one number
        rows, inverse = np.unique(table, axis=0, return_inverse=True)
    return rows, inverse.reshape(-1).astype(np.int64)


def codes_of(judgments: pd.DataFrame, columns: Sequence[str]) -> tuple[Ints, int]:
    """A number for each row by its values in the columns, in sorted order: shuffled rows give the same numbers."""
    available_columns = list(judgments.columns)
    for column in columns:
        if column not in available_columns:
            raise AnalysisError(f"The judgments have no column {column!r}; they have {', '.join(available_columns)}.")
    if len(columns) == 1:
        codes, unique = pd.factorize(judgments[columns[0]], sort=True, use_na_sentinel=False)
        return codes.astype(np.int64), len(unique)
    factors = [pd.factorize(judgments[column], sort=True, use_na_sentinel=False) for column in columns]
    total = np.zeros(len(judgments), dtype=np.int64)
    for codes, unique in factors:
        total = total * max(len(unique), 1) + codes
        total = np.unique(total, return_inverse=True)[1].astype(np.int64)
    return total, int(total.max()) + 1 if len(total) else 0


def unit_codes(rows: pd.DataFrame, columns: Sequence[str], counts: Counts) -> tuple[Ints, int]:
    """For each unit which item or cluster it belongs to; all its judgments must say the same."""
    codes, size = codes_of(rows, columns)
    of_unit = codes[counts.first]
    if not np.array_equal(of_unit[counts.unit_of], codes):
        names = ",".join(columns)
        raise AnalysisError(f"The judgments of one unit have different {names}, so units can't be grouped by it.")
    return of_unit, size


def latest(judgments: pd.DataFrame) -> pd.DataFrame:
    """One judgment per worker and unit: of several batches the latest, of several rounds the last; else an error."""
    judgments = latest_batches(judgments)
    key = key_codes(judgments, [*UNIT, "worker_id"])
    if pd.Series(key).is_unique:
        return judgments
    if "round" in judgments.columns:
        order = np.lexsort((np.arange(len(key)), judgments["round"].fillna(0).to_numpy(dtype=np.int64)))
        last = ~pd.Series(key[order]).duplicated(keep="last").to_numpy()
        is_repeated = pd.DataFrame({"key": key, "round": judgments["round"].fillna(0)}).duplicated()
        if not is_repeated.any():
            return judgments.iloc[np.sort(order[last])].reset_index(drop=True)
        row = int(np.flatnonzero(is_repeated.to_numpy())[0])
    else:
        row = int(np.flatnonzero(pd.Series(key).duplicated().to_numpy())[0])
    duplicate = judgments.iloc[row]
    raise AnalysisError(
        f"Worker {duplicate['worker_id']} judged unit {duplicate['unit']} of document {duplicate['doc_id']}, system "
        f"{duplicate['system']}, more than once; keep one of the duplicate rows, or number them in a column round "
        "or name their batches in a column batch."
    )


def on_one_scale(judgments: pd.DataFrame) -> pd.DataFrame:
    """The judgments whose values can be weighed together: beside others, units on a scale of their own are left out."""
    if "protocol" not in judgments.columns:
        return judgments
    is_other = np.zeros(len(judgments), dtype=bool)
    for protocol, units in OTHER_SCALES.items():
        is_other |= np.asarray((judgments["protocol"] == protocol) & judgments["unit"].isin(units), dtype=bool)
    return judgments[~is_other].reset_index(drop=True) if is_other.any() and not is_other.all() else judgments


def are_unlinkable(judgments: pd.DataFrame) -> bool:
    """Whether every worker id stands in one summary only, of several: then ids name assignments rather than people.

    What is a worker's can't be told from what is the summary's there, and no skill or habit can be learned.
    """
    pairs = judgments[["worker_id", "doc_id", "system"]].drop_duplicates()
    n_summaries = len(pairs[["doc_id", "system"]].drop_duplicates())
    return n_summaries > 1 and len(pairs) > n_summaries and bool(pairs["worker_id"].is_unique)


def is_mixed(judgments: pd.DataFrame) -> str | None:
    """Why the values can't be pooled: several protocols, or yes/no units beside rating scales. None if they can."""
    if "protocol" in judgments.columns:
        protocols = sorted({str(name) for name in judgments["protocol"].unique() if name})
        if len(protocols) > 1:
            return f"the protocols {', '.join(protocols)}"
    low, high = (judgments.groupby("unit")["value"].agg(edge) for edge in ("min", "max"))
    binary = (low == 0) & (high <= 1)
    # Only a plain case is refused: yes/no units, and scales that begin at 1 and reach 3. Where a scale has a 0 of
    # its own, a unit with low values only is no sign of another kind of question.
    if binary.any() and not binary.all() and (low[~binary] >= 1).all() and high.max() >= 3:
        yes_no, scale = str(binary.idxmax()), str(high.idxmax())
        return f"yes/no units such as {yes_no} and scales such as {scale}"
    return None
