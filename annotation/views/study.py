"""A study's overview, for admins and analysts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import READERS, study_for
from annotation.progress import study_state, system_rows


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the study's steps, each with its state, and its systems."""
    study = study_for(request, slug, *READERS)
    context = {"study": study, "state": study_state(study), "systems": system_rows(study), "step": "data"}
    return render(request, "annotation/studies/overview.html", context)
