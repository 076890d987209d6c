"""A study's Collect page: batches and the people who work on them. Admins act, analysts look."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from annotation import protocols
from annotation.accounts import invitations
from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.models import Batch, Role, Study
from annotation.studies.batches import create_batch
from annotation.studies.members import add_member, remove_member, set_state
from annotation.studies.progress import batch_progress

# What a batch may be turned into, with the word on the button.
MOVES = {
    Batch.State.DRAFT: [(Batch.State.OPEN, gettext_lazy("Open"))],
    Batch.State.OPEN: [(Batch.State.PAUSED, gettext_lazy("Pause")), (Batch.State.CLOSED, gettext_lazy("Close"))],
    Batch.State.PAUSED: [(Batch.State.OPEN, gettext_lazy("Open again")), (Batch.State.CLOSED, gettext_lazy("Close"))],
    Batch.State.CLOSED: [],
}


@require_http_methods(["GET", "POST"])
@answers_refusals
def collect(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the batches; admins may POST a new one."""
    if request.method == "POST":
        return _new_batch(request, study_for(request, slug, Role.ADMIN))
    return collect_page(request, study_for(request, slug, *READERS))


def collect_page(
    request: HttpRequest, study: Study, refusal: Refused | None = None, form: str = "batch"
) -> HttpResponse:
    """The batches and people; after a refusal with its sentence in the form (batch, member or invitation) as typed."""
    context = {
        "study": study,
        "step": "collect",
        "batches": [(row, MOVES[Batch.State(row.batch.state)]) for row in batch_progress([study]).get(study.pk, [])],
        "protocols": protocols.PROTOCOLS.values(),
        "members": study.memberships.select_related("user").order_by("role", "user__username"),
        "roles": Role.choices,
        "invitations": invitations.open_invitations(study),
        "is_admin": study.role_of(user_of(request)) == Role.ADMIN,
        "problem": refusal and str(refusal),
        "refused": refusal and form,
        "typed": {form: request.POST},
    }
    return render(request, "annotation/studies/collect.html", context, status=refusal.status if refusal else 200)


def _new_batch(request: HttpRequest, study: Study) -> HttpResponse:
    name, quota = request.POST.get("name", "").strip()[:200], request.POST.get("quota", "")
    options = {"evidence": True} if request.POST.get("evidence") else {}
    role = "expert" if request.POST.get("expert") else "crowd"
    try:
        create_batch(
            study, name or "Batch", request.POST.get("protocol", ""), parse_int(quota[:18]), options, role=role
        )
    except Refused as refusal:
        return collect_page(request, study, refusal)
    messages.success(
        request, gettext("“%(name)s” is ready. Open it when the people may begin.") % {"name": name or "Batch"}
    )
    return redirect("collect", slug=study.slug)


@require_POST
@answers_refusals
def batch_state(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: open, pause or close a batch."""
    study = study_for(request, slug, Role.ADMIN)
    set_state(study, batch_id, request.POST.get("state", ""))
    return redirect("collect", slug=slug)


@require_POST
@answers_refusals
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: give a person a role in the study, or take it away."""
    study = study_for(request, slug, Role.ADMIN)
    name = request.POST.get("name", "").strip()
    try:
        if request.POST.get("remove"):
            remove_member(study, name)
        else:
            add_member(study, name, request.POST.get("role", ""))
    except Refused as refusal:
        return collect_page(request, study, refusal, "member")
    return redirect("collect", slug=slug)


@require_POST
@answers_refusals
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: a link for one person, or an open one withdrawn. The link is shown on this answer only."""
    study = study_for(request, slug, Role.ADMIN)
    role, note = request.POST.get("role", ""), request.POST.get("note", "")
    try:
        if withdrawn := request.POST.get("withdraw", ""):
            invitations.withdraw(study, parse_int(withdrawn))
            messages.success(request, gettext("The invitation is withdrawn: its link opens nothing any more."))
            return redirect("collect", slug=slug)
        secret = invitations.invite(study, role, note, user_of(request))
    except Refused as refusal:
        return collect_page(request, study, refusal, "invitation")
    address = request.build_absolute_uri(resolve_url("invited", secret))
    context = {"study": study, "address": address, "days": invitations.DAYS, "note": note}
    return render(request, "annotation/studies/invitation.html", context, status=201)
