"""The signed-in person's API tokens."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import user_of
from annotation.accounts.api_tokens import DAYS, Issued, issue_token, revoke_token
from annotation.common import clock
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.models import ApiToken, Scope, Study, User


@never_cache
@require_http_methods(["GET", "POST"])
@answers_refusals
def tokens(request: HttpRequest) -> HttpResponse:
    """Everybody, for themselves: the tokens one has; a POST makes one, and its page is the only one that shows it."""
    try:
        return _page(request, issued=_issue(request) if request.method == "POST" else None)
    except Refused as refusal:
        return _page(request, refusal=refusal)


def _page(request: HttpRequest, issued: Issued | None = None, refusal: Refused | None = None) -> HttpResponse:
    """One's tokens; after a refusal with its sentence and the new token as it was asked for."""
    user, now = user_of(request), clock.now()
    rows = ApiToken.objects.filter(user=user).select_related("study")[:100]
    context = {
        "issued": issued,
        "rows": [(row, row.is_alive(now)) for row in rows],
        "scopes": Scope.choices,
        "days": DAYS,
        "studies": Study.objects.visible_to(user).order_by("name"),
        "problem": refusal and str(refusal),
        "typed": request.POST if refusal else {"days": "90"},
        "ticked": request.POST.getlist("scope") if refusal else [Scope.READ],
    }
    status = refusal.status if refusal else 201 if issued else 200
    return render(request, "annotation/accounts/tokens.html", context, status=status)


def _issue(request: HttpRequest) -> Issued:
    user, days = user_of(request), request.POST.get("days", "")
    return issue_token(
        user,
        request.POST.get("name", ""),
        request.POST.getlist("scope"),
        int(days) if days.isascii() and days.isdigit() and len(days) < 6 else 0,
        _study(user, request.POST.get("study", "")),
    )


def _study(user: User, slug: str) -> Study | None:
    """The one study that the token is for; none: all of the person's. One that isn't theirs never becomes all."""
    study = Study.objects.visible_to(user).filter(slug=slug).first()
    if slug and study is None:
        raise Refused(gettext("You have no part in that study any more. No token was made: choose another."))
    return study


@require_POST
@answers_refusals
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Everybody, for themselves: a token opens nothing from now on."""
    revoke_token(user_of(request), token_id)
    messages.success(request, gettext("The token is revoked. Programs that use it are refused from now on."))
    return redirect("tokens")
