"""A study's ledger, for its admins."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import study_for, user_of
from annotation.common.downloads import table_response
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.crowds.console.ledger_page import doubtful_line, ledger_page, ledger_rows, set_limits
from annotation.crowds.settle import decide
from annotation.jobs import start_job
from annotation.models import Role, Study


@require_http_methods(["GET", "POST"])
@answers_refusals
def ledger(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: every line, the limits, and a person's word on a doubtful one. Others get 403."""
    study = study_for(request, slug, Role.ADMIN)
    if request.method == "POST":
        _act(request, study)
        return redirect("ledger", slug=slug)
    job = study.jobs.filter(kind="settle").first()
    context = {"study": study, "step": "collect", "page": ledger_page(study, request.GET), "job": job}
    return render(request, "annotation/crowds/console/ledger.html", context)


def _act(request: HttpRequest, study: Study) -> None:
    action = request.POST.get("action", "")
    if action == "settle":
        start_job(study, "settle", {}, user_of(request))
    elif action == "limits":
        set_limits(study, request.POST.get("budget", ""), request.POST.get("wage", ""))
        messages.success(request, _("The limits are kept."))
    elif action in ("paid", "not-paid"):
        entry = doubtful_line(study, request.POST.get("entry", ""))
        decide(entry, action == "paid", user_of(request), request.POST.get("note", "").strip()[:500])
        messages.success(request, _("Noted, with your name. The ledger follows it."))
    else:
        raise Refused(_("There is no action “%(name)s” here. Nothing was done.") % {"name": action[:30]})


@require_GET
@answers_refusals
def ledger_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: every line as CSV; it holds worker ids."""
    study = study_for(request, slug, Role.ADMIN)
    return table_response(ledger_rows(study), f"{slug}-ledger.csv")
