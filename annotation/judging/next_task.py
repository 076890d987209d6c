"""Going on after a submit: straight on to the next task, with the receipt as a line; who unticks it gets a page."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.accounts.access import member_of
from annotation.common.errors import BatchNotOpen, Blocked, Refused
from annotation.guidance import first_gate, gate_state
from annotation.judging.ahead import take_next
from annotation.judging.submit import Receipt
from annotation.models import Batch, Role, Worker

TAKERS = (Role.ANNOTATOR, Role.ADMIN)
NAME = "straight_on"  # in forms, letters of the script, and the session


@dataclass(frozen=True)
class NextTask:
    """Where somebody goes on after a submit: a task, or what stands before it; or why there is none."""

    address: str = ""
    key: str = ""
    """The task that is now in hand; empty when the address is no task's."""
    sentence: str = ""
    """Why there is no task."""


def goes_straight_on(request: HttpRequest) -> bool:
    return bool(request.session.get(NAME, True))


def keep_choice(request: HttpRequest, is_ticked: bool) -> None:
    """What was ticked holds for the session."""
    if is_ticked != goes_straight_on(request):
        request.session[NAME] = is_ticked


def next_task(request: HttpRequest, batch: Batch, worker: Worker) -> NextTask:
    """A task that the worker now holds, or what stands before it. Raises Refused if there is none, PermissionDenied
    or Http404 when the task is not for this person."""
    if address := first_gate(batch, worker, may_take(request, batch, worker)):
        return NextTask(address)
    key = take_next(batch, worker)
    return NextTask(reverse("task", args=[key]), key)


def may_take(request: HttpRequest, batch: Batch, worker: Worker) -> dict[str, Any]:
    """What stands before the worker's first task, for an annotator or admin of the study; the others are refused."""
    state = gate_state(batch, worker)
    if state["role"] not in TAKERS:
        member_of(request, batch.study, *TAKERS)  # a superuser may; others are told why not
    if worker.blocked_at:
        raise Blocked
    _check_not_posted(batch)
    return state


def _check_not_posted(batch: Batch) -> None:
    if not batch.is_direct and batch.postings.exists():  # every place is promised to somebody there
        raise BatchNotOpen(_("This batch stands on a market: its tasks are taken there. Nothing was changed."))


def task_after(request: HttpRequest, receipt: Receipt) -> NextTask:
    """Where the worker goes straight on; the answers are stored, so that nothing is refused here."""
    batch = receipt.assignment.task.batch
    try:
        return next_task(request, batch, receipt.assignment.worker)
    except (Refused, PermissionDenied, Http404) as refusal:
        return NextTask(sentence=str(refusal))


def leave_message(request: HttpRequest, receipt: Receipt) -> None:
    """The receipt for the top of the next page: for who comes there by loading it."""
    address = reverse("receipt", args=[receipt.assignment.key])
    link = format_html('<a href="{}">{}</a>', address, _("Receipt"))
    messages.success(request, format_html("<span>{} {}</span>", receipt_line(receipt), link))


def receipt_line(receipt: Receipt) -> str:
    """The receipt in a sentence or two."""
    received = ngettext(
        "Received, thank you: %(n)d answer is stored.",
        "Received, thank you: %(n)d answers are stored.",
        receipt.judgments,
    ) % {"n": receipt.judgments}
    surplus = _("Your hold on the task had ended before you submitted. Your answers are kept, but counted as surplus.")
    return f"{received} {surplus}" if receipt.surplus else received


def reply_of(receipt: Receipt, address: str, following: NextTask | None) -> dict[str, Any]:
    """What a page's script learns from a submit; `address` is the receipt's."""
    following = following or NextTask()
    return {
        "receipt": address,
        "line": receipt_line(receipt),
        "next": following.address or None,
        "next_key": following.key,
        "why": following.sentence,
        "state": receipt.assignment.state,
        "judgments": receipt.judgments,
        "repeated": receipt.repeated,
    }
