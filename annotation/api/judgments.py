"""Judgments: one answer of one worker about one unit. Annotators see their own, and neither systems nor checks."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field, create_model

from annotation.models import Assignment, Judgment
from annotation.models.crowds import Submission
from annotation.tables.judgments import COLUMNS as ALL_COLUMNS
from annotation.tables.stream import Column, names_of, paths_of

from .access import EVERYBODY, READ, only_own, study_for, token_of
from .assignments import OfBatch, OfWorker, assignments_of
from .paging import Page, Paging, Position, answer, page_by, page_of
from .studies import Slug
from .texts.summaries import OfDocument

router = Router()
PAST = 10**18 - 1  # in a cursor: beyond every judgment of this assignment
COUNTED = (Assignment.State.SUBMITTED, Assignment.State.SURPLUS)
TYPES = {"string": str, "number": float, "integer": int, "flag": bool, "time": datetime}
BATCH = Column("batch", "integer", ("assignment__task__batch_id",))  # by its number, as the other addresses have it
COLUMNS = [BATCH if column.name == "batch" else column for column in ALL_COLUMNS if not column.derived]


def _field(column: Column) -> Any:
    """A column's type, with null where the cell may be empty or is kept from annotators."""
    kind: Any = TYPES[column.type]
    hidden = "null for annotators" if column.hidden_from_annotators else ""
    return kind | None if hidden or column.filled else kind, Field(description=column.description or hidden or None)


FIELDS: dict[str, Any] = {column.name: _field(column) for column in COLUMNS}
FIELDS["counts"] = bool, Field(description="Submitted, and confirmed where a market brokered it")
JudgmentOut: Any = create_model("JudgmentOut", __base__=Schema, **FIELDS)


@router.get("/judgments", response=page_of(JudgmentOut), auth=READ)
def list_judgments(
    request: HttpRequest,
    response: HttpResponse,
    study: Slug,
    place: Paging,
    batch: OfBatch = 0,
    document: OfDocument = 0,
    worker: OfWorker = "",
    revised: Annotated[bool, Query(description="With answers that a revision replaced")] = False,
) -> dict[str, Any]:
    """The judgments, task by task. A page may hold fewer than `limit`; the end is where `next` is null."""
    found_study = study_for(request, study, *EVERYBODY)
    blind = only_own(request, found_study)
    rows = Judgment.objects.filter(summary__document__study=found_study)
    rows = rows if revised else rows.filter(is_current=True)
    rows = rows.filter(assignment__worker__user=token_of(request).user) if blind else rows
    if document:
        rows = rows.filter(summary__document=document, assignment__state__in=COUNTED)
        rows = rows.filter(assignment__task__batch=batch) if batch else rows
        rows = rows.filter(assignment__worker__pseudonym=worker) if worker else rows
        page = page_by(_values(rows), ["assignment__task_id", "assignment_id", "id"], place)
    else:
        page = _by_assignment(rows, assignments_of(found_study, request, batch, worker), place)
    return answer(request, response, page, lambda row: _shaped(row, blind))


def _values(rows: QuerySet[Judgment]) -> Any:
    keys = ("id", "assignment_id", "assignment__task_id", "assignment__submission__state")
    return rows.values(*keys, *paths_of(COLUMNS))


def _by_assignment(rows: QuerySet[Judgment], assignments: QuerySet[Assignment], place: Position) -> Page:
    """The next assignments, then their judgments: each step follows an index, wherever in the study the page is."""
    task, assignment, last = place.ids(3)
    begun = assignment if last == PAST else max(assignment - 1, 0)  # the cursor's assignment may hold more rows
    position = Position(after=f"{task}.{begun}", limit=place.limit)
    work = page_by(assignments.filter(state__in=COUNTED).values("task_id", "id"), ["task_id", "id"], position)
    keys = ["assignment__task_id", "assignment_id", "id"]
    page = page_by(_values(rows.filter(assignment__in=[row["id"] for row in work.rows])), keys, place)
    # All judgments of these assignments are on the page, but there are more assignments.
    return page if page.next else Page(page.rows, f"{work.next}.{PAST}" if work.next else "")


def _shaped(row: dict[str, Any], blind: bool) -> dict[str, Any]:
    columns = [column for column in COLUMNS if not (blind and column.hidden_from_annotators)]
    brokered = row["assignment__submission__state"]
    counts = row["assignment__state"] == Assignment.State.SUBMITTED and brokered in (None, *Submission.CONFIRMED)
    cells = {column.name: row[column.paths[0]] for column in columns}
    return dict.fromkeys(names_of(COLUMNS)) | cells | {"counts": counts}
