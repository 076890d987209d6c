"""A batch on a crowd: launch and monitor. Admins act, analysts look."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.crowds.console.ending import ending_of
from annotation.crowds.console.monitor import monitor as monitor_state
from annotation.crowds.console.monitor_page import (
    admin_part,
    approval_seen,
    handed_in_without_answers,
    last_job,
    live_part,
    market_of,
    shares_seen,
)
from annotation.crowds.console.schedule import set_schedule
from annotation.crowds.console.worker_actions import reason_given
from annotation.crowds.launch.extend import refuse_closed
from annotation.crowds.launch.form import crowd_chosen, form_as_typed, form_of, launch_choices, read_terms
from annotation.crowds.launch.publish import count_postings
from annotation.crowds.launch.quote import quote
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.markets.prolific import Prolific
from annotation.crowds.markets.prolific.study_token import keep_token, remove_token
from annotation.crowds.terms import set_terms
from annotation.crowds.terms.presets import PRESETS
from annotation.crowds.terms.requirements import relaxed
from annotation.jobs import job_for, start_job
from annotation.models import Batch, Role, Study

ENDINGS = ("expire", "close")
ACTS = ("collect", "settle", "pause", "resume", *ENDINGS)


def batch_of(study: Study, batch_id: int) -> Batch:
    return get_object_or_404(Batch.objects.select_related("study"), pk=batch_id, study=study)


def page_context(request: HttpRequest, batch: Batch, tab: str) -> dict[str, Any]:
    """What every page of a batch shows."""
    market = market_of(batch)
    is_admin = batch.study.role_of(user_of(request)) == Role.ADMIN
    return {
        "study": batch.study,
        "batch": batch,
        "tab": tab,
        "step": "collect",
        "market_title": market.title if market else _("imported"),
        "job": job_for(last_job(batch), is_admin=is_admin),
        "is_admin": is_admin,
    }


@require_http_methods(["GET", "POST"])
@answers_refusals
def launch(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: say what a batch offers, see its price as they type, keep it or publish it. Others get 403."""
    study = study_for(request, slug, Role.ADMIN)
    batch = batch_of(study, batch_id)
    if request.POST.get("action") in ("keep-token", "remove-token"):
        return _market_token(request, batch)
    if request.method == "POST":
        return _launch(request, batch)
    preset = PRESETS.get(request.GET.get("preset", ""))
    terms = {**preset["terms"], "preset": request.GET["preset"]} if preset else batch.terms
    if request.GET.get("relaxed"):
        terms = {**terms, "requirements": relaxed(terms.get("requirements") or [])}
    paying = next(name for name, market in MARKETS.items() if market.pays)
    crowd = batch.crowd if batch.terms else paying  # who comes here for the first time wants a market
    return _launch_page(request, batch, {"form": form_of(terms), "crowd": crowd})


def _launch(request: HttpRequest, batch: Batch) -> HttpResponse:
    action = request.POST.get("action", "quote")
    context: dict[str, Any] = {"study": batch.study, "batch": batch}
    try:
        crowd, terms = crowd_chosen(request.POST, batch), read_terms(request.POST)
        context["quote"] = quote(batch, terms, crowd)
        if action == "publish" and not request.htmx:  # type: ignore[attr-defined]
            return _publish(request, batch, terms, crowd, context["quote"])
        if action == "save" and not request.htmx:  # type: ignore[attr-defined]
            set_terms(batch, terms, crowd)
            messages.success(request, _("The terms are kept. Nothing was published."))
            return redirect("launch", slug=batch.study.slug, batch_id=batch.pk)
        context |= {"form": form_of(terms.as_json()), "crowd": crowd}
    except Refused as refusal:
        typed = {"form": form_as_typed(request.POST), "crowd": request.POST.get("crowd") or batch.crowd}
        context |= {"problem": str(refusal), **typed}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/crowds/console/cost.html", context)
    return _launch_page(request, batch, context)


def _market_token(request: HttpRequest, batch: Batch) -> HttpResponse:
    if request.POST["action"] == "keep-token":
        keep_token(batch.study, Prolific.name, request.POST.get("token", ""), user_of(request))
        messages.success(request, _("The token is kept, encrypted."))
    else:
        remove_token(batch.study, Prolific.name)
        messages.success(request, _("The token is removed."))
    return redirect("launch", slug=batch.study.slug, batch_id=batch.pk)


