"""A study's record: who changed what, and when."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import study_for
from annotation.models import AuditEvent, Role

PAGE = 50


@require_GET
def record(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: every change that people made in this study, the newest first."""
    study = study_for(request, slug, Role.ADMIN)
    pages = Paginator(AuditEvent.objects.filter(study=study), PAGE)
    context = {"study": study, "step": "collect", "page": pages.get_page(request.GET.get("page", "1"))}
    return render(request, "annotation/accounts/record.html", context)
