"""Charts of agreement between metrics over the scoring range (Peyrard 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.experiments.curves import Consistency, Disagreement, normalised
from analysis.experiments.ranges import RangeTau, topics
from analysis.plot import ACCENT, PALETTE, SHAPES, altair, themed
from analysis.plot.metrics import frame_of, value_matrix


def range_matrix(results: Sequence[RangeTau], name: str = "whole") -> Any:
    """Tau of every pair of metrics on one range (Table 1)."""
    frame = frame_of([result for result in results if result.range == name])
    count = int(frame["topics"].max()) if len(frame) else 0
    size = float(frame["summaries"].mean()) if len(frame) else 0.0
    subtitle = f"Kendall τ-b, mean over {count} topics of about {size:.0f} summaries"
    return value_matrix(frame, "a", "b", "tau", f"Agreement of metrics, {name} range", subtitle)


def disagreement_lines(points: Sequence[Disagreement], rule: str = "mean") -> Any:
    """Share of pairs of summaries that two metrics order differently, as the score rises (Figure 2)."""
    alt = altair()
    frame = frame_of(points)
    frame["pair"] = frame["a"] + " / " + frame["b"]
    names = list(dict.fromkeys(frame["pair"]))
    legend = alt.Legend(title=None, orient="bottom", columns=2)
    axis = "normalised score of the pair" if rule == "mean" else "normalised score that both summaries reach"
    base = alt.Chart(frame).encode(
        x=alt.X("score:Q", title=axis, scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("share:Q", title="share ordered differently", axis=alt.Axis(format="%")),
        color=alt.Color(
            "pair:N",
            scale=alt.Scale(domain=names, range=[PALETTE[i % len(PALETTE)] for i in range(len(names))]),
            legend=legend,
        ),
        tooltip=["pair", "score", "share", "pairs"],
    )
    shapes = [SHAPES[i // len(PALETTE) % len(SHAPES)] for i in range(len(names))]
    points_layer = base.mark_point(filled=True, size=28).encode(
        shape=alt.Shape("pair:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    )
    title = alt.Title(disagreement_title(points), subtitle=_RULE_WORDS[rule])
    return themed(alt.layer(base.mark_line(), points_layer).properties(width=320, height=240, title=title))


_RULE_WORDS = {
    "mean": "pairs within a topic by their mean score, ties left out",
    "threshold": "pairs within a topic that both reach the score, ties left out",
}


def disagreement_title(points: Sequence[Disagreement], least: float = 0.02) -> str:
    """What the curves show, from the mean over pairs of metrics in the lower, middle and upper third of the scores."""
    frame = frame_of(points)
    curve = frame.groupby("score")["share"].mean()
    ends = np.array_split(curve.to_numpy(), 3)
    if len(curve) < 3:
        return "Disagreement of metrics by score"
    low, middle, high = (float(part.mean()) for part in ends)
    if min(low, high) > middle + least:
        return "Metrics disagree least in the middle"
    if high > max(low, middle - least) + least:
        return "Metrics disagree more among better summaries"
    if low > max(high, middle - least) + least:
        return "Metrics disagree more among worse summaries"
    return "Disagreement of metrics by score"


def consistency_points(points: Sequence[Consistency]) -> Any:
    """F/N against the score of the summary it is taken from (Figure 3)."""
    alt = altair()
    frame = frame_of(points)
    frame["bin"] = np.round(frame["score"] * 10) / 10
    means = frame.groupby("bin")["ratio"].mean().reset_index()
    cloud = (
        alt.Chart(frame.head(1500))
        .mark_circle(size=9, opacity=0.25, color=ACCENT)
        .encode(
            x=alt.X("score:Q", title="mean normalised score of the summary"),
            y=alt.Y("ratio:Q", title="F/N: better for all, of better for one"),
        )
    )
    line = alt.Chart(means).mark_line(color=PALETTE[1], strokeWidth=2.5, point=True).encode(x="bin:Q", y="ratio:Q")
    title = alt.Title("How many improvements do all metrics share?", subtitle=f"{len(frame)} summaries; line: mean")
    return themed(alt.layer(cloud, line).properties(width=320, height=240, title=title))


def _sampled(scores: pd.DataFrame, metrics: Sequence[str] | None, seed: int, size: int) -> pd.DataFrame:
    names, topic_list = topics(scores, metrics)
    values = np.concatenate([normalised(topic) for topic in topic_list])
    frame = pd.DataFrame(values, columns=list(names))
    return frame.sample(min(size, len(frame)), random_state=seed)


def scatter_matrix(scores: pd.DataFrame, metrics: Sequence[str] | None = None, seed: int = 0, size: int = 1200) -> Any:
    """Every metric against every other, normalised within topics (Figure 4)."""
    alt = altair()
    frame = _sampled(scores, metrics, seed, size)
    names = list(frame.columns)
    safe = {name: f"m{i}" for i, name in enumerate(names)}
    data = frame.rename(columns=safe)
    rows = []
    for down in names:
        cells = []
        for across in names:
            x = alt.X(f"{safe[across]}:Q", title=across if down == names[-1] else None, axis=_bare(alt))
            if across == down:
                bars = alt.Chart(data).mark_bar(color=PALETTE[2], opacity=0.7)
                x = alt.X(
                    f"{safe[across]}:Q",
                    bin=alt.Bin(maxbins=20),
                    title=across if down == names[-1] else None,
                    axis=_bare(alt),
                )
                title = across if across == names[0] else None
                cell = bars.encode(x=x, y=alt.Y("count()", title=title, axis=_bare(alt)))
            else:
                title = down if across == names[0] else None
                dots = alt.Chart(data).mark_circle(size=4, opacity=0.3, color=ACCENT)
                cell = dots.encode(x=x, y=alt.Y(f"{safe[down]}:Q", title=title, axis=_bare(alt)))
            cells.append(cell.properties(width=80, height=80))
        rows.append(alt.hconcat(*cells, spacing=6))
    return themed(alt.vconcat(*rows, spacing=6).properties(title="Metrics against each other, normalised"))


def _bare(alt: Any) -> Any:
    return alt.Axis(labels=False, ticks=False, grid=False)


def distributions(scores: pd.DataFrame, metrics: Sequence[str] | None = None, seed: int = 0, size: int = 20000) -> Any:
    """How the scores of each metric spread (Figure 1)."""
    alt = altair()
    frame = _sampled(scores, metrics, seed, size)
    names = list(frame.columns)
    histograms = []
    for name in names:
        share, edges = np.histogram(frame[name], bins=25, range=(0, 1), density=True)
        middles = (edges[:-1] + edges[1:]) / 2
        histograms.append(pd.DataFrame({"metric": name, "score": middles, "density": share}))
    chart = (
        alt.Chart(pd.concat(histograms))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("score:Q", title="normalised score"),
            y=alt.Y("density:Q", title="density"),
            color=alt.Color(
                "metric:N",
                scale=alt.Scale(domain=names, range=[PALETTE[i % len(PALETTE)] for i in range(len(names))]),
                legend=alt.Legend(title=None, orient="bottom", columns=2),
            ),
        )
    )
    title = alt.Title("Score distributions", subtitle=f"{len(frame)} summaries, normalised within topics")
    return themed(chart.properties(width=320, height=200, title=title))