def _publish(request: HttpRequest, batch: Batch, terms: Any, crowd: str, price: Any) -> HttpResponse:
    if request.POST.get("total", "") != str(price.total_cents):
        raise Refused(_("The price has changed since you saw it. Nothing was published: look at it again."))
    if price.problems:
        raise Refused(" ".join([*price.problems, _("Nothing was published.")]))
    set_terms(batch, terms, crowd)
    start_job(batch.study, "publish", {"batch": batch.pk}, user_of(request))
    return redirect("monitor", slug=batch.study.slug, batch_id=batch.pk)


def _launch_page(request: HttpRequest, batch: Batch, context: dict[str, Any]) -> HttpResponse:
    n_planned, n_standing = count_postings(batch)
    context = {
        **page_context(request, batch, "launch"),
        **launch_choices(batch),
        "standing": n_standing,
        "planned": n_planned,
        "by_links": n_standing and not batch.terms and batch.is_direct,
        "preview_url": reverse("crowd-preview", args=[batch.pk]) if batch.tasks.exists() else "",
        **context,
    }
    return render(
        request, "annotation/crowds/console/launch.html", context, status=422 if context.get("problem") else 200
    )


@require_GET
@answers_refusals
def monitor(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins and analysts: how far a batch is; money and people for admins. `live=1` is the part that refreshes."""
    study = study_for(request, slug, *READERS)
    batch = batch_of(study, batch_id)
    context = page_context(request, batch, "monitor")
    context |= live_part(batch, people=context["is_admin"])
    if request.GET.get("live"):
        return render(request, "annotation/crowds/console/live.html", context)
    if context["is_admin"]:
        context |= admin_part(batch, context["monitor"], context["figures"])
    return render(request, "annotation/crowds/console/monitor.html", context)


@require_POST
@answers_refusals
def act(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    """Admins: collect, settle, approve all, pause, go on, expire, close or top up, as background work; the schedule.

    Expire and Close are shown with their consequences first; `sure` does them.
    """
    study = study_for(request, slug, Role.ADMIN)
    batch = batch_of(study, batch_id)
    action = request.POST.get("action", "")
    options: dict[str, Any] = {"batch": batch.pk}
    market_for(batch.crowd, batch.study)
    if action in ENDINGS and not request.POST.get("sure"):
        return _ask_to_end(request, batch, action)
    if action == "schedule":
        set_schedule(batch, request.POST)
        messages.success(request, _("The schedule is kept."))
        return redirect("monitor", slug=slug, batch_id=batch.pk)
    if action in CHOICES:
        action, more_options = CHOICES[action](batch, request.POST)
        options |= more_options
    elif action not in ACTS:
        raise Refused(_("There is no action “%(name)s” here. Nothing was done.") % {"name": action[:30]})
    start_job(study, action, options, user_of(request))
    return redirect("monitor", slug=slug, batch_id=batch.pk)


def _ask_to_end(request: HttpRequest, batch: Batch, action: str) -> HttpResponse:
    context = page_context(request, batch, "monitor")
    context["ending"] = ending_of(batch, action, monitor_state(batch))
    return render(request, "annotation/crowds/console/ending.html", context)


def _approve_all(batch: Batch, form: QueryDict) -> tuple[str, dict[str, Any]]:
    return "approve", {"submissions": approval_seen(batch, form.get("upto", ""), form.get("total", ""))}


def _approve_without_answers(batch: Batch, form: QueryDict) -> tuple[str, dict[str, Any]]:
    submissions = approval_seen(batch, form.get("upto", ""), form.get("total", ""), without_answers=True)
    return "approve", {"submissions": submissions, "without_answers": True}


def _reject_without_answers(batch: Batch, form: QueryDict) -> tuple[str, dict[str, Any]]:
    reason = reason_given(form.get("reason", ""), market_for(batch.crowd, batch.study).least_reason)
    return "reject", {"submissions": handed_in_without_answers(batch, form.get("upto", "")), "reason": reason}


def _pay_shares(batch: Batch, form: QueryDict) -> tuple[str, dict[str, Any]]:
    return "shares", {"submissions": shares_seen(batch, form.get("total", ""))}


def _top_up(batch: Batch, form: QueryDict) -> tuple[str, dict[str, Any]]:
    refuse_closed(batch)
    return "top-up", {"cents": parse_int(form.get("total", ""), -1)}


CHOICES: dict[str, Callable[[Batch, QueryDict], tuple[str, dict[str, Any]]]] = {
    "approve-all": _approve_all,
    "approve-without-answers": _approve_without_answers,
    "reject-without-answers": _reject_without_answers,
    "pay-shares": _pay_shares,
    "top-up": _top_up,
}
"""Actions that say what they mean by what the page showed: the kind of job, and its options."""
