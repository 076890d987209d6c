"""Guidance for who has an account: consent, instructions, tutorial and test on the way to a task."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.guidance.pages import Steps, consent_page, instructions_page, test_page, tutorial_page
from annotation.models import Batch, Role, Worker

from .views import take


def _steps(batch: Batch) -> Steps:
    names = ("take", "consent", "instructions", "tutorial", "test")
    return Steps(**{name: reverse(name, args=[batch.pk]) for name in names}, home=reverse("home"), extra={})


def _batch_worker_steps(request: HttpRequest, batch_id: int) -> tuple[Batch, Worker, Steps]:
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ANNOTATOR, Role.ADMIN)
    return batch, Worker.for_user(batch.study, user_of(request)), _steps(batch)


@require_http_methods(["GET", "POST"])
@answers_refusals
def consent(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: read the consent text and agree; then on to the next step."""
    return consent_page(request, *_batch_worker_steps(request, batch_id)) or take(request, batch_id)


@require_GET
def instructions(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: how to do this batch's tasks."""
    batch, _worker, steps = _batch_worker_steps(request, batch_id)
    return instructions_page(request, batch, steps)


@require_http_methods(["GET", "POST"])
@answers_refusals
def tutorial(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: one real item after the other, each with its answer and the reason."""
    return tutorial_page(request, *_batch_worker_steps(request, batch_id)) or take(request, batch_id)


@require_http_methods(["GET", "POST", "PUT"])
@answers_refusals
def test(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the study: take the qualification test (PUT: keep a draft), and see the result."""
    return test_page(request, *_batch_worker_steps(request, batch_id))
