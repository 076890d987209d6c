"""The SCUs that workers look for. For admins and analysts."""

from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.api.access import READ, READERS, study_for
from annotation.api.paging import Paging, answer, page_by, page_of, within
from annotation.api.studies import Slug
from annotation.models import ContentUnit

from .summaries import OfDocument

router = Router()


class ScuOut(Schema):
    id: int
    document: int
    doc_id: str
    scu_id: str
    text: str
    reference_index: int | None
    start: int | None
    end: int | None
    weight: float | None
    is_check: bool = Field(description="Its answer is known beforehand (`expected`)")
    expected: float | None
    version: int
    retired_in: int | None = Field(description="The version of the list that left it out")


FIELDS = {**{name: name for name in ScuOut.model_fields}, "document": "document_id", "doc_id": "document__doc_id"}


@router.get("/scus", response=page_of(ScuOut), auth=READ)
def list_scus(
    request: HttpRequest,
    response: HttpResponse,
    study: Slug,
    place: Paging,
    document: OfDocument = 0,
    retired: Annotated[bool, Query(description="With those that a later version left out")] = False,
) -> dict[str, Any]:
    """The SCUs, document by document."""
    found_study = study_for(request, study, *READERS)
    rows: QuerySet[ContentUnit] = ContentUnit.objects.filter(document__study=found_study)
    rows = rows.filter(document=document) if document else within(rows, found_study.documents.all(), "document_id")
    if not retired:
        rows = rows.filter(retired_in=None)
    page = page_by(rows.values(*FIELDS.values()), ["document_id", "id"], place)
    return answer(request, response, page, lambda row: {name: row[field] for name, field in FIELDS.items()})
