"""Background jobs with their progress. For admins and analysts."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Router, Schema
from pydantic import Field

from annotation.jobs import MONEY_KINDS
from annotation.models import Job, Role, Study

from .access import READ, READERS, role_in, study_for
from .paging import Id, Paging, answer, page_by
from .studies import Slug

router = Router()
FIELDS = ("id", "kind", "state", "done", "total", "message", "asked_at", "ended_at")


class JobOut(Schema):
    id: int
    kind: str
    state: str = Field(description="waiting, running, done or failed")
    done: int
    total: int
    message: str = Field(description="The sentence it ended with; of work with a crowd, only admins read it")
    asked_at: datetime
    ended_at: datetime | None


class JobPage(Schema):
    items: list[JobOut]
    next: str | None


@router.get("/jobs", response=JobPage, auth=READ)
def list_jobs(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """The jobs, the oldest first."""
    found_study = study_for(request, study, *READERS)
    page = page_by(Job.objects.filter(study=found_study).values(*FIELDS), ["id"], place)
    return answer(request, response, page, lambda row: _job_for_caller(request, found_study, row))


@router.get("/jobs/{id}", response=JobOut, auth=READ)
def get_job(request: HttpRequest, study: Slug, id: Id) -> dict[str, Any]:
    """One job: ask again until its state is done or failed."""
    found_study = study_for(request, study, *READERS)
    return _job_for_caller(request, found_study, job_row(found_study, id))


def _job_for_caller(request: HttpRequest, study: Study, row: dict[str, Any]) -> dict[str, Any]:
    """Crowd work speaks of money and people, as on the Monitor page."""
    hidden = row["kind"] in MONEY_KINDS and role_in(request, study) != Role.ADMIN
    return {**row, "message": "" if hidden else row["message"]}


def job_row(study: Study, job_id: int) -> dict[str, Any]:
    row = Job.objects.filter(study=study, pk=job_id).values(*FIELDS).first()
    if row is None:
        raise Http404(gettext("There is no such job in this study."))
    return dict(row)
