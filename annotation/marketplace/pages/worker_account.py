"""A worker's own things: money, history, messages, account, and all of it as a download."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from annotation.common import clock
from annotation.marketplace.errors import BadParameter
from annotation.marketplace.hits.work import earnings_of
from annotation.marketplace.models import Assignment, BankDetails, Message
from annotation.marketplace.people.bank import keep_bank, read_bank, remove_bank

from .data import everything_about
from .render import account_of, paginate, show, visitor_of, worker_of

State = Assignment.State


@require_safe
def earnings(request: HttpRequest) -> HttpResponse:
    """Workers: their money by state, and what was paid out."""
    worker = worker_of(request)
    by_state = worker.assignments.values("state").annotate(count=Count("pk"), cents=Sum("reward_cents"))
    context = {
        "section": "earnings",
        "earnings": earnings_of(worker),
        "states": {row["state"]: row for row in by_state},
        "worker": worker,
        "bonuses": worker.bonus_payments.select_related("requester", "assignment").order_by("-granted_at")[:20],
        "payouts": worker.payouts.order_by("-at")[:20],
    }
    return show(request, "worker/earnings.html", context)


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """Workers: every assignment they have taken, newest first."""
    rows = worker_of(request).assignments.select_related("hit__hit_type", "hit__requester").order_by("-accepted_at")
    state = request.GET.get("state", "")
    if state in State.values:
        rows = rows.filter(state=state)
    context = {"section": "history", "page": paginate(request, rows), "state": state, "states": State.choices}
    return show(request, "worker/history.html", context)


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Workers: what requesters and the market wrote to them."""
    rows = Message.objects.filter(worker=worker_of(request)).select_related("requester")
    return show(request, "worker/inbox.html", {"section": "inbox", "page": paginate(request, rows)})


def message(request: HttpRequest, pk: int) -> HttpResponse:
    """The worker it was written to. Opening the list marks nothing; the button visitor_of does."""
    message = Message.objects.select_related("requester").filter(worker=worker_of(request), pk=pk).first()
    if message is None:
        raise Http404("There is no such message to you.")
    if request.method == "POST":
        message.read_at = None if request.POST.get("unread") else message.read_at or clock.now()
        message.save(update_fields=["read_at"])
        return redirect("inbox")
    return show(request, "worker/message.html", {"section": "inbox", "message": message})


class WorkerFacts(forms.Form):
    email = forms.EmailField(label="E-mail", required=False, help_text="Only the operator sees it, to pay you.")
    country = forms.RegexField(
        r"^[A-Za-z]{2}$", label="Country", required=False, max_length=2, help_text="Two letters, e.g. DE."
    )
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{1,3}$", label="State or region", required=False, max_length=3, help_text="E.g. NY for US-NY."
    )
    is_adult = forms.BooleanField(label="I am an adult and may be shown adult content", required=False)


def account(request: HttpRequest) -> HttpResponse:
    """Anybody signed in: their own account. Workers change their facts visitor_of."""
    person, visitor = account_of(request), visitor_of(request)
    worker = visitor.worker if visitor else None
    form = None
    if worker is not None:
        initial = {
            "email": person.email,
            "country": worker.country,
            "subdivision": worker.subdivision,
            "is_adult": worker.is_adult,
        }
        form = WorkerFacts(request.POST or None, initial=initial)
        if request.method == "POST" and form.is_valid():
            _save(person, worker, form.cleaned_data)
            messages.success(request, "Saved.")
            return redirect("account")
    context = {"section": "account", "form": form, "worker": worker}
    return show(request, "account.html", context, status=422 if form and form.errors else 200)


def _save(person: Any, worker: Any, facts: dict[str, Any]) -> None:
    person.email = facts["email"]
    person.save(update_fields=["email"])
    worker.country, worker.subdivision = facts["country"].upper(), facts["subdivision"].upper()
    worker.is_adult = facts["is_adult"]
    worker.save(update_fields=["country", "subdivision", "is_adult"])


class BankForm(forms.Form):
    holder = forms.CharField(label="Account holder", max_length=70)
    account_number = forms.CharField(label="IBAN, or account number", max_length=50)
    bank = forms.CharField(label="BIC, or the bank's number", max_length=20, required=False)


def bank(request: HttpRequest) -> HttpResponse:
    """Workers: where they want to be paid. It is kept encrypted; only its last four signs are shown again."""
    worker = worker_of(request)
    form = BankForm(request.POST if request.POST.get("action") == "keep" else None)
    if request.POST.get("action") == "remove":
        remove_bank(worker)
        messages.success(request, "Removed. You stand on no payout list from now on, until you enter an account again.")
        return redirect("bank")
    if form.is_bound and form.is_valid():
        facts = form.cleaned_data
        try:
            keep_bank(worker, read_bank(facts["holder"], facts["account_number"], facts["bank"]))
        except BadParameter as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Saved, encrypted. The operator's next payout list has it.")
            return redirect("bank")
    context = {"section": "account", "form": form, "details": BankDetails.objects.filter(worker=worker).first()}
    return show(request, "worker/bank.html", context, status=422 if form.errors else 200)


@require_safe
def download(request: HttpRequest) -> HttpResponse:
    """Workers: all that the market knows about them, as JSON."""
    worker = worker_of(request)
    text = json.dumps(everything_about(worker), indent=2, ensure_ascii=False, default=str)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{worker.worker_id}.json"'
    return response
