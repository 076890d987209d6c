"""A study's Metrics pages, for admins and analysts."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.lazy import how_to_bring
from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.addresses import from_address
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.jobs import job_for, start_job
from annotation.jobs.page_cache import current_content
from annotation.models import Job, Role, Study, Summary
from annotation.results.correlations import with_correlations
from annotation.results.metrics import (
    checked_metrics,
    choices,
    current_job,
    explained,
    metric_page,
    model_libraries,
    scored_metrics,
    set_choices,
)
from annotation.results.training import TRAINABLE, checked_training


@require_http_methods(["GET", "POST"])
@answers_refusals
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the metrics scored so far; a POST starts scoring with the chosen ones."""
    study = study_for(request, slug, *READERS)
    if request.method != "POST":
        return _page(request, study)
    if "libraries" in request.POST:
        return _start_libraries(request, study)
    try:
        if "train" in request.POST:
            start_job(study, "train", checked_training(study, request.POST), user_of(request))
            return redirect("metrics", slug=slug)
        names = checked_metrics(request.POST.get("more", "")[:2000], _ticked(request))
        start_job(study, "score", {"metrics": names}, user_of(request))
    except Refused as refusal:
        return _page(request, study, refusal)
    return redirect("metrics", slug=slug)


def _ticked(request: HttpRequest) -> list[str]:
    """The metrics that were ticked, or those of a set that can be computed here."""
    key = request.POST.get("set")
    if not key:
        return request.POST.getlist("metric")
    return [name for entry in set_choices(choices(), 0) if entry.key == key for name in entry.metrics]


def _start_libraries(request: HttpRequest, study: Study) -> HttpResponse:
    """An admin's: install what the metrics with models need, where the operator allows it."""
    if not settings.INSTALL_LIBRARIES or study.role_of(user_of(request)) != Role.ADMIN:
        sentence = gettext(
            "Only an admin may install libraries, and only where INSTALL_LIBRARIES is set. Nothing was done."
        )
        return _page(request, study, Refused(sentence))
    start_job(study, "libraries", {}, user_of(request))
    return redirect("metrics", slug=study.slug)


def _page(request: HttpRequest, study: Study, refusal: Refused | None = None) -> HttpResponse:
    """What was scored and what could be; after a refusal with its sentence and the choice as it was made."""
    families, n_summaries = choices(), Summary.objects.filter(document__study=study).count()
    scored = scored_metrics(study)
    content, making = current_content("metrics", study, user_of(request)) if scored else ({}, None)
    context = {"study": study, "choices": families, "job": current_job(study), "making": making}
    context |= {"scored": with_correlations(scored, content or {}), "picture": content}
    context |= {"sets": set_choices(families, n_summaries), "summaries": n_summaries, "kinds": TRAINABLE}
    may_install = settings.INSTALL_LIBRARIES and study.role_of(user_of(request)) == Role.ADMIN
    context |= {"libraries": model_libraries(), "may_install": may_install, "command": how_to_bring("models")}
    context |= {"step": "metrics", "problem": refusal and str(refusal)}
    context |= {"ticked": request.POST.getlist("metric"), "more": request.POST.get("more", "")}
    return render(request, "annotation/results/metrics.html", context, status=refusal.status if refusal else 200)


@require_GET
@answers_refusals
def metric(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: one metric's scores per system, with intervals and a chart."""
    study = study_for(request, slug, *READERS)
    sort = request.GET.get("sort", "mean")
    context = {"study": study, "page": metric_page(study, from_address(name), sort), "sort": sort, "step": "metrics"}
    return render(request, "annotation/results/metric.html", context)


@require_GET
@answers_refusals
def explanation(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: how one summary's score came about."""
    study = study_for(request, slug, *READERS)
    doc, system = request.GET.get("doc", ""), request.GET.get("system", "")
    summary, explained_score = explained(study, from_address(name), doc, system)
    context = {"study": study, "summary": summary, "explanation": explained_score, "step": "metrics"}
    return render(request, "annotation/results/explanation.html", context)


@require_GET
def job(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    """Admins and analysts: how far a job is, as a fragment that asks again by itself; what it paid, for admins."""
    study = study_for(request, slug, *READERS)
    job = get_object_or_404(Job, pk=job_id, study=study)
    visible_job = job_for(job, is_admin=study.role_of(user_of(request)) == Role.ADMIN)
    answer = render(request, "annotation/common/job.html", {"study": study, "job": visible_job})
    if job.is_over:
        answer["HX-Refresh"] = "true"
    return answer


@require_POST
@answers_refusals
def job_again(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    """Admins and analysts: do again what failed while it worked out a page's numbers."""
    study = study_for(request, slug, *READERS)
    job = get_object_or_404(Job, pk=job_id, study=study)
    if not job.may_be_repeated:
        raise Refused(gettext("This job did not fail, or is none that a page repeats. Nothing was started."))
    start_job(study, job.kind, job.options, user_of(request))
    page = job.options.get("name") if job.kind == "page" else "explorer"
    return redirect(page if page in ("quality", "report", "metrics") else "explorer", slug=slug)
