"""One person in several batches, a pilot and the main one: which of the answers to the same unit count.

The rule is stated, and said wherever the numbers go: `latest` (of a person's answers to a unit those of the latest
batch count), `separate` (each batch of such a person is a rater of its own), or the names of batches (only these
count, and of these the latest). A later round within a batch's line revises an answer and is no second one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.lazy import numpy as np
from analysis.lazy import pandas as pd
from analysis.sentence import Grouped, Sentence, join_sentences, some_of
from analysis.tables.checks import AnalysisError

LATEST, SEPARATE = "latest", "separate"
ANSWER = ("doc_id", "system", "unit", "worker_id")
JUDGED_AGAIN = Sentence("The worker judged this again in a later batch.")
OTHER_BATCH = Sentence("The batch is none of those that count.")
if TYPE_CHECKING:
    Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class BatchChoice:
    """The judgments that count under a rule, and what was set aside."""

    judgments: pd.DataFrame
    set_aside: pd.DataFrame
    """The others, with `rule`, `reason`, `evidence` and `settings` as a filter writes them."""
    rule: str
    """`latest`, `separate` or the names that were chosen, for provenance."""
    sentence: str = ""
    """For methods; empty where the rule decided nothing."""
    raters: dict[tuple[str, str], str] = field(default_factory=dict)
    """Under `separate`, for a worker in a batch the batch that names the rater (see `rater_name`)."""

    @property
    def workers(self) -> dict[str, str]:
        """The worker behind each rater who has a name of its own."""
        return {rater_name(worker, root): worker for (worker, _batch), root in self.raters.items()}


def choose_batches(
    judgments: pd.DataFrame, batches: str | Sequence[str] = LATEST, order: Sequence[str] = ()
) -> BatchChoice:
    """The judgments that count. `order` tells which batch is later where `submitted_at` doesn't."""
    names = [batches] if isinstance(batches, str) else list(batches) or [LATEST]
    if names not in ([LATEST], [SEPARATE]):
        return _chosen(judgments, names, order)
    lines = _lines(judgments, order)
    if lines is None:
        return BatchChoice(judgments, _with_reasons(judgments.iloc[:0], "", names[0]), names[0])
    return _separate(judgments, lines) if names == [SEPARATE] else _latest(judgments, lines)


def latest_batches(judgments: pd.DataFrame) -> pd.DataFrame:
    """Of each person's answers to a unit those of the latest batch."""
    return choose_batches(judgments).judgments


@dataclass(frozen=True)
class _Lines:
    """Answers of one person to one unit stand in one line if a later round revised them; another batch is another."""

    rows: Ints
    """Positions of the answers that somebody gave in several batches."""
    batch: pd.Series
    """For each of them the batch that its line began in."""
    is_last: np.ndarray[Any, np.dtype[np.bool_]]
    """Whether its line is the last one of this person and unit."""
    order: list[str]
    """The batches that are concerned, earliest first."""


def _lines(judgments: pd.DataFrame, order: Sequence[str]) -> _Lines | None:
    """None where nobody judged a unit in several batches."""
    from analysis.tables.keys import key_codes  # it needs pandas at once

    if "batch" not in judgments.columns or judgments["batch"].nunique() < 2:
        return None
    key = key_codes(judgments, ANSWER)
    if pd.Series(key).is_unique:
        return None
    batch = judgments["batch"].reset_index(drop=True)
    rows = np.flatnonzero(batch.groupby(key).transform("nunique").to_numpy() > 1)
    if not len(rows):
        return None
    names = _in_order(judgments, sorted(batch.iloc[rows].unique()), order)
    rank = batch.iloc[rows].map({name: number for number, name in enumerate(names)}).to_numpy()
    rounds = (
        judgments["round"].fillna(0).to_numpy(dtype=np.int64)[rows] if "round" in judgments else np.zeros_like(rows)
    )
    places = np.lexsort((rounds, rank, key[rows]))
    rows, rank, rounds = rows[places], rank[places], rounds[places]
    is_new_key = np.diff(key[rows], prepend=-1) != 0
    starts = is_new_key | ((np.diff(rank, prepend=-1) != 0) & (np.diff(rounds, prepend=rounds[0] + 1) <= 0))
    line = np.cumsum(starts)
    last_line = pd.Series(line).groupby(key[rows]).transform("max").to_numpy()
    return _Lines(rows, batch.iloc[rows[starts][line - 1]].set_axis(range(len(rows))), line == last_line, names)


def _in_order(judgments: pd.DataFrame, names: list[str], order: Sequence[str]) -> list[str]:
    """The batches by when their first answer was submitted; without times by `order`, then by round."""
    rows = judgments[judgments["batch"].isin(names)]
    times = pd.Series(pd.NaT, index=names)
    if "submitted_at" in rows:
        moments = pd.to_datetime(rows["submitted_at"], utc=True, format="ISO8601", errors="coerce")
        times = moments.groupby(rows["batch"]).min()
    if times.notna().all() and times.is_unique:
        return sorted(names, key=lambda name: times[name])
    if set(names) <= set(order):
        return sorted(names, key=list(order).index)
    rounds = rows.groupby("batch")["round"].min().fillna(0) if "round" in rows else pd.Series(0, index=names)
    if rounds.is_unique:
        return sorted(names, key=lambda name: rounds[name])
    raise AnalysisError(
        f"Somebody judged the same units in the batches {some_of(names)}, and no submitted_at says which is the last; "
        f"choose some by name (--batches {names[0]}) or count all of them (--batches {SEPARATE})."
    )


