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
class Answered:
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
    answers: tuple[Answered, ...]
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


class Shelf:
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
        for unit in sorted(units, key=lambda one: one.retired_in is not None):
            self.units.setdefault(unit.document_id, []).append(unit)

    def summary(self, system: str, text: str, event: str) -> Summary | str:
        """The system's summary with these words; or what was found instead."""
        if system not in self.systems:
            return f"{system[:60]!r}, no system of this study"
        words = plain_words(text)
        alike = self.summaries.get(words) or self.summaries.get(plain_words(text.removeprefix("'")), [])
        document = self.documents.get(event)
        found = [one for one in alike if one.system.name == system and document in (None, one.document_id)]
        if len({one.document_id for one in found}) == 1:
            return found[0]
        if found:
            return f"a text of {system} that {len(found)} documents share"
        others = sorted({one.system.name for one in alike})
        told = f"the text of {', '.join(others)}" if others else f"{words[:60]!r}"
        return f"{told}, not the one that {system} wrote"


def results_of(sheet: Sheet, study: Study, form: str, values: Mapping[str, list[float]]) -> list[Result]:
    """Every row understood; TableError names each row and column that can't be. `form` is the protocol's `csv_form`,
    `values` are the dimensions' allowed ones."""
    results = list(READERS[form](sheet, Shelf(study), values))
    _check_workers(sheet, results)
    sheet.check()
    return results


def _statements(sheet: Sheet, shelf: Shelf, values: Mapping[str, list[float]]) -> Iterator[Result]:
    statements, answers = sheet.numbered(STATEMENT), sheet.numbered(STATEMENT_ANSWER)
    needed = ["Input.summaryId", "Input.summary_text", *(["Input.statement_1"] if not statements else [])]
    if not _has(sheet, [*needed, *(f"Answer.S{number}Answer" for number in statements if number not in answers)]):
        return
    for number, cells in enumerate(sheet.rows, start=1):
        event = cells.get("Input.eventId", "")
        summary = shelf.summary(cells["Input.summaryId"].strip(), cells["Input.summary_text"], event.strip())
        if isinstance(summary, str):
            column = "Input.summaryId" if "no system" in summary else "Input.summary_text"
            sheet.wrong(number, column, summary, "a summary of this study")
            continue
        units = _units_of(cells, statements, shelf.units.get(summary.document_id, []))
        given: list[Answered] = []
        fillers = wrong_fillers = 0
        for place, column in statements.items():
            value = _present(cells[answers[place]])
            filler = cells[column].strip() in ("", FILLER) and units[place] is None
            if value is None and not (filler and not cells[answers[place]].strip()):
                sheet.wrong(number, answers[place], f"{cells[answers[place]][:40]!r}", "p or n")
            elif unit := units[place]:
                given.append(Answered(summary.pk, unit.scu_id, float(bool(value)), place, unit.is_check))
            elif filler:
                fillers, wrong_fillers = fillers + 1, wrong_fillers + bool(value)
            else:
                sheet.wrong(number, column, f"{plain_words(cells[column])[:60]!r}", "an SCU of the summary's document")
        yield _result(sheet, number, cells, summary.document_id, summary.pk, None, given, fillers, wrong_fillers)


def _units_of(
    cells: Mapping[str, str], statements: Mapping[int, str], known: list[ContentUnit]
) -> dict[int, ContentUnit | None]:
    """Which unit stands at which place: by the listed ids where the study knows them all, otherwise by the words."""
    by_id = {unit.scu_id: unit for unit in known}
    listed = _listed(cells.get("Input.qIdList", ""))
    free, found = list(known), dict[int, ContentUnit | None]()
    for order, (place, column) in enumerate(statements.items()):
        named = by_id.get(listed[order]) if order < len(listed) else None
        if named is not None and same_words(cells[column], named.text):
            found[place] = named
        else:
            found[place] = next((unit for unit in free if same_words(cells[column], unit.text)), None)
        if found[place] is not None and found[place] in free:  # the same words twice (BLANK) are two units
            free.remove(found[place])  # type: ignore[arg-type]
    return found


