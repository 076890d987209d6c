"""Which way of judging buys most: what the money spent on each protocol of a study tells about the same systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.aggregate import SCALE, measure_kinds, measured
from analysis.agreement.counts import latest
from analysis.compare.adjust import Pair
from analysis.compare.systems import compare_systems
from analysis.preferences import comparisons, preferences_of, strengths
from analysis.preferences.judgments import PROTOCOL as PREFERENCE
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

RECALL = "litepyramid_recall"


@dataclass(frozen=True)
class Purchase:
    """What one protocol's money bought, by one of its measures."""

    protocol: str
    measure: str
    systems: int
    documents: int
    assignments: int
    """All that were paid for, check items included."""
    cost: float
    told_apart: int
    """Pairs of systems that differ (Holm)."""
    pairs: int
    width: float
    """Mean width of the intervals of two systems' difference, in standard deviations of the systems' values."""
    width_at_equal_cost: float = float("nan")
    """The same at the cost of the cheapest protocol: widths shrink as 1/√cost."""
    cost_for_equal_width: float = float("nan")
    """What it would cost to be as narrow as the narrowest."""


def compare_protocols(
    judgments: pd.DataFrame, prices: Mapping[str, float], *, alpha: float = 0.05, seed: int = 0
) -> list[Purchase]:
    """Every measure of every protocol on the systems that all of them judged, the narrowest at equal cost first.

    `prices` is what an assignment cost, by protocol. Intervals are by documents for all, so that they can be compared.
    """
    if "protocol" not in judgments.columns:
        raise AnalysisError("The judgments have no column protocol, so that ways of judging can't be told apart.")
    names = sorted(str(name) for name in judgments["protocol"].unique())
    if len(names) < 2:
        raise AnalysisError(f"There is one protocol only ({', '.join(names)}); a comparison needs two.")
    if missing := [name for name in names if name not in prices]:
        raise AnalysisError(f"What did an assignment of {', '.join(missing)} cost? Say so with --prices or --wage.")
    rows = latest(without_checks(judgments))
    systems = sorted(set.intersection(*(_systems(rows[rows["protocol"] == name], name) for name in names)))
    if len(systems) < 2:
        raise AnalysisError(
            "Fewer than two systems were judged by all of these protocols; there is nothing to compare."
        )
    purchases = []
    for name in names:
        assignments = n_assignments(judgments[judgments["protocol"] == name])
        for finding in _findings(rows[rows["protocol"] == name], systems, alpha, seed):
            purchases.append(_purchase(name, finding, assignments, assignments * prices[name], alpha))
    return at_equal_terms(purchases)


def n_assignments(rows: pd.DataFrame) -> int:
    """How many were paid; without their ids, what one worker said of one summary is one."""
    columns = ["assignment_id"] if "assignment_id" in rows.columns else ["doc_id", "system", "worker_id"]
    return len(rows[columns].drop_duplicates())


def seconds_per_assignment(rows: pd.DataFrame) -> float:
    """Mean active seconds; NaN where none are recorded."""
    if "seconds" not in rows.columns:
        return float("nan")
    return float(pd.to_numeric(rows["seconds"], errors="coerce").sum(min_count=1)) / n_assignments(rows)


def _systems(rows: pd.DataFrame, protocol: str) -> set[str]:
    if protocol != PREFERENCE:
        return set(rows["system"])
    pairs = preferences_of(rows)
    return set(pairs["system_a"]) | set(pairs["system_b"])


@dataclass(frozen=True)
class _Finding:
    """The systems' values by one measure, and what is known of their differences."""

    measure: str
    values: list[float]
    pairs: Sequence[Pair]
    documents: int


def _findings(rows: pd.DataFrame, systems: list[str], alpha: float, seed: int) -> Iterator[_Finding]:
    """One for each measure of the judgments of one protocol."""
    if (rows["protocol"] == PREFERENCE).all():
        pairs = preferences_of(rows)
        pairs = pairs[pairs["system_a"].isin(systems) & pairs["system_b"].isin(systems)].reset_index(drop=True)
        result = strengths(comparisons(pairs), alpha=alpha)
        values = [row.strength for row in result.systems]
        yield _Finding(f"{PREFERENCE}_strength", values, result.pairs, result.n_documents)
        return
    rows = measured(rows[rows["system"].isin(systems)])
    kinds = measure_kinds(rows)
    units: list[str | None] = [str(unit) for unit in sorted(rows.loc[kinds == SCALE, "unit"].unique())]
    for unit in units or [None]:
        comparison = compare_systems(rows, unit=unit, resample="documents", alpha=alpha, seed=seed)
        values = [row.value for row in comparison.systems]
        yield _Finding(unit or RECALL, values, comparison.pairs, rows["doc_id"].nunique())


def _purchase(protocol: str, finding: _Finding, assignments: int, cost: float, alpha: float) -> Purchase:
    spread = float(np.std(finding.values, ddof=1))
    width = float(np.mean([pair.high - pair.low for pair in finding.pairs])) / spread if spread else float("nan")
    told_apart = sum(pair.p_adjusted < alpha for pair in finding.pairs)
    n_systems, n_pairs = len(finding.values), len(finding.pairs)
    facts = (n_systems, finding.documents, assignments, cost, told_apart, n_pairs)
    return Purchase(protocol, finding.measure, *facts, width)


def at_equal_terms(purchases: list[Purchase]) -> list[Purchase]:
    """The same, with widths at the least cost and costs at the least width; the narrowest at equal cost first."""
    cheapest = min(purchase.cost for purchase in purchases)
    narrowest = min(purchase.width for purchase in purchases)
    equal = [
        replace(
            purchase,
            width_at_equal_cost=purchase.width * float(np.sqrt(purchase.cost / cheapest)),
            cost_for_equal_width=purchase.cost * (purchase.width / narrowest) ** 2,
        )
        for purchase in purchases
    ]
    return sorted(equal, key=lambda purchase: purchase.width_at_equal_cost)
