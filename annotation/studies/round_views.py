"""Second rounds: what is contested, opening a round, and agreement before and after."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import READERS, study_for
from annotation.common.error_pages import answers_refusals
from annotation.models import Batch, Role, Study
from annotation.studies.second_rounds import first_rounds, open_second_round, read_thresholds, round_page


def _batch(study: Study, batch_id: int) -> Batch:
    return get_object_or_404(Batch, pk=batch_id, study=study)


@require_GET
def rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the batches of a study that a second round could follow, and those it has followed."""
    study = study_for(request, slug, *READERS)
    context = {"study": study, "batches": first_rounds(study), "step": "collect"}
    return render(request, "annotation/studies/rounds.html", context)


@require_GET
@answers_refusals
def round_of(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins and analysts: what is contested in a batch by given thresholds, and agreement before and after."""
    study = study_for(request, slug, *READERS)
    batch = _batch(study, batch_id)
    page = round_page(batch, read_thresholds(batch, request.GET))
    context = {"study": study, "batch": batch, "page": page, "step": "collect"}
    return render(request, "annotation/studies/round.html", context)


@require_POST
@answers_refusals
def open_round(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: open a second round for those concerned."""
    study = study_for(request, slug, Role.ADMIN)
    batch = _batch(study, batch_id)
    second = open_second_round(batch, read_thresholds(batch, request.POST))
    messages.success(request, _("“%(name)s” is open: %(n)d tasks.") % {"name": second.name, "n": second.tasks.count()})
    return redirect("round", slug=study.slug, batch_id=batch.pk)
