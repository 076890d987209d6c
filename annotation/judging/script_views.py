"""What a work page's script calls: drafts with heartbeat, and the submit. Answers are JSON, refusals too.

A visitor whose session ended gets 401 and not the sign-in page, so that the script can keep the work and wait.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import user_of
from annotation.common.drafts import read_body, read_changes, read_seen
from annotation.common.errors import Refused
from annotation.common.prepared_queries import PreparedObjects
from annotation.guidance import check_gates
from annotation.judging.ahead import lease_ahead
from annotation.judging.drafts import drafted_answers, save_draft
from annotation.judging.leases import Holder, assignment_of, own_assignment
from annotation.judging.pace import place_of
from annotation.judging.submit import Receipt, revise_judgments, submit_judgments
from annotation.models import Worker

from .next_task import NAME as STRAIGHT_ON
from .next_task import keep_choice, leave_message, may_take, reply_of, task_after
from .views import LOOSE, task_page


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
    state = save_draft(
        worker,
        key,
        read_changes(body),
        signals=_mapping(body.get("signals")),
        preferences=body.get("preferences"),
        seen_version=read_seen(body),
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
    body, user, address = read_body(request), user_of(request), reverse("receipt", args=[key])
    if body.get("mode") == "revise":
        return JsonResponse(reply_of(take_answers(revise_judgments, user, key, body), address, None))
    receipt = take_answers(submit_judgments, user, key, body)
    following = task_after(request, receipt) if body.get(STRAIGHT_ON) is True else None
    if type(body.get(STRAIGHT_ON)) is bool:
        keep_choice(request, body[STRAIGHT_ON])
    if following and following.address and following.key != body.get("ahead"):  # it will be loaded
        leave_message(request, receipt)
    return JsonResponse(reply_of(receipt, address, following))


@json_view
@require_POST
def ahead(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: the page of the task after it, held for a short time; 204 when none is free.

    Anybody else gets 404.
    """
    user, body = user_of(request), read_body(request)
    current = own_assignment(user, key, texts=False)
    batch, worker = current.task.batch, current.worker
    check_gates(batch, may_take(request, batch, worker))
    following = lease_ahead(batch, worker, key)
    if following is None:
        return HttpResponse(status=204)
    assignment = assignment_of(user, following.key)
    place = place_of(assignment, paced=False) if body.get("place") is True else None
    return task_page(request, assignment, drafted_answers(assignment), place=place, layout=LOOSE)


def take_answers(send: Callable[..., Receipt], holder: Holder, key: str, body: dict[str, Any]) -> Receipt:
    answers, submit_key = _mapping(body.get("answers")), str(body.get("submit_key", ""))[:64]
    return send(holder, key, answers, submit_key, signals=_mapping(body.get("signals")))


def _worker(request: HttpRequest, key: str) -> Worker | None:
    """The signed-in person as the worker who holds this assignment; None when it is somebody else's."""
    return _HOLDER.first(user=user_of(request).pk, key=key)


_HOLDER = PreparedObjects(
    lambda user, key: Worker.objects.filter(user=user, assignments__key=key), "user", words=["key"]
)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
