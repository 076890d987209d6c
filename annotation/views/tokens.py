"""The signed-in person's API tokens."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import clock
from annotation.access import user_of
from annotation.models import ApiToken, Scope, Study
from annotation.tokens import DAYS, Issued, issue_token, revoke_token

from .errors import answers_refusals


@never_cache
@require_http_methods(["GET", "POST"])
@answers_refusals
def tokens(request: HttpRequest) -> HttpResponse:
    """Everybody, for themselves: the tokens one has; a POST makes one, and its page is the only one that shows it."""
    user = user_of(request)
    studies = Study.objects.visible_to(user).order_by("name")
    issued = _issue(request) if request.method == "POST" else None
    now = clock.now()
    rows = ApiToken.objects.filter(user=user).select_related("study")[:100]
    context = {
        "issued": issued,
        "rows": [(row, row.is_alive(now)) for row in rows],
        "scopes": Scope.choices,
        "days": DAYS,
        "studies": studies,
    }
    return render(request, "annotation/tokens.html", context, status=201 if issued else 200)


def _issue(request: HttpRequest) -> Issued:
    days = request.POST.get("days", "")
    return issue_token(
        user_of(request),
        request.POST.get("name", ""),
        request.POST.getlist("scope"),
        int(days) if days.isascii() and days.isdigit() and len(days) < 6 else 0,
        Study.objects.visible_to(user_of(request)).filter(slug=request.POST.get("study", "")).first(),
    )


@require_POST
@answers_refusals
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Everybody, for themselves: a token opens nothing from now on."""
    revoke_token(user_of(request), token_id)
    messages.success(request, gettext("The token is revoked. Programs that use it are refused from now on."))
    return redirect("tokens")
