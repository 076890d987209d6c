"""What a work page's script calls: drafts with heartbeat, and the submit. Answers are JSON, refusals too.

A visitor whose session ended gets 401 and not the sign-in page, so that the script can keep the work and wait.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import user_of
from annotation.common.errors import BadAnswers, NotYours, Refused
from annotation.common.middleware import strip_unreadable
from annotation.common.prepared_queries import PreparedObjects
from annotation.judging.drafts import FIELD, Change, save_draft
from annotation.judging.submit import Receipt, revise_judgments, submit_judgments
from annotation.models import Worker

from .next_task import NAME as STRAIGHT_ON
from .next_task import address_after


def json_view(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For signed-in people; a Refused becomes its status with a sentence."""

    @login_not_required
    @wraps(view)
    def view_or_refusal(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _refusal("SignedOut", _("You are signed out. Sign in again; your work is kept."), 401)
        try:
            return view(request, *args, **kwargs)
        except Refused as refusal:
            return refusal_answer(refusal)

    return view_or_refusal


def _refusal(error: str, sentence: str, status: int) -> JsonResponse:
    return JsonResponse({"error": error, "sentence": sentence}, status=status)


def refusal_answer(refusal: Refused) -> JsonResponse:
    return _refusal(type(refusal).__name__, str(refusal), refusal.status)


@json_view
@require_http_methods(["PUT"])
def draft(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: keep changes and signals, renew the lease; anybody else gets 404."""
    return keep_draft(request, _worker(request, key), key)


def keep_draft(request: HttpRequest, worker: Worker | None, key: str) -> HttpResponse:
    body = read_body(request)
    seen_version = body.get("seen")
    state = save_draft(
        worker,
        key,
        [_change(change) for change in _list(body.get("changes"))],
        signals=_mapping(body.get("signals")),
        seen_version=seen_version if type(seen_version) is int else 0,
    )
    return JsonResponse(
        {
            "version": state.version,
            "items": state.items,
            "state": state.state,
            "held": state.is_held,
            "secondsLeft": state.seconds_left,
        }
    )


@json_view
@require_POST
def submit(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: submit or revise, once per submit key; anybody else gets 404."""
    body, worker = read_body(request), _worker(request, key)
    address = reverse("receipt", args=[key])
    if worker is None:
        raise NotYours
    if body.get("mode") == "revise":
        return receipt_answer(take_answers(revise_judgments, worker, key, body), address)
    receipt = take_answers(submit_judgments, worker, key, body)
    return receipt_answer(receipt, address, address_after(request, receipt, worker, body.get(STRAIGHT_ON)))


def take_answers(send: Callable[..., Receipt], worker: Worker | None, key: str, body: dict[str, Any]) -> Receipt:
    answers, submit_key = _mapping(body.get("answers")), str(body.get("submit_key", ""))[:64]
    return send(worker, key, answers, submit_key, signals=_mapping(body.get("signals")))


def receipt_answer(receipt: Receipt, address: str, ahead: str | None = None) -> HttpResponse:
    """`ahead`: where the next task is, for somebody who goes straight on."""
    return JsonResponse(
        {
            "receipt": address,
            "next": ahead,
            "state": receipt.assignment.state,
            "judgments": receipt.judgments,
            "repeated": receipt.repeated,
        }
    )


def _worker(request: HttpRequest, key: str) -> Worker | None:
    """The signed-in person as the worker who holds this assignment; None when it is somebody else's."""
    return _HOLDER.first(user=user_of(request).pk, key=key)


_HOLDER = PreparedObjects(
    lambda user, key: Worker.objects.filter(user=user, assignments__key=key), "user", words=["key"]
)


def read_body(request: HttpRequest) -> dict[str, Any]:
    """What the page sent. A character that no text has is dropped: the other changes must not be lost with it."""
    try:
        body = strip_unreadable(json.loads(request.body))
    except (ValueError, RecursionError, RequestDataTooBig):  # not JSON, nested without end, or far too long
        body = None
    if not isinstance(body, dict):
        raise _unreadable()
    return body


def _change(change: Any) -> Change:
    is_change = isinstance(change, dict) and isinstance(change.get("content"), dict) and type(change.get("at")) is int
    if not is_change or not FIELD.fullmatch(str(change.get("field", ""))):
        raise _unreadable()
    content = {name: cell for name, cell in change["content"].items() if name not in ("at", "version")}
    return Change(str(change["field"]), content, change["at"])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _unreadable() -> BadAnswers:
    return BadAnswers(_("The page sent something that can’t be read. What was saved before is still here."))
