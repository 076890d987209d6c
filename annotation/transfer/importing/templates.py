"""Template files: the five tables with two rows of an example, to be filled in Excel or anywhere."""

import csv
import io

from annotation.common.errors import Refused

TEMPLATES: dict[str, list[list[str]]] = {
    "documents": [
        ["doc_id", "source", "reference"],
        ["1", "The whole article. It may have many sentences.", "The reference summary of the article."],
        ["2", "Another article.", "Its reference summary."],
    ],
    "summaries": [
        ["doc_id", "system", "summary", "group"],
        ["1", "my-model", "What my model wrote about article 1.", "abs"],
        ["2", "my-model", "What my model wrote about article 2.", "abs"],
        ["1", "first-sentences", "The whole article.", "ext"],
        ["2", "first-sentences", "Another article.", "ext"],
    ],
    "scus": [
        ["doc_id", "scu_id", "text"],
        ["1", "1", "The reference is a summary."],
        ["1", "2", "The summary is of the article."],
        ["2", "1", "The second article has a reference summary."],
    ],
    "judgments": [
        ["doc_id", "system", "unit", "worker_id", "value"],
        ["1", "my-model", "1", "w1", "1"],
        ["1", "my-model", "2", "w1", "0"],
    ],
    "scores": [["doc_id", "system", "metric", "value"], ["1", "my-model", "my-metric", "0.5"]],
}
WORKBOOK = "study.xlsx"
NAMES = (*(f"{kind}.csv" for kind in TEMPLATES), WORKBOOK)


def template(name: str) -> bytes:
    """A template by its name; the workbook has a sheet for every table."""
    if name == WORKBOOK:
        return _workbook()
    stream = io.StringIO()
    csv.writer(stream).writerows(TEMPLATES[name.removesuffix(".csv")])
    return stream.getvalue().encode("utf-8-sig")  # Excel takes it for UTF-8 by the mark


def _workbook() -> bytes:
    try:
        from openpyxl import Workbook
    except ImportError:
        raise Refused("Excel files need openpyxl, which is not here yet. Take the CSV files, or come back.") from None
    book = Workbook()
    book.remove(book.active)
    for kind in ("documents", "summaries", "scus"):
        sheet = book.create_sheet(kind)
        for row in TEMPLATES[kind]:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()
