"""The people of a batch, for admins: the table of workers, what is done about them, and personal links."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import study_for, user_of
from annotation.common.downloads import file_response
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.money import amount
from annotation.common.parsing import parse_int
from annotation.crowds.console.worker_actions import (
    ACTIONS,
    ActionPlan,
    actions_for,
    bonus_price,
    fingerprint,
    plan_action,
    start_action,
)
from annotation.crowds.console.worker_page import start_verdict, worker_page
from annotation.crowds.console.workers import SHOWN, SORTS, WorkerQuery, chosen_workers, worker_list
from annotation.crowds.markets.direct import (
    link_named,
    links_csv,
    links_of,
    make_links,
    read_days,
    read_names,
    withdraw_link,
)
from annotation.models import Batch, Role

from .views import batch_of, page_context

NAMED_AT_MOST = 100
"""Of everybody in a list, so many are named before something is done about them."""


@require_http_methods(["GET", "POST"])
@answers_refusals
def workers(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: the workers with the market's own ids; a POST shows what an action would do, and does nothing."""
    batch = batch_of(study_for(request, slug, Role.ADMIN), batch_id)
    context = page_context(request, batch, "workers")
    if request.method == "POST":
        action = request.POST.get("action", "")
        plan = plan_action(batch, action, chosen_workers(batch, request.POST))
        context |= {"plan": plan, "action": action, "word": ACTIONS[action], **_choice(request, plan)}
        return render(request, "annotation/crowds/console/confirm.html", context)
    context |= {
        "list": worker_list(batch, request.GET, user_of(request)),
        "actions": actions_for(batch),
        "sorts": [(name, title) for name, (title, _order) in SORTS.items()],
        "shown": SHOWN.items(),
    }
    return render(request, "annotation/crowds/console/workers.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def worker(request: HttpRequest, slug: str, batch_id: int, worker_id: int) -> HttpResponse:
    """Admins: one worker's answers beside the others'; a POST is a verdict on one hand-in. Others get 403."""
    batch = batch_of(study_for(request, slug, Role.ADMIN), batch_id)
    if request.method == "POST":
        start_verdict(batch, worker_id, request.POST.dict(), user_of(request))
        address = resolve_url("crowd-worker", slug, batch.pk, worker_id)
        return redirect(f"{address}?page={parse_int(request.POST.get('page', ''), 1)}")
    context = page_context(request, batch, "workers")
    context["person"] = worker_page(batch, worker_id, request.GET)
    return render(request, "annotation/crowds/console/worker.html", context)


def _choice(request: HttpRequest, plan: ActionPlan) -> dict[str, Any]:
    """Whom a plan is about, as its form says it again: everybody in the list as it was, or by name."""
    if not request.POST.get("everybody"):
        return {"named": plan.workers, "shown_workers": plan.workers}
    query = WorkerQuery.of(request.POST)
    chosen_by = {"everybody": "1", "q": query.search, "show": query.shown, "seen": fingerprint(plan)}
    return {"chosen_by": chosen_by, "shown_workers": plan.workers[:NAMED_AT_MOST]}


@require_POST
@answers_refusals
def workers_do(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: start what was planned. A bonus is shown with its sum once more before it is paid."""
    batch = batch_of(study_for(request, slug, Role.ADMIN), batch_id)
    action, ticked_workers = request.POST.get("action", ""), chosen_workers(batch, request.POST)
    if action == "bonus" and not request.POST.get("sure"):
        return _bonus_sum(request, batch)
    start_action(batch, action, ticked_workers, request.POST.dict(), user_of(request))
    return redirect("crowd-workers", slug=slug, batch_id=batch.pk)


def _bonus_sum(request: HttpRequest, batch: Batch) -> HttpResponse:
    plan = plan_action(batch, "bonus", chosen_workers(batch, request.POST))
    price = bonus_price(batch, plan, request.POST.get("amount", ""))
    button = _("Pay %(sum)s") % {"sum": amount(price.total_cents, batch.study.currency)}
    hidden_fields = {name: request.POST.get(name, "") for name in ("amount", "reason")}
    context = {
        **page_context(request, batch, "workers"),
        "plan": replace(plan, price=price, button=button, fields=()),
        "action": "bonus",
        "word": ACTIONS["bonus"],
        "hidden_fields": {**hidden_fields, "sure": "1"},
        "sentence": hidden_fields["reason"],
        **_choice(request, plan),
    }
    return render(request, "annotation/crowds/console/confirm.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def links(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: personal links for one's own people; a POST makes some or withdraws one. `format=csv` is the file."""
    batch = batch_of(study_for(request, slug, Role.ADMIN), batch_id)
    if request.method == "POST":
        try:
            messages.success(request, _changed_links(request, batch))
        except Refused as refusal:
            return _links_page(request, batch, refusal)
        return redirect("crowd-links", slug=slug, batch_id=batch.pk)
    if request.GET.get("format") == "csv":
        content = links_csv(link for link in links_of(batch) if link.url).encode()
        return file_response(content, "text/csv; charset=utf-8", f"{slug}-links.csv")
    return _links_page(request, batch)


def _changed_links(request: HttpRequest, batch: Batch) -> str:
    if "withdraw" in request.POST:
        withdraw_link(batch, link_named(request.POST["withdraw"]))
        return _("The link opens nothing any more. What was done through it counts.")
    days = read_days(request.POST.get("days", "14"))
    n = len(make_links(batch, read_names(request.POST.get("names", "")), days=days))
    return ngettext("%(n)d link is ready.", "%(n)d links are ready.", n) % {"n": n}


def _links_page(request: HttpRequest, batch: Batch, refusal: Refused | None = None) -> HttpResponse:
    """The links; after a refusal with its sentence and the names as they were typed."""
    context = {**page_context(request, batch, "links"), "links": links_of(batch), "typed": request.POST}
    context["problem"] = refusal and str(refusal)
    status = refusal.status if refusal else 200
    return render(request, "annotation/crowds/console/links.html", context, status=status)
