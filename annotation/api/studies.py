"""Who am I, and which studies do I have a part in."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router, Schema
from pydantic import BeforeValidator, Field

from annotation.models import Membership, Role, Study
from annotation.studies.progress import study_state

from .access import EVERYBODY, READ, READERS, role_in, study_for, token_of
from .paging import Paging, answer, page_by, page_of

router = Router()


def whole_number(value: object) -> object:
    """As JSON Schema has it: 50.0 is a whole number, "50" and true are not."""
    if isinstance(value, bool | str):
        raise ValueError("a whole number is needed")
    return value


Whole = Annotated[int, BeforeValidator(whole_number)]
Slug = Annotated[str, Path(pattern=r"^[-a-zA-Z0-9_]{1,80}$", description="The study's slug, as in its address")]
# Text that a database takes: PostgreSQL has no place for NUL.
WORD = r"^[^\x00]{0,200}$"


class TokenOut(Schema):
    """The token you called with."""

    name: str
    person: str
    scopes: list[str]
    study: str | None = Field(description="The one study it opens; null: all of yours")
    expires_at: datetime


class StudyOut(Schema):
    slug: str
    name: str
    role: str = Field(description="What you are in it: annotator, admin or analyst")
    created_at: datetime


class CountsOut(Schema):
    documents: int
    systems: int
    summaries: int
    scus: int
    judgments: int
    workers: int
    metrics: int


@router.get("/me", response=TokenOut, auth=READ)
def me(request: HttpRequest) -> dict[str, Any]:
    """The token you called with: whose it is, what it may do, until when."""
    token = token_of(request)
    return {
        "name": token.name,
        "person": token.user.get_username(),
        "scopes": token.scopes,
        "study": token.study.slug if token.study else None,
        "expires_at": token.expires_at,
    }


@router.get("/studies", response=page_of(StudyOut), auth=READ)
def list_studies(request: HttpRequest, response: HttpResponse, place: Paging) -> dict[str, Any]:
    """The studies you have a part in."""
    token = token_of(request)
    studies = Study.objects.visible_to(token.user)
    if token.study_id:
        studies = studies.filter(pk=token.study_id)
    page = page_by(studies.values("id", "slug", "name", "created_at"), ["id"], place)
    roles = dict(Membership.objects.filter(user=token.user).values_list("study_id", "role"))
    return answer(request, response, page, lambda row: {**row, "role": roles.get(row["id"], Role.ADMIN)})


@router.get("/studies/{study}", response=StudyOut, auth=READ)
def get_study(request: HttpRequest, study: Slug) -> dict[str, Any]:
    """One study."""
    found_study = study_for(request, study, *EVERYBODY)
    return {
        "slug": found_study.slug,
        "name": found_study.name,
        "role": role_in(request, found_study),
        "created_at": found_study.created_at,
    }


@router.get("/studies/{study}/counts", response=CountsOut, auth=READ)
def get_counts(request: HttpRequest, study: Slug) -> Any:
    """How much a study holds. For admins and analysts."""
    return study_state(study_for(request, study, *READERS))
