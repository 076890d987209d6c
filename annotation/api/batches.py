"""Batches of tasks: admins make them and move them on, analysts look."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Router, Schema, Status
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from annotation import protocols
from annotation.common.middleware import strip_unreadable
from annotation.jobs import start_job
from annotation.models import Batch, Role, Study
from annotation.studies.batches import create_batch
from annotation.studies.members import PostingsStand, set_state
from annotation.studies.progress import batch_progress
from annotation.studies.selection import Selection

from .access import READ, READERS, WRITE, study_for, token_of
from .middleware import require_match, row_tag
from .paging import Id, Paging, answer, first_row, page_by, page_of
from .studies import Slug, Whole

router = Router()
FIELDS = ("id", "name", "protocol", "role", "round", "crowd", "state", "options", "created_at")
JOBS = {"paused": "pause", "open": "resume", "closed": "close"}  # on a market, by what the batch is to become
READABLE = BeforeValidator(strip_unreadable)
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


def _known(name: str) -> str:
    protocols.get(name)
    return name


def _say_known(schema: dict[str, Any]) -> None:
    schema["enum"] = list(protocols.PROTOCOLS)


# Looked up when asked: a lab may add protocols of its own (docs/extending.md).
ProtocolName = Annotated[str, AfterValidator(_known), Field(json_schema_extra=_say_known)]


class BatchOut(Schema):
    id: int
    name: str
    protocol: str
    role: str = Field(description="Whom it asks: crowd or expert")
    round: int
    crowd: str
    state: str
    options: dict[str, Any]
    created_at: datetime


class ProgressOut(Schema):
    tasks: int
    places: int = Field(description="Answers asked for: the sum of the quotas")
    submitted: int
    leased: int


class JudgedIn(Schema):
    """What a batch judges; what is left out chooses everything."""

    model_config = ConfigDict(extra="forbid")
    documents: list[str] = Field(default=[], max_length=100_000, description="By id")
    systems: list[str] = Field(default=[], max_length=10_000, description="By name")
    sample: list[str] = Field(default=[], max_length=100, description="Metrics by which REALSumm's Algorithm 1 draws")
    metric: str = Field(default="", max_length=200, description="Only summaries in a range of this metric's scores")
    low: float = Field(default=0, ge=0, le=1, strict=True, description="Quantile where the range begins")
    high: float = Field(default=1, ge=0, le=1, strict=True, description="Quantile where it ends")
    disputed: list[str] = Field(default=[], max_length=100, description="Metrics whose ranks are to differ most")
    most: Whole = Field(default=0, ge=0, le=10_000_000, description="So many disputed summaries")
    pilot: Whole = Field(default=0, ge=0, le=10_000_000, description="So many documents, drawn by the seed")
    seed: Whole = Field(default=0, ge=0, le=2**31)


class BatchIn(Schema):
    """A batch of what the study has to judge by this protocol."""

    model_config = ConfigDict(extra="forbid")
    name: Name
    protocol: ProtocolName
    quota: Whole = Field(ge=1, le=100, description="Answers per task")
    role: Literal["crowd", "expert"] = "crowd"
    options: Annotated[dict[str, Any], READABLE] = Field(default={}, description="The protocol's own (docs/protocols)")
    judged: Annotated[JudgedIn, READABLE] = Field(JudgedIn(), description="What is judged; without it, everything")
    quota_by_group: Annotated[dict[str, Whole], READABLE] = Field({}, description="Answers per task for some groups")


class StateIn(Schema):
    model_config = ConfigDict(extra="forbid")
    state: Literal["open", "paused", "closed"]


@router.get("/batches", response=page_of(BatchOut), auth=READ)
def list_batches(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """The batches. For admins and analysts."""
    rows = Batch.objects.filter(study=study_for(request, study, *READERS))
    return answer(request, response, page_by(rows.values(*FIELDS), ["id"], place))


@router.post("/batches", response={201: BatchOut}, auth=WRITE)
def post_batch(request: HttpRequest, response: HttpResponse, study: Slug, data: BatchIn) -> Any:
    """A new batch, in draft. For admins. Two batches of one name are refused, so that a repeated request makes one."""
    found_study = study_for(request, study, Role.ADMIN)
    batch = create_batch(
        found_study,
        data.name,
        data.protocol,
        data.quota,
        data.options,
        role=data.role,
        judged=Selection(**data.judged.dict()),
        quota_by_group=data.quota_by_group,
    )
    response["Location"] = f"{request.path}/{batch.pk}"
    return Status(201, _row(found_study, batch.pk))


@router.get("/batches/{id}", response=BatchOut, auth=READ)
def get_batch(request: HttpRequest, response: HttpResponse, study: Slug, id: Id) -> dict[str, Any]:
    """One batch. For admins and analysts."""
    row = _row(study_for(request, study, *READERS), id)
    response["ETag"] = row_tag(row)
    return row


@router.patch("/batches/{id}", response={200: BatchOut, 202: BatchOut}, auth=WRITE)
def patch_batch(request: HttpRequest, response: HttpResponse, study: Slug, id: Id, data: StateIn) -> Any:
    """Open, pause or close a batch. For admins. A closed one stays closed.

    What stands on a market is paused, opened again or taken down there in the background: then the answer is 202. The
    batch is closed once nobody works on it and everything is judged and settled.
    """
    found_study = study_for(request, study, Role.ADMIN)
    status = 200
    with transaction.atomic():
        Batch.objects.select_for_update().filter(study=found_study, pk=id).first()  # nobody comes in between
        require_match(request, row_tag(_row(found_study, id)))
        try:
            set_state(found_study, id, data.state)
        except PostingsStand:
            start_job(found_study, JOBS[data.state], {"batch": id}, token_of(request).user)
            status = 202
    row = _row(found_study, id)
    response["ETag"] = row_tag(row)
    return Status(status, row)


@router.get("/batches/{id}/progress", response=ProgressOut, auth=READ)
def get_progress(request: HttpRequest, study: Slug, id: Id) -> Any:
    """How far a batch is. For admins and analysts."""
    found_study = study_for(request, study, *READERS)
    progress = {row.batch.pk: row for row in batch_progress([found_study]).get(found_study.pk, [])}
    if id not in progress:
        raise Http404(gettext("There is no such batch in this study."))
    return progress[id]


def batch_in(study: Study, batch_id: int) -> Batch:
    batch = Batch.objects.select_related("study").filter(study=study, pk=batch_id).first()
    if batch is None:
        raise Http404(gettext("There is no such batch in this study."))
    return batch


def _row(study: Study, batch_id: int) -> dict[str, Any]:
    rows = Batch.objects.filter(study=study, pk=batch_id).values(*FIELDS)
    return first_row(rows, gettext("There is no such batch in this study."))
