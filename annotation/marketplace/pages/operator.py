"""The operator's pages: who takes part, money in and out, fees, blocks, invitations, the audit log."""

import secrets

from django import forms
from django.contrib import messages
from django.db.models import F, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.common import clock
from annotation.marketplace.books.books import books_agree, record_payout, refund, top_up
from annotation.marketplace.books.money import cents, dollars, price
from annotation.marketplace.errors import Refused
from annotation.marketplace.models import HIT, AuditEntry, Invitation, MarketSettings, Requester, Worker, WorkerBlock
from annotation.marketplace.people import invite
from annotation.marketplace.people.operator import (
    change_settings,
    requester_by_id,
    set_master,
    set_requester_active,
    set_worker_active,
    worker_by_id,
)

from .errors import answers_refusals
from .render import operator_of, paginate, show

SUMS = ("put_in_cents", "available_cents", "held_cents", "paid_cents", "fees_cents")


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The operator: the market at a glance."""
    operator_of(request)
    money = Requester.objects.aggregate(**{name: Sum(name, default=0) for name in SUMS})
    owed = Worker.objects.aggregate(sum=Sum(F("earned_cents") - F("paid_out_cents"), default=0))["sum"]
    context = {
        "section": "operator",
        "money": money,
        "adds_up": money["put_in_cents"] == sum(money[name] for name in SUMS[1:]),
        "owed": owed,
        "requesters": Requester.objects.count(),
        "workers": Worker.objects.count(),
        "open_hits": HIT.objects.filter(status=HIT.Status.ASSIGNABLE).count(),
        "entries": AuditEntry.objects.select_related("actor")[:8],
    }
    return show(request, "operator/overview.html", context)


@require_safe
def requesters(request: HttpRequest) -> HttpResponse:
    """The operator: all requesters with their balances."""
    operator_of(request)
    query = request.GET.get("q", "").strip()[:200]
    rows = Requester.objects.select_related("account")
    if query:
        rows = rows.filter(Q(name__icontains=query) | Q(requester_id=query))
    context = {"section": "requesters", "page": paginate(request, rows.order_by("name", "pk")), "query": query}
    return show(request, "operator/requesters.html", context)


@answers_refusals
def requester(request: HttpRequest, requester_id: str) -> HttpResponse:
    """The operator: one requester's money; top-ups, refunds, closing."""
    operator_of(request)
    requester = requester_by_id(requester_id)
    if request.method == "POST":
        try:
            _change_requester(request, requester)
        except Refused as refusal:
            messages.warning(request, str(refusal))
        return redirect("operator-requester", requester_id)
    context = {
        "section": "requesters",
        "requester": requester,
        "agree": books_agree(requester),
        "page": paginate(request, requester.transfers.select_related("hit", "worker", "by").order_by("-pk")),
        "form_key": secrets.token_hex(12),
        "keys": requester.access_keys.all(),
    }
    return show(request, "operator/requester.html", context)


def _note_and_form(request: HttpRequest) -> tuple[str, str]:
    return request.POST.get("note", "").strip()[:200], request.POST.get("form", "")[:64]


def _change_requester(request: HttpRequest, requester: Requester) -> None:
    operator, (note, form) = operator_of(request), _note_and_form(request)
    match request.POST.get("action"):
        case "top-up":
            amount = cents(request.POST.get("amount", "").strip().lstrip("$"))
            top_up(requester, amount, note, operator, form)
            messages.success(request, f"Put in ${dollars(amount)} for {requester.name}.")
        case "refund":
            amount = cents(request.POST.get("amount", "").strip().lstrip("$"))
            refund(requester, amount, note, operator, form)
            messages.success(request, f"Gave back ${dollars(amount)} to {requester.name}.")
        case "close":
            set_requester_active(requester, False, operator, note)
            messages.success(request, f"{requester.name} is closed: their HITs are hidden, their keys take no effect.")
        case "open":
            set_requester_active(requester, True, operator, note)
            messages.success(request, f"{requester.name} is open again.")


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """The operator: all workers with their record and what is owed to them."""
    operator_of(request)
    query = request.GET.get("q", "").strip()[:200]
    rows = Worker.objects.select_related("account").order_by("-joined_at", "-pk")
    if query:
        rows = rows.filter(
            Q(worker_id=query) | Q(account__username__icontains=query) | Q(account__email__icontains=query)
        )
    context = {"section": "workers", "page": paginate(request, rows), "query": query}
    return show(request, "operator/workers.html", context)


