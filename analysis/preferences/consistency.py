"""Whether preferences mean something: position, transitivity, agreement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.agreement import agreement
from analysis.agreement.counts import Floats
from analysis.preferences.comparisons import TIE, check_pairs
from analysis.preferences.shares import Share, clustered_share
from analysis.sentence import Sentence
from analysis.tables import AnalysisError

SHOWN_FIRST = "shown_first"
CHANCE_OF_CYCLE = 0.25
"""Of the eight ways to answer three pairs, two go in a circle."""


@dataclass(frozen=True)
class Consistency:
    """What preferences say of themselves."""

    shown_first: Share | None
    """How often what was shown first was preferred, ties left out; 0.5 without a bias. None where it isn't recorded."""
    n_triads: int
    """Three summaries of which one person compared each pair, with no tie."""
    n_cycles: int
    """Triads that go in a circle: A before B, B before C, C before A."""
    alpha: float
    """Krippendorff's, nominal, each pair read in both directions, so that which system is called A doesn't matter."""
    alpha_low: float
    alpha_high: float
    alpha_note: str

    @property
    def cycles(self) -> float:
        """Share of circles among the triads; a quarter by chance."""
        return self.n_cycles / self.n_triads if self.n_triads else float("nan")


def consistency(preferences: pd.DataFrame, *, ci: int = 1000, seed: int = 0) -> Consistency:
    """Position bias, circles and agreement of a preferences table."""
    check_pairs(preferences)
    n_triads, n_cycles = _triads(preferences)
    alpha, low, high, note = _alpha(preferences, ci, seed)
    return Consistency(_position(preferences), n_triads, n_cycles, alpha, low, high, note)


def remarks(facts: Consistency) -> list[Sentence]:
    """What the answers say of themselves, in sentences."""
    alpha = {
        name: f"{value:.3f}" for name, value in (("a", facts.alpha), ("l", facts.alpha_low), ("h", facts.alpha_high))
    }
    sentences = [Sentence("Alpha %(a)s [%(l)s, %(h)s], each pair read both ways.", alpha)]
    if facts.alpha != facts.alpha:
        sentences = [Sentence("Agreement is undefined: %(reason)s", {"reason": facts.alpha_note})]
    if facts.n_triads:
        shares = {"share": f"{100 * facts.cycles:.1f}", "chance": f"{100 * CHANCE_OF_CYCLE:g}"}
        counts = {"n": str(facts.n_cycles), "all": str(facts.n_triads), **shares}
        sentences.append(
            Sentence("%(n)s of %(all)s triads go in a circle (%(share)s %%; %(chance)s %% by chance).", counts)
        )
    if position := facts.shown_first:
        figures = {name: f"{100 * getattr(position, name):.1f}" for name in ("value", "low", "high")}
        sentences.append(
            Sentence(
                "What was shown first was preferred in %(value)s %% of %(n)s answers [%(low)s, %(high)s]: %(bias)s.",
                {**figures, "n": position.n, "bias": _bias(position)},
            )
        )
    return sentences


def _bias(share: Share) -> Sentence:
    if share.low > 0.5:
        return Sentence("a bias to the first")
    return Sentence("a bias to the second") if share.high < 0.5 else Sentence("no bias can be told")


def _position(preferences: pd.DataFrame) -> Share | None:
    if SHOWN_FIRST not in preferences.columns:
        return None
    rows = preferences[(preferences["preferred"] != TIE) & (preferences[SHOWN_FIRST].fillna("") != "")]
    if rows.empty:
        return None
    is_first: Floats = np.asarray(rows["preferred"] == rows[SHOWN_FIRST], dtype=np.float64)
    return clustered_share(is_first, rows["doc_id"])


def _triads(preferences: pd.DataFrame) -> tuple[int, int]:
    """All triads of one person and document, and those that go in a circle."""
    keys = [column for column in ("doc_id", "unit", "worker_id") if column in preferences.columns]
    n_triads = n_cycles = 0
    for _, rows in preferences[preferences["preferred"] != TIE].groupby(keys, sort=False):
        winner = {
            frozenset(pair): preferred
            for *pair, preferred in rows[["system_a", "system_b", "preferred"]].itertuples(index=False)
        }
        for triad in combinations(sorted(set().union(*winner)), 3):
            winners = [winner.get(frozenset(pair)) for pair in combinations(triad, 2)]
            if None not in winners:
                n_triads += 1
                n_cycles += len(set(winners)) == 3
    return n_triads, n_cycles


def _alpha(preferences: pd.DataFrame, ci: int, seed: int) -> tuple[float, float, float, str]:
    undefined = float("nan")
    try:
        (result,) = agreement(_both_ways(preferences), ci=ci, seed=seed, include_checks=True)
    except AnalysisError as error:
        return undefined, undefined, undefined, str(error)
    return result.value, result.low, result.high, " ".join(result.notes)


def _both_ways(preferences: pd.DataFrame) -> pd.DataFrame:
    """As judgments of units: the pair, once from each side; 1 for its first system, 0 for the other, 0.5 for a tie."""
    unit = preferences["unit"] + ": " if "unit" in preferences.columns else ""
    is_tie = preferences["preferred"] == TIE
    sides = []
    for system, other in (("system_a", "system_b"), ("system_b", "system_a")):
        value = np.where(is_tie, 0.5, (preferences["preferred"] == preferences[system]).astype(float))
        side = {"doc_id": preferences["doc_id"], "system": preferences[system], "unit": unit + preferences[other]}
        sides.append(pd.DataFrame({**side, "worker_id": preferences["worker_id"], "value": value}))
    return pd.concat(sides, ignore_index=True)
