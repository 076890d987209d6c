"""Which workers' answers a study leaves out: the rules, a preview, the decision in force, and undoing it."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Router, Schema, Status
from pydantic import ConfigDict, Field

from annotation.models import FilterDecision, Role, Study
from annotation.results.quality import decide_filter, preview_rules, undo_filter

from .access import READ, READERS, WRITE, study_for, token_of
from .middleware import require_match, tag_of
from .paging import Paging, answer, page_by
from .studies import Slug, Whole

router = Router()
FIELDS = ("id", "rules", "seed", "decided_at", "undone_at", "decided_by__username", "undone_by__username")
RuleText = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


class RuleOut(Schema):
    name: str
    summary: str


class FilterIn(Schema):
    """Rules, one after the other, as `python -m analysis filter --rule` reads them."""

    model_config = ConfigDict(extra="forbid")
    rules: list[RuleText] = Field(min_length=1, max_length=10, examples=[["checks", "worker-agreement"]])
    seed: Whole = Field(0, ge=0, le=999_999_999)


class DecisionOut(Schema):
    id: int
    rules: list[str]
    seed: int
    decided_at: datetime
    decided_by: str | None
    undone_at: datetime | None
    undone_by: str | None


class DecisionPage(Schema):
    items: list[DecisionOut]
    next: str | None


class DroppedOut(Schema):
    worker_id: str = Field(description="A pseudonym")
    doc_id: str | None
    system: str | None
    rule: str
    reason: str


class PreviewOut(Schema):
    rules: list[str]
    rows_dropped: int
    workers_dropped: int
    agreement_before: float | None
    agreement_after: float | None
    dropped: list[DroppedOut] = Field(description="Who would be left out, and why: the first 200")
    n_dropped: int


@router.get("/filters/rules", response=list[RuleOut], auth=READ)
def list_rules(request: HttpRequest, study: Slug) -> list[Any]:
    """The rules there are. For admins and analysts."""
    from analysis.filters import RULES

    study_for(request, study, *READERS)
    return [{"name": rule.name, "summary": rule.summary} for rule in RULES.values()]


@router.get("/filters", response=DecisionPage, auth=READ)
def list_filters(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """Every decision, the oldest first; none is ever deleted. For admins and analysts."""
    rows = study_for(request, study, *READERS).filter_decisions.all()
    return answer(request, response, page_by(rows.values(*FIELDS), ["id"], place), _shaped)


@router.post("/filters/preview", response=PreviewOut, auth=READ)
def preview_filter(request: HttpRequest, study: Slug, data: FilterIn) -> dict[str, Any]:
    """What a filter would do. Nothing is changed. For admins and analysts."""
    preview = preview_rules(study_for(request, study, *READERS), ",".join(data.rules), data.seed)
    facts = preview["facts"]
    names = ("rows_dropped", "workers_dropped", "agreement_before", "agreement_after")
    numbers = {name: _number(getattr(facts, name)) for name in names}
    dropped = [{"doc_id": None, "system": None, **row} for row in preview["decisions"]]
    return {"rules": preview["rules"], **numbers, "dropped": dropped, "n_dropped": preview["n_decisions"]}


def _number(value: Any) -> Any:
    return None if value is None or value != value else value  # NaN is not equal to itself


@router.post("/filters", response={201: DecisionOut}, auth=WRITE)
def post_filter(request: HttpRequest, study: Slug, data: FilterIn) -> Any:
    """Put a filter in force; the one before is undone. For admins."""
    found_study = study_for(request, study, Role.ADMIN)
    decide_filter(found_study, ",".join(data.rules), data.seed, token_of(request).user)
    return Status(201, _in_force(found_study))


@router.get("/filters/current", response=DecisionOut, auth=READ)
def get_filter(request: HttpRequest, response: HttpResponse, study: Slug) -> dict[str, Any]:
    """The decision in force; 404 while every answer counts. For admins and analysts."""
    row = _in_force(study_for(request, study, *READERS))
    response["ETag"] = _tag(row)
    return row


@router.delete("/filters/current", response=DecisionOut, auth=WRITE)
def delete_filter(request: HttpRequest, study: Slug) -> dict[str, Any]:
    """Undo the decision in force: every answer counts again. It stays in the log. For admins."""
    found_study = study_for(request, study, Role.ADMIN)
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=found_study.pk)
        row = _in_force(found_study)
        require_match(request, _tag(row))
        undo_filter(found_study, token_of(request).user)
    return _shaped(FilterDecision.objects.values(*FIELDS).get(pk=row["id"]))


def _in_force(study: Study) -> dict[str, Any]:
    row = study.filter_decisions.in_force().values(*FIELDS).first()
    if row is None:
        raise Http404(gettext("No filter is in force: every answer counts."))
    return _shaped(row)


def _shaped(row: Any) -> dict[str, Any]:
    fields = {name: row[name] for name in FIELDS[:5]}
    return {**fields, "decided_by": row["decided_by__username"], "undone_by": row["undone_by__username"]}


def _tag(row: dict[str, Any]) -> str:
    return tag_of(repr(sorted(row.items())).encode())
