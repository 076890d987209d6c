"""Workers whose way of answering gives them away: failed checks, haste, one answer to everything, paste and focus."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from analysis.agreement.counts import Floats, count
from analysis.filters.base import Decision, Evidence, Setting, rule
from analysis.sentence import Sentence
from analysis.tables import AnalysisError

MAD = 1.4826
"""The median absolute deviation times this is the standard deviation of a normal distribution."""


@rule("checks", max_failed=0.25, minimum=3, expected="expected")
def checks(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker who fails too large a share of the check items is dropped.

    The right answer is in the column named by `expected`, or is `expected` itself when that is a number; without
    either, and where the cell is empty, it is 0, the answer to a BLANK statement.
    """
    rows = evidence.checks
    if rows.empty:
        raise AnalysisError("The rule checks needs check items (rows with is_check); there are none.")
    failed = rows["value"].to_numpy() != expected_answers(rows, str(settings["expected"]))
    table = pd.DataFrame({"worker_id": rows["worker_id"], "failed": failed}).groupby("worker_id")["failed"]
    decisions = []
    for worker, n_failed, size in zip(table.sum().index, table.sum(), table.size(), strict=True):
        if size >= int(settings["minimum"]) and n_failed / size > float(settings["max_failed"]):
            reason = Sentence(
                "Failed %(wrong)s of %(size)s check items, more than %(share)s%%.",
                {"wrong": n_failed, "size": size, "share": f"{100 * float(settings['max_failed']):.0f}"},
            )
            decisions.append(Decision("checks", str(worker), reason, {"failed": n_failed, "checks": size}, settings))
    return decisions


def expected_answers(rows: pd.DataFrame, expected: str = "expected") -> Floats:
    """The right answers to check items: from the column of that name, or a number for all; 0 where nothing is said."""
    if expected in rows.columns:
        return np.nan_to_num(numbers(rows, expected), nan=0.0)
    try:
        return np.full(len(rows), float(expected))
    except ValueError:
        if expected != "expected":
            raise AnalysisError(
                f"The judgments have no column {expected!r} with the right answers to the checks."
            ) from None
        return np.zeros(len(rows))


def numbers(rows: pd.DataFrame, column: str) -> Floats:
    """An extra column as numbers (in CSV files extra columns are text)."""
    if column not in rows.columns:
        raise AnalysisError(f"The judgments have no column {column!r}; they have {', '.join(rows.columns)}.")
    values = pd.to_numeric(rows[column].replace("", np.nan), errors="coerce")
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


