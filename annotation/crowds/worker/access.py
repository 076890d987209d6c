"""What all pages for workers without an account share: the token, the policy of their frame, their addresses.

Neither a session nor a cookie is read or set here. The token in the address authorises, so CSRF has nothing to forge
with: who does not know the token can't write the address.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from annotation.common.error_pages import error_page
from annotation.common.errors import Refused
from annotation.crowds.seats.tokens import Visit
from annotation.crowds.worker.entry import market_origins, visit_of
from annotation.guidance.pages import Steps
from annotation.judging.script_views import refusal_answer
from annotation.models import Assignment

View = Callable[..., HttpResponse]

# For templates: no account around the page, and no CSRF token, because that would set a cookie.
BARE: dict[str, Any] = {"by_token": True, "csrf_token": ""}


def open_door(view: View) -> View:
    """A page that a market shows to anybody: its preview, and the way in. A Refused becomes a sentence in the frame."""

    @csrf_exempt
    @login_not_required
    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Refused as refusal:
            response = error_page(request, refusal.status, str(refusal), BARE)
        return framed_by(response, market_origins())

    return wrapped


def by_token(view: View) -> View:
    """A page for whoever holds a worker's token; the view gets the visit that it stands for."""
    return _with_visit(view, lambda request, refusal: error_page(request, refusal.status, str(refusal), BARE))


def by_token_api(view: View) -> View:
    """The same for a page's script: a refusal is JSON."""
    return _with_visit(view, lambda request, refusal: refusal_answer(refusal))


def _with_visit(view: View, refuse: Callable[[HttpRequest, Refused], HttpResponse]) -> View:
    @csrf_exempt
    @login_not_required
    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, token: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            visit = visit_of(token)
        except Refused as refusal:
            return framed_by(refuse(request, refusal), market_origins())
        try:
            response = view(request, visit, *args, **kwargs)
        except Refused as refusal:
            response = refuse(request, refusal)
        return framed_by(response, market_origins() if visit.origin else [], visit.origin)

    return wrapped


def framed_by(response: HttpResponse, origins: list[str], submit_to: str = "") -> HttpResponse:
    """Only these origins may frame the page; it may send to its own site and to the one that takes finished work."""
    sends = ["'self'", *([submit_to] if submit_to else [])]
    response._csp_replace = {  # type: ignore[attr-defined]
        "frame-ancestors": origins or ["'none'"],
        "connect-src": sends,
        "form-action": sends,
    }
    response.xframe_options_exempt = bool(origins)  # frame-ancestors says it exactly
    return response


def task_urls(visit: Visit, assignment: Assignment) -> dict[str, str]:
    """Where the page of a worker with a token sends and links."""
    names = {"task": "task", "draft": "draft", "submit": "submit", "receipt": "done", "advice": "advice"}
    if visit.posting.task_id is None:  # more than this one task may follow
        names |= {"ahead": "ahead", "undo": "undo"}
    urls = {name: reverse(f"crowd-{view}", args=[visit.token, assignment.key]) for name, view in names.items()}
    urls["instructions"] = reverse("crowd-instructions", args=[visit.token])
    if not visit.origin:  # inside a market's frame, the market's own button gives a task back
        urls["release"] = reverse("crowd-leave", args=[visit.token])
    return urls


def steps_of(visit: Visit) -> Steps:
    """The guidance pages of a worker with a token."""

    def url(name: str) -> str:
        return reverse(f"crowd-{name}", args=[visit.token])

    return Steps(
        take=url("start"),
        consent=url("consent"),
        instructions=url("instructions"),
        tutorial=url("tutorial"),
        test=url("test"),
        home="" if visit.origin else url("leave"),
        extra={**BARE, "contact": settings.WORKER_CONTACT},
    )


def handin_texts() -> dict[str, str]:
    """Read by static/annotation/crowds/hand_in.js."""
    return {
        "sending": _("Handing in on the market…"),
        "done": _("Handed in. There is nothing left to do here; thank you!"),
        "refused": _("The market did not take it. Your answers are saved here; keep the receipt code."),
        "waiting": _("Waiting for the market…"),
        "silent": _(
            "The market does not answer. Note the receipt code: your answers are safe under it. This page keeps "
            "trying; if the time runs out, send the code to the requester."
        ),
    }
