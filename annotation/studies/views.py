"""The front door."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_safe

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.models import Role
from annotation.studies.home import desk_cards
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
    """Admins and analysts: the study's steps, each with its state, and its systems."""
    study = study_for(request, slug, *READERS)
    context = {"study": study, "state": study_state(study), "systems": system_rows(study), "step": "data"}
    return render(request, "annotation/studies/overview.html", context)
