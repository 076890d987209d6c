"""How one score came about: marked texts, counted units, the arithmetic in sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape


@dataclass(frozen=True)
class Span:
    """A stretch of a text that plays a part in the score."""

    start: int
    end: int
    kind: str = "match"
    """match, lcs, synonym, stem, copied, novel or repeated."""


@dataclass(frozen=True)
class Passage:
    """One text with its marks, in order and without overlaps."""

    title: str
    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Unit:
    """One n-gram or word of the comparison."""

    text: str
    summary: int
    """How often it stands in the summary."""
    other: int
    """How often it stands in the reference (or the source)."""
    matched: int
    """How often it counts as matched."""
    passage: str = ""
    """Which text it was compared with."""


@dataclass(frozen=True)
class Explanation:
    """The marks, counts and steps behind one score."""

    metric: str
    value: float
    signature: str
    passages: tuple[Passage, ...]
    """The summary first, then what it was compared with."""
    units: tuple[Unit, ...] = ()
    steps: tuple[str, ...] = ()
    """The arithmetic, one sentence each, ending in the value."""

    @property
    def summary(self) -> Passage:
        return self.passages[0]

    def to_dict(self) -> dict[str, object]:
        """The same facts for programs."""
        return asdict(self)

    def to_terminal(self, color: bool = True) -> str:
        """For a terminal: matched stretches in colour, or in brackets without colour."""
        lines = [f"{self.metric} = {self.value:.5f}", f"({self.signature})", ""]
        for passage in self.passages:
            lines += [f"{passage.title}:", _terminal_text(passage, color), ""]
        if self.units:
            lines += [_units_as_text(self.units), ""]
        return "\n".join([*lines, *self.steps])

    def to_html(self) -> str:
        """A page of its own: no scripts, nothing loaded from elsewhere."""
        body = [f"<h1>{escape(self.metric)} = {self.value:.5f}</h1>", f"<p><code>{escape(self.signature)}</code></p>"]
        body += [self.to_html_fragment()]
        return _PAGE.format(title=escape(self.metric), style=_STYLE, body="\n".join(body))

    def to_html_fragment(self) -> str:
        """The marked texts, the steps and the table, to stand inside another page."""
        fragments = ['<div class="explanation">']
        fragments += [
            f"<section><h2>{escape(passage.title)}</h2><p>{_html_text(passage)}</p></section>"
            for passage in self.passages
        ]
        if self.steps:
            fragments.append("<ol>" + "".join(f"<li>{escape(step)}</li>" for step in self.steps) + "</ol>")
        if self.units:
            fragments.append(_units_as_html(self.units))
        return "\n".join([*fragments, "</div>"])


def merge(spans: list[Span]) -> tuple[Span, ...]:
    """Spans in order, overlapping ones of the same kind united; where kinds overlap the first one stays."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            if span.kind == last.kind and span.end > last.end:
                merged[-1] = Span(last.start, span.end, last.kind)
            continue
        merged.append(span)
    return tuple(merged)


_COLORS = {
    "match": "42;30",
    "lcs": "42;30",
    "copied": "42;30",
    "stem": "46;30",
    "synonym": "43;30",
    "paraphrase": "43;30",
}
_OTHER_COLOR = "45;30"
_STYLE = """
body { font: 16px/1.6 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
mark { background: #bfe8c6; color: #10301a; border-radius: 3px; padding: 0 2px; white-space: pre-wrap; }
mark.stem { background: #bfe3ee; } mark.synonym, mark.paraphrase { background: #f7e3a1; }
mark.novel, mark.repeated { background: #f3c6d6; }
section p { white-space: pre-wrap; }
table { border-collapse: collapse; } th, td { border-bottom: 1px solid #ccc; padding: .2rem .8rem; text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
</body></html>
"""


def _pieces(passage: Passage) -> list[tuple[str, str]]:
    """The text cut at its marks: (kind or nothing, text)."""
    pieces: list[tuple[str, str]] = []
    place = 0
    for span in passage.spans:
        pieces.append(("", passage.text[place : span.start]))
        pieces.append((span.kind, passage.text[span.start : span.end]))
        place = span.end
    return [*pieces, ("", passage.text[place:])]


def _terminal_text(passage: Passage, color: bool) -> str:
    rendered = []
    for kind, text in _pieces(passage):
        # Control characters of a text must not reach the terminal as commands.
        clean = "".join(c if c == "\n" or c.isprintable() else "�" for c in text)
        if kind and color:
            rendered.append(f"\x1b[{_COLORS.get(kind, _OTHER_COLOR)}m{clean}\x1b[0m")
        else:
            rendered.append(f"[{clean}]" if kind else clean)
    return "".join(rendered)


def _html_text(passage: Passage) -> str:
    return "".join(
        f'<mark class="{escape(kind)}">{escape(text)}</mark>' if kind else escape(text)
        for kind, text in _pieces(passage)
    )


def _units_as_text(units: tuple[Unit, ...]) -> str:
    listed_units = [unit for unit in units if unit.matched] or list(units[:10])
    width = max(len(unit.text) for unit in listed_units)
    lines = [f"{'unit'.ljust(width)}  summary  other  matched"]
    lines += [f"{u.text.ljust(width)}  {u.summary:7d}  {u.other:5d}  {u.matched:7d}" for u in listed_units]
    return "\n".join(lines)


def _units_as_html(units: tuple[Unit, ...]) -> str:
    head = "<tr><th>unit</th><th>compared with</th>" + "".join(
        f'<th class="number">{name}</th>' for name in ("summary", "there", "matched")
    )
    rows = [
        f"<tr><td>{escape(u.text)}</td><td>{escape(u.passage)}</td>"
        + "".join(f'<td class="number">{n}</td>' for n in (u.summary, u.other, u.matched))
        + "</tr>"
        for u in units
    ]
    return f"<table><thead>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
