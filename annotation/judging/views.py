"""An annotator's pages: take a task, judge, submit, get a receipt, look again. The page's script speaks to work_api."""

import secrets
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import protocols
from annotation.accounts.access import member_of, study_for, user_of
from annotation.common.error_pages import answers_refusals
from annotation.common.errors import BadAnswers, Refused
from annotation.common.prepared_queries import PreparedObjects
from annotation.judging.drafts import drafted_answers, drafted_since_submit
from annotation.judging.leases import DONE, assignment_of, check_open, release_task
from annotation.judging.receipts import done_tasks, receipt_facts
from annotation.judging.submit import revise_judgments, submit_judgments
from annotation.models import Assignment, Batch, Role, Worker

from .next_task import NAME as STRAIGHT_ON
from .next_task import address_after, goes_straight_on, next_address
from .page_config import account_urls, page_config

FIELD = "answer:"
_BATCH = PreparedObjects(lambda batch: Batch.objects.filter(pk=batch).select_related("study"), "batch")


@require_http_methods(["GET", "POST"])
@answers_refusals
def take(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the batch's study: hold a task and go to it; otherwise a sentence says why not.

    Who had to sign in on the way comes back with GET, which takes nothing: home has the button.
    """
    if request.method == "GET":
        return redirect("home")
    batch = _BATCH.first(batch=batch_id)
    if batch is None:
        raise Http404
    member_of(request, batch.study, Role.ANNOTATOR, Role.ADMIN)
    worker = Worker.for_user(batch.study, user_of(request))
    return redirect(next_address(batch, worker))


@never_cache
@require_http_methods(["GET", "POST"])
@answers_refusals
def task(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: see the task and submit it; anybody else gets 404."""
    assignment = assignment_of(user_of(request), key)
    if request.method == "POST":
        return _send(request, assignment, "work")
    if assignment.state in DONE:
        return redirect("receipt", key=key)
    return task_page(request, assignment, drafted_answers(assignment))


@never_cache
@require_http_methods(["GET", "POST"])
@answers_refusals
def revise(request: HttpRequest, key: str) -> HttpResponse:
    """The worker who submitted, while the batch is open: see the own answers again and change them."""
    assignment = assignment_of(user_of(request), key)
    if request.method == "POST":
        return _send(request, assignment, "revise")
    if assignment.state not in DONE:
        return redirect("task", key=key)
    check_open(assignment.task.batch)
    submitted_answers = protocols.of(assignment.task.batch).answers_of(assignment)
    return task_page(request, assignment, {**submitted_answers, **drafted_since_submit(assignment)}, mode="revise")


def form_answers(request: HttpRequest) -> tuple[dict[str, Any], str]:
    """The answers and the submit key of a form sent without script."""
    form = {name.removeprefix(FIELD): value for name, value in request.POST.items() if name.startswith(FIELD)}
    return form, request.POST.get("submit_key", "")[:64]


def _send(request: HttpRequest, assignment: Assignment, mode: str) -> HttpResponse:
    form, submit_key = form_answers(request)
    send = revise_judgments if mode == "revise" else submit_judgments
    try:
        receipt = send(assignment.worker, assignment.key, form, submit_key)
    except BadAnswers as refusal:
        answers = {**drafted_answers(assignment), **form}
        return task_page(request, assignment, answers, mode=mode, submit_key=submit_key, refusal=refusal)
    ticked = request.POST.get(STRAIGHT_ON)
    ahead = address_after(request, receipt, assignment.worker, ticked) if mode == "work" else None
    return redirect(ahead or reverse("receipt", args=[assignment.key]))


def task_page(
    request: HttpRequest,
    assignment: Assignment,
    answers: dict[str, Any],
    *,
    mode: str = "work",
    submit_key: str = "",
    refusal: Refused | None = None,
    urls: dict[str, str] | None = None,
    extra: dict[str, Any] | None = None,
) -> HttpResponse:
    """The protocol's page with the answers so far; `urls` and `extra` are for workers who came without an account."""
    protocol = protocols.of(assignment.task.batch)
    submit_key = submit_key or secrets.token_hex(16)
    urls = account_urls(assignment) if urls is None else urls
    context = {
        **protocol.page(assignment, answers),
        "urls": urls,
        "assignment": assignment,
        "batch": assignment.task.batch,
        "mode": mode,
        "straight_on": goes_straight_on(request),
        "submit_key": submit_key,
        "refusal": refusal,
        "config": page_config(assignment, answers, mode, submit_key, urls),
        **(extra or {}),
    }
    return render(request, protocol.template, context, status=refusal.status if refusal else 200)


@require_POST
@answers_refusals
def release(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: give it back; the draft is kept."""
    release_task(assignment_of(user_of(request), key).worker, key)
    messages.info(request, _("You gave the task back. What you had saved is kept; others can take it now."))
    return redirect("home")


@never_cache
@require_GET
@answers_refusals
def receipt(request: HttpRequest, key: str) -> HttpResponse:
    """The worker who submitted: what was kept, and the next task."""
    assignment = assignment_of(user_of(request), key)
    if assignment.submitted_at is None:
        return redirect("task", key=key)
    return render(request, "annotation/judging/receipt.html", {"receipt": receipt_facts(assignment)})


@never_cache
@require_GET
@answers_refusals
def answers(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the batch's study: the tasks they have done, each with a way to look again."""
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ANNOTATOR, Role.ADMIN)
    context = {"batch": batch, "done_tasks": done_tasks(batch, user_of(request), request.GET.get("page", "1"))}
    return render(request, "annotation/judging/answers.html", context)
