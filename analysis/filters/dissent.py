"""Workers who disagree with the others: on one item (REALSumm), or over everything (LitePyramid)."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement import agreement
from analysis.agreement.counts import codes_of, count
from analysis.filters.base import Decision, Evidence, Setting, rule
from analysis.sentence import Sentence
from analysis.tables import AnalysisError

TIES = ("first", "random", "all", "none")


@rule("majority-dissent", per="doc_id,system")
def majority_dissent(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """On each item the worker who is outvoted on the largest number of units is dropped (REALSumm).

    A unit has a majority only when more than half of its answers are the same: 2-2 counts against nobody. One
    worker with the largest count is dropped if that count is above 0; which of several equally bad ones is the
    policy for ties: the first by assignment id, for the place of a pseudonym is chance (by worker id where there are no
    assignments), one at random, all of them, or none.
    """
    columns = [name.strip() for name in str(settings["per"]).split(",")]
    rows = evidence.rows
    outvoted = _outvoted(rows)
    item, _ = codes_of(rows, columns)
    table = (
        pd.DataFrame(
            {"item": item, "worker_id": rows["worker_id"], "outvoted": outvoted, "assignment": _assignments(rows)}
        )
        .groupby(["item", "worker_id"], sort=True)
        .agg(dissent=("outvoted", "sum"), units=("outvoted", "size"), assignment=("assignment", "min"))
        .reset_index()
        .sort_values(["item", "assignment", "worker_id"])
    )
    worst = table.groupby("item")["dissent"].transform("max")
    places = rows[columns].astype(str).assign(item=item).drop_duplicates("item").set_index("item").to_dict("index")
    decisions = []
    dissenters = table[(table["dissent"] == worst) & (worst > 0)].to_dict("records")
    for code, group in groupby(dissenters, key=itemgetter("item")):
        tied, place = list(group), {name: places[code][name] for name in columns}
        for position in _choose(len(tied), evidence):
            decisions.append(_dissenter(tied[position], len(tied), place, evidence.ties, settings))
    return decisions


def _assignments(rows: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each row's assignment among all of them; 0 throughout where there are none."""
    if "assignment_id" not in rows.columns:
        return np.zeros(len(rows), dtype=np.int64)
    return codes_of(rows.assign(assignment_id=rows["assignment_id"].fillna("")), ["assignment_id"])[0]


def _outvoted(rows: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each judgment whether a strict majority of its unit says something else."""
    counts = count(rows)
    strict = counts.table.max(axis=1) * 2 > counts.table.sum(axis=1)
    winner = counts.table.argmax(axis=1)
    return np.asarray(strict[counts.unit_of] & (winner[counts.unit_of] != counts.value_of))


def _choose(tied: int, evidence: Evidence) -> list[int]:
    if tied == 1 or evidence.ties == "first":
        return [0]
    if evidence.ties == "random":
        return [int(evidence.rng.integers(tied))]
    return list(range(tied)) if evidence.ties == "all" else []


def _dissenter(
    row: dict[Hashable, Any], tied: int, place: dict[str, str], ties: str, settings: dict[str, Setting]
) -> Decision:
    dissent, units = int(row["dissent"]), int(row["units"])
    item = ", ".join(f"{name} {value}" for name, value in place.items())
    reason = Sentence(
        "Outvoted on %(dissent)s of %(units)s units of %(where)s, more than anybody else there.",
        {"dissent": dissent, "units": units, "where": item},
    )
    if tied > 1:
        reason = Sentence(
            "Outvoted on %(dissent)s of %(units)s units of %(where)s, like %(others)s other(s) (ties: %(ties)s).",
            {"dissent": dissent, "units": units, "where": item, "others": tied - 1, "ties": ties},
        )
    numbers = {"dissent": dissent, "units": units, "tied": tied}
    return Decision("majority-dissent", str(row["worker_id"]), reason, numbers, {**settings, "ties": ties}, place)


@rule("worker-agreement", threshold=0.35, measure="alpha", level="nominal", minimum=10)
def worker_agreement(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker whose agreement with the others over everything is below a threshold is dropped (LitePyramid).

    Leave-one-out: each answer is compared with the other workers' answers to the same unit. `measure` alpha
    corrects for chance, raw does not. Workers with fewer than `minimum` shared answers are left alone.
    """
    measure = str(settings["measure"])
    if measure not in ("alpha", "raw"):
        raise AnalysisError(f"worker-agreement knows no measure {measure!r}; there are alpha and raw.")
    results = agreement(evidence.rows, coefficient=measure, level=str(settings["level"]), by="worker_id")
    decisions = []
    for result in results:
        # An undefined agreement (everybody gave one value only) is below nothing.
        if result.n_units >= int(settings["minimum"]) and result.value < float(settings["threshold"]):
            reason = Sentence(
                "Agreement with the others is %(value)s (%(measure)s) over %(n)s answers, below %(threshold)s.",
                {
                    "value": f"{result.value:.3f}",
                    "measure": measure,
                    "n": result.n_units,
                    "threshold": f"{float(settings['threshold']):g}",
                },
            )
            numbers = {"agreement": result.value, "answers": result.n_units}
            decisions.append(Decision("worker-agreement", str(result.group), reason, numbers, settings))
    return decisions