@rule("time", z=3.5, floor=0.0, minimum=3)
def time(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker who answers implausibly fast is dropped: by robust z-score, and below a floor in seconds.

    Each worker is its median of log seconds; z is the distance below the median of the workers, in units of
    1.4826 times the median absolute deviation.
    """
    seconds = numbers(evidence.rows, "seconds")
    usable = seconds > 0
    rows = pd.DataFrame({"worker_id": evidence.rows["worker_id"], "seconds": seconds})[usable]
    if rows.empty:
        raise AnalysisError("The rule time needs the column seconds with numbers above 0; there are none.")
    table = rows.groupby("worker_id")["seconds"].agg(["median", "size"])
    logs = np.log(table["median"])
    spread = MAD * float((logs - logs.median()).abs().median())
    score = (logs - logs.median()) / spread if spread > 0 else logs * 0
    decisions = []
    for worker, typical, size, z in zip(table.index, table["median"], table["size"], score, strict=True):
        if size < int(settings["minimum"]):
            continue
        evidence_of = {"median_seconds": float(typical), "z": float(z), "answers": int(size)}
        if typical < float(settings["floor"]):
            reason = Sentence(
                "Took %(typical)s s per answer (median), below the floor of %(floor)s s.",
                {"typical": f"{typical:.2f}", "floor": f"{float(settings['floor']):g}"},
            )
        elif z < -float(settings["z"]):
            reason = Sentence(
                "Took %(typical)s s per answer (median), %(z)s robust deviations faster than the others.",
                {"typical": f"{typical:.2f}", "z": f"{-z:.1f}"},
            )
        else:
            continue
        decisions.append(Decision("time", str(worker), reason, evidence_of, settings))
    return decisions


@rule("straightlining", alpha=0.0001, share=0.9, minimum=10, period=4)
def straightlining(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker whose answers are constant or periodic beyond chance is dropped.

    Constant: at least `share` of the answers are the same, and that is improbable (below `alpha`) given what the
    others answered to the same units. Periodic: answers repeat at a lag of up to `period` more often than the
    worker's own mixture of answers explains, by the binomial distribution, corrected for the number of lags.
    """
    rows = evidence.rows
    counts = count(rows)
    order = _reading_order(rows)
    worker, names = pd.factorize(rows["worker_id"], sort=True)
    other_answers = counts.table[counts.unit_of]
    other_answers[np.arange(len(other_answers)), counts.value_of] -= 1
    # One imagined answer spread over the values in the study's proportions keeps unanimous units from proving much.
    share = counts.table.sum(axis=0) / counts.table.sum()
    expected = (other_answers + share) / (other_answers.sum(axis=1, keepdims=True) + 1)
    decisions = []
    for code, name in enumerate(names):
        worker_rows = order[worker[order] == code]
        if len(worker_rows) >= int(settings["minimum"]):
            pattern = _straight(counts.value_of[worker_rows], expected[worker_rows], counts.values, settings)
            if pattern is not None:
                decisions.append(Decision("straightlining", str(name), pattern[0], pattern[1], settings))
    return decisions


def _reading_order(rows: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    columns = [name for name in ("submitted_at", "doc_id", "system", "assignment_id", "position") if name in rows]
    ordered = rows.reset_index(drop=True).sort_values([*columns, "unit"], kind="stable")
    return ordered.index.to_numpy(dtype=np.int64)


def _straight(
    codes: np.ndarray[tuple[int], np.dtype[np.int64]], expected: Floats, values: Floats, settings: dict[str, Setting]
) -> tuple[str, dict[str, object]] | None:
    size, alpha = len(codes), float(settings["alpha"])
    answers = np.bincount(codes, minlength=len(values))
    commonest = int(answers.argmax())
    mean, variance = expected[:, commonest].sum(), (expected[:, commonest] * (1 - expected[:, commonest])).sum()
    if answers[commonest] / size >= float(settings["share"]) and variance > 0:
        p = float(stats.norm.sf((answers[commonest] - 0.5 - mean) / np.sqrt(variance)))
        if p < alpha:
            reason = Sentence(
                "Answered %(value)s to %(same)s of %(size)s units (p = %(p)s given the others).",
                {"value": f"{values[commonest]:g}", "same": int(answers[commonest]), "size": size, "p": f"{p:.1g}"},
            )
            return reason, {"value": float(values[commonest]), "same": int(answers[commonest]), "answers": size, "p": p}
    chance = float(((answers / size) ** 2).sum())
    for lag in range(2, int(settings["period"]) + 1):
        n_same = int((codes[lag:] == codes[:-lag]).sum())
        p = float(stats.binom.sf(n_same - 1, size - lag, chance)) * (int(settings["period"]) - 1)
        if n_same / (size - lag) >= float(settings["share"]) and p < alpha and answers[commonest] / size < 0.9:
            reason = Sentence(
                "Answers repeat every %(lag)s units in %(same)s of %(size)s places (p = %(p)s by chance).",
                {"lag": lag, "same": n_same, "size": size - lag, "p": f"{p:.1g}"},
            )
            return reason, {"period": lag, "same": n_same, "answers": size, "p": p}
    return None


@rule("signals", pastes="pastes", focus="focus_losses", max_paste_share=0.5, z=3.5, minimum=3)
def signals(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker who pastes into most assignments, or leaves the page far more often than the others, is dropped.

    `pastes` and `focus` name the columns that count paste events and losses of focus; one of them is enough.
    """
    rows = evidence.rows
    columns = [str(settings[name]) for name in ("pastes", "focus")]
    if not any(column in rows.columns for column in columns):
        raise AnalysisError(f"The rule signals needs a column {columns[0]} or {columns[1]}; there is neither.")
    task = ["worker_id", "assignment_id"] if "assignment_id" in rows else ["worker_id", "doc_id", "system"]
    decisions = {}
    if columns[1] in rows.columns:
        decisions.update(_focus(rows.assign(count=numbers(rows, columns[1])), task, settings))
    if columns[0] in rows.columns:
        decisions.update(_pastes(rows.assign(count=numbers(rows, columns[0])), task, settings))
    return [decisions[worker] for worker in sorted(decisions)]


def _pastes(rows: pd.DataFrame, task: list[str], settings: dict[str, Setting]) -> dict[str, Decision]:
    pasted = rows.groupby(task)["count"].max().gt(0).groupby("worker_id").agg(["sum", "size"])
    decisions = {}
    for worker, pasted_in, size in zip(pasted.index, pasted["sum"], pasted["size"], strict=True):
        if size >= int(settings["minimum"]) and pasted_in / size > float(settings["max_paste_share"]):
            reason = Sentence("Pasted text in %(pasted)s of %(size)s assignments.", {"pasted": pasted_in, "size": size})
            numbers_of = {"pasted": int(pasted_in), "assignments": int(size)}
            decisions[str(worker)] = Decision("signals", str(worker), reason, numbers_of, settings)
    return decisions


def _focus(rows: pd.DataFrame, task: list[str], settings: dict[str, Setting]) -> dict[str, Decision]:
    losses = np.log1p(rows.groupby(task)["count"].max().fillna(0)).groupby("worker_id").agg(["mean", "size"])
    spread = MAD * float((losses["mean"] - losses["mean"].median()).abs().median())
    decisions = {}
    for worker, mean, size in zip(losses.index, losses["mean"], losses["size"], strict=True):
        z = (mean - float(losses["mean"].median())) / spread if spread > 0 else 0.0
        if size >= int(settings["minimum"]) and z > float(settings["z"]):
            times = float(np.expm1(mean))
            reason = Sentence(
                "Left the page %(times)s times per assignment, %(z)s robust deviations above the others.",
                {"times": f"{times:.1f}", "z": f"{z:.1f}"},
            )
            numbers_of = {"losses": times, "z": float(z), "assignments": int(size)}
            decisions[str(worker)] = Decision("signals", str(worker), reason, numbers_of, settings)
    return decisions
