"""Which first-round answers are contested, and so deserve a second look. Plain rules on tables, no database.

Ratings follow SummEval (Fabbri et al. 2021, section 4.2): a score more than `gap` points away from another one, where
all the others lie within `near` points of each other, is looked at again by the expert who gave it; a difference of
more than `gap` points without that pattern, by everybody. Present/Not-present answers are contested where no value
has a clear majority: then everybody looks again.
"""

from collections.abc import Callable, Sequence

import pandas as pd

UNIT = ["doc_id", "system", "unit"]
ALONE, APART, SPLIT = "alone", "apart", "split"


def contested_ratings(judgments: pd.DataFrame, *, gap: float = 2, near: float = 1) -> pd.DataFrame:
    """The rows to be looked at again, with a column `reason`: `alone` or `apart`."""
    return _marked(judgments, lambda values: rating_reasons(values, gap, near))


def contested_units(judgments: pd.DataFrame, *, majority: float = 0.5) -> pd.DataFrame:
    """The rows of units where no answer has more than `majority` of the voices; `reason` is `split`."""
    return _marked(judgments, lambda values: unit_reasons(values, majority))


def _marked(judgments: pd.DataFrame, reasons: Callable[[Sequence[float]], list[str]]) -> pd.DataFrame:
    codes = judgments.groupby(UNIT, sort=False).ngroup().tolist()
    values = judgments["value"].tolist()
    members: dict[int, list[int]] = {}
    for place, code in enumerate(codes):
        members.setdefault(code, []).append(place)
    column = [""] * len(judgments)
    for places in members.values():
        own = [values[place] for place in places]
        if min(own) != max(own):
            for place, reason in zip(places, reasons(own), strict=True):
                column[place] = reason
    marked = judgments.assign(reason=pd.Series(column, index=judgments.index, dtype=object))
    return marked[marked["reason"] != ""]


def rating_reasons(values: Sequence[float], gap: float, near: float) -> list[str]:
    """For each value why it is looked at again; empty for the ones that stand."""
    if max(values) - min(values) <= gap:
        return [""] * len(values)
    alone = [place for place in range(len(values)) if _is_alone(values, place, gap, near)]
    if len(alone) == 1:
        return [ALONE if place == alone[0] else "" for place in range(len(values))]
    # Two who differ are both alone: the rule can't tell who is off, so both look again.
    return [APART] * len(values)


def _is_alone(values: Sequence[float], place: int, gap: float, near: float) -> bool:
    others = [value for other, value in enumerate(values) if other != place]
    far = max(abs(values[place] - value) for value in others) > gap
    return far and max(others) - min(others) <= near


def unit_reasons(values: Sequence[float], majority: float) -> list[str]:
    most = max(values.count(value) for value in set(values))
    return ["" if most > majority * len(values) else SPLIT] * len(values)
