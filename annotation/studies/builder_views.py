"""The page that makes a batch: as one chooses, it counts what would be made and shows a real task."""

from collections.abc import Mapping
from typing import Any

from csp.decorators import csp_replace
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import protocols
from annotation.accounts.access import study_for
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.judging.preview import preview_page
from annotation.models import Batch, Role, Study
from annotation.protocols import Protocol

from .batches import delete_draft, rename_batch
from .builder import form_context, form_of, make_batch, read_options, size_of, with_free_name


@require_http_methods(["GET", "POST"])
@answers_refusals
def new_batch(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: the form, empty or as another batch (`copy`) has it; POST makes the batch."""
    study = study_for(request, slug, Role.ADMIN)
    if request.method == "POST":
        return make(request, study)
    if "copy" in request.GET:
        batch = get_object_or_404(study.batches, pk=request.GET["copy"] if request.GET["copy"].isdecimal() else 0)
        return builder_page(request, study, form_of(batch), batch.options)
    return builder_page(request, study, request.GET)


def make(request: HttpRequest, study: Study) -> HttpResponse:
    """Make the batch that was sent, and go to the list; a refusal comes back with the form as typed."""
    try:
        batch = make_batch(study, request.POST)
    except Refused as refusal:
        return builder_page(request, study, request.POST, refusal=refusal)
    messages.success(request, gettext("“%(name)s” is ready. Open it when the people may begin.") % {"name": batch.name})
    return redirect("collect", slug=study.slug)


@require_POST
@answers_refusals
def size(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: how many tasks and answers the form would make, and where to look at one; nothing is kept."""
    study = study_for(request, slug, Role.ADMIN)
    context: dict[str, Any] = {"study": study}
    try:
        context["size"] = size_of(study, request.POST)
        query = request.POST.copy()
        query.pop("csrfmiddlewaretoken", None)
        context["preview_url"] = f"{reverse('batch-preview', args=[study.slug])}?{query.urlencode()}"
    except Refused as refusal:
        context["problem"] = str(refusal)
    return render(request, "annotation/studies/batch_size.html", context)


@require_GET
@answers_refusals
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})  # type: ignore[arg-type]  # its type knows no arguments of a view
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: the first task of the batch that the form would make, as an annotator sees it; nothing is kept."""
    study = study_for(request, slug, Role.ADMIN)
    with transaction.atomic():
        batch = make_batch(study, with_free_name(study, request.GET))
        response = preview_page(request, batch, None, "", {"by_token": True})
        transaction.set_rollback(True)
    return response


def builder_page(
    request: HttpRequest,
    study: Study,
    form: QueryDict,
    options: Mapping[str, Any] | None = None,
    refusal: Refused | None = None,
) -> HttpResponse:
    protocol = _protocol(study, form.get("protocol", ""))
    values = {**protocol.option_fields(), **(options if options is not None else _typed(protocol, form))}
    context = {
        "study": study,
        "step": "collect",
        **form_context(study, form, protocol, values),
        "problem": refusal and str(refusal),
    }
    return render(request, "annotation/studies/new_batch.html", context, status=refusal.status if refusal else 200)


def _protocol(study: Study, name: str) -> Protocol:
    """The one that is asked for; otherwise LitePyramid where there are SCUs to judge, extraction where not."""
    has_units = study.documents.filter(units__isnull=False).exists()
    defaults = protocols.judging_scus() if has_units else protocols.extracting_scus()
    return protocols.PROTOCOLS.get(name) or protocols.get(defaults[0])


def _typed(protocol: Protocol, form: QueryDict) -> dict[str, Any]:
    """The options as typed; a field that can't be read shows its default again."""
    try:
        return read_options(protocol.name, form)
    except Refused:
        return {}


@require_POST
@answers_refusals
def edit_batch(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: give a batch another name, or delete it while it is a draft."""
    study = study_for(request, slug, Role.ADMIN)
    batch: Batch = get_object_or_404(study.batches, pk=batch_id)
    if "delete" in request.POST:
        delete_draft(batch)
        messages.success(request, gettext("“%(name)s” is deleted. Nobody had worked on it.") % {"name": batch.name})
    else:
        rename_batch(batch, request.POST.get("name", ""))
    return redirect("collect", slug=slug)
