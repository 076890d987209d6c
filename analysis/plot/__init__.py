"""Charts of the meta-evaluation, as Altair specifications that serve the page and the paper alike.

One theme for all: transparent background, the system's sans face, text in the colour of its surroundings, and
a palette that colour-blind readers can tell apart. A system keeps its colour and shape throughout a study.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.correlate import CorrelationResult, correlate
from analysis.correlate.score_cube import build_cube
from analysis.plot.pdf import steady
from analysis.tables import write_atomically

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#6B7280")
"""Okabe and Ito's colours, with yellow and black replaced by ones that hold on white and on dark paper."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK = "currentColor"
FAINT = "#8a8f98"
ACCENT = PALETTE[0]
WIDTH = 340
PADDING = 4
WIDTHS = re.compile(r'(?<= width=")(\d+)" height="\d+" viewBox="0 0 \1(?= )')
EDGE = 14
"""Pixels between the outermost points of a scatter and its frame."""
SIDES = {
    "right": ("left", 6, 0),
    "left": ("right", -6, 0),
    "up": ("center", 0, -10),
    "down": ("center", 0, 10),
    "upper right": ("left", 5, -9),
    "upper left": ("right", -5, -9),
    "lower right": ("left", 5, 9),
    "lower left": ("right", -5, 9),
    "far up": ("center", 0, -19),
    "far down": ("center", 0, 19),
}
"""Where the label of a point may go: how it is aligned and how far it is moved."""
SYMBOLS = {"pearson": "r", "spearman": "ρ", "kendall": "τ", "kendall-c": "τc", "accuracy": "accuracy"}


def altair() -> Any:
    """Altair, imported when a chart is wanted and not before."""
    import altair as library

    library.data_transformers.disable_max_rows()  # a matrix of 96 metrics has more than its 5,000
    return library


def themed(chart: Any) -> Any:
    """The chart in the house style."""
    text = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": INK}
    return (
        chart.configure(background="transparent", font=FONT, padding=PADDING)
        .configure_view(stroke=None)
        .configure_axis(
            **text,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            domainColor=FAINT,
            tickColor=FAINT,
            gridColor=FAINT,
            gridOpacity=0.18,
            labelLimit=220,
        )
        .configure_legend(**text, labelFontSize=11, titleFontSize=11, titleFontWeight="normal", labelLimit=220)
        .configure_header(**text, labelFontSize=11, titleFontSize=12)
        .configure_title(
            font=FONT,
            subtitleFont=FONT,
            color=INK,
            subtitleColor=INK,
            fontSize=13,
            subtitleFontSize=11,
            anchor="start",
            frame="bounds",
            fontWeight=600,
        )
    )


def names_axis(names: Iterable[object], limit: int = 220) -> Any:
    """An axis with names on the left that has room for them in the reader's face, which may be wider than ours."""
    return altair().Axis(labelLimit=limit, minExtent=round(_reach(names, limit)) + 8)  # tick and gap


def slanted_axis(names: Iterable[object], limit: int = 220) -> Any:
    """The same at the bottom, with the names aslant."""
    return altair().Axis(labelAngle=-45, labelLimit=limit, minExtent=round((_reach(names, limit) + 11) / 2**0.5) + 8)


def names_legend(names: Iterable[object], limit: int = 220) -> Any:
    """A legend under a chart: two columns where short names fit side by side, else one."""
    beside = _reach(names, limit) < WIDTH / 2 - 40  # symbol and gap
    return altair().Legend(title=None, orient="bottom", columns=2 if beside else 1, labelLimit=limit)


def _reach(names: Iterable[object], limit: int) -> float:
    """Pixels of the longest name.

    DejaVu Sans, the widest face that `FONT` leads to, takes up to 6.4 px a letter at 11 px; a name beyond the limit is
    cut by Vega, which measures it a sixth too narrow then.
    """
    return min(6.5 * max((len(str(name)) for name in names), default=0), 1.17 * limit)


def to_svg(chart: Any) -> str:
    """The chart as an SVG document, made here without browser or network."""
    import vl_convert

    text = chart.to_json()
    return _with_room(_numbered_anew(str(vl_convert.vegalite_to_svg(text))), json.loads(text).get("title"))


def _numbered_anew(svg: str) -> str:
    """The same bytes each time: vl-convert counts the names of clips on from drawing to drawing of a process."""
    numbers: dict[str, int] = {}
    return re.sub(r"\bclip(\d+)\b", lambda match: f"clip{numbers.setdefault(match[1], len(numbers))}", svg)


