"""Charts about the judges: who they are, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.plot import ACCENT, PALETTE, altair, themed


def worker_scatter(workers: Sequence[Mapping[str, object]]) -> Any:
    """Each worker's time per answer against their agreement with the others; larger dots answered more.

    Takes `worker_id`, `answers`, `seconds`, `agreement`, `failed`. Without times the answers stand on the x axis.
    """
    alt = altair()
    frame = pd.DataFrame([dict(row) for row in workers])
    frame["checks failed"] = ["some" if failed else "none" for failed in frame["failed"]]
    timed = bool(pd.to_numeric(frame["seconds"], errors="coerce").notna().any())
    x = (
        alt.X("seconds:Q", title="median seconds per answer", scale=alt.Scale(zero=True))
        if timed
        else alt.X("answers:Q", title="answers", scale=alt.Scale(zero=True))
    )
    chart = (
        alt.Chart(frame)
        .mark_point(filled=True, opacity=0.8)
        .encode(
            x=x,
            y=alt.Y("agreement:Q", title="agreement with the others (alpha)"),
            size=alt.Size("answers:Q", legend=None, scale=alt.Scale(range=[30, 160])),
            color=alt.Color(
                "checks failed:N",
                scale=alt.Scale(domain=["none", "some"], range=[ACCENT, PALETTE[1]]),
                legend=alt.Legend(orient="top"),
            ),
            shape=alt.Shape("checks failed:N", scale=alt.Scale(domain=["none", "some"], range=["circle", "diamond"])),
            tooltip=["worker_id", "answers", "seconds", "agreement", "failed"],
        )
        .properties(width=340, height=240)
    )
    return themed(chart)


def agreement_bars(rows: Sequence[Mapping[str, object]], what: str) -> Any:
    """Alpha of each part (a system, a dimension), highest on top."""
    alt = altair()
    frame = pd.DataFrame([{"part": row["group"], "alpha": row["value"]} for row in rows])
    frame = frame.dropna().sort_values("alpha", ascending=False)
    chart = (
        alt.Chart(frame)
        .mark_bar(color=ACCENT, height=9)
        .encode(
            x=alt.X("alpha:Q", title="Krippendorff's alpha"),
            y=alt.Y("part:N", sort=frame["part"].tolist(), title=None),
            tooltip=["part", "alpha"],
        )
        .properties(width=300, height=alt.Step(17), title=f"Agreement per {what}")
    )
    return themed(chart)
