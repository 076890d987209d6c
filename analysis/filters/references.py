"""Workers who don't see planted bad summaries (as in the WMT evaluations)."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from analysis.filters.base import Decision, Evidence, Setting, rule
from analysis.sentence import Sentence
from analysis.tables import AnalysisError


@rule("bad-reference", system="", alpha=0.05, minimum=3)
def bad_reference(evidence: Evidence, settings: dict[str, Setting]) -> list[Decision]:
    """A worker who doesn't score planted bad summaries lower than the others is dropped.

    `system` names the planted system (several with + between them); without it, rows with a column `is_bad` that is
    1 or true are planted. One-sided Mann–Whitney test of the worker's mean values per summary; a worker with fewer
    than `minimum` planted or other summaries is left alone.
    """
    rows = evidence.rows
    planted = _planted(rows, str(settings["system"]))
    if not planted.any():
        raise AnalysisError("No judgment is of a planted bad summary; name its system: bad-reference[system=NAME].")
    scores = (
        rows.assign(planted=planted)
        .groupby(["worker_id", "doc_id", "system", "planted"], sort=True)["value"]
        .mean()
        .reset_index()
    )
    decisions = []
    for worker, ratings in scores.groupby("worker_id", sort=True):
        bad_scores, other_scores = ratings.loc[ratings["planted"], "value"], ratings.loc[~ratings["planted"], "value"]
        if min(len(bad_scores), len(other_scores)) < int(settings["minimum"]):
            continue
        bad_mean, other_mean = float(bad_scores.mean()), float(other_scores.mean())
        p = float(stats.mannwhitneyu(other_scores, bad_scores, alternative="greater").pvalue)
        if p > float(settings["alpha"]):
            reason = Sentence(
                "Scores %(n_bad)s planted bad summaries %(bad)s and %(n_good)s others %(good)s on average: not clearly "
                "lower (Mann–Whitney p = %(p)s).",
                {
                    "n_bad": len(bad_scores),
                    "bad": f"{bad_mean:.2f}",
                    "n_good": len(other_scores),
                    "good": f"{other_mean:.2f}",
                    "p": f"{p:.2g}",
                },
            )
            numbers = {"bad": bad_mean, "others": other_mean, "n_bad": len(bad_scores), "p": p}
            decisions.append(Decision("bad-reference", str(worker), reason, numbers, settings))
    return decisions


def _planted(rows: pd.DataFrame, systems: str) -> pd.Series:
    if systems:
        return rows["system"].isin(systems.split("+"))
    if "is_bad" in rows.columns:
        return rows["is_bad"].astype("str").str.lower().isin(["1", "true", "1.0"])
    return pd.Series(False, index=rows.index)
