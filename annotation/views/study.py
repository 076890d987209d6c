"""A study's pages for admins and analysts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import READERS, study_for
from annotation.progress import study_state
from annotation.reports import study_report


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the study's steps, each with its state, and the batches' progress."""
    study = study_for(request, slug, *READERS)
    return render(
        request,
        "annotation/study/overview.html",
        {"study": study, "state": study_state(study), "step": "data"},
    )


@require_GET
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: agreement, human scores, and how well metrics follow them."""
    study = study_for(request, slug, *READERS)
    return render(
        request,
        "annotation/study/report.html",
        {"study": study, "report": study_report(study), "step": "report"},
    )
