"""Documents with their references, and the systems that summarised them. For admins and analysts."""

from collections.abc import Callable
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.api.access import READ, READERS, study_for
from annotation.api.paging import Id, Paging, answer, first_row, page_by, page_of
from annotation.api.studies import WORD, Slug
from annotation.models import Document, Reference, System

router = Router()
Text = str | list[str]
Texts = Annotated[bool, Query(description="With the texts (true), or without (false)")]
DocId = Annotated[str, Query(pattern=WORD, description="Only the document with this doc_id")]


class DocumentOut(Schema):
    id: int
    doc_id: str
    source: Text | None = Field(description="A string or a list of sentences; null with texts=false")
    references: list[Text] | None


class SystemOut(Schema):
    id: int
    name: str
    group: str


@router.get("/documents", response=page_of(DocumentOut), auth=READ)
def list_documents(
    request: HttpRequest, response: HttpResponse, study: Slug, place: Paging, doc_id: DocId = "", texts: Texts = True
) -> dict[str, Any]:
    """The documents."""
    rows = Document.objects.filter(study=study_for(request, study, *READERS))
    if doc_id:
        rows = rows.filter(doc_id=doc_id)
    page = page_by(rows.values("id", "doc_id", *(["source"] if texts else [])), ["id"], place)
    return answer(request, response, page, _shaped([row["id"] for row in page.rows], texts))


def _shaped(ids: list[int], texts: bool) -> Callable[[Any], dict[str, Any]]:
    references: dict[int, list[Any]] = {key: [] for key in ids}
    if texts:
        rows = Reference.objects.filter(document__in=ids).order_by("document_id", "index")
        for document, text in rows.values_list("document_id", "text"):
            references[document].append(text)
    return lambda row: {"source": None, **row, "references": references[row["id"]] if texts else None}


@router.get("/documents/{id}", response=DocumentOut, auth=READ)
def get_document(request: HttpRequest, study: Slug, id: Id) -> dict[str, Any]:
    """One document."""
    rows = Document.objects.filter(study=study_for(request, study, *READERS), pk=id)
    row = first_row(rows.values("id", "doc_id", "source"), gettext("There is no such document in this study."))
    return _shaped([id], True)(row)


@router.get("/systems", response=page_of(SystemOut), auth=READ)
def list_systems(request: HttpRequest, response: HttpResponse, study: Slug, place: Paging) -> dict[str, Any]:
    """The systems. One name in two groups is two systems; rated references are the group `reference`."""
    rows = System.objects.filter(study=study_for(request, study, *READERS))
    return answer(request, response, page_by(rows.values("id", "name", "group"), ["id"], place))
