"""What every page shares: who is here, what waits for them, and how lists are cut into pages."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme

from annotation.common import clock
from annotation.marketplace.models import Account, Assignment, MarketSettings, Message, Requester, Worker

PAGE_SIZE = 50
AREAS = {
    "worker": [
        ("find", "find", "Find HITs"),
        ("queue", "queue", "My work"),
        ("qualifications", "qualifications", "Qualifications"),
        ("earnings", "earnings", "Earnings"),
        ("history", "history", "History"),
        ("inbox", "inbox", "Messages"),
    ],
    "requester": [
        ("requester", "requester", "Overview"),
        ("hits", "requester-hits", "HITs"),
        ("layouts", "layouts", "Layouts"),
        ("keys", "keys", "Keys"),
        ("statement", "statement", "Statement"),
        ("events", "events", "Events"),
    ],
    "operator": [
        ("operator", "operator", "Overview"),
        ("requesters", "operator-requesters", "Requesters"),
        ("workers", "operator-workers", "Workers"),
        ("payouts", "operator-payouts", "Payouts"),
        ("settings", "operator-settings", "Fees and sign-up"),
        ("invitations", "operator-invitations", "Invitations"),
        ("blocks", "operator-blocks", "Blocks"),
        ("audit", "operator-audit", "Audit log"),
    ],
    "front": [("about", "about", "Quick start"), ("operations", "operations", "Operations")],
}
"""Pages of each role for the navigation: section, name of the address, words."""


@dataclass(frozen=True)
class Visitor:
    """The person in front of the page."""

    worker: Worker | None
    requester: Requester | None
    is_operator: bool
    unread: int
    """Messages to this worker that are not read yet."""
    accepted_count: int
    """Assignments this worker has in work."""

    @property
    def roles(self) -> list[str]:
        has = {"worker": self.worker, "requester": self.requester, "operator": self.is_operator}
        return [role for role, has_role in has.items() if has_role]


def account_of(request: HttpRequest) -> Account:
    """The signed-in person (LoginRequiredMiddleware has seen to it)."""
    return cast(Account, request.user)


def visitor_of(request: HttpRequest) -> Visitor | None:
    if not request.user.is_authenticated:
        return None
    account = account_of(request)
    worker = Worker.objects.filter(account=account).first()
    requester = Requester.objects.filter(account=account).first()
    unread = Message.objects.filter(worker=worker, read_at__isnull=True).count() if worker else 0
    accepted_count = (
        Assignment.objects.filter(worker=worker, state=Assignment.State.ACCEPTED, deadline__gt=clock.now()).count()
        if worker
        else 0
    )
    return Visitor(worker, requester, account.is_operator, unread, accepted_count)


def show(request: HttpRequest, template: str, context: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    """Render a page with the frame around it. `section` in the context marks the place in the navigation."""
    visitor, section = visitor_of(request), (context or {}).get("section", "")
    area = _area(visitor, section)
    values = {
        "visitor": visitor,
        "area": area,
        "navigation": AREAS[area],
        "settings": MarketSettings.current(),
        "now": clock.now(),
        "demo": settings.DEMO,
        **(context or {}),
    }
    with translation.override("en"):  # the pages are in English, so Django's own words and dates are, too
        return render(request, f"marketplace/{template}", values, status=status)


def _area(visitor: Visitor | None, section: str) -> str:
    """The role whose pages are in the navigation: that of the page, else the person's first one."""
    for area, pages in AREAS.items():
        if section in {name for name, _, _ in pages}:
            return area
    return visitor.roles[0] if visitor and visitor.roles else "front"


def worker_of(request: HttpRequest) -> Worker:
    """The signed-in worker; others are told why not."""
    worker = Worker.objects.filter(account=account_of(request)).first()
    if worker is None:
        raise PermissionDenied("This page is for workers, and your account is not one. Nothing was changed.")
    return worker


def requester_of(request: HttpRequest) -> Requester:
    """The signed-in requester; others are told why not."""
    requester = Requester.objects.filter(account=account_of(request)).first()
    if requester is None:
        raise PermissionDenied("This page is for requesters, and your account is not one. Nothing was changed.")
    return requester


def operator_of(request: HttpRequest) -> Account:
    """The signed-in operator; others are told why not."""
    account = account_of(request)
    if not account.is_operator:
        raise PermissionDenied("This page is for the operator of this marketplace. Nothing was changed.")
    return account


def paginate(request: HttpRequest, rows: Any, size: int = PAGE_SIZE) -> "Page[Any]":
    """One page of a list; a number that makes no sense gives the nearest page there is."""
    return Paginator(rows, size).get_page(request.GET.get("page"))


def safe_next(request: HttpRequest) -> str:
    """Where to go on, if it is on this site; empty otherwise."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    is_allowed = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_allowed else ""


def as_csv(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A download. A cell that a spreadsheet would run as a formula is written as text."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
    return response


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell
