"""Scores of metrics (and imported human measures), what they were made with, and starting to score. For readers."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import ConfigDict, Field

from annotation.jobs import start_job
from annotation.models import WHOLE_SYSTEM, Job, Score
from annotation.results.metrics import checked_metrics, scored_metrics

from .access import READ, READERS, WRITE, study_for, token_of
from .jobs import JobOut, job_row
from .paging import Paging, answer, page_by, page_of
from .studies import WORD, Slug
from .texts.summaries import OfDocument

router = Router()
FIELDS = {
    **{"document": "document_id", "doc_id": "document__doc_id", "system": "system__name", "group": "system__group"},
    **{"metric": "metric", "value": "value", "role": "extra__role"},
}


class ScoreOut(Schema):
    document: int | None
    doc_id: str = Field(description="`*` for a score of a whole system")
    system: str
    group: str
    metric: str
    value: float | None = Field(description="null: undefined")
    role: str = Field(description="`human` for a score that people gave; empty for a metric's")


class MetricOut(Schema):
    metric: str
    n: int
    undefined: int
    role: str = Field(description="`human` for a measure that people gave; empty for a metric")
    signature: str | None = Field(description="How it was made; null: imported")
    scored_at: datetime | None


class MetricRunIn(Schema):
    """Metrics by name, with options in brackets: rouge-2-p[stem,stop]."""

    model_config = ConfigDict(extra="forbid")
    metrics: list[Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]] = Field(
        min_length=1, max_length=100
    )


@router.get("/scores", response=page_of(ScoreOut), auth=READ)
def list_scores(
    request: HttpRequest,
    response: HttpResponse,
    study: Slug,
    place: Paging,
    metric: Annotated[str, Query(pattern=WORD, description="Only of this metric")] = "",
    document: OfDocument = 0,
) -> dict[str, Any]:
    """The scores."""
    rows = Score.objects.filter(study=study_for(request, study, *READERS))
    rows = rows.filter(metric=metric) if metric else rows
    rows = rows.filter(document=document) if document else rows
    return answer(request, response, page_by(rows.values("id", *FIELDS.values()), ["id"], place), _shaped)


def _shaped(row: dict[str, Any]) -> dict[str, Any]:
    scored = {name: row[field] for name, field in FIELDS.items()}
    return {**scored, "doc_id": scored["doc_id"] or WHOLE_SYSTEM, "role": scored["role"] or ""}


@router.get("/metrics", response=list[MetricOut], auth=READ)
def list_metrics(request: HttpRequest, study: Slug) -> list[dict[str, Any]]:
    """The metrics that have scores, and how each was made."""
    rows = scored_metrics(study_for(request, study, *READERS))
    return [{**row, **{name: getattr(row["run"], name, None) for name in ("signature", "scored_at")}} for row in rows]


@router.post("/metric-runs", response={202: JobOut}, auth=WRITE)
def post_metric_run(request: HttpRequest, response: HttpResponse, study: Slug, data: MetricRunIn) -> Any:
    """Score every summary with these metrics, in the background. The same request while it runs changes nothing."""
    found_study = study_for(request, study, *READERS)
    options = {"metrics": checked_metrics("", data.metrics)}
    under_way = found_study.jobs.filter(kind="score", state__in=[Job.State.WAITING, Job.State.RUNNING], options=options)
    job = under_way.first() or start_job(found_study, "score", options, token_of(request).user)
    response["Location"] = f"{request.path.removesuffix('metric-runs')}jobs/{job.pk}"
    return Status(202, job_row(found_study, job.pk))
