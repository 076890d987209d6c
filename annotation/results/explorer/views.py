"""A study's Explorer, for admins and analysts: every view is an address that can be passed on."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import READERS, study_for, user_of
from annotation.results.explorer.document import document_page
from annotation.results.explorer.lists import Wish, list_page, start_once


@require_GET
def explorer(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the documents, by name or by disagreement, found by words."""
    study = study_for(request, slug, *READERS)
    page = list_page(study, Wish.read(request.GET.dict()), user_of(request))
    context = {
        "study": study,
        "step": "data",
        "page": page,
        "wish": page.wish,
        "known": page.state,
        "job": page.state.job,
    }
    return render(request, "annotation/results/explorer/list.html", context)


@require_GET
def document(request: HttpRequest, slug: str, document_id: int) -> HttpResponse:
    """Admins and analysts: one document with all its systems, SCUs and judges."""
    study = study_for(request, slug, *READERS)
    page = document_page(study, document_id, Wish.read(request.GET.dict()), user_of(request))
    context = {
        "study": study,
        "step": "data",
        "page": page,
        "wish": page.wish,
        "known": page.state,
        "job": page.state.job,
    }
    return render(request, "annotation/results/explorer/document.html", context)


@require_POST
def refresh(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: go through the study again, in the background."""
    study = study_for(request, slug, *READERS)
    start_once(study, {}, user_of(request))
    return redirect("explorer", slug=slug)
