"""Reading a result file of the old requester site: its cells, what they mean in a study, and what is wrong with them.

Columns go by name, never by place: Amazon wrote `Answer.S10Answer` before `Answer.S2Answer`. A row's summary is known
by its system and its text, its statements by their words; so files whose ids nobody knows any more can be read, too.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from annotation.models import ContentUnit, Document, Study, Summary

from .sheet import Sheet, moment_in, number_in, plain_words, same_words

FILLER = "BLANK"
YES = {"p", "present", "1", "1.0", "yes", "true"}
NO = {"n", "not present", "notpresent", "not_present", "0", "0.0", "no", "false"}
STATEMENT, STATEMENT_ANSWER = re.compile(r"Input\.statement_(\d+)"), re.compile(r"Answer\.S(\d+)Answer")
RATED, RATING = re.compile(r"Input\.summaryId_(\d+)"), re.compile(r"Answer\.S(\d+)_(.+)")


@dataclass(frozen=True)
class RowAnswer:
    """One answer of a row."""

    summary_id: int
    unit: str
    value: float
    position: int
    is_check: bool = False


@dataclass(frozen=True)
class Result:
    """A row, understood: one worker's answers to one task."""

    row: int
    document_id: int
    summary_id: int | None  # None where the task is a group of summaries
    part: int | None
    answers: tuple[RowAnswer, ...]
    worker: str
    assignment: str
    accepted_at: datetime | None
    submitted_at: datetime | None
    rejected: bool
    fillers: int = 0  # answers to places that hold no statement, kept out
    wrong_fillers: int = 0  # … of them marked Present

    @property
    def task_key(self) -> tuple[int, int | None, int]:
        """Document, summary and part: what a task of a batch is known by."""
        return self.document_id, self.summary_id, self.part or 0


class StudyTexts:
    """A study's texts, to find what a row speaks of."""

    def __init__(self, study: Study) -> None:
        self.documents = dict(Document.objects.filter(study=study).values_list("doc_id", "pk"))
        self.systems: set[str] = set()
        self.summaries: dict[str, list[Summary]] = {}  # by their words
        for summary in Summary.objects.filter(document__study=study).select_related("system"):
            self.systems.add(summary.system.name)
            self.summaries.setdefault(plain_words(summary.text_shown), []).append(summary)
        self.units: dict[int, list[ContentUnit]] = {}
        units = ContentUnit.objects.filter(document__study=study).order_by("order", "scu_id")
        # A statement may be of an older list: the units in force come first, then the retired ones.
        for unit in sorted(units, key=lambda unit: unit.retired_in is not None):
            self.units.setdefault(unit.document_id, []).append(unit)

    def summary(self, system: str, text: str, event: str) -> Summary | str:
        """The system's summary with these words; or what was found instead."""
        if system not in self.systems:
            return f"{system[:60]!r}, no system of this study"
        words = plain_words(text)
        alike = self.summaries.get(words) or self.summaries.get(plain_words(text.removeprefix("'")), [])
        document = self.documents.get(event)
        of_system = [summary for summary in alike if summary.system.name == system]
        matches = [summary for summary in of_system if document in (None, summary.document_id)]
        if len({summary.document_id for summary in matches}) == 1:
            return matches[0]
        if matches:
            return f"a text of {system} that {len(matches)} documents share"
        other_systems = sorted({summary.system.name for summary in alike})
        description = f"the text of {', '.join(other_systems)}" if other_systems else f"{words[:60]!r}"
        return f"{description}, not the one that {system} wrote"


def results_of(sheet: Sheet, study: Study, form: str, values: Mapping[str, list[float]]) -> list[Result]:
    """Every row understood; TableError names each row and column that can't be. `form` is the protocol's `csv_form`,
    `values` are the dimensions' allowed ones."""
    results = list(READERS[form](sheet, StudyTexts(study), values))
    _check_workers(sheet, results)
    sheet.check()
    return results


def _statements(sheet: Sheet, texts: StudyTexts, values: Mapping[str, list[float]]) -> Iterator[Result]:
    statements, answers = sheet.numbered(STATEMENT), sheet.numbered(STATEMENT_ANSWER)
    columns = ["Input.summaryId", "Input.summary_text", *(["Input.statement_1"] if not statements else [])]
    if not _has(sheet, [*columns, *(f"Answer.S{number}Answer" for number in statements if number not in answers)]):
        return
    for number, cells in enumerate(sheet.rows, start=1):
        event = cells.get("Input.eventId", "")
        summary = texts.summary(cells["Input.summaryId"].strip(), cells["Input.summary_text"], event.strip())
        if isinstance(summary, str):
            column = "Input.summaryId" if "no system" in summary else "Input.summary_text"
            sheet.report(number, column, summary, "a summary of this study")
            continue
        units = _units_of(cells, statements, texts.units.get(summary.document_id, []))
        row_answers: list[RowAnswer] = []
        fillers = wrong_fillers = 0
        for place, column in statements.items():
            value = _present(cells[answers[place]])
            filler = cells[column].strip() in ("", FILLER) and units[place] is None
            if value is None and not (filler and not cells[answers[place]].strip()):
                sheet.report(number, answers[place], f"{cells[answers[place]][:40]!r}", "p or n")
            elif unit := units[place]:
                row_answers.append(RowAnswer(summary.pk, unit.scu_id, float(bool(value)), place, unit.is_check))
            elif filler:
                fillers, wrong_fillers = fillers + 1, wrong_fillers + bool(value)
            else:
                sheet.report(number, column, f"{plain_words(cells[column])[:60]!r}", "an SCU of the summary's document")
        yield _result(sheet, number, cells, summary.document_id, summary.pk, None, row_answers, fillers, wrong_fillers)


