"""What workers read and do before their first task: consent, instructions, tutorial, qualification test."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation import protocols
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
from annotation.practice import practice_page, tutorial_step

from .errors import answers_refusals
from .work import take

ANSWER = "answer:"


@dataclass(frozen=True)
class Steps:
    """Where the guidance pages lead: for a signed-in person, or for a worker who came with a token."""

    take: str
    consent: str
    instructions: str
    tutorial: str
    test: str
    home: str  # where one goes who can't or won't start; empty where only the market can tell
    extra: dict[str, Any]  # for the templates

    @classmethod
    def of_account(cls, batch: Batch) -> "Steps":
        names = ("take", "consent", "instructions", "tutorial", "test")
        return cls(**{name: reverse(name, args=[batch.pk]) for name in names}, home=reverse("home"), extra={})

    def page(self, request: HttpRequest, name: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
        return render(request, f"annotation/work/{name}.html", {**context, "steps": self, **self.extra}, status=status)


def _entered(request: HttpRequest, batch_id: int) -> tuple[Batch, Worker, Steps]:
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ANNOTATOR, Role.ADMIN)
    return batch, Worker.for_user(batch.study, user_of(request)), Steps.of_account(batch)


@require_http_methods(["GET", "POST"])
@answers_refusals
def consent(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: read the consent text and agree; then on to the next step."""
    return consent_page(request, *_entered(request, batch_id)) or take(request, batch_id)


def consent_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse | None:
    """The page; None once the worker has agreed, so that the caller takes them on."""
    if request.method == "POST":
        give_consent(worker, int(request.POST.get("text") or 0))
        return None
    text = newest_text(batch.study, Kind.CONSENT)
    return steps.page(request, "consent", {"batch": batch, "text": text, "given": consent_of(worker, text)})


@require_GET
def instructions(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: how to do this batch's tasks."""
    batch, _worker, steps = _entered(request, batch_id)
    return instructions_page(request, batch, steps)


def instructions_page(request: HttpRequest, batch: Batch, steps: Steps) -> HttpResponse:
    context = {
        "batch": batch,
        "text": newest_text(batch.study, Kind.INSTRUCTIONS, batch.protocol),
        "has_tutorial": bool(practice_items(plan_for(batch.study, batch.protocol), TUTORIAL)),
        "bare": "bare" in request.GET,
    }
    return steps.page(request, "instructions", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def tutorial(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: one real item after the other, each with its answer and the reason."""
    return tutorial_page(request, *_entered(request, batch_id)) or take(request, batch_id)


def tutorial_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse | None:
    """The page; None once it is done."""
    plan = plan_for(batch.study, batch.protocol)
    items = practice_items(plan, TUTORIAL)
    if request.method == "POST" and plan:
        finish(plan, worker, TUTORIAL, _given(request.POST))
        return None
    protocol, step = protocols.get(batch.protocol), tutorial_step(items, _given(request.GET))
    context = {"batch": batch, "protocol": protocol, "step": step, "choices": protocol.choices(batch)}
    return steps.page(request, "tutorial", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def test(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: take the qualification test, and see whether it was passed."""
    return test_page(request, *_entered(request, batch_id))


def test_page(request: HttpRequest, batch: Batch, worker: Worker, steps: Steps) -> HttpResponse:
    plan, refusal, given = plan_for(batch.study, batch.protocol), None, {}
    if request.method == "POST" and plan:
        given = _given(request.POST)
        try:
            finish(plan, worker, TEST, given)
            return redirect(f"{steps.test}?result")
        except BadAnswers as error:
            refusal = error
    run = last_test(plan, worker) if plan else None
    context = {
        "batch": batch,
        "plan": plan,
        "run": run if run and (run.passed or "result" in request.GET) else None,
        "left": tries_left(plan, worker) if plan else 0,
        "items": practice_page(practice_items(plan, TEST), given),
        "choices": protocols.get(batch.protocol).choices(batch),
        "refusal": refusal,
    }
    return steps.page(request, "test", context, status=refusal.status if refusal else 200)


def _given(fields: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(ANSWER): value for name, value in fields.items() if name.startswith(ANSWER)}