def _with_room(svg: str, title: Any) -> str:
    """The drawing, wide enough for its title in the reader's face, which may be wider than ours (see names_axis)."""
    if not isinstance(title, dict):
        title = {"text": title or ""}
    subtitle = title.get("subtitle") or ""
    lines = [(8.6, title["text"]), *((7.0, line) for line in ([subtitle] if isinstance(subtitle, str) else subtitle))]
    width = 2 * PADDING + math.ceil(max(size * len(line) for size, line in lines))
    return WIDTHS.sub(lambda match: match[0].replace(match[1], str(max(int(match[1]), width))), svg, count=1)


def to_pdf(chart: Any) -> bytes:
    """The chart as a one-page PDF, the same bytes every time."""
    import vl_convert

    return steady(bytes(vl_convert.vegalite_to_pdf(chart.to_json())))


def save(chart: Any, path: str | Path) -> None:
    """Write a chart by the suffix of the file: .svg, .pdf or .json (its specification)."""
    path = Path(path)
    writers: dict[str, Callable[[], bytes]] = {
        ".svg": lambda: to_svg(chart).encode(),
        ".pdf": lambda: to_pdf(chart),
        ".json": lambda: str(chart.to_json()).encode(),
    }
    if path.suffix not in writers:
        from analysis.correlate.coefficients import UnknownName

        raise UnknownName("chart format", path.suffix or path.name, tuple(writers))
    write_atomically(path, writers[path.suffix]())


def number(value: float, digits: int = 3) -> str:
    """A coefficient as papers print it: .961, −.123, an en dash when undefined."""
    if not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{digits}f}".removeprefix("0") if abs(value) < 1 else f"{abs(value):.{digits}f}"
    return ("−" if value < 0 and float(f"{value:.{digits}f}") else "") + text


def interval_text(low: float, high: float, digits: int = 3) -> str:
    """An interval in brackets, or nothing when there is none."""
    return f" [{number(low, digits)}, {number(high, digits)}]" if math.isfinite(low) else ""


def system_style(systems: Iterable[str]) -> pd.DataFrame:
    """system, colour, shape: unique for up to 48 systems, and the same for the same set of systems."""
    names = sorted(set(systems))
    return pd.DataFrame(
        {
            "system": names,
            "colour": [PALETTE[i % len(PALETTE)] for i in range(len(names))],
            "shape": [SHAPES[i // len(PALETTE) % len(SHAPES)] for i in range(len(names))],
        }
    )


def _style_encodings(alt: Any, style: pd.DataFrame) -> dict[str, Any]:
    domain = style["system"].tolist()
    return {
        "color": alt.Color("system:N", scale=alt.Scale(domain=domain, range=style["colour"].tolist()), legend=None),
        "shape": alt.Shape("system:N", scale=alt.Scale(domain=domain, range=style["shape"].tolist()), legend=None),
    }


def _group_encodings(alt: Any, groups: pd.Series) -> dict[str, Any]:
    """Colour and shape by group, with a legend; nothing where there is one group only."""
    names = sorted(set(groups))
    if len(names) < 2 or len(names) > len(PALETTE):
        return {}
    legend = alt.Legend(title=None, orient="top")
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(names))]
    return {
        "color": alt.Color("group:N", scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])), legend=legend),
        "shape": alt.Shape("group:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
    }


def describe(result: CorrelationResult) -> str:
    """A correlation with its interval and n, as a subtitle."""
    units = {"system": "systems", "summary": "documents", "global": "summaries"}[result.level]
    name = "Kendall τ-b" if result.coefficient == "kendall" else result.coefficient.capitalize()
    symbol = "" if result.coefficient == "kendall" else f" {SYMBOLS[result.coefficient]}"
    body = f"{name}{symbol} = {number(result.value)}{interval_text(result.low, result.high)}"
    return f"{body}, n = {result.n_used} {units}"


