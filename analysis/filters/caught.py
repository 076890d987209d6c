"""Which rules caught whom, and what a filter is worth where the right answers are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.filters import preview
from analysis.filters.base import Decision
from analysis.tables.where import without_checks


def caught_by(decisions: Iterable[Decision], judgments: pd.DataFrame) -> dict[str, list[str]]:
    """Who is dropped everywhere, or on more than half of what they judged, and by which rules.

    A rule such as majority-dissent drops somebody from nearly every task: once or twice says nothing about a person.
    """
    n_summaries = judgments[["worker_id", "doc_id", "system"]].drop_duplicates().groupby("worker_id").size()
    shares: dict[tuple[str, str], float] = {}
    for decision in decisions:
        share = 1 / int(n_summaries.get(decision.worker_id, 1)) if decision.item else 1.0
        key = (decision.worker_id, decision.rule)
        shares[key] = shares.get(key, 0.0) + share
    rules: dict[str, list[str]] = {}
    for (worker, rule), share in shares.items():
        if share > 0.5:
            rules.setdefault(worker, []).append(rule)
    return rules


@dataclass(frozen=True)
class Examined:
    """A filter held against the truth, while all answers still counted."""

    rules: tuple[str, ...]
    caught: dict[str, tuple[str, ...]]
    """Worker -> the rules that drop answers of theirs."""
    answers: dict[str, float]
    """Worker -> the share of right answers."""
    agreement_before: float | None
    agreement_after: float | None
    right_before: float | None
    right_after: float | None
    lost: int
    """Assignments that the filter leaves out."""


def examine_filter(judgments: pd.DataFrame, rules: Sequence[str], *, seed: int = 0, level: str = "nominal") -> Examined:
    """What the rules drop, and how much better the rest is. The column `right` says whether an answer is the true one.

    Without judgments or rules nothing is dropped.
    """
    before = share_right(judgments)
    shares = {} if before is None else without_checks(judgments).groupby("worker_id")["right"].mean().to_dict()
    answers = {str(worker): float(share) for worker, share in shares.items()}
    if judgments.empty or not rules:
        return Examined((), {}, answers, None, None, before, before, 0)
    effect = preview(judgments, rules, seed=seed, level=level)
    remaining = effect.result.kept
    return Examined(
        rules=tuple(rules),
        caught={worker: tuple(names) for worker, names in caught_by(effect.result.decisions, judgments).items()},
        answers=answers,
        agreement_before=effect.agreement_before,
        agreement_after=effect.agreement_after,
        right_before=before,
        right_after=share_right(remaining),
        lost=len(set(judgments["assignment_id"]) - set(remaining["assignment_id"])),
    )


def share_right(judgments: pd.DataFrame) -> float | None:
    """The share of right answers by the column `right`, checks left out; None where there are none."""
    real = without_checks(judgments)
    return None if real.empty else float(real["right"].mean())
