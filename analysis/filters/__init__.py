"""Worker filters: rules that may be combined, each dropped row with a reason. Nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis import make_callable
from analysis.agreement import agreement
from analysis.agreement.counts import is_mixed, latest
from analysis.filters import behaviour, dissent, references
from analysis.filters.base import (
    RULES,
    Decision,
    Evidence,
    FilterResult,
    Rule,
    as_json,
    parse_rules,
    settings_of,
)
from analysis.filters.dissent import TIES
from analysis.filters.selection import SelectionEffect, in_order, rules_as_drop, selection_effect
from analysis.tables import AnalysisError
from analysis.tables.where import without_checks

__all__ = [
    "RULES",
    "TIES",
    "Decision",
    "FilterPreview",
    "FilterResult",
    "Rule",
    "SelectionEffect",
    "apply_rules",
    "behaviour",
    "dissent",
    "filter_effect",
    "parse_rules",
    "preview",
    "references",
]


@dataclass(frozen=True)
class FilterPreview:
    """What a filter would do, before anybody decides."""

    result: FilterResult
    workers_dropped: int
    """Workers who lose all their judgments."""
    rows_dropped: int
    agreement_before: float
    agreement_after: float
    """Krippendorff's alpha at the given level, pooled; NaN when undefined or when scales are mixed."""
    tasks_below: int
    """Summaries left with fewer workers than the quota."""
    assignments_missing: int
    """How many assignments would fill them up."""
    cost: float
    """What those cost."""
    effect: SelectionEffect | None = None
    """How much of the gain is selection; None where alpha can't be had."""


def apply_rules(
    judgments: pd.DataFrame,
    rules: Sequence[Rule | str],
    seed: int = 0,
    ties: str = "first",
    include_checks: bool = False,
) -> FilterResult:
    """Apply rules one after the other; each sees what the ones before it kept.

    Check items don't count as ordinary judgments unless `include_checks`; they go where their worker goes.
    """
    if ties not in TIES:
        raise AnalysisError(f"There is no policy for ties {ties!r}; there are {', '.join(TIES)}.")
    if judgments.empty:
        raise AnalysisError("There are no judgments to filter.")
    parsed = [rule for spec in rules for rule in (parse_rules(spec) if isinstance(spec, str) else [spec])]
    remaining = judgments.reset_index(drop=True)
    rng = np.random.default_rng(seed)
    decisions: list[Decision] = []
    dropped = []
    for rule in parsed:
        new_decisions, dropped_rows = _apply(remaining, rule, ties, rng, include_checks)
        decisions += new_decisions
        dropped.append(dropped_rows)
        remaining = remaining.drop(index=dropped_rows.index)
    settings = {
        "rules": [{"name": rule.name, "settings": settings_of(rule)} for rule in parsed],
        "ties": ties,
        "seed": seed,
        "include_checks": include_checks,
    }
    everything = pd.concat(dropped) if dropped else judgments.iloc[:0]
    return FilterResult(
        remaining.reset_index(drop=True), everything.sort_index().reset_index(drop=True), tuple(decisions), settings
    )


def _apply(
    rows: pd.DataFrame, rule: Rule, ties: str, rng: np.random.Generator, include_checks: bool
) -> tuple[list[Decision], pd.DataFrame]:
    settings = settings_of(rule)
    ordinary = rows.reset_index(drop=True) if include_checks else without_checks(rows).reset_index(drop=True)
    checks = rows[rows["is_check"].astype(bool)] if "is_check" in rows.columns else rows.iloc[:0]
    if ordinary.empty:
        raise AnalysisError("There are no judgments but check items to filter.")
    decisions = RULES[rule.name].function(Evidence(ordinary, checks.reset_index(drop=True), ties, rng), settings)
    marks = _marks(rows, decisions)
    sizes = marks.value_counts()
    decisions = [replace(decision, n_rows=int(sizes.get(number, 0))) for number, decision in enumerate(decisions)]
    real_marks = marks[~rows["is_check"].astype(bool)] if "is_check" in rows.columns and not include_checks else marks
    if len(decisions) and (real_marks >= 0).all():
        workers = rows["worker_id"].nunique()
        raise AnalysisError(
            f"The rule {rule} would drop everybody ({workers} workers); loosen its settings or leave it out."
        )
    dropped = rows[marks >= 0].copy()
    reasons = [decisions[number] for number in marks[marks >= 0]]
    dropped["rule"] = pd.Series([decision.rule for decision in reasons], index=dropped.index, dtype="str")
    dropped["reason"] = pd.Series([decision.reason for decision in reasons], index=dropped.index, dtype="str")
    dropped["evidence"] = pd.Series([as_json(d.evidence) for d in reasons], index=dropped.index, dtype="str")
    dropped["settings"] = pd.Series([as_json(d.settings) for d in reasons], index=dropped.index, dtype="str")
    return decisions, dropped


