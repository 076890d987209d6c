"""The report's and the Quality page's numbers. For admins and analysts."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from pydantic import Field

from annotation.common.errors import Refused
from annotation.jobs.page_cache import current_content
from annotation.models import Job

from .access import READ, READERS, study_for, token_of
from .jobs import JobOut, job_row
from .studies import Slug

router = Router()
Cell = str | float | bool | None


class FigureOut(Schema):
    name: str
    title: str
    caption: str
    command: str = Field(description="The command that gives these numbers from an export")
    columns: list[str]
    rows: list[list[Cell]]


class SectionOut(Schema):
    name: str
    heading: str
    text: str
    figures: list[FigureOut]


class PoweredSystemOut(Schema):
    system: str
    value: float | None
    low: float | None
    high: float | None
    people_value: float | None
    tuning: float | None = Field(description="λ: 0 where the models are of no use")
    n_people: int = Field(description="Documents that people judged")
    n_model: int = Field(description="Documents that models alone judged")


class PoweredOut(Schema):
    """People's means with models' help (PPI++)."""

    measure: str
    helps: bool
    systems: list[PoweredSystemOut]


class ReportOut(Schema):
    """Empty while nobody has judged."""

    title: str = ""
    verdict: str = ""
    warnings: list[str] = []
    methods: str = ""
    command: str = ""
    sections: list[SectionOut] = []
    powered: list[PoweredOut] = []


class AgreementOut(Schema):
    name: str
    coefficient: str
    level: str
    value: float | None
    n_units: int
    n_undefined: int
    low: float | None
    high: float | None


class WorkerFacts(Schema):
    worker_id: str = Field(description="A pseudonym")
    answers: float
    seconds: float | None
    agreement: float | None
    checks: int
    failed: int


class ExamOut(Schema):
    """A model against the people who judged the same items."""

    judge: str
    worker_id: str
    omega: float | None
    rho: float | None
    epsilon: float
    n_items: int
    n_human_items: int
    n_people: int
    alpha_people: float | None
    alpha_with: float | None
    repeatability: float | None
    verdict: str


class ProtocolOut(Schema):
    name: str
    level: str
    agreement: list[AgreementOut]
    workers: list[WorkerFacts]
    judges: list[ExamOut] = []


class QualityOut(Schema):
    protocols: list[ProtocolOut]


@router.get("/report", response={200: ReportOut, 202: JobOut}, auth=READ)
def get_report(request: HttpRequest, response: HttpResponse, study: Slug) -> Any:
    """The report's words and numbers; 202 with the job that is making it, when something has changed since;
    409 with the reason where that is impossible as the study stands."""
    return _stored("report", request, response, study)


@router.get("/quality", response={200: QualityOut, 202: JobOut}, auth=READ)
def get_quality(request: HttpRequest, response: HttpResponse, study: Slug) -> Any:
    """Agreement and workers; 202 with the job that is working it out."""
    return _stored("quality", request, response, study)


def _stored(name: str, request: HttpRequest, response: HttpResponse, slug: str) -> Any:
    study = study_for(request, slug, *READERS)
    content, job = current_content(name, study, token_of(request).user)
    if content is not None:
        return Status(200, content)
    if job is None:  # it ended between the two looks: the next request has it
        raise RuntimeError(f"{name} has neither content nor job")
    if job.state == Job.State.FAILED:
        raise Refused(job.message)
    response["Location"] = f"{request.path.rsplit('/', 1)[0]}/jobs/{job.pk}"
    response["Retry-After"] = "2"
    return Status(202, job_row(study, job.pk))
