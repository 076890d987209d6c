"""A study's Quality pages: everybody who reads the study sees them, admins decide."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.downloads import chart_response, table_response
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.common.money import to_cents
from annotation.common.parsing import parse_int
from annotation.jobs.page_cache import current_content
from annotation.models import Role, Study
from annotation.results.quality import decide_batches, decide_filter, preview_rules, undo_filter, worker_tasks

TABLES = ("agreement", "workers", "contested", "spread", "judges")
CHARTS = ("workers", "systems", "spread")


def _seed(request: HttpRequest) -> int:
    text = request.POST.get("seed", "").strip() or "0"
    seed = parse_int(text, otherwise=-1)
    if not 0 <= seed < 10**9:
        raise Refused(
            gettext("“%(text)s” is no seed: write a whole number below 1,000,000,000. Nothing was changed.")
            % {"text": text[:40]}
        )
    return seed


def _price(request: HttpRequest) -> float:
    text = request.POST.get("price", "").strip()
    try:
        return to_cents(text) / 100 if text else 0.0
    except ValueError as error:
        raise Refused(gettext("%(error)s Nothing was changed.") % {"error": error}) from None


@require_http_methods(["GET", "POST"])
@answers_refusals
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: agreement, workers, decisions; a POST shows what a filter would do and changes nothing."""
    study = study_for(request, slug, *READERS)
    content, job = current_content("quality", study, user_of(request))
    context = {"study": study, "step": "quality", "content": content, "job": job, **_decisions(request, study)}
    context |= {"typed": request.POST, "ticked": request.POST.getlist("rule")}
    status = 200
    if request.method == "POST":
        try:
            context["preview"] = preview_rules(study, _rules(request), _seed(request), _price(request))
        except Refused as refusal:
            context["problem"], status = str(refusal), refusal.status
    return render(request, "annotation/results/quality.html", context, status=status)


def _rules(request: HttpRequest) -> str:
    ticked = [*request.POST.getlist("rule"), request.POST.get("more", "")[:500]]
    return ",".join(text for text in ticked if text.strip())


def _decisions(request: HttpRequest, study: Study) -> dict[str, Any]:
    from analysis.filters import RULES

    return {
        "rules": RULES.values(),
        "log": study.filter_decisions.select_related("decided_by", "undone_by").order_by("-decided_at"),
        "is_admin": study.role_of(user_of(request)) == Role.ADMIN,
        "batches": study.batches.exclude(protocol="").order_by("pk"),
    }


@require_POST
@answers_refusals
def decide(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: put the previewed filter in force, or undo the one that is."""
    study = study_for(request, slug, Role.ADMIN)
    if request.POST.get("undo"):
        undo_filter(study, user_of(request))
        messages.success(
            request, gettext("The filter is undone: every answer counts again. The decision stays in the log.")
        )
    else:
        decide_filter(study, request.POST.get("rules", "")[:1000], _seed(request), user_of(request))
        messages.success(request, gettext("The filter is in force. It can be undone at any time."))
    return redirect("quality", slug=slug)


@require_POST
@answers_refusals
def batches(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: say which answers count where one person judged the same unit in several batches."""
    study = study_for(request, slug, Role.ADMIN)
    decide_batches(study, request.POST.get("rule", ""), request.POST.getlist("batch"))
    messages.success(request, gettext("The rule is in force; no answer was changed."))
    return redirect("quality", slug=slug)


@require_GET
@answers_refusals
def worker(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Admins and analysts: one worker's answers beside the others'."""
    study = study_for(request, slug, *READERS)
    tasks, page = worker_tasks(study, pseudonym, request.GET.get("page", "1"))
    context = {"study": study, "step": "quality", "pseudonym": pseudonym, "tasks": tasks, "page": page}
    return render(request, "annotation/results/worker.html", context)


@require_GET
@answers_refusals
def download(request: HttpRequest, slug: str, protocol: str, name: str) -> HttpResponse:
    """Admins and analysts: the page's tables as CSV and its charts as SVG or PDF."""
    study = study_for(request, slug, *READERS)
    content, _ = current_content("quality", study, user_of(request))
    blocks = {block["name"]: block for block in (content or {}).get("protocols", [])}
    if protocol not in blocks:
        raise Refused(gettext("This table is not ready yet. Open the Quality page first."))
    stem, _, suffix = name.rpartition(".")
    file = f"{slug}-{protocol}-{name}"
    if suffix == "csv" and stem in TABLES:
        return table_response(blocks[protocol][stem], file)
    if suffix in ("svg", "pdf") and stem in CHARTS and stem in blocks[protocol]["charts"]:
        return chart_response(blocks[protocol], stem, suffix, file)
    files = [f"{name}.csv" for name in TABLES] + [f"{name}.{form}" for name in CHARTS for form in ("svg", "pdf")]
    raise Refused(
        gettext("There is no file “%(name)s” here. There are: %(known)s.")
        % {"name": name[:60], "known": ", ".join(files)}
    )
