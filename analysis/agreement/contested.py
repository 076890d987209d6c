"""Which answers are contested, and so deserve a second look.

Ratings follow SummEval (Fabbri et al. 2021, section 4.2): a score more than `gap` points away from another one, where
all the others lie within `near` points of each other, is looked at again by the expert who gave it; a difference of
more than `gap` points without that pattern, by everybody. Present/Not-present answers are contested where no value
has a clear majority: then everybody looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from analysis.agreement.counts import UNIT as UNIT_COLUMNS
from analysis.agreement.counts import latest
from analysis.tables.where import without_checks

UNIT = list(UNIT_COLUMNS)
ALONE, APART, SPLIT = "alone", "apart", "split"


def contested_ratings(judgments: pd.DataFrame, *, gap: float = 2, near: float = 1) -> pd.DataFrame:
    """The rows to be looked at again, with a column `reason`: `alone` or `apart`."""
    return _marked(judgments, lambda values: rating_reasons(values, gap, near))


def contested_units(judgments: pd.DataFrame, *, majority: float = 0.5) -> pd.DataFrame:
    """The rows of units where no answer has more than `majority` of the voices; `reason` is `split`."""
    return _marked(judgments, lambda values: unit_reasons(values, majority))


def contested(judgments: pd.DataFrame, spread: float = 2, near: float = 1) -> pd.DataFrame:
    """Who should look at a rating again, one row per judgment, with the reason as a sentence.

    Checks are left out, and of several rounds the last answer is taken. `spread` is what `gap` is above.
    """
    rows = latest(without_checks(judgments))
    contested_rows = contested_ratings(rows, gap=spread, near=near).sort_values(UNIT, kind="stable", ignore_index=True)
    wide = rows.merge(contested_rows[UNIT].drop_duplicates(), on=UNIT)
    scores = {key: sorted(values) for key, values in wide.groupby(UNIT)["value"]}
    cells = contested_rows[[*UNIT, "value", "reason"]].itertuples(index=False, name=None)
    sentences = [_sentence(scores[*unit], value, reason, spread) for *unit, value, reason in cells]
    return contested_rows.assign(reason=pd.Series(sentences, dtype=object))[[*UNIT, "worker_id", "value", "reason"]]


def _sentence(scores: list[float], value: float, reason: str, spread: float) -> str:
    if reason == ALONE:
        other_scores = list(scores)
        other_scores.remove(value)
        return f"differs by more than {spread:g} from the others ({_listed(other_scores)})"
    return f"scores differ by more than {spread:g} ({_listed(scores)})"


def _listed(scores: Sequence[float]) -> str:
    return ", ".join(f"{score:g}" for score in scores)


def widest_spread(judgments: pd.DataFrame, limit: int = 50) -> pd.DataFrame:
    """The units on which the judges differ most, without checks: deviation, number and mean of the last answers."""
    spread = latest(without_checks(judgments)).groupby(UNIT)["value"].agg(["std", "count", "mean"]).reset_index()
    order = ["std", "count", *UNIT]
    worst = spread[spread["std"] > 0].sort_values(order, ascending=[False, False, True, True, True])
    return worst.head(limit).reset_index(drop=True)


def _marked(judgments: pd.DataFrame, reasons: Callable[[Sequence[float]], list[str]]) -> pd.DataFrame:
    codes = judgments.groupby(UNIT, sort=False).ngroup().tolist()
    values = judgments["value"].tolist()
    places_of: dict[int, list[int]] = {}
    for place, code in enumerate(codes):
        places_of.setdefault(code, []).append(place)
    column = [""] * len(judgments)
    for places in places_of.values():
        answers = [values[place] for place in places]
        if min(answers) != max(answers):
            for place, reason in zip(places, reasons(answers), strict=True):
                column[place] = reason
    with_reasons = judgments.assign(reason=pd.Series(column, index=judgments.index, dtype=object))
    return with_reasons[with_reasons["reason"] != ""]


def rating_reasons(values: Sequence[float], gap: float, near: float) -> list[str]:
    """For each value why it is looked at again; empty for the ones that stand."""
    if max(values) - min(values) <= gap:
        return [""] * len(values)
    lone_places = [place for place in range(len(values)) if _is_alone(values, place, gap, near)]
    if len(lone_places) == 1:
        return [ALONE if place == lone_places[0] else "" for place in range(len(values))]
    # Two who differ are both alone: the rule can't tell who is off, so both look again.
    return [APART] * len(values)


def _is_alone(values: Sequence[float], place: int, gap: float, near: float) -> bool:
    other_values = [*values[:place], *values[place + 1 :]]
    far = max(abs(values[place] - value) for value in other_values) > gap
    return far and max(other_values) - min(other_values) <= near


def unit_reasons(values: Sequence[float], majority: float) -> list[str]:
    """`split` for every value where none has more than `majority` of the voices; else they all stand."""
    largest_vote = max(values.count(value) for value in set(values))
    return ["" if largest_vote > majority * len(values) else SPLIT] * len(values)
