"""Tables and charts as files."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext

from .errors import Refused

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_response(rows: Sequence[Mapping[str, Any]], name: str) -> HttpResponse:
    """Rows as a CSV file. Text that a spreadsheet would run as a formula is defused."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writerow({column: _cell(column) for column in columns})
    writer.writerows({column: _cell(row.get(column)) for column in columns} for row in rows)
    return file_response(text.getvalue().encode(), "text/csv; charset=utf-8", name)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def quality_chart(content: Mapping[str, Any], chart_name: str, link: str = "") -> Any:
    """The chart of that name on the Quality page; `link` is where a worker's point leads."""
    from analysis.plot.quality import agreement_bars, spread_bars, worker_scatter

    if chart_name == "workers":
        return worker_scatter(content["workers"], link)
    return (
        spread_bars(content["spread"]) if chart_name == "spread" else agreement_bars(content["by"]["system"], "system")
    )


def chart_response(content: Mapping[str, Any], chart_name: str, suffix: str, name: str) -> HttpResponse:
    """A chart of the Quality page as SVG or PDF."""
    from analysis.plot import to_pdf, to_svg

    chart = quality_chart(content, chart_name)
    if suffix == "pdf":
        return file_response(to_pdf(chart), "application/pdf", name)
    return file_response(to_svg(chart).encode(), "image/svg+xml", name)


def file_response(content: bytes, kind: str, name: str) -> HttpResponse:
    """Something to save under a name."""
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def figure_response(report: Mapping[str, Any], name: str, slug: str) -> HttpResponse:
    """A figure of the report: its numbers as CSV or its chart as SVG."""
    figures = {figure["name"]: figure for section in report.get("sections", []) for figure in section["figures"]}
    stem, _, suffix = name.rpartition(".")
    if stem not in figures or suffix not in ("csv", "svg"):
        names = ", ".join(f"{figure}.csv, {figure}.svg" for figure in figures) or "none yet"
        raise Refused(
            gettext("There is no file “%(name)s” here. There are: %(known)s.") % {"name": name[:60], "known": names}
        )
    figure = figures[stem]
    if suffix == "svg":
        return file_response(figure["svg"].encode(), "image/svg+xml", f"{slug}-{name}")
    rows = [dict(zip(figure["columns"], row, strict=True)) for row in figure["rows"]]
    return table_response(rows, f"{slug}-{name}")
