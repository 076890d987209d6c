"""What was handed in on a market: the list, verdicts, bonuses. For admins."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import BeforeValidator, ConfigDict, Field

from annotation.api.access import PAY, READ, study_for
from annotation.api.assignments import OfBatch
from annotation.api.batches import batch_in
from annotation.api.jobs import JobOut
from annotation.api.paging import BIGGEST, Id, Paging, answer, page_by, page_of
from annotation.api.studies import Slug, whole_number
from annotation.crowds.console.program_requests import request_bonuses, request_verdicts
from annotation.crowds.pay.work_done import work_done
from annotation.models import Entry, Role, Submission

from .launch import DEARER, MOST_CENTS, Cents
from .once import Key, answer_once

router = Router()
State = Annotated[
    str, Query(pattern="^(started|submitted|approved|rejected|returned)?$", description="Only in this state")
]
SubmissionId = Annotated[int, Field(ge=1, le=BIGGEST), BeforeValidator(whole_number)]
Ids = Annotated[list[SubmissionId], Field(min_length=1, max_length=10_000, description="Hand-ins, by id")]
FIELDS = {
    "id": "id",
    "batch": "posting__batch_id",
    "worker_id": "worker__pseudonym",
    "state": "state",
    "submitted_at": "submitted_at",
    "decided_at": "decided_at",
    "reason": "reason",
    "reward_cents": "posting__reward_cents",
    "fee_cents": "posting__fee_cents",
}


class SubmissionOut(Schema):
    id: int
    batch: int
    worker_id: str = Field(description="A pseudonym")
    state: str = Field(description="started, submitted (waits for a verdict), approved, rejected or returned")
    submitted_at: datetime | None
    decided_at: datetime | None
    reason: str = Field(description="Of a rejection, as the worker reads it")
    reward_cents: int
    fee_cents: int
    bonus_cents: int = Field(description="Paid beside the reward, without fees")
    tasks: int = Field(description="Tasks whose answers are with us")
    promised: int = Field(description="Tasks that the reward is for")


class VerdictsIn(Schema):
    """One verdict for several hand-ins: each of them, or none."""

    model_config = ConfigDict(extra="forbid")
    verdict: Literal["approve", "reject", "undo"] = Field(description="undo: approve what was rejected, after all")
    submissions: Ids
    reason: str = Field(
        default="", max_length=1000, pattern=r"^[^\x00]*$", description="Of a rejection, for the worker"
    )
    most_cents: Cents = Field(ge=0, le=MOST_CENTS, description=DEARER)


class BonusesIn(Schema):
    """The same bonus for several hand-ins: for all of them, or for none."""

    model_config = ConfigDict(extra="forbid")
    submissions: Ids
    cents: Cents = Field(ge=1, le=MOST_CENTS, description="For each")
    reason: str = Field(min_length=1, max_length=1000, pattern=r"^[^\x00]*$", description="As the worker reads it")
    most_cents: Cents = Field(ge=0, le=MOST_CENTS, description=DEARER)


@router.get("/submissions", response=page_of(SubmissionOut), auth=READ)
def list_submissions(
    request: HttpRequest, response: HttpResponse, study: Slug, place: Paging, batch: OfBatch = 0, state: State = ""
) -> dict[str, Any]:
    """What workers began and handed in on a market, by pseudonym. For admins."""
    admin_study = study_for(request, study, Role.ADMIN)
    rows = Submission.objects.filter(posting__batch__study=admin_study)
    rows = rows.filter(posting__batch=batch) if batch else rows
    rows = rows.filter(state=state) if state else rows
    page = page_by(rows.values(*FIELDS.values()), ["id"], place)
    ids = [row["id"] for row in page.rows]
    work = work_done(Submission.objects.filter(pk__in=ids).select_related("posting__batch"))
    paid = Entry.objects.filter(submission__in=ids, kind=Entry.Kind.BONUS, state=Entry.State.SETTLED).order_by()
    bonuses = dict(paid.values_list("submission").annotate(cents=Sum("reward_cents")))

    def shaped(row: dict[str, Any]) -> dict[str, Any]:
        done = work[row["id"]]
        numbers = {"bonus_cents": bonuses.get(row["id"], 0), "tasks": done.tasks, "promised": done.promised}
        return {**{name: row[field] for name, field in FIELDS.items()}, **numbers}

    return answer(request, response, page, shaped)


@router.post("/batches/{id}/verdicts", response={202: JobOut}, auth=PAY)
def post_verdicts(request: HttpRequest, response: HttpResponse, study: Slug, id: Id, data: VerdictsIn, key: Key) -> Any:
    """Approve, reject or take a rejection back. One hand-in that can't have the verdict, and nothing is done."""
    admin_study = study_for(request, study, Role.ADMIN)
    batch = batch_in(admin_study, id)

    def ask(start: Any) -> Any:
        return request_verdicts(batch, data.verdict, data.submissions, data.reason, data.most_cents, start)

    return answer_once(request, response, admin_study, key, data, ask)


@router.post("/batches/{id}/bonuses", response={202: JobOut}, auth=PAY)
def post_bonuses(request: HttpRequest, response: HttpResponse, study: Slug, id: Id, data: BonusesIn, key: Key) -> Any:
    """Pay a bonus beside the reward: for all, or for none where budget or balance don't reach. The same sum for the
    same reason is paid once for a hand-in, whatever the key."""
    admin_study = study_for(request, study, Role.ADMIN)
    batch = batch_in(admin_study, id)

    def ask(start: Any) -> Any:
        return request_bonuses(batch, data.submissions, data.cents, data.reason, data.most_cents, start)

    return answer_once(request, response, admin_study, key, data, ask)
