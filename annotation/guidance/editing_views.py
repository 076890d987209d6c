"""An admin writes what workers read, and sets what they must pass."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.markdown import render_markdown
from annotation.guidance import write_text
from annotation.guidance.editing import add_item, guidance_page, retire_item, set_language, set_rules
from annotation.guidance.pages import preview_of_test
from annotation.guidance.pinning import notes_on_live
from annotation.models import Role, Study
from annotation.protocols import PROTOCOLS


def _back(study: Study, protocol: str, section: str) -> HttpResponse:
    return redirect(f"{reverse('guidance', args=[study.slug])}?protocol={protocol}#{section}")


@require_GET
@answers_refusals
def guidance(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: instructions, consent, tutorial and test of a study, one protocol at a time."""
    study = study_for(request, slug, Role.ADMIN)
    return _page(request, study, request.GET.get("protocol", ""))


def _page(
    request: HttpRequest, study: Study, protocol: str, section: str = "", refusal: Refused | None = None
) -> HttpResponse:
    """The page; after a refusal with its sentence, and the section's form as it was typed."""
    if refusal and protocol not in PROTOCOLS:
        protocol = ""
    context = {"study": study, "page": guidance_page(study, protocol), "step": "collect", "section": section}
    context |= {"problem": refusal and str(refusal), "typed": request.POST}
    return render(request, "annotation/guidance/editing.html", context, status=refusal.status if refusal else 200)


@require_GET
@answers_refusals
def test_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: the qualification test as workers will see it; nothing can be handed in."""
    study = study_for(request, slug, Role.ADMIN)
    return preview_of_test(request, study, request.GET.get("protocol", ""))


@require_POST
@answers_refusals
def text(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: keep a new version of a text."""
    study = study_for(request, slug, Role.ADMIN)
    kind, protocol = request.POST.get("kind", ""), request.POST.get("protocol", "")
    text_protocol = "" if kind == "consent" else protocol
    try:
        new_text = write_text(study, kind, request.POST.get("body", ""), user_of(request), text_protocol)
    except Refused as refusal:
        return _page(request, study, protocol, kind, refusal)
    messages.success(request, _("Kept as version %(n)d.") % {"n": new_text.version})
    for sentence in notes_on_live(study.batches.filter(protocol=protocol)) if kind == "instructions" else ():
        messages.info(request, sentence)
    return _back(study, protocol, kind)


@require_POST
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: how a text will look."""
    study_for(request, slug, Role.ADMIN)
    return HttpResponse(render_markdown(request.POST.get("body", "")[:100_000]))


@require_POST
@answers_refusals
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: whether tutorial and test must be done, with the pass mark and the number of tries."""
    study = study_for(request, slug, Role.ADMIN)
    try:
        plan = set_rules(study, request.POST)
    except Refused as refusal:
        return _page(request, study, request.POST.get("protocol", ""), "rules", refusal)
    messages.success(request, _("Kept. It holds from the next task on."))
    return _back(study, plan.protocol, "practice")


@require_POST
@answers_refusals
def language(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: say in which language the study's texts are, for those who hear them read aloud."""
    study = study_for(request, slug, Role.ADMIN)
    protocol = request.POST.get("protocol", "")
    try:
        set_language(study, request.POST.get("language", ""))
    except Refused as refusal:
        return _page(request, study, protocol, "language", refusal)
    messages.success(request, _("Kept. It holds from the next task on."))
    return _back(study, protocol, "language")


@require_POST
@answers_refusals
def item(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: add an item to the tutorial or the test."""
    study = study_for(request, slug, Role.ADMIN)
    try:
        practice_item = add_item(study, request.POST)
    except Refused as refusal:
        return _page(request, study, request.POST.get("protocol", ""), "item", refusal)
    messages.success(request, _("Added."))
    return _back(study, practice_item.plan.protocol, "practice")


@require_POST
@answers_refusals
def retire(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Admins: take an item out; what was answered to it is kept."""
    study = study_for(request, slug, Role.ADMIN)
    practice_item = retire_item(study, item_id)
    messages.success(request, _("Taken out. Earlier tries are kept as they were."))
    return _back(study, practice_item.plan.protocol, "practice")