def system_scatter(
    scores: pd.DataFrame,
    human: str,
    metric: str,
    coefficient: str = "pearson",
    ci: int = 1000,
    seed: int = 0,
) -> Any:
    """One labelled point per system: human score against metric score, with the correlation and n."""
    alt = altair()
    cube = build_cube(scores, [human, metric])
    result = correlate(cube, human=human, metrics=[metric], coefficient=coefficient, ci=ci, seed=seed)[0]
    frame = pd.DataFrame(
        {
            "system": list(cube.systems),
            "group": list(cube.groups),
            "human": cube.system_scores(human),
            "metric": cube.system_scores(metric),
        }
    ).dropna(subset=["human", "metric"])
    width, height = (WIDTH, 300) if len(frame) <= 12 else (480, 380)  # room for the names of many systems
    frame = frame.assign(**place_labels(frame["human"], frame["metric"], frame["system"], width, height))
    base = alt.Chart(frame).encode(
        x=alt.X(
            "human:Q",
            title=f"{human} (human)",
            scale=alt.Scale(zero=False, nice=False, padding=EDGE),
            axis=alt.Axis(tickCount=6),
        ),
        y=alt.Y(
            "metric:Q",
            title=metric,
            scale=alt.Scale(zero=False, nice=False, padding=EDGE),
            axis=alt.Axis(tickCount=6, titleLimit=250),
        ),
    )
    layers = []
    if math.isfinite(result.value):
        trend = base.transform_regression("human", "metric").mark_line(color=FAINT, strokeWidth=1, opacity=0.6)
        layers.append(trend)
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("human:Q", format=".4f"),
        alt.Tooltip("metric:Q", format=".4f"),
    ]
    style = _group_encodings(alt, frame["group"]) or _style_encodings(alt, system_style(cube.systems))
    layers.append(base.mark_point(filled=True, size=55, opacity=0.95).encode(**style, tooltip=tooltip))
    for side, (align, dx, dy) in SIDES.items():
        if side not in set(frame["side"]):
            continue
        labels = base.transform_filter(alt.datum.side == side)
        layers.append(
            labels.mark_text(align=align, dx=dx, dy=dy, fontSize=9, color=INK, font=FONT, baseline="middle").encode(
                text="system:N"
            )
        )
    title = alt.Title(f"{metric} and {human}", subtitle=describe(result))
    return themed(alt.layer(*layers).properties(width=width, height=height, title=title))


def place_labels(x: pd.Series, y: pd.Series, names: pd.Series, width: int, height: int) -> dict[str, list[str]]:
    """On which side of its point each label goes; a label that would cover another is left to the tooltip."""
    px = (x - x.min()) / ((x.max() - x.min()) or 1) * (width - 2 * EDGE) + EDGE
    py = height - EDGE - (y - y.min()) / ((y.max() - y.min()) or 1) * (height - 2 * EDGE)
    occupied = [(float(a) - 4, float(b) - 4, float(a) + 4, float(b) + 4) for a, b in zip(px, py, strict=True)]
    sides = []
    for i, (a, b, name) in enumerate(zip(px, py, names, strict=True)):
        long = 4.9 * len(str(name))
        boxes = {side: _label_box(a + dx, b + dy, long, align) for side, (align, dx, dy) in SIDES.items()}
        free = (
            side
            for side, box in boxes.items()
            if box[0] >= -8
            and box[2] <= width + 12
            and box[1] >= -6
            and box[3] <= height + 4
            and not any(_overlap(box, placed) for j, placed in enumerate(occupied) if j != i)
        )
        side = next(free, "none")
        sides.append(side)
        if side != "none":
            occupied.append(boxes[side])
    return {"side": sides}


def _label_box(x: float, y: float, long: float, align: str) -> tuple[float, float, float, float]:
    left = {"left": x, "right": x - long, "center": x - long / 2}[align]
    return left, y - 5, left + long, y + 5


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def score_bars(human_scores: pd.DataFrame, title: str = "Human score per system") -> Any:
    """A dot with its interval for every system, best on top. Takes system, group, value, low, high, n."""
    alt = altair()
    frame = human_scores.sort_values("value", ascending=False)
    groups = sorted(frame["group"].fillna("").unique()) if "group" in frame.columns else []
    has_groups = len(groups) > 1
    legend = alt.Legend(title=None, orient="top")
    colour = (
        alt.Color(
            "group:N",
            scale=alt.Scale(domain=sorted(frame["group"].unique()), range=list(PALETTE[: frame["group"].nunique()])),
            legend=legend,
        )
        if has_groups
        else alt.value(ACCENT)
    )
    base = alt.Chart(frame).encode(
        y=alt.Y("system:N", sort=frame["system"].tolist(), title=None, axis=names_axis(frame["system"])), color=colour
    )
    bars = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title="mean score", scale=alt.Scale(zero=False)), x2="high:Q"
    )
    tooltip = [alt.Tooltip(name) for name in frame.columns if name in ("system", "group", "value", "low", "high", "n")]
    shape = (
        {"shape": alt.Shape("group:N", scale=alt.Scale(domain=groups, range=list(SHAPES)), legend=legend)}
        if has_groups
        else {}
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x="value:Q", tooltip=tooltip, **shape)
    layers = [bars, dots] if np.isfinite(frame["low"]).any() else [dots.encode(x=alt.X("value:Q", title="mean score"))]
    heading = alt.Title(title, subtitle=["mean over documents,", "95 % interval by bootstrap over documents"])
    return themed(alt.layer(*layers).properties(width=240, height=alt.Step(17), title=heading))
