"""What workers read and do before their first task: consent, instructions, tutorial, qualification test."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import study_for, user_of
from annotation.errors import BadAnswers
from annotation.guidance import (
    TEST,
    TUTORIAL,
    Kind,
    consent_of,
    finish,
    give_consent,
    last_test,
    newest_text,
    plan_for,
    practice_items,
    tries_left,
)
from annotation.models import Batch, Role, Worker
from annotation.practice import choices, practice_page, tutorial_step

from .errors import answers_refusals
from .work import take

ANSWER = "answer:"


def _entered(request: HttpRequest, batch_id: int) -> tuple[Batch, Worker]:
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ANNOTATOR, Role.ADMIN)
    return batch, Worker.for_user(batch.study, user_of(request))


@require_http_methods(["GET", "POST"])
@answers_refusals
def consent(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: read the consent text and agree; then on to the next step."""
    batch, worker = _entered(request, batch_id)
    if request.method == "POST":
        give_consent(worker, int(request.POST.get("text") or 0))
        return take(request, batch_id)
    text = newest_text(batch.study, Kind.CONSENT)
    context = {"batch": batch, "text": text, "given": consent_of(worker, text)}
    return render(request, "annotation/work/consent.html", context)


@require_GET
def instructions(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: how to do this batch's tasks."""
    batch, _worker = _entered(request, batch_id)
    context = {
        "batch": batch,
        "text": newest_text(batch.study, Kind.INSTRUCTIONS, batch.protocol),
        "has_tutorial": bool(practice_items(plan_for(batch.study, batch.protocol), TUTORIAL)),
        "bare": "bare" in request.GET,
    }
    return render(request, "annotation/work/instructions.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def tutorial(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: one real item after the other, each with its answer and the reason."""
    batch, worker = _entered(request, batch_id)
    plan = plan_for(batch.study, batch.protocol)
    items = practice_items(plan, TUTORIAL)
    if request.method == "POST" and plan:
        finish(plan, worker, TUTORIAL, _given(request.POST))
        return take(request, batch_id)
    context = {"batch": batch, "step": tutorial_step(items, _given(request.GET)), "choices": choices(batch)}
    return render(request, "annotation/work/tutorial.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def test(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: take the qualification test, and see whether it was passed."""
    batch, worker = _entered(request, batch_id)
    plan, refusal, given = plan_for(batch.study, batch.protocol), None, {}
    if request.method == "POST" and plan:
        given = _given(request.POST)
        try:
            finish(plan, worker, TEST, given)
            return redirect(f"{reverse('test', args=[batch_id])}?result")
        except BadAnswers as error:
            refusal = error
    run = last_test(plan, worker) if plan else None
    context = {
        "batch": batch,
        "plan": plan,
        "run": run if run and (run.passed or "result" in request.GET) else None,
        "left": tries_left(plan, worker) if plan else 0,
        "items": practice_page(practice_items(plan, TEST), given),
        "choices": choices(batch),
        "refusal": refusal,
    }
    return render(request, "annotation/work/test.html", context, status=refusal.status if refusal else 200)


def _given(fields: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(ANSWER): value for name, value in fields.items() if name.startswith(ANSWER)}
