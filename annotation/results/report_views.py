"""A study's Report page, for admins and analysts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.downloads import figure_response, file_response
from annotation.common.error_pages import answers_refusals
from annotation.jobs.page_cache import current_content
from annotation.results.report import report_archive


@require_GET
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: agreement, human scores, and how well metrics follow them."""
    study = study_for(request, slug, *READERS)
    content, job = current_content("report", study, user_of(request))
    context = {"study": study, "report": content, "job": job, "step": "report"}
    return render(request, "annotation/results/report.html", context)


@require_GET
@answers_refusals
def report_folder(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the whole report as a folder that works from disk."""
    study = study_for(request, slug, *READERS)
    return file_response(report_archive(study), "application/zip", f"{slug}-report.zip")


@require_GET
@answers_refusals
def report_file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: one figure's numbers as CSV, or its chart as SVG."""
    study = study_for(request, slug, *READERS)
    content, _ = current_content("report", study, user_of(request))
    return figure_response(content or {}, name, slug)
