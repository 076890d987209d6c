"""MTurk's result file for LitePyramid: a row for every assignment, `Input.*` as shown, `Answer.*` as given (p or n).

The columns are REALSumm's. Every assignment that counts is there, before any filter. Batches go out and results come
back into an existing study with annotation/transfer/mturk_csv, which reads these files as well.
"""

import ast
import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db.models import Count

from analysis.tables.csv_formulas import defuse, is_defused
from annotation.common.text import plain
from annotation.models import ContentUnit, Study
from annotation.protocols import judging_scus

from . import Tables
from .source import DocumentFacts, Source, SummaryFacts
from .texts import problem

PLACES = 16  # statements of REALSumm's form
FILLER = "BLANK"
ABOUT = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime")
INPUT = ("Input.eventId", "Input.summaryId", "Input.qIdList", "Input.summary_text")


def write(source: Source, folder: Path, step: Callable[[int], None]) -> list[Path]:
    path, places = folder / "mturk.csv", _places(source.study)
    columns = [*ABOUT, *INPUT, *(f"Input.statement_{n}" for n in range(1, places + 1))]
    columns += sorted(f"Answer.S{n}Answer" for n in range(1, places + 1))  # string order, as Amazon wrote them
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for document in source.documents(raw=True):
            for summary in document.summaries:
                writer.writerows(
                    {name: defuse(cell) for name, cell in row.items()} for row in _rows(document, summary, places)
                )
            step(1)
    return [path]


def _places(study: Study) -> int:
    units = ContentUnit.objects.filter(document__study=study).values_list("document").annotate(n=Count("pk"))
    return max([PLACES, *(int(n) for _, n in units)])


def _rows(document: DocumentFacts, summary: SummaryFacts, places: int) -> Iterator[dict[str, str]]:
    texts = {unit["scu_id"]: unit["text"] for unit in (*document.units, *document.checks)}
    assignments: dict[str, list[dict[str, Any]]] = {}
    for row in summary.judgments:
        if row["protocol"] in judging_scus() and row["unit"] in texts:
            assignments.setdefault(row["assignment_id"], []).append(row)
    for key, answers in assignments.items():
        answers.sort(key=lambda row: (row.get("position") or 0, row["unit"]))
        first, fillers = answers[0], places - len(answers)
        shown = summary.text if summary.shown is None else summary.shown
        statements = [*(texts[row["unit"]] for row in answers), *[FILLER] * fillers]
        letters = [*("p" if row["value"] else "n" for row in answers), *["n"] * fillers]
        yield {
            "HITId": str(first.get("hit_id") or ""),
            "AssignmentId": key,
            "WorkerId": first["worker_id"],
            "AssignmentStatus": "Submitted",
            "SubmitTime": first.get("submitted_at") or "",
            "Input.eventId": document.doc_id,
            "Input.summaryId": summary.system,
            "Input.qIdList": str([row["unit"] for row in answers]),
            "Input.summary_text": plain(shown),
            **{f"Input.statement_{n}": text for n, text in enumerate(statements, start=1)},
            **{f"Answer.S{n}Answer": value for n, value in enumerate(letters, start=1)},
        }


def read(paths: Sequence[Path]) -> Tables:
    """Documents without texts, summaries as they were shown, SCUs and judgments.

    A row without WorkerId is somebody of its own; a place without an id is named by its number and, being BLANK, a
    check.
    """
    results = _Results()
    for path in paths:
        for number, cells in enumerate(_sheet(path), start=1):
            results.add(path, number, cells)
    return results.tables()


def _sheet(path: Path) -> list[dict[str, str]]:
    from annotation.transfer.mturk_csv.sheet import read_sheet

    sheet = read_sheet(path.read_bytes(), path.name)
    for name in ("Input.eventId", "Input.summaryId", "Input.summary_text", "Input.statement_1", "Answer.S1Answer"):
        if name not in sheet.columns:
            raise problem(path, None, name, "no such column", "this column, at any place")
    if not is_defused(path):
        return sheet.rows
    return [{name: _undefused(cell) for name, cell in row.items()} for row in sheet.rows]


def _undefused(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and defuse(cell[1:]) == cell else cell


class _Results:
    """What the rows tell, put together."""

    def __init__(self) -> None:
        self.summaries: dict[tuple[str, str], str] = {}
        self.units: dict[tuple[str, str], str] = {}
        self.judgments: list[dict[str, object]] = []

    def add(self, path: Path, number: int, cells: dict[str, str]) -> None:
        doc, system = cells["Input.eventId"].strip(), cells["Input.summaryId"].strip()
        text = cells["Input.summary_text"]
        if self.summaries.setdefault((doc, system), text) != text:
            raise problem(path, number, "Input.summary_text", "another text of this summary", "the same in every row")
        key = {"doc_id": doc, "system": system, "worker_id": cells.get("WorkerId") or f"{path.stem}-{number}"}
        optional_cells = {"assignment_id": cells.get("AssignmentId"), "hit_id": cells.get("HITId")}
        optional_cells["submitted_at"] = cells.get("SubmitTime")
        for unit, statement, value in self._answers(path, number, cells):
            if self.units.setdefault((doc, unit), statement) != statement:
                raise problem(path, number, "Input.qIdList", f"other words of {unit!r} than before", "the same words")
            filled_cells = {name: cell for name, cell in optional_cells.items() if cell}
            self.judgments.append({**key, "unit": unit, "value": value, **filled_cells})

    def _answers(self, path: Path, number: int, cells: dict[str, str]) -> Iterator[tuple[str, str, int]]:
        ids, place = _ids(cells.get("Input.qIdList", "")), 0
        while (column := f"Input.statement_{place + 1}") in cells:
            statement, answer = cells[column], cells.get(f"Answer.S{place + 1}Answer", "").strip().lower()
            if answer not in ("p", "n"):
                raise problem(path, number, f"Answer.S{place + 1}Answer", repr(answer)[:40], "p or n")
            if place < len(ids):
                yield ids[place], statement, int(answer == "p")
            elif statement.strip() != FILLER:
                yield f"place{place + 1:02}", statement, int(answer == "p")
            place += 1

    def tables(self) -> Tables:
        documents = dict.fromkeys(doc for doc, _ in self.summaries)
        return {
            "documents": [{"doc_id": doc, "source": "", "references": []} for doc in documents],
            "summaries": [{"doc_id": d, "system": s, "summary": text} for (d, s), text in self.summaries.items()],
            "scus": [{"doc_id": d, "scu_id": unit, "text": text} for (d, unit), text in self.units.items()],
            "judgments": self.judgments,
        }


def _ids(cell: str) -> list[str]:
    try:
        ids = ast.literal_eval(cell.strip()) if cell.strip() else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(scu_id) for scu_id in ids] if isinstance(ids, list) else []
