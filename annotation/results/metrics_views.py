"""A study's Metrics pages, for admins and analysts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import READERS, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import Refused
from annotation.jobs import job_for, start_job
from annotation.models import Job, Role, Study
from annotation.results.metrics import checked_metrics, choices, current_job, explained, metric_page, scored_metrics


@require_http_methods(["GET", "POST"])
@answers_refusals
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins and analysts: the metrics scored so far; a POST starts scoring with the chosen ones."""
    study = study_for(request, slug, *READERS)
    if request.method != "POST":
        return _page(request, study)
    try:
        names = checked_metrics(request.POST.get("more", "")[:2000], request.POST.getlist("metric"))
        start_job(study, "score", {"metrics": names}, user_of(request))
    except Refused as refusal:
        return _page(request, study, refusal)
    return redirect("metrics", slug=slug)


def _page(request: HttpRequest, study: Study, refusal: Refused | None = None) -> HttpResponse:
    """What was scored and what could be; after a refusal with its sentence and the choice as it was made."""
    context = {"study": study, "choices": choices(), "scored": scored_metrics(study), "job": current_job(study)}
    context |= {"step": "metrics", "problem": refusal and str(refusal)}
    context |= {"ticked": request.POST.getlist("metric"), "more": request.POST.get("more", "")}
    return render(request, "annotation/results/metrics.html", context, status=refusal.status if refusal else 200)


@require_GET
@answers_refusals
def metric(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: one metric's scores per system, with intervals and a chart."""
    study = study_for(request, slug, *READERS)
    sort = request.GET.get("sort", "mean")
    context = {"study": study, "page": metric_page(study, name, sort), "sort": sort, "step": "metrics"}
    return render(request, "annotation/results/metric.html", context)


@require_GET
@answers_refusals
def explanation(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Admins and analysts: how one summary's score came about."""
    study = study_for(request, slug, *READERS)
    summary, explained_score = explained(study, name, request.GET.get("doc", ""), request.GET.get("system", ""))
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
