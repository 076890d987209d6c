"""Workers: pseudonyms for readers; their own ids for admins whose token has the scope `admin`."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from pydantic import Field

from annotation.models import Role, Worker

from .access import ADMIN, READ, READERS, study_for
from .paging import Paging, answer, page_by
from .studies import Slug

router = Router()


class WorkerOut(Schema):
    worker_id: str = Field(description="A pseudonym")
    crowd: str


class WorkerPage(Schema):
    items: list[WorkerOut]
    next: str | None


class RawWorkerOut(WorkerOut):
    external_id: str = Field(description="The id that the crowd itself uses")


class RawWorkerPage(Schema):
    items: list[RawWorkerOut]
    next: str | None


@router.get("/workers", response=WorkerPage, auth=READ)
def list_workers(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """Everybody who judges for the study, by pseudonym. For admins and analysts."""
    rows = Worker.objects.filter(study=study_for(request, study, *READERS))
    return answer(request, response, page_by(rows.values("id", "pseudonym", "crowd"), ["id"], place), _shaped)


@router.get("/workers/raw", response=RawWorkerPage, auth=ADMIN)
def list_raw_workers(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """Pseudonyms beside the ids that the crowd uses. For admins with the scope `admin`, and nobody else."""
    rows = Worker.objects.filter(study=study_for(request, study, Role.ADMIN))
    page = page_by(rows.values("id", "pseudonym", "crowd", "external_id"), ["id"], place)
    return answer(request, response, page, _shaped)


def _shaped(row: dict[str, Any]) -> dict[str, Any]:
    return {"worker_id": row["pseudonym"], **row}
