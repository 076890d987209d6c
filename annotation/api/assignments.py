"""Assignments: who works on what, since when. Annotators see their own, and not whose summary it is."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.models import Assignment, Flag, Study, Task, Worker
from annotation.models.attention import totals

from .access import EVERYBODY, READ, READERS, only_own, study_for, token_of
from .paging import BIGGEST, Paging, answer, page_by, page_of, within
from .studies import WORD, Slug

router = Router()
OfBatch = Annotated[int, Query(ge=0, le=BIGGEST, description="Only of the batch with this id; 0: of all")]
OfWorker = Annotated[str, Query(pattern=WORD, description="Only of the worker with this pseudonym")]
State = Annotated[
    str, Query(pattern="^(leased|submitted|expired|released|surplus)?$", description="Only in this state")
]
FIELDS = {
    "assignment_id": "key",
    "batch": "task__batch_id",
    "document": "task__document_id",
    "doc_id": "task__document__doc_id",
    "system": "task__summary__system__name",
    "group": "task__summary__system__group",
    "worker_id": "worker__pseudonym",
    "state": "state",
    "leased_at": "leased_at",
    "submitted_at": "submitted_at",
}


class AssignmentOut(Schema):
    assignment_id: str
    batch: int
    document: int
    doc_id: str
    system: str | None = Field(description="Whose summary; null for whole documents, and for annotators")
    group: str | None
    worker_id: str = Field(description="A pseudonym")
    state: str
    leased_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float
    focus_lost: int
    pastes: int
    changes: int


@router.get("/assignments", response=page_of(AssignmentOut), auth=READ)
def list_assignments(
    request: HttpRequest,
    response: HttpResponse,
    study: Slug,
    place: Paging,
    batch: OfBatch = 0,
    worker: OfWorker = "",
    state: State = "",
) -> dict[str, Any]:
    """The assignments, task by task."""
    found_study = study_for(request, study, *EVERYBODY)
    blind = only_own(request, found_study)
    rows = assignments_of(found_study, request, batch, worker)
    rows = rows.filter(state=state) if state else rows
    fields = ("task_id", "id", "signals", *FIELDS.values())
    page = page_by(rows.values(*fields), ["task_id", "id"], place)
    return answer(request, response, page, lambda row: _shaped(row, blind))


FLAG_FIELDS = {
    "assignment_id": "assignment__key",
    "batch": "assignment__task__batch_id",
    "document": "assignment__task__document_id",
    "doc_id": "assignment__task__document__doc_id",
    "system": "summary__system__name",
    "unit": "unit",
    "worker_id": "assignment__worker__pseudonym",
    "note": "note",
    "raised_at": "raised_at",
}


class FlagOut(Schema):
    assignment_id: str
    batch: int
    document: int
    doc_id: str
    system: str | None = Field(description="Whose summary; null for a note on the task as a whole")
    unit: str = Field(description="An scu_id or a dimension; empty for a note on the task as a whole")
    worker_id: str = Field(description="A pseudonym")
    note: str
    raised_at: datetime


@router.get("/flags", response=page_of(FlagOut), auth=READ)
def list_flags(
    request: HttpRequest, response: HttpResponse, study: Slug, place: Paging, batch: OfBatch = 0
) -> dict[str, Any]:
    """What annotators told the researchers of items and tasks, in the order in which it was first told."""
    found_study = study_for(request, study, *READERS)
    rows = Flag.objects.filter(assignment__task__batch__study=found_study)
    rows = rows.filter(assignment__task__batch=batch) if batch else rows
    page = page_by(rows.values("id", *FLAG_FIELDS.values()), ["id"], place)
    return answer(request, response, page, lambda row: {name: row[field] for name, field in FLAG_FIELDS.items()})


def assignments_of(study: Study, request: HttpRequest, batch: int, worker: str) -> QuerySet[Assignment]:
    """The assignments that the caller may see: all for readers, their own for annotators."""
    rows = Assignment.objects.reached().filter(task__batch__study=study)
    if only_own(request, study):
        rows = rows.filter(worker__user=token_of(request).user)
    if worker:
        rows = rows.filter(worker__in=Worker.objects.filter(study=study, pseudonym=worker))
    tasks = Task.objects.filter(batch__study=study)
    return within(rows, tasks.filter(batch=batch) if batch else tasks, "task_id")


def _shaped(row: dict[str, Any], blind: bool) -> dict[str, Any]:
    sums = totals(row["signals"])
    hidden = {"system": None, "group": None} if blind else {}
    return {
        **{name: row[field] for name, field in FIELDS.items()},
        **{name: getattr(sums, name) for name in ("active_seconds", "focus_lost", "pastes", "changes")},
        **hidden,
    }
