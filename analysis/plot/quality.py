"""Charts about the judges: who they are, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.plot import ACCENT, PALETTE, altair, names_axis, themed

MOST_DOTS = 1000
"""More workers than that are drawn as a density."""


def worker_scatter(workers: Sequence[Mapping[str, object]], link: str = "") -> Any:
    """Each worker's time per answer against their agreement with the others; larger dots answered more.

    Takes `worker_id`, `answers`, `seconds`, `agreement`, `failed`. Without times the answers stand on the x axis.
    `link` makes every point a link, with {} for the worker (`worker`, where one has several raters).
    """
    alt = altair()
    frame = pd.DataFrame([dict(row) for row in workers])
    frame["link"] = [link.format(row.get("worker") or row["worker_id"]) for row in workers]
    frame["checks failed"] = ["some" if failed else "none" for failed in frame["failed"]]
    timed = bool(pd.to_numeric(frame["seconds"], errors="coerce").notna().any())
    x = (
        alt.X("seconds:Q", title="median seconds per answer", scale=alt.Scale(zero=True))
        if timed
        else alt.X("answers:Q", title="answers", scale=alt.Scale(zero=True))
    )
    if len(frame) > MOST_DOTS:
        return themed(_worker_density(alt, frame, "seconds" if timed else "answers"))
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
            **({"href": "link:N"} if link else {}),
        )
        .properties(width=340, height=240)
    )
    return themed(chart)


def _worker_density(alt: Any, frame: pd.DataFrame, column: str) -> Any:
    """How many workers lie in each part of the plane: thousands of dots would cover each other."""
    place = frame.assign(x=pd.to_numeric(frame[column], errors="coerce")).dropna(subset=["x", "agreement"])
    # A few who left their desk would fill the axis.
    place["x"] = place["x"].clip(upper=float(place["x"].quantile(0.99)))
    words = "median seconds per answer, the slowest 1 % together" if column == "seconds" else "answers"
    return (
        alt.Chart(place)
        .mark_rect()
        .encode(
            x=alt.X("x:Q", bin=alt.Bin(maxbins=30), title=words),
            y=alt.Y("agreement:Q", bin=alt.Bin(maxbins=24), title="agreement with the others (alpha)"),
            color=alt.Color("count():Q", title="workers", scale=alt.Scale(scheme="blues", type="log")),
            tooltip=[alt.Tooltip("count():Q", title="workers")],
        )
        .properties(width=340, height=240)
    )


def agreement_bars(rows: Sequence[Mapping[str, object]], group: str) -> Any:
    """Alpha of each part (a system, a dimension), highest on top."""
    alt = altair()
    frame = pd.DataFrame([{"part": row["group"], "alpha": row["value"]} for row in rows])
    frame = frame.dropna().sort_values("alpha", ascending=False)
    chart = (
        alt.Chart(frame)
        .mark_bar(color=ACCENT, height=9)
        .encode(
            x=alt.X("alpha:Q", title="Krippendorff's alpha"),
            y=alt.Y("part:N", sort=frame["part"].tolist(), title=None, axis=names_axis(frame["part"])),
            tooltip=["part", "alpha"],
        )
        .properties(width=300, height=alt.Step(17), title=f"Agreement per {group}")
    )
    return themed(chart)


def score_distributions(scores: pd.DataFrame, metric: str) -> Any:
    """How a metric's scores spread over the documents of each system: every score, the quartiles and the median."""
    alt = altair()
    frame = scores[scores["metric"] == metric][["system", "doc_id", "value"]].dropna()
    order = frame.groupby("system")["value"].median().sort_values(ascending=False).index.tolist()
    base = alt.Chart(frame).encode(y=alt.Y("system:N", sort=order, title=None, axis=names_axis(order)))
    value = alt.X("value:Q", title=metric, scale=alt.Scale(zero=False))
    dots = base.mark_tick(color=ACCENT, opacity=0.35, thickness=1.5, size=10).encode(
        x=value, tooltip=["system", "doc_id", "value"]
    )
    box = base.mark_rule(color=PALETTE[1], strokeWidth=3, opacity=0.9).encode(x="q1(value):Q", x2="q3(value):Q")
    middle = base.mark_point(color=PALETTE[1], filled=True, size=45, opacity=1).encode(x="median(value):Q")
    heading = alt.Title("Spread over documents", subtitle="ticks: documents; bar: middle half; dot: median")
    return themed(alt.layer(dots, box, middle).properties(width=260, height=alt.Step(19), title=heading))


def spread_bars(histogram: Sequence[Mapping[str, object]]) -> Any:
    """How far the judges of an item lie apart: items by standard deviation, per unit (SummEval, Figure 1)."""
    alt = altair()
    frame = pd.DataFrame([dict(row) for row in histogram])
    chart = (
        alt.Chart(frame)
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X("low:Q", bin="binned", title="standard deviation of an item's answers"),
            x2="high:Q",
            y=alt.Y("count:Q", title="items"),
            tooltip=list(frame.columns),
        )
        .properties(width=150, height=90)
        .facet(facet=alt.Facet("unit:N", title=None), columns=2)
    )
    return themed(chart)
