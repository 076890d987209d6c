"""The front door."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST, require_safe

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.common.error_pages import answers_refusals
from annotation.models import Role
from annotation.studies.editing import delete_study, rename_study
from annotation.studies.home import desk_cards
from annotation.studies.next_step import next_step, spent
from annotation.studies.progress import home_cards, study_state, system_rows


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Everybody: a welcome; members: their studies, with what to do next in each."""
    if not request.user.is_authenticated:
        return render(request, "annotation/studies/welcome.html", {"accounts": DEMO_ACCOUNTS, "password": PASSWORD})
    user = user_of(request)
    cards = home_cards(user)
    # may_make_studies, answered from what is here already
    maker = user.is_superuser or any(card.role == Role.ADMIN for card in cards)
    own = [card for card in cards if not card.reads]
    desk = desk_cards(user, [card.study for card in own], {card.study.pk: card.batches for card in own}) if own else []
    context = {"cards": [card for card in cards if card.reads], "desk": desk, "has_studies": bool(cards)}
    return render(request, "annotation/studies/home.html", {**context, "maker": maker})


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the study's steps, each with its state, and its systems; admins: what is next, and money."""
    study = study_for(request, slug, *READERS)
    state = study_state(study)
    context = {"study": study, "state": state, "systems": system_rows(study), "step": "data"}
    context |= {"is_admin": study.role_of(user_of(request)) == Role.ADMIN}
    if context["is_admin"]:
        context |= {"next": next_step(study, state), "spent": spent(study)}
    return render(request, "annotation/studies/overview.html", context)


@require_POST
@answers_refusals
def edit_study(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: give the study another name, or delete it by typing its name, where no money was ever promised."""
    study = study_for(request, slug, Role.ADMIN)
    if "delete" not in request.POST:
        rename_study(study, request.POST.get("name", ""))
        messages.success(request, gettext("The study is now called “%(name)s”.") % {"name": study.name})
        return redirect("study", slug=slug)
    delete_study(study, request.POST.get("typed", ""))
    messages.success(request, gettext("“%(name)s” is deleted, with all its texts and answers.") % {"name": study.name})
    return redirect("home")
