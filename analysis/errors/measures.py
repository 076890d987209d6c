"""Marked errors as ratings of summaries: one value per person, summary and measure, higher is better.

`esa` is the 0 to 100 for the whole (Kocmi et al. 2024); `mqm` is 100 less the penalty points per 100 words (Lommel et
al. 2014); `mqm_CATEGORY` counts one category alone. What makes human scores of ratings makes them of these too.
"""

from __future__ import annotations

import pandas as pd

from analysis.errors.marks import ANNOTATION, OVERALL

ESA, MQM, POINTS = "esa", "mqm", "mqm_points"


def measures(rows: pd.DataFrame) -> pd.DataFrame:
    """Judgments of this protocol as ratings. Without `words`, what counts is the points of a summary, below zero."""
    overall = rows[rows["unit"] == OVERALL].assign(unit=ESA)
    of_category = rows[rows["unit"] != OVERALL]
    of_category = of_category.assign(unit=[f"{MQM}_{unit}" for unit in of_category["unit"]])
    total = of_category.drop_duplicates(ANNOTATION).set_index(ANNOTATION)
    total = total.assign(value=of_category.groupby(ANNOTATION)["value"].sum(), unit=MQM).reset_index()[rows.columns]
    return pd.concat([overall, *(_turned(part) for part in (total, of_category))], ignore_index=True)


def _turned(rows: pd.DataFrame) -> pd.DataFrame:
    """From points, of which fewer are better, to a score; of every summary the same way."""
    words = pd.to_numeric(rows["words"], errors="coerce") if "words" in rows.columns else pd.Series(dtype="float64")
    if rows.empty or not (len(words) and (words > 0).all()):
        names = [unit.replace(MQM, POINTS, 1) for unit in rows["unit"]]
        return rows.assign(unit=names, value=0.0 - rows["value"])
    return rows.assign(value=100 - 100 * rows["value"] / words)
