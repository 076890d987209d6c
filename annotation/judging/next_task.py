"""Going on after a submit. Who ticks “straight on” gets the next task at once, with the receipt on top of it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.accounts.access import member_of
from annotation.common.errors import BatchNotOpen, Refused
from annotation.guidance import first_gate
from annotation.judging.leases import lease_task
from annotation.judging.submit import Receipt
from annotation.models import Batch, Role, Worker

NAME = "straight_on"  # in forms, letters of the script, and the session


def goes_straight_on(request: HttpRequest) -> bool:
    return bool(request.session.get(NAME))


def next_address(batch: Batch, worker: Worker) -> str:
    """The address of a task that the worker now holds, or of what stands before it. Raises Refused if there is none."""
    if not batch.is_direct and batch.postings.exists():  # every place is promised to somebody there
        raise BatchNotOpen(_("This batch stands on a market: its tasks are taken there. Nothing was changed."))
    return first_gate(batch, worker) or reverse("task", args=[lease_task(batch, worker).key])


def address_after(request: HttpRequest, receipt: Receipt, worker: Worker, ticked: Any) -> str | None:
    """Where the worker goes straight on. None for those who don't want to, or can't: the receipt has a page.

    What was ticked is kept for the session; a form sends “on” or nothing, the script a flag.
    """
    is_ticked = ticked in (True, "on")
    if is_ticked != goes_straight_on(request):
        request.session[NAME] = is_ticked
    if not is_ticked:
        return None
    batch = receipt.assignment.task.batch
    try:
        member_of(request, batch.study, Role.ANNOTATOR, Role.ADMIN)
        address = next_address(batch, worker)
    except (Refused, PermissionDenied, Http404):
        return None
    messages.success(request, _receipt_message(receipt))
    return address


def _receipt_message(receipt: Receipt) -> str:
    received = ngettext(
        "Received, thank you: %(n)d answer is stored.",
        "Received, thank you: %(n)d answers are stored.",
        receipt.judgments,
    ) % {"n": receipt.judgments}
    surplus = _("Your hold on the task had ended before you submitted. Your answers are kept, but counted as surplus.")
    address = reverse("receipt", args=[receipt.assignment.key])
    link = format_html('<a href="{}">{}</a>', address, _("Receipt"))
    return format_html("<span>{} {} {}</span>", received, surplus if receipt.surplus else "", link)
