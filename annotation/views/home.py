"""The front door."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import user_of
from annotation.common.demo_accounts import DEMO_ACCOUNTS, PASSWORD
from annotation.models import Role
from annotation.progress import home_cards


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
    return render(request, "annotation/studies/home.html", {"cards": cards, "maker": maker})


class SignOut(LogoutView):
    pass
