"""A batch on its way to a market and back: the price, the launch, collecting. For admins."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from pydantic import ConfigDict, Field

from annotation.api.access import PAY, READ, WRITE, study_for, token_of
from annotation.api.batches import batch_in
from annotation.api.jobs import JobOut, job_for_caller
from annotation.api.paging import Id
from annotation.api.problems import Problem
from annotation.api.studies import Slug, Whole
from annotation.common.errors import Refused
from annotation.crowds.console.program_requests import request_launch
from annotation.crowds.launch.quote import quote
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.terms import Terms
from annotation.jobs import start_job
from annotation.models import Role

from .once import Key, answer_once

router = Router()
Cents = Whole
MOST_CENTS = 10**9
DEARER = "Dearer than this, fees included, is refused"


class TermsIn(Schema):
    """What workers are offered, and where."""

    model_config = ConfigDict(extra="forbid")
    crowd: str = Field(max_length=20, description="The market: " + ", ".join(MARKETS))
    terms: dict[str, Any] = Field(description=f"As docs/crowds have them: {', '.join(Terms.__annotations__)}")


class LaunchIn(TermsIn):
    most_cents: Cents = Field(ge=0, le=MOST_CENTS, description=DEARER)


class QuoteOut(Schema):
    """The price of what does not stand on the market yet. While there is a problem, a launch is refused."""

    places: int
    postings: int
    reward_cents: int
    fee_cents: int
    total_cents: int
    hourly_cents: int | None
    minimum_cents: int | None
    balance_cents: int | None
    budget_left_cents: int | None
    warnings: list[str]
    problems: list[str]


@router.post("/batches/{id}/quote", response=QuoteOut, auth=READ)
def quote_launch(request: HttpRequest, study: Slug, id: Id, data: TermsIn) -> Any:
    """What a launch by these terms would cost, and what speaks against it. Nothing is changed."""
    batch = batch_in(study_for(request, study, Role.ADMIN), id)
    try:
        return quote(batch, Terms.parse(data.terms), market_for(data.crowd).name)
    except Refused as refusal:
        raise Problem(503 if refusal.status == 503 else 409, str(refusal), "refused") from None


@router.post("/batches/{id}/launch", response={202: JobOut}, auth=PAY)
def launch_batch(request: HttpRequest, response: HttpResponse, study: Slug, id: Id, data: LaunchIn, key: Key) -> Any:
    """Put a batch on a market by these terms. What stands there already is never put up again."""
    admin_study = study_for(request, study, Role.ADMIN)
    batch = batch_in(admin_study, id)

    def ask(start: Any) -> Any:
        return request_launch(batch, market_for(data.crowd).name, Terms.parse(data.terms), data.most_cents, start)

    return answer_once(request, response, admin_study, key, data, ask)


@router.post("/batches/{id}/collect", response={202: JobOut}, auth=WRITE)
def collect_batch(request: HttpRequest, response: HttpResponse, study: Slug, id: Id) -> Any:
    """Bring back what was handed in on the market. As often as you like: nothing is counted twice."""
    admin_study = study_for(request, study, Role.ADMIN)
    batch = batch_in(admin_study, id)
    market_for(batch.crowd, admin_study)
    job = start_job(admin_study, "collect", {"batch": batch.pk}, token_of(request).user)
    response["Location"] = f"/api/v1/studies/{admin_study.slug}/jobs/{job.pk}"
    return Status(202, job_for_caller(request, admin_study, job.pk))
