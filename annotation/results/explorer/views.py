"""A study's Explorer, for admins and analysts: every view is an address that can be passed on."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import READERS, study_for, user_of
from annotation.jobs.page_cache import study_mark
from annotation.models import Study
from annotation.results.explorer.document import DocumentPage, document_page
from annotation.results.explorer.lists import ListPage, ListQuery, list_page, start_once


@require_GET
def explorer(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the documents, by name or by disagreement, found by words."""
    study = study_for(request, slug, *READERS)
    page = list_page(study, ListQuery.read(request.GET.dict()), user_of(request))
    return _rendered(request, study, page, "annotation/results/explorer/list.html")


@require_GET
def document(request: HttpRequest, slug: str, document_id: int) -> HttpResponse:
    """Admins and analysts: one document with all its systems, SCUs and judges."""
    study = study_for(request, slug, *READERS)
    page = document_page(study, document_id, ListQuery.read(request.GET.dict()), user_of(request))
    return _rendered(request, study, page, "annotation/results/explorer/document.html")


def _rendered(request: HttpRequest, study: Study, page: ListPage | DocumentPage, template: str) -> HttpResponse:
    context = {"study": study, "step": "data", "page": page, "query": page.query, "exploration": page.state}
    return render(request, template, {**context, "job": page.state.job})


@require_POST
def refresh(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: go through the study again, in the background."""
    study = study_for(request, slug, *READERS)
    start_once(study, {"mark": study_mark(study)}, user_of(request))
    return redirect("explorer", slug=slug)