def _units_of(
    cells: Mapping[str, str], statements: Mapping[int, str], units: list[ContentUnit]
) -> dict[int, ContentUnit | None]:
    """Which unit stands at which place: by the listed ids where the study knows them all, otherwise by the words."""
    by_id = {unit.scu_id: unit for unit in units}
    ids = _listed(cells.get("Input.qIdList", ""))
    free, by_place = list(units), dict[int, ContentUnit | None]()
    for order, (place, column) in enumerate(statements.items()):
        listed_unit = by_id.get(ids[order]) if order < len(ids) else None
        if listed_unit is not None and same_words(cells[column], listed_unit.text):
            by_place[place] = listed_unit
        else:
            by_place[place] = next((unit for unit in free if same_words(cells[column], unit.text)), None)
        if by_place[place] is not None and by_place[place] in free:  # the same words twice (BLANK) are two units
            free.remove(by_place[place])  # type: ignore[arg-type]
    return by_place


def _listed(cell: str) -> list[str]:
    try:
        ids = ast.literal_eval(cell.strip().removeprefix("'")) if cell.strip() else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(scu_id) for scu_id in ids] if isinstance(ids, list | tuple) else []


def _ratings(sheet: Sheet, texts: StudyTexts, values: Mapping[str, list[float]]) -> Iterator[Result]:
    rated = sheet.numbered(RATED)
    answers = {(int(match[1]), match[2]): name for name in sheet.columns if (match := RATING.fullmatch(name))}
    columns = [name for number in rated for name in (f"Input.summary_text_{number}",)]
    columns += [f"Answer.S{number}_{unit}" for number in rated for unit in values if (number, unit) not in answers]
    if not _has(sheet, ["Input.eventId", *(["Input.summaryId_1"] if not rated else []), *columns]):
        return
    for number, cells in enumerate(sheet.rows, start=1):
        document = texts.documents.get(cells["Input.eventId"].strip())
        if document is None:
            sheet.report(number, "Input.eventId", f"{cells['Input.eventId'][:60]!r}", "a document of this study")
            continue
        row_answers: list[RowAnswer] = []
        for place, column in rated.items():
            if not cells[column].strip():  # the last group of a document may be smaller
                continue
            text = cells[f"Input.summary_text_{place}"]
            summary = texts.summary(cells[column].strip(), text, cells["Input.eventId"].strip())
            if isinstance(summary, str):
                sheet.report(number, f"Input.summary_text_{place}", summary, "a summary of this document")
                continue
            row_answers += _rated(sheet, number, cells, summary.pk, place, values)
        yield _result(sheet, number, cells, document, None, _part(sheet, number, cells), row_answers)


def _rated(
    sheet: Sheet, number: int, cells: Mapping[str, str], summary: int, place: int, values: Mapping[str, list[float]]
) -> Iterator[RowAnswer]:
    for unit, scale in values.items():
        column = f"Answer.S{place}_{unit}"
        value = number_in(cells[column])
        if value in scale:
            yield RowAnswer(summary, unit, float(value or 0), place)
        else:
            choices = ", ".join(f"{choice:g}" for choice in scale)
            sheet.report(number, column, f"{cells[column][:40]!r}", f"one of {choices}")


READERS = {"statements": _statements, "ratings": _ratings}


def _has(sheet: Sheet, columns: Iterable[str]) -> bool:
    missing = [name for name in columns if name not in sheet.columns]
    for name in missing:
        sheet.report(None, name, "no such column", "this column, at any place")
    return not missing


def _result(
    sheet: Sheet,
    number: int,
    cells: Mapping[str, str],
    document: int,
    summary: int | None,
    part: int | None,
    answers: list[RowAnswer],
    fillers: int = 0,
    wrong_fillers: int = 0,
) -> Result:
    return Result(
        number,
        document,
        summary,
        part,
        tuple(answers),
        cells.get("WorkerId", "").strip(),
        cells.get("AssignmentId", "").strip(),
        moment_in(sheet, number, cells, "AcceptTime"),
        moment_in(sheet, number, cells, "SubmitTime"),
        cells.get("AssignmentStatus", "").strip().lower() == "rejected" or bool(cells.get("RejectionTime", "").strip()),
        fillers,
        wrong_fillers,
    )


def _check_workers(sheet: Sheet, results: list[Result]) -> None:
    """A worker answers a task once, an assignment stands in one row."""
    first_rows: dict[tuple[object, ...], int] = {}
    for result in results:
        keys: list[tuple[object, ...]] = (
            [("WorkerId", result.worker, result.document_id, result.summary_id, result.part)] if result.worker else []
        )
        keys += [("AssignmentId", result.assignment)] if result.assignment else []
        for key in keys:
            if key in first_rows:
                sheet.report(result.row, str(key[0]), f"the same as in row {first_rows[key]}", "each once per task")
            first_rows.setdefault(key, result.row)


def _present(cell: str) -> bool | None:
    word = cell.strip().lower()
    return True if word in YES else False if word in NO else None


def _part(sheet: Sheet, number: int, cells: Mapping[str, str]) -> int | None:
    text = cells.get("Input.part", "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 5):
        sheet.report(number, "Input.part", f"{text[:40]!r}", "the number of a group")
        return None
    return int(text) if text else None