def _listed(cell: str) -> list[str]:
    try:
        ids = ast.literal_eval(cell.strip().removeprefix("'")) if cell.strip() else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(one) for one in ids] if isinstance(ids, list | tuple) else []


def _ratings(sheet: Sheet, shelf: Shelf, values: Mapping[str, list[float]]) -> Iterator[Result]:
    rated = sheet.numbered(RATED)
    answers = {(int(match[1]), match[2]): name for name in sheet.columns if (match := RATING.fullmatch(name))}
    needed = [name for number in rated for name in (f"Input.summary_text_{number}",)]
    needed += [f"Answer.S{number}_{unit}" for number in rated for unit in values if (number, unit) not in answers]
    if not _has(sheet, ["Input.eventId", *(["Input.summaryId_1"] if not rated else []), *needed]):
        return
    for number, cells in enumerate(sheet.rows, start=1):
        document = shelf.documents.get(cells["Input.eventId"].strip())
        if document is None:
            sheet.wrong(number, "Input.eventId", f"{cells['Input.eventId'][:60]!r}", "a document of this study")
            continue
        given: list[Answered] = []
        for place, column in rated.items():
            if not cells[column].strip():  # the last group of a document may be smaller
                continue
            text = cells[f"Input.summary_text_{place}"]
            summary = shelf.summary(cells[column].strip(), text, cells["Input.eventId"].strip())
            if isinstance(summary, str):
                sheet.wrong(number, f"Input.summary_text_{place}", summary, "a summary of this document")
                continue
            given += _rated(sheet, number, cells, summary.pk, place, values)
        yield _result(sheet, number, cells, document, None, _part(sheet, number, cells), given)


def _rated(
    sheet: Sheet, number: int, cells: Mapping[str, str], summary: int, place: int, values: Mapping[str, list[float]]
) -> Iterator[Answered]:
    for unit, allowed in values.items():
        column = f"Answer.S{place}_{unit}"
        value = number_in(cells[column])
        if value in allowed:
            yield Answered(summary, unit, float(value or 0), place)
        else:
            sheet.wrong(number, column, f"{cells[column][:40]!r}", f"one of {', '.join(f'{one:g}' for one in allowed)}")


READERS = {"statements": _statements, "ratings": _ratings}


def _has(sheet: Sheet, needed: Iterable[str]) -> bool:
    missing = [name for name in needed if name not in sheet.columns]
    for name in missing:
        sheet.wrong(None, name, "no such column", "this column, at any place")
    return not missing


def _result(
    sheet: Sheet,
    number: int,
    cells: Mapping[str, str],
    document: int,
    summary: int | None,
    part: int | None,
    given: list[Answered],
    fillers: int = 0,
    wrong_fillers: int = 0,
) -> Result:
    return Result(
        number,
        document,
        summary,
        part,
        tuple(given),
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
    seen: dict[tuple[object, ...], int] = {}
    for one in results:
        keys: list[tuple[object, ...]] = (
            [("WorkerId", one.worker, one.document_id, one.summary_id, one.part)] if one.worker else []
        )
        keys += [("AssignmentId", one.assignment)] if one.assignment else []
        for key in keys:
            if key in seen:
                sheet.wrong(one.row, str(key[0]), f"the same as in row {seen[key]}", "each once per task")
            seen.setdefault(key, one.row)


def _present(cell: str) -> bool | None:
    word = cell.strip().lower()
    return True if word in YES else False if word in NO else None


def _part(sheet: Sheet, number: int, cells: Mapping[str, str]) -> int | None:
    text = cells.get("Input.part", "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 5):
        sheet.wrong(number, "Input.part", f"{text[:40]!r}", "the number of a group")
        return None
    return int(text) if text else None
