"""SCU lists: advice while they are written, and the admin's pages to compare, merge and freeze them."""

import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import BadAnswers
from annotation.common.parsing import parse_int
from annotation.common.text import plain, sentences
from annotation.guidance.pinning import notes_on_live
from annotation.judging.leases import assignment_of
from annotation.judging.script_views import json_view
from annotation.models import Reference, Role, Study
from annotation.protocols.scu import editor_config, reference_of
from annotation.protocols.scu_units import read_units
from annotation.scus.advice import unit_advice
from annotation.scus.lists import MOST_FROZEN, compare, freeze_units, neighbours, reference_states, version_of


def advice_response(request: HttpRequest, reference: Reference) -> HttpResponse:
    try:
        units = [str(text)[:2000] for text in json.loads(request.body)["units"]][:100]
    except (ValueError, KeyError, TypeError, RecursionError, RequestDataTooBig):
        raise BadAnswers(_("The page sent something that can’t be read.")) from None
    advice_by_unit = unit_advice(units, plain(reference.text))
    return JsonResponse({"advice": [[piece.sentence for piece in advice] for advice in advice_by_unit]})


@json_view
@require_POST
def advice(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: gentle advice on the SCUs so far; anybody else gets 404."""
    return advice_response(request, reference_of(assignment_of(user_of(request), key).task))


def _reference(study: Study, reference_id: int) -> Reference:
    return get_object_or_404(Reference.objects.select_related("document"), pk=reference_id, document__study=study)


@require_POST
@json_view
def list_advice(request: HttpRequest, slug: str, reference_id: int) -> HttpResponse:
    """Admins: the same advice on a final list."""
    return advice_response(request, _reference(study_for(request, slug, Role.ADMIN), reference_id))


@require_GET
def scus(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: every reference of a study, and how far its SCUs are."""
    study = study_for(request, slug, *READERS)
    context = {"study": study, "states": reference_states(study), "step": "scus"}
    return render(request, "annotation/scus/scus.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def scu_list(request: HttpRequest, slug: str, reference_id: int) -> HttpResponse:
    """Admins: annotators' SCUs side by side, merge them, freeze the list. Analysts: look."""
    roles = (Role.ADMIN,) if request.method == "POST" else READERS
    study = study_for(request, slug, *roles)
    reference = _reference(study, reference_id)
    if request.method == "POST":
        return _freeze(request, study, reference)
    return render(request, "annotation/scus/scu_list.html", _list_page(request, study, reference))


def _freeze(request: HttpRequest, study: Study, reference: Reference) -> HttpResponse:
    units = read_units(request.POST.get("units", ""), plain(reference.text), MOST_FROZEN)
    seen_version = parse_int(request.POST.get("version", ""), -1)
    note = request.POST.get("note", "")
    frozen = freeze_units(reference, units, user_of(request), seen_version=seen_version, note=note)
    message = ngettext("Frozen: version %(n)d, %(size)d SCU.", "Frozen: version %(n)d, %(size)d SCUs.", frozen.size)
    messages.success(request, message % {"n": frozen.version, "size": frozen.size})
    asked_by = study.batches.filter(tasks__document=reference.document, tasks__summary__isnull=False)
    for sentence in notes_on_live(asked_by):
        messages.info(request, sentence)
    return redirect("scu-list", slug=study.slug, reference_id=reference.pk)


def _list_page(request: HttpRequest, study: Study, reference: Reference) -> dict[str, Any]:
    comparison = compare(reference)
    previous, following = neighbours(reference)
    version = request.GET.get("version", "")
    return {
        "study": study,
        "reference": reference,
        "comparison": comparison,
        "previous": previous,
        "following": following,
        "may_freeze": study.role_of(user_of(request)) == Role.ADMIN,
        "sentences": sentences(reference.text),
        "reference_text": plain(reference.text),
        "units": json.dumps([unit.as_json() for unit in comparison.start]),
        "old": version_of(reference, parse_int(version)) if parse_int(version) else None,
        "chosen": version,
        "next_version": comparison.version + 1,
        "scu": editor_config(MOST_FROZEN, reverse("list-advice", args=[study.slug, reference.pk])),
        "step": "scus",
    }
