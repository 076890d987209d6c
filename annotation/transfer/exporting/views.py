"""A study's Exports and Datasheet pages, for admins and analysts."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.byte_ranges import file_response
from annotation.common.downloads import file_response as whole_file
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.models import Role
from annotation.transfer.datasheet import datasheet
from annotation.transfer.exporting.jobs import export_facts, open_file, start_export, visible_exports
from annotation.transfer.exporting.options import FOR_ADMINS, TABLES, USUAL, ExportOptions
from annotation.transfer.shapes import SHAPES

SHOWN = 50  # exports on the page


@require_http_methods(["GET", "POST"])
@answers_refusals
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the exports made so far; a POST starts one. Worker ids and money are for admins."""
    study = study_for(request, slug, *READERS)
    if request.method == "POST":
        start_export(study, user_of(request), _options(request))
        return redirect("exports", slug=slug)
    exports_made = list(visible_exports(study, user_of(request))[:SHOWN])
    context = {
        "study": study,
        "step": "exports",
        "exports": [(export, export_facts(export)) for export in exports_made],
        "job": next((export.job for export in exports_made if export.job and not export.job.is_over), None),
        "tables": [(name, title, name in USUAL) for name, title in TABLES.items() if name not in FOR_ADMINS],
        "shapes": SHAPES.values(),
        "is_admin": study.role_of(user_of(request)) == Role.ADMIN,
    }
    return render(request, "annotation/transfer/exports.html", context)


def _options(request: HttpRequest) -> ExportOptions:
    form = request.POST
    tables, shapes = form.getlist("table"), form.getlist("shape")
    if not tables and not shapes:
        raise Refused(gettext("Choose at least one table or shape. Nothing was exported."))
    return ExportOptions.checked(
        tables, shapes, form.get("form", ""), not form.get("no_texts"), bool(form.get("raw_workers"))
    )


@require_safe
@answers_refusals
def export_file(request: HttpRequest, slug: str, key: str, name: str) -> HttpResponseBase:
    """Admins and analysts: a file of an export, whole or in pieces; 410 when it has expired."""
    study = study_for(request, slug, *READERS)
    file, path = open_file(study, user_of(request), key, name)
    return file_response(request, path, etag=file.sha256, name=f"{slug}-{file.name}")


@require_GET
def datasheet_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: what the platform knows of the evaluation, and the questions that are left."""
    study = study_for(request, slug, *READERS)
    context = {"study": study, "step": "exports", "sheet": datasheet(study)}
    return render(request, "annotation/transfer/datasheet.html", context)


@require_GET
@answers_refusals
def datasheet_file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: the datasheet or the dataset card as Markdown or as a page."""
    study = study_for(request, slug, *READERS)
    sheet, files = datasheet(study), ("datasheet.md", "datasheet.html", "card.md", "card.html")
    if name not in files:
        sentence = gettext("There is no file “%(name)s” here. There are: %(known)s.")
        raise Refused(sentence % {"name": name[:60], "known": ", ".join(files)})
    stem, _, suffix = name.partition(".")
    text = sheet.file(stem, suffix)
    kind = "text/markdown; charset=utf-8" if suffix == "md" else "text/html; charset=utf-8"
    return whole_file(text.encode(), kind, f"{slug}-{name}")
