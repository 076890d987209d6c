"""Tables and charts as files."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_response(rows: Sequence[Mapping[str, Any]], name: str) -> HttpResponse:
    """Rows as a CSV file. Text that a spreadsheet would run as a formula is defused."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: _cell(row.get(column)) for column in columns} for row in rows)
    return _file(text.getvalue().encode(), "text/csv; charset=utf-8", name)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def quality_chart(part: Mapping[str, Any], what: str) -> Any:
    """The chart of that name on the Quality page."""
    from analysis.plot_quality import agreement_bars, worker_scatter

    return worker_scatter(part["workers"]) if what == "workers" else agreement_bars(part["by"]["system"], "system")


def chart_response(part: Mapping[str, Any], what: str, suffix: str, name: str) -> HttpResponse:
    """A chart of the Quality page as SVG or PDF."""
    from analysis.plot import to_pdf, to_svg

    chart = quality_chart(part, what)
    if suffix == "pdf":
        return _file(to_pdf(chart), "application/pdf", name)
    return _file(to_svg(chart).encode(), "image/svg+xml", name)


def _file(content: bytes, kind: str, name: str) -> HttpResponse:
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
