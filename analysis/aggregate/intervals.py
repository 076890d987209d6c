"""Intervals of human scores that know that workers err.

How often a worker errs shows in how often two disagree about the same unit. From it follows how often a vote is wrong,
and what share of the units is really present when a given share was voted present (Rogan and Gladen 1978).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.agreement.counts import Floats, count

VOTES = ("majority", "mean")
"""Schemes whose mistakes follow from the workers'; models estimate mistakes themselves."""
MOST_ERRORS = 0.45
"""Workers who err more often than that are guessing; a vote of theirs says nothing that could be put right."""


@dataclass(frozen=True)
class VoteErrors:
    """How a vote decides units that are present, and units that aren't."""

    present: float
    """Mean decided value of units that are present: 1 if votes never err."""
    absent: float

    def true_share(self, decided: Floats) -> Floats:
        """The share of units that are present when so large a share was decided present."""
        return np.clip((decided - self.absent) / (self.present - self.absent), 0, 1)


def worker_error(rows: pd.DataFrame) -> float:
    """How often a worker errs on a yes/no unit: errors e make two disagree with the probability 2 e (1 − e)."""
    table = count(rows).table
    size = table.sum(axis=1)
    pairs = (size * (size - 1)).sum()
    if table.shape[1] < 2 or pairs <= 0:
        return 0.0
    disagreement = 1 - (table * (table - 1)).sum() / pairs
    return float(min((1 - np.sqrt(max(1 - 2 * disagreement, 0))) / 2, MOST_ERRORS))


def vote_errors(error: float, answers: int, scheme: str, ties: str) -> VoteErrors:
    """What a vote of so many workers makes of present and absent units."""
    if scheme == "mean":
        return VoteErrors(1 - error, error)
    return VoteErrors(*(_decided(rate, answers, ties) for rate in (1 - error, error)))


def _decided(rate: float, answers: int, ties: str) -> float:
    """The mean decision of a vote in which everybody says yes with the probability `rate`."""
    votes = stats.binom(answers, rate)
    half = answers // 2
    is_even = answers % 2 == 0
    yes, tied = float(votes.sf(half)), float(votes.pmf(half)) if is_even else 0.0
    if ties == "drop":
        return yes / (1 - tied)
    return yes + tied * {"not-present": 0.0, "present": 1.0, "half": 0.5}[ties]


def recall_limits(scores: pd.DataFrame, rows: pd.DataFrame, scheme: str, ties: str) -> tuple[Floats, Floats]:
    """Limits of each summary's recall: Wilson's for other units, put right for votes that err."""
    present, units = (scores[name].to_numpy(dtype=np.float64) for name in ("present", "n_units"))
    low, high = wilson(present, units)
    error = worker_error(rows) if scheme in VOTES else 0.0
    if error == 0:
        return low, high
    answers = np.maximum(np.rint(scores["n_judgments"].to_numpy() / units), 1).astype(int)
    for size in np.unique(answers):
        votes, of_size = vote_errors(error, int(size), scheme, ties), answers == size
        low[of_size], high[of_size] = votes.true_share(low[of_size]), votes.true_share(high[of_size])
    value = present / units
    return np.minimum(low, value), np.maximum(high, value)


def wilson(present: Floats, units: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson's interval for a share: how far the recall could differ had other units been written."""
    z = stats.norm.ppf((1 + confidence) / 2)
    share, size = present / units, units
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    reach = z * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    return np.maximum(centre - reach, 0), np.minimum(centre + reach, 1)


def rating_reach(rows: pd.DataFrame, summary: list[str]) -> Floats:
    """How far the mean rating of each summary may lie from that of all workers, in the order of the summaries.

    The spread between workers is that of all summaries together: three workers who happen to say the same don't make a
    mean that is beyond doubt.
    """
    by_summary = rows.groupby(summary, sort=True)["value"]
    n = by_summary.size().to_numpy(dtype=np.float64)
    freedom = float((n - 1).sum())
    if freedom < 1:
        return np.full(len(n), np.nan)
    squares = float(((rows["value"] - by_summary.transform("mean")) ** 2).sum())
    return np.asarray(stats.t.ppf(0.975, freedom) * np.sqrt(squares / freedom / n))