def _marks(rows: pd.DataFrame, decisions: Sequence[Decision]) -> pd.Series:
    """For each row the number of the decision that drops it, or -1."""
    if not decisions:
        return pd.Series(-1, index=rows.index)
    columns = ["worker_id", *decisions[0].item]
    keys = [(decision.worker_id, *decision.item.values()) for decision in decisions]
    number = pd.Series(range(len(decisions)), index=pd.MultiIndex.from_tuples(keys, names=columns))
    row_keys = pd.MultiIndex.from_arrays([rows[column].astype("str") for column in columns], names=columns)
    return pd.Series(number.reindex(row_keys, fill_value=-1).to_numpy(), index=rows.index)


def preview(
    judgments: pd.DataFrame,
    rules: Sequence[Rule | str],
    *,
    seed: int = 0,
    ties: str = "first",
    quota: int | None = None,
    price: float = 0.0,
    level: str = "nominal",
    include_checks: bool = False,
) -> FilterPreview:
    """What the rules would do: agreement before and after, tasks that fall below the quota, cost to top them up.

    A task is one summary. Without a quota each task needs as many workers as it has now.
    """
    result = apply_rules(judgments, rules, seed, ties, include_checks)
    before, remaining = judgments, result.kept
    if not include_checks:
        before, remaining = without_checks(before), without_checks(remaining)
    n_before = before.groupby(["doc_id", "system"])["worker_id"].nunique()
    n_after = remaining.groupby(["doc_id", "system"])["worker_id"].nunique().reindex(n_before.index, fill_value=0)
    missing = (n_before if quota is None else n_before.clip(lower=quota, upper=quota)) - n_after
    missing = missing.clip(lower=0)
    return FilterPreview(
        result=result,
        workers_dropped=before["worker_id"].nunique() - remaining["worker_id"].nunique(),
        rows_dropped=len(before) - len(remaining),
        agreement_before=_alpha(before, level, include_checks),
        agreement_after=_alpha(remaining, level, include_checks),
        tasks_below=int((missing > 0).sum()),
        assignments_missing=int(missing.sum()),
        cost=float(missing.sum() * price),
        effect=filter_effect(judgments, rules, seed=seed, ties=ties, level=level, include_checks=include_checks),
    )


def filter_effect(
    judgments: pd.DataFrame,
    rules: Sequence[Rule | str],
    *,
    seed: int = 0,
    ties: str = "first",
    level: str = "nominal",
    include_checks: bool = False,
) -> SelectionEffect | None:
    """What the rules do to agreement, to that of shuffled answers, and to that of answers they didn't look at."""

    def apply(rows: pd.DataFrame) -> tuple[pd.DataFrame, Sequence[Decision]]:
        result = apply_rules(rows, rules, seed, ties, include_checks)
        return result.kept, result.decisions

    rows = latest(judgments.drop(columns="is_check", errors="ignore") if include_checks else judgments)
    return selection_effect(in_order(rows), rules_as_drop(apply, _marks), level, seed)


def _alpha(rows: pd.DataFrame, level: str, include_checks: bool) -> float:
    if rows["worker_id"].nunique() < 2 or is_mixed(rows):
        return float("nan")
    return agreement(rows, level=level, include_checks=include_checks)[0].value


make_callable(__name__, apply_rules)
