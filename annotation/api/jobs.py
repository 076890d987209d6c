"""Background jobs with their progress. For admins and analysts."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Router, Schema
from pydantic import Field

from annotation.models import Job, Study

from .access import READ, READERS, study_for
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
    message: str = Field(description="The sentence it ended with")
    asked_at: datetime
    ended_at: datetime | None


class JobPage(Schema):
    items: list[JobOut]
    next: str | None


@router.get("/jobs", response=JobPage, auth=READ)
def list_jobs(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """The jobs, the oldest first."""
    rows = Job.objects.filter(study=study_for(request, study, *READERS))
    return answer(request, response, page_by(rows.values(*FIELDS), ["id"], place))


@router.get("/jobs/{id}", response=JobOut, auth=READ)
def get_job(request: HttpRequest, study: Slug, id: Id) -> dict[str, Any]:
    """One job: ask again until its state is done or failed."""
    return job_row(study_for(request, study, *READERS), id)


def job_row(study: Study, job_id: int) -> dict[str, Any]:
    row = Job.objects.filter(study=study, pk=job_id).values(*FIELDS).first()
    if row is None:
        raise Http404(gettext("There is no such job in this study."))
    return dict(row)
