"""Charts of metrics: correlations, significance, top-k curves, pairwise F1, agreement matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.compare import Comparison
from analysis.correlate import CorrelationResult
from analysis.experiments.pairwise import PairwiseF1
from analysis.experiments.ranking import Ranking
from analysis.experiments.robustness import OptionPoint
from analysis.experiments.topk import TopK
from analysis.plot import (
    ACCENT,
    FAINT,
    INK,
    PALETTE,
    SHAPES,
    altair,
    names_axis,
    names_legend,
    number,
    slanted_axis,
    themed,
)

AXIS = 150  # the least length of a matrix, for the words along its axes
LINE = 15  # the least size of a cell, for the slanted names of neighbours not to touch
DIVERGING = ["#b35806", "#f7f7f7", "#2166ac"]


def frame_of(results: Sequence[Any]) -> pd.DataFrame:
    """Results with named fields as a frame, one column per field."""
    return pd.DataFrame([vars(result) for result in results])


def _subtitle(results: Sequence[CorrelationResult]) -> list[str]:
    first = results[0]
    unit = {"system": "systems", "summary": "documents", "global": "summaries"}[first.level]
    lines = [f"{first.level} level, {first.coefficient}, n = {_counts(results)} {unit}"]
    if first.resample:
        how = {
            "exact": "for normal scores",
            "fisher": "Fisher's z",
            "true-means": f"{first.resamples} draws of true means",
        }
        lines.append(f"95 % interval, {how.get(first.interval, f'{first.resamples} resamples of {first.resample}')}")
    return lines


def _counts(results: Sequence[CorrelationResult]) -> str:
    """How many were used: one number, or the least and the most."""
    counts = sorted({result.n_used for result in results}) or [0]
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"


def correlation_bars(results: Sequence[CorrelationResult], human: str, ceiling: float | None = None) -> Any:
    """A dot with its interval for every metric, best on top (Exp-I and Exp-IV); dashed, what noise lets any reach."""
    alt = altair()
    frame = frame_of(results).dropna(subset=["value"]).sort_values("value", ascending=False)
    order = frame["metric"].tolist()
    base = alt.Chart(frame).encode(y=alt.Y("metric:N", sort=order, title=None, axis=names_axis(order)))
    scale = alt.Scale(zero=False)
    tooltip = ["metric", "value", "low", "high", "n_used", "n_undefined"]
    dots = base.mark_point(filled=True, size=60, color=ACCENT, opacity=1).encode(
        x=alt.X("value:Q", title="correlation", scale=scale), tooltip=tooltip
    )
    layers = [dots]
    if frame["low"].notna().any():
        rule = base.mark_rule(strokeWidth=1.5, color=ACCENT).encode(
            x=alt.X("low:Q", title="correlation", scale=scale), x2="high:Q"
        )
        layers = [rule, dots]
    if ceiling is not None:
        limit = alt.Chart(pd.DataFrame({"ceiling": [ceiling]}))
        layers.append(limit.mark_rule(strokeDash=[4, 3], color=FAINT).encode(x="ceiling:Q", tooltip=["ceiling"]))
    subtitle = _subtitle(list(results)) + ([] if ceiling is None else [f"dashed: noise ceiling of {human}"])
    title = alt.Title(f"Correlation with {human}", subtitle=subtitle)
    return themed(alt.layer(*layers).properties(width=240, height=alt.Step(18), title=title))


def significance_matrix(comparison: Comparison) -> Any:
    """p of every ordered pair: is the metric of the row better than that of the column? (Exp-I, Figure 1)"""
    alt = altair()
    order = [item.metric for item in comparison.standings]
    frame = frame_of(comparison.pairs)
    frame["shown"] = [
        number(p, 2) if difference > 0 else "·"
        for p, difference in zip(frame["p_adjusted"], frame["difference"], strict=True)
    ]
    frame["significant"] = (frame["p_adjusted"] < comparison.alpha) & (frame["difference"] > 0)
    has_numbers = len(order) <= 16
    size = max(24, AXIS // len(order)) if has_numbers else max(LINE, 400 // len(order))
    base = alt.Chart(frame).encode(
        x=alt.X("worse:N", sort=order, title="than this metric", axis=slanted_axis(order)),
        y=alt.Y("better:N", sort=order, title="is this metric better", axis=names_axis(order)),
    )
    cells = base.mark_rect(stroke=FAINT, strokeOpacity=0.25).encode(
        color=alt.condition("datum.significant", alt.value(ACCENT), alt.value("transparent")),
        tooltip=["better", "worse", "difference", "statistic", "p", "p_adjusted"],
    )
    layers = [cells]
    if has_numbers:
        ink = alt.condition("datum.significant", alt.value("#ffffff"), alt.value(INK))
        layers.append(base.mark_text(fontSize=8.5).encode(text="shown:N", color=ink))
    correction = "" if comparison.correction == "none" else f", {comparison.correction}"
    title = alt.Title(
        "Which metric is significantly better?",
        subtitle=[
            f"{comparison.test}, {comparison.level} level, {comparison.coefficient}{correction}",
            f"filled: p < {comparison.alpha:g}; dot: not better",
        ],
    )
    return themed(alt.layer(*layers).properties(width=size * len(order), height=size * len(order), title=title))


def topk_lines(results: Sequence[TopK], human: str) -> Any:
    """Correlation among the k best systems, one line per metric (Exp-II, Figure 3)."""
    alt = altair()
    frame = frame_of(results).dropna(subset=["value"])
    names = list(dict.fromkeys(frame["metric"]))
    ks = sorted({int(result.k) for result in results}) or [0]
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    legend = names_legend(names)
    # Intervals of few systems reach far below every line; the lines set the scale and the band is cut there.
    lowest, highest = (float(frame["value"].min()), float(frame["value"].max())) if len(frame) else (0.0, 1.0)
    scale = alt.Scale(domain=[lowest - 0.05, min(1.0, highest + 0.05)], nice=False)
    base = alt.Chart(frame).encode(
        x=alt.X(
            "k:Q",
            title="k systems with the highest human score",
            scale=alt.Scale(domain=[min(ks), max(ks)], nice=False),
            axis=alt.Axis(values=ks[:: max(1, len(ks) // 10)], format="d"),
        ),
        y=alt.Y("value:Q", title="correlation", scale=scale),
        color=alt.Color(
            "metric:N",
            scale=alt.Scale(domain=names, range=colours),
            legend=legend,
        ),
        tooltip=["k", "metric", "value", "low", "high"],
    )
    shapes = [SHAPES[i // len(PALETTE) % len(SHAPES)] for i in range(len(names))]
    points = base.mark_point(filled=True, size=28).encode(
        shape=alt.Shape("metric:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    )
    coefficient = results[0].coefficient if results else ""
    subtitle = [f"system level, human measure {human}, n = k systems"]
    layers = [base.mark_line(strokeWidth=1.6), points]
    best = frame.sort_values(["k", "value"], ascending=False).head(1)
    if len(best) and best["low"].notna().all():
        name = str(best["metric"].iloc[0])
        band = alt.Chart(frame[frame["metric"] == name]).mark_area(
            color=colours[names.index(name)], opacity=0.15, clip=True
        )
        layers.insert(0, band.encode(x="k:Q", y=alt.Y("low:Q", title="correlation", scale=scale), y2="high:Q"))
        subtitle.append(f"band: 95 % interval of {name} (Fisher)")
    title = alt.Title(f"Among the best systems, {coefficient}", subtitle=subtitle)
    return themed(alt.layer(*layers).properties(width=320, height=240, title=title))


def f1_bars(results: Sequence[PairwiseF1], human: str) -> Any:
    """Weighted F1 of the verdicts on pairs of systems, with the human ceiling as a line (Exp-III, Figure 4)."""
    alt = altair()
    frame = frame_of(results)
    metrics = frame[~frame["is_ceiling"]].sort_values("f1", ascending=False)
    base = alt.Chart(metrics).encode(
        y=alt.Y("metric:N", sort=metrics["metric"].tolist(), title=None, axis=names_axis(metrics["metric"]))
    )
    bars = base.mark_bar(color=ACCENT, height=9).encode(
        x=alt.X("f1:Q", title="weighted F1", scale=alt.Scale(domain=[0, 1])),
        tooltip=["metric", "f1", "first", "second", "undecided", "pairs"],
    )
    layers = [bars]
    if metrics["low"].notna().any():
        layers.append(
            base.mark_rule(color=INK, strokeWidth=1.2).encode(x=alt.X("low:Q", title="weighted F1"), x2="high:Q")
        )
    ceiling = frame[frame["is_ceiling"]]
    if len(ceiling):
        layers.append(alt.Chart(ceiling).mark_rule(color=PALETTE[1], strokeDash=[4, 3], strokeWidth=2).encode(x="f1:Q"))
    pairs = int(frame["pairs"].iloc[0]) if len(frame) else 0
    title = alt.Title(
        "Which of two systems is better?",
        subtitle=[
            f"n = {pairs} pairs of systems",
            "lines: 95 % interval, systems resampled",
            f"dashed: {human} against itself",
        ],
    )
    return themed(alt.layer(*layers).properties(width=240, height=alt.Step(18), title=title))


def level_difference(system: Sequence[CorrelationResult], summary: Sequence[CorrelationResult], human: str) -> Any:
    """System and summary level side by side, joined by their difference (Exp-IV, Figure 5)."""
    alt = altair()
    frame = pd.concat([frame_of(system), frame_of(summary)]).dropna(subset=["value"])
    wide = frame.pivot_table(index="metric", columns="level", values="value").dropna().reset_index()
    order = wide.sort_values("summary", ascending=False)["metric"].tolist()
    axis = alt.Y("metric:N", sort=order, title=None, axis=names_axis(order))
    rule = (
        alt.Chart(wide)
        .mark_rule(color=FAINT, strokeWidth=1.5)
        .encode(y=axis, x=alt.X("system:Q", title="correlation"), x2="summary:Q")
    )
    levels = ["system", "summary"]
    key = alt.Scale(domain=levels, range=[PALETTE[0], PALETTE[1]])
    shape = alt.Scale(domain=levels, range=["circle", "diamond"])
    legend = alt.Legend(title=None, orient="top")
    dots = (
        alt.Chart(frame[frame["metric"].isin(order)])
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            y=axis,
            x=alt.X("value:Q", scale=alt.Scale(zero=False)),
            color=alt.Color("level:N", scale=key, legend=legend),
            shape=alt.Shape("level:N", scale=shape, legend=legend),
            tooltip=["metric", "level", "value", "n_used"],
        )
    )
    name = system[0].coefficient if system else ""
    layers = [rule, dots]
    if frame["low"].notna().any():
        intervals = alt.Chart(frame[frame["metric"].isin(order)]).mark_rule(strokeWidth=2.5, opacity=0.5)
        reach = alt.X("low:Q", title="correlation", scale=alt.Scale(zero=False))
        level = alt.Color("level:N", scale=key, legend=legend)
        layers = [intervals.encode(y=axis, x=reach, x2="high:Q", color=level), dots]
    subtitle = [
        f"{name}, human measure {human}",
        f"n = {_counts(system)} systems, {_counts(summary)} documents; lines: 95 % intervals",
    ]
    title = alt.Title("System and summary level", subtitle=subtitle)
    return themed(alt.layer(*layers).properties(width=240, height=alt.Step(18), title=title))


def value_matrix(
    frame: pd.DataFrame, row: str, column: str, value: str, title: str, subtitle: str = "", marks: str | None = None
) -> Any:
    """A heat map of values between −1 and 1 with the numbers in it; `marks` names a column of booleans."""
    alt = altair()
    rows, columns = list(dict.fromkeys(frame[row])), list(dict.fromkeys(frame[column]))
    cell_texts = [number(float(v), 2) for v in frame[value]]
    if marks:
        cell_texts = [f"{text}•" if flag else text for text, flag in zip(cell_texts, frame[marks], strict=True)]
    has_numbers = len(rows) <= 20 and len(columns) <= 20
    size = 30 if has_numbers else max(LINE, 420 // max(len(rows), len(columns)))
    data = frame.assign(shown=cell_texts, dark=[bool(math.isfinite(v) and abs(v) > 0.6) for v in frame[value]])
    base = alt.Chart(data).encode(
        x=alt.X(f"{column}:N", sort=columns, title=None, axis=slanted_axis(columns)),
        y=alt.Y(f"{row}:N", sort=rows, title=None, axis=names_axis(rows)),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=DIVERGING)
    cells = base.mark_rect().encode(
        color=alt.Color(f"{value}:Q", scale=scale, legend=None), tooltip=[row, column, value]
    )
    layers = [cells]
    if has_numbers:
        ink = alt.condition("datum.dark", alt.value("#ffffff"), alt.value("#1c1f24"))
        layers.append(base.mark_text(fontSize=9).encode(text="shown:N", color=ink))
    heading = alt.Title(title, subtitle=subtitle)
    return themed(
        alt.layer(*layers).properties(width=size * len(columns), height=min(size, 22) * len(rows), title=heading)
    )


def option_lines(points: Sequence[OptionPoint], human: str) -> Any:
    """Correlation by the setting of an option, one line per metric and coefficient (anchored ROUGE, Figure 3)."""
    alt = altair()
    frame = frame_of(points).dropna(subset=["value"])
    frame["series"] = frame["metric"] + ", " + frame["coefficient"]
    names, settings = list(dict.fromkeys(frame["series"])), list(dict.fromkeys(frame["setting"]))
    legend = names_legend(names)
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    option = str(frame["option"].iloc[0]) if len(frame) else "option"
    chart = (
        alt.Chart(frame)
        .mark_line(point=True, strokeWidth=1.8)
        .encode(
            x=alt.X("setting:O", sort=settings, title=option, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("value:Q", title="correlation", scale=alt.Scale(zero=False)),
            color=alt.Color("series:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
            tooltip=["metric", "coefficient", "setting", "value", "variants"],
        )
    )
    title = alt.Title(f"Correlation with {human} by {option}", subtitle="mean over variants with the same setting")
    return themed(chart.properties(width=300, height=220, title=title))


def system_matrix(ranking: Ranking, metric: str, alpha: float = 0.05) -> Any:
    """Which system is significantly better by a metric (Graham 2015, Figure 4)."""
    alt = altair()
    frame = frame_of(ranking.tests)
    frame["significant"] = frame["p_adjusted"] < alpha
    systems = list(ranking.systems)
    size = max(18, AXIS // len(systems)) if len(systems) <= 30 else LINE
    chart = (
        alt.Chart(frame)
        .mark_rect(stroke=FAINT, strokeOpacity=0.25)
        .encode(
            x=alt.X("worse:N", sort=systems, title="than this system", axis=slanted_axis(systems)),
            y=alt.Y("better:N", sort=systems, title="is this system better", axis=names_axis(systems)),
            color=alt.condition("datum.significant", alt.value(ACCENT), alt.value("transparent")),
            tooltip=["better", "worse", "difference", "p", "p_adjusted", "n"],
        )
    )
    title = alt.Title(f"Systems by {metric}", subtitle=f"{ranking.test} test; filled: adjusted p < {alpha:g}")
    return themed(chart.properties(width=size * len(systems), height=size * len(systems), title=title))
