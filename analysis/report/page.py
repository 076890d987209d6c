"""The report as one HTML page that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

import html
import json
import re
from functools import cache

from analysis.report.parts import Figure, Report, Section
from analysis.report.tables import html_table

STYLE = """
:root { color-scheme: light dark; --ink: #1c1f24; --soft: #5b616b; --line: #d9dce1; --paper: #fff; --tint: #f5f6f8;
  --accent: #0063a0; --warn: #8a4b00; --warn-tint: #fff6e8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a5abb5; --line: #3a3f47; --paper: #15171a;
  --tint: #1e2126; --accent: #6cb8ee; --warn: #f0b35c; --warn-tint: #2a2116; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5; font-size: 16px;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 32px 16px 48px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 16px; }
h2 { font-size: 22px; margin: 48px 0 4px; }
h3 { font-size: 16px; margin: 24px 0 4px; }
.verdict { font-family: Georgia, "Times New Roman", serif; font-size: 20px; line-height: 1.5; max-width: 34em; }
.lead, figcaption { color: var(--soft); max-width: 62em; }
.warnings { background: var(--warn-tint); border-left: 4px solid var(--warn); padding: 8px 16px; margin: 24px 0; }
.warnings h2 { font-size: 16px; margin: 4px 0; color: var(--warn); }
.warnings ul { margin: 4px 0; padding-left: 20px; }
figure { margin: 16px 0 32px; }
.chart { overflow-x: auto; }
.chart svg { max-width: 100%; height: auto; }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--accent); }
.scroll { overflow: auto; max-height: 26em; margin: 8px 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
.num { text-align: right; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
pre { background: var(--tint); padding: 8px 12px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.files { font-size: 14px; color: var(--soft); }
.vega-embed { padding-right: 0 !important; }
.vega-embed details { margin: 0; }
a { color: var(--accent); }
@media print { main { max-width: none; padding: 0; } details, .vega-actions, .files { display: none; }
  figure, h2, h3 { break-inside: avoid; } h2 { break-after: avoid; } :root { --paper: #fff; --ink: #000; } }
"""

SCRIPT = """
const options = {renderer: "svg", actions: {export: true, source: false, compiled: false, editor: false}};
document.querySelectorAll("script[data-chart]").forEach(function (spec) {
  const place = document.getElementById(spec.dataset.chart);
  const drawn = document.createElement("div");
  vegaEmbed(drawn, JSON.parse(spec.textContent), options).then(function () {
    place.replaceChildren(drawn);
    place.dataset.drawn = "yes";
  }).catch(function (error) { console.error(error); });
});
"""


@cache
def bundle() -> str:
    """Vega, Vega-Lite and their embedding as one script, safe inside a page."""
    import vl_convert

    return _inside_script(vl_convert.javascript_bundle())  # type: ignore[call-arg]


def _inside_script(text: str) -> str:
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def render_page(report: Report, interactive: bool = True) -> str:
    """The whole page. Without script (or `interactive`) the same charts stand there as drawings."""
    body = [
        f"<h1>{html.escape(report.title)}</h1>",
        f'<p class="verdict">{html.escape(report.verdict)}</p>',
        _warnings(report),
        *(_section(section, interactive) for section in report.sections),
        f"<h2>Methods</h2><p>{html.escape(report.methods)}</p>",
        f"<h2>Make it again</h2><pre>{html.escape(report.command)}</pre>",
        '<p class="files">Figures: <code>figures/*.svg</code>, <code>*.pdf</code>. Tables: <code>tables/*.csv</code>, '
        "<code>*.tex</code>. Provenance: <code>provenance.json</code>.</p>",
    ]
    script = ""
    if interactive:
        script = f"<script>{bundle()}</script><script>{SCRIPT}</script>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(report.title)}</title><style>{STYLE}</style></head>'
        f"<body><main>{''.join(body)}</main>{script}</body></html>"
    )


def _warnings(report: Report) -> str:
    if not report.warnings:
        return ""
    items = "".join(f"<li>{html.escape(warning)}</li>" for warning in report.warnings)
    return f'<section class="warnings"><h2>Read this first</h2><ul>{items}</ul></section>'


def _section(section: Section, interactive: bool) -> str:
    figures = "".join(_figure(figure, interactive) for figure in section.figures)
    heading = f'<h2 id="{section.name}">{html.escape(section.heading)}</h2>'
    return f'<section>{heading}<p class="lead">{html.escape(section.text)}</p>{figures}</section>'


def _figure(figure: Figure, interactive: bool) -> str:
    place = f"chart-{figure.name}"
    spec = ""
    if interactive:
        text = json.dumps(figure.chart.to_dict()).replace("<", "\\u003c")
        spec = f'<script type="application/json" data-chart="{place}">{text}</script>'
    return (
        f"<h3>{html.escape(figure.title)}</h3><figure>"
        f'<div class="chart" id="{place}">{figure.svg}</div>{spec}'
        f"<figcaption>{html.escape(figure.caption)}</figcaption>"
        f'<details><summary>Numbers</summary><div class="scroll">{html_table(figure.table)}</div></details>'
        f"<details><summary>Command</summary><pre>{html.escape(figure.command)}</pre></details></figure>"
    )