@answers_refusals
def worker(request: HttpRequest, worker_id: str) -> HttpResponse:
    """The operator: one worker; payouts, Masters, closing."""
    operator_of(request)
    worker = worker_by_id(worker_id)
    if request.method == "POST":
        try:
            _change_worker(request, worker)
        except Refused as refusal:
            messages.warning(request, str(refusal))
        return redirect("operator-worker", worker_id)
    rows = worker.assignments.select_related("hit__hit_type", "hit__requester").order_by("-accepted_at")
    context = {
        "section": "workers",
        "worker": worker,
        "form_key": secrets.token_hex(12),
        "page": paginate(request, rows, 30),
        "payouts": worker.payouts.select_related("by").order_by("-at"),
        "blocks": worker.blocks.select_related("requester").order_by("-created_at"),
    }
    return show(request, "operator/worker.html", context)


def _change_worker(request: HttpRequest, worker: Worker) -> None:
    operator, (note, form) = operator_of(request), _note_and_form(request)
    match request.POST.get("action"):
        case "payout":
            amount = cents(request.POST.get("amount", "").strip().lstrip("$"))
            record_payout(worker, amount, note, operator, form)
            messages.success(request, f"Recorded: ${dollars(amount)} paid to {worker.worker_id}.")
        case "close" | "open" as action:
            set_worker_active(worker, action == "open", operator, note)
            messages.success(request, f"{worker.worker_id} is {'open again' if action == 'open' else 'closed'}.")
        case "masters" | "no-masters" as action:
            set_master(worker, action == "masters", operator, note)
            messages.success(request, "Masters granted." if action == "masters" else "Masters taken.")


class SettingsForm(forms.Form):
    open_sign_up = forms.BooleanField(label="Workers may sign up without an invitation", required=False)
    fee_percent = forms.IntegerField(label="Fee, percent of reward and bonus", min_value=0, max_value=100)
    large_fee_percent = forms.IntegerField(
        label="Additional, for HITs with 10 or more assignments", min_value=0, max_value=100
    )
    masters_fee_percent = forms.IntegerField(
        label="Additional, for HITs that ask for Masters", min_value=0, max_value=100
    )
    least_fee_cents = forms.IntegerField(
        label="At least, in cents per assignment or bonus", min_value=0, max_value=1000
    )


def market_settings(request: HttpRequest) -> HttpResponse:
    """The operator: sign-up and fees. Fees count for new HITs only."""
    operator = operator_of(request)
    market = MarketSettings.current()
    initial = {name: getattr(market, name) for name in SettingsForm.base_fields}
    form = SettingsForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        change_settings(operator, **form.cleaned_data)
        messages.success(request, "Saved. New HITs are priced by these fees; HITs there are keep theirs.")
        return redirect("operator-settings")
    priced = [(count, price(50, count, False, market.rates)) for count in (9, 10)]
    context = {
        "section": "settings",
        "form": form,
        "examples": [(count, example.reward_cents * count, example.fee_cents * count) for count, example in priced],
    }
    return show(request, "operator/settings.html", context, status=422 if form.errors else 200)


def invitations(request: HttpRequest) -> HttpResponse:
    """The operator: make links that let one person sign up each."""
    operator = operator_of(request)
    if request.method == "POST":
        role = request.POST.get("role")
        if role in Invitation.Role.values:
            invitation = invite(role, operator, note=request.POST.get("note", "").strip()[:200])
            link = request.build_absolute_uri(reverse("join-by-code", args=[invitation.code]))
            messages.success(request, f"Send this link to one {role}: {link}")
        return redirect("operator-invitations")
    rows = Invitation.objects.select_related("used_by", "created_by").order_by("-pk")
    page = paginate(request, rows)
    links = [
        (
            invitation,
            request.build_absolute_uri(reverse("join-by-code", args=[invitation.code])),
            invitation.is_open(clock.now()),
        )
        for invitation in page
    ]
    return show(request, "operator/invitations.html", {"section": "invitations", "page": page, "links": links})


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """The operator: end an invitation that nobody has used."""
    operator_of(request)
    ended = Invitation.objects.filter(pk=pk, used_at__isnull=True, expires_at__gt=clock.now())
    if ended.update(expires_at=clock.now()):
        messages.success(request, "Withdrawn: the link no longer works.")
    return redirect("operator-invitations")


def blocks(request: HttpRequest) -> HttpResponse:
    """The operator: which requester takes no work from whom, and why."""
    operator_of(request)
    rows = WorkerBlock.objects.select_related("requester", "worker").order_by("-created_at", "-pk")
    return show(request, "operator/blocks.html", {"section": "blocks", "page": paginate(request, rows)})


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """The operator: who did what to whom."""
    operator_of(request)
    rows = AuditEntry.objects.select_related("actor")
    action = request.GET.get("action", "")
    if action:
        rows = rows.filter(action=action)
    actions = AuditEntry.objects.order_by("action").values_list("action", flat=True).distinct()
    context = {"section": "audit", "page": paginate(request, rows), "action": action, "actions": actions}
    return show(request, "operator/audit.html", context)
