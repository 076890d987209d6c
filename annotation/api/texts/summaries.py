"""The systems' summaries. For admins and analysts."""

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.api.access import READ, READERS, study_for
from annotation.api.paging import BIGGEST, Id, Paging, answer, first_row, page_by, page_of, within
from annotation.api.studies import Slug
from annotation.models import Summary

from .documents import Text, Texts

router = Router()
OfDocument = Annotated[int, Query(ge=0, le=BIGGEST, description="Only of the document with this id; 0: of all")]
FIELDS = {
    **{"id": "id", "document": "document_id", "doc_id": "document__doc_id"},
    **{"system": "system__name", "group": "system__group"},
}
TEXTS = {"summary": "text", "shown_to_workers": "shown"}


class SummaryOut(Schema):
    id: int
    document: int
    doc_id: str
    system: str
    group: str
    summary: Text | None
    shown_to_workers: Text | None = Field(description="The text as workers see it, where it differs")


@router.get("/summaries", response=page_of(SummaryOut), auth=READ)
def list_summaries(
    request: HttpRequest,
    response: HttpResponse,
    study: Slug,
    place: Paging,
    document: OfDocument = 0,
    texts: Texts = True,
) -> dict[str, Any]:
    """The summaries, document by document."""
    found_study = study_for(request, study, *READERS)
    rows = Summary.objects.filter(document__study=found_study)
    rows = rows.filter(document=document) if document else within(rows, found_study.documents.all(), "document_id")
    fields = [*FIELDS.values(), *(TEXTS.values() if texts else [])]
    return answer(request, response, page_by(rows.values(*fields), ["document_id", "id"], place), _shaped)


def _shaped(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(field) for name, field in {**FIELDS, **TEXTS}.items()}


@router.get("/summaries/{id}", response=SummaryOut, auth=READ)
def get_summary(request: HttpRequest, study: Slug, id: Id) -> dict[str, Any]:
    """One summary."""
    rows = Summary.objects.filter(document__study=study_for(request, study, *READERS), pk=id)
    rows_with_texts = rows.values(*FIELDS.values(), *TEXTS.values())
    return _shaped(first_row(rows_with_texts, gettext("There is no such summary in this study.")))