def _latest(judgments: pd.DataFrame, lines: _Lines) -> BatchChoice:
    left_out = np.zeros(len(judgments), dtype=bool)
    left_out[lines.rows[~lines.is_last]] = True
    values: dict[str, str | int] = {
        "judgments": Grouped(int(left_out.sum())),
        "workers": Grouped(judgments["worker_id"].iloc[lines.rows].nunique()),
        "batches": ", ".join(lines.order),
    }
    sentence = Sentence(
        "Where a worker judged the same unit in several batches, the answers of the latest batch count (set aside: "
        "%(judgments)s; workers: %(workers)s; batches in order: %(batches)s).",
        values,
    )
    return _split(judgments, left_out, JUDGED_AGAIN, LATEST, sentence)


def _separate(judgments: pd.DataFrame, lines: _Lines) -> BatchChoice:
    """Workers who judged a unit in several batches become one rater for each of their batches."""
    workers, batches = (judgments[name].astype("str").reset_index(drop=True) for name in ("worker_id", "batch"))
    is_apart = workers.isin(workers.iloc[lines.rows].unique())
    pairs = list(zip(workers, batches, strict=True))
    raters = {pair: pair[1] for pair, apart in zip(pairs, is_apart, strict=True) if apart}
    raters |= {pairs[row]: first for row, first in zip(lines.rows.tolist(), lines.batch, strict=True)}
    names = [rater_name(pair[0], raters[pair]) if pair in raters else pair[0] for pair in pairs]
    sentence = Sentence(
        "Where a worker judged the same unit in several batches, each batch counts as a rater of its own (workers: "
        "%(workers)s; batches: %(batches)s).",
        {"workers": Grouped(workers.iloc[lines.rows].nunique()), "batches": ", ".join(lines.order)},
    )
    separated = judgments.assign(worker_id=pd.Series(names, index=judgments.index, dtype="str"))
    return BatchChoice(separated, _with_reasons(judgments.iloc[:0], "", SEPARATE), SEPARATE, sentence, raters)


def rater_name(worker: str, batch: str) -> str:
    """What a worker is called who counts as a rater of their own in a batch."""
    return f"{worker} [{batch}]"


def _chosen(judgments: pd.DataFrame, names: list[str], order: Sequence[str]) -> BatchChoice:
    if "batch" not in judgments.columns:
        raise AnalysisError("The judgments have no column 'batch', so that none can be chosen by --batches.")
    available = sorted(set(judgments["batch"]))
    batches = _known(names, available)
    is_other = ~judgments["batch"].isin(batches).to_numpy()
    sentence = Sentence(
        "Only these batches count: %(batches)s (judgments of others, set aside: %(judgments)s).",
        {"batches": ", ".join(batches), "judgments": Grouped(int(is_other.sum()))},
    )
    choice = _split(judgments, is_other, OTHER_BATCH, ", ".join(batches), sentence)
    repeated = choose_batches(choice.judgments, LATEST, order)
    set_aside = pd.concat([choice.set_aside, repeated.set_aside], ignore_index=True)
    text = join_sentences([sentence, repeated.sentence] if repeated.sentence else [sentence])
    return BatchChoice(repeated.judgments, set_aside, choice.rule, text)


def none_of_them(judgments: pd.DataFrame) -> pd.DataFrame:
    """All of these judgments as set aside."""
    return _with_reasons(judgments, OTHER_BATCH, "")


def _known(names: list[str], available: list[str]) -> list[str]:
    """Names one by one or with commas between them; a name that holds a comma itself is looked up first."""
    batches: list[str] = []
    for name in names:
        batch_names = [name] if name in available else [batch.strip() for batch in name.split(",")]
        for batch in batch_names:
            if batch not in available:
                raise AnalysisError(
                    f"There is no batch {batch!r}; there are {some_of(available, 10)}. "
                    f"Beside names there are {LATEST} and {SEPARATE}."
                )
        batches += batch_names
    return list(dict.fromkeys(batches))


def _split(
    judgments: pd.DataFrame,
    left_out: np.ndarray[Any, np.dtype[np.bool_]],
    reason: str,
    rule: str,
    sentence: str,
) -> BatchChoice:
    set_aside = _with_reasons(judgments[left_out], reason, rule)
    return BatchChoice(judgments[~left_out].reset_index(drop=True), set_aside, rule, sentence)


def _with_reasons(rows: pd.DataFrame, reason: str, rule: str) -> pd.DataFrame:
    settings = json.dumps({"batches": rule}, ensure_ascii=False)
    cells = {"rule": "batches", "reason": str(reason), "evidence": "{}", "settings": settings}
    columns = {name: pd.Series([cell] * len(rows), dtype="str", index=rows.index) for name, cell in cells.items()}
    return rows.assign(**columns).reset_index(drop=True)
