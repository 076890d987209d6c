"""Background jobs with their progress. For admins and analysts."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Router, Schema
from pydantic import Field

from annotation.jobs import MONEY_KINDS
from annotation.models import Job, Role, Scope, Study

from .access import READ, READERS, role_in, study_for, token_of
from .paging import Id, Paging, answer, first_row, page_by, page_of
from .studies import Slug

router = Router()
FIELDS = ("id", "kind", "state", "done", "total", "message", "asked_at", "ended_at")


class JobOut(Schema):
    id: int
    kind: str
    state: str = Field(description="waiting, running, done or failed")
    done: int
    total: int
    message: str = Field(
        description="The sentence it ended with. Of work with a crowd only admins read why it failed, and with the "
        "scope `admin` what came of it: it may name workers"
    )
    asked_at: datetime
    ended_at: datetime | None


@router.get("/jobs", response=page_of(JobOut), auth=READ)
def list_jobs(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """The jobs, the oldest first."""
    found_study = study_for(request, study, *READERS)
    page = page_by(Job.objects.filter(study=found_study).values(*FIELDS), ["id"], place)
    return answer(request, response, page, lambda row: _shaped(request, found_study, row))


@router.get("/jobs/{id}", response=JobOut, auth=READ)
def get_job(request: HttpRequest, study: Slug, id: Id) -> dict[str, Any]:
    """One job: ask again until its state is done or failed."""
    found_study = study_for(request, study, *READERS)
    return job_for_caller(request, found_study, id)


def job_for_caller(request: HttpRequest, study: Study, job_id: int) -> dict[str, Any]:
    return _shaped(request, study, job_row(study, job_id))


def _shaped(request: HttpRequest, study: Study, row: dict[str, Any]) -> dict[str, Any]:
    """Crowd work speaks of money, as on the Monitor page; what went well names workers by the market's ids."""
    is_admin = role_in(request, study) == Role.ADMIN
    names_workers = row["state"] == Job.State.DONE and Scope.ADMIN not in token_of(request).scopes
    hidden = row["kind"] in MONEY_KINDS and (not is_admin or names_workers)
    return {**row, "message": "" if hidden else row["message"]}


def job_row(study: Study, job_id: int) -> dict[str, Any]:
    rows = Job.objects.filter(study=study, pk=job_id).values(*FIELDS)
    return first_row(rows, gettext("There is no such job in this study."))
