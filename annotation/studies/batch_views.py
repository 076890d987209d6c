"""A study's Collect page: batches and the people who work on them. Admins act, analysts look."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts import invitations
from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.models import Batch, Role, Study
from annotation.studies.builder_views import make
from annotation.studies.members import MOVES, add_member, remove_member, set_state
from annotation.studies.progress import batch_progress


@require_http_methods(["GET", "POST"])
@answers_refusals
def collect(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the batches; admins may POST a new one."""
    if request.method == "POST":
        return make(request, study_for(request, slug, Role.ADMIN))
    return collect_page(request, study_for(request, slug, *READERS))


def collect_page(request: HttpRequest, study: Study, refusal: Refused | None = None, form: str = "") -> HttpResponse:
    """The batches and people; after a refusal with its sentence in the form (member or invitation) as typed."""
    context = {
        "study": study,
        "step": "collect",
        "batches": [(row, MOVES[Batch.State(row.batch.state)]) for row in batch_progress([study]).get(study.pk, [])],
        "members": study.memberships.select_related("user").order_by("role", "user__username"),
        "roles": Role.choices,
        "invitations": invitations.open_invitations(study),
        "is_admin": study.role_of(user_of(request)) == Role.ADMIN,
        "problem": refusal and str(refusal),
        "refused": refusal and form,
        "typed": {form: request.POST},
    }
    return render(request, "annotation/studies/collect.html", context, status=refusal.status if refusal else 200)


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
