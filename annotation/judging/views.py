"""An annotator's pages: take a task, judge, submit, get a receipt, look again. The page's script speaks to work_api."""

import secrets
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
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
from annotation.judging.submit import Receipt, revise_judgments, submit_judgments, undo_submit
from annotation.models import Assignment, Batch, Role, Worker

from .next_task import NAME as STRAIGHT_ON
from .next_task import TAKERS, goes_straight_on, keep_choice, leave_message, next_task, task_after
from .pace import Place, place_of
from .page_config import account_urls, page_config, page_texts

FIELD = "answer:"
LOOSE = "annotation/judging/loose.html"  # a task's page without the site around it
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
    member_of(request, batch.study, *TAKERS)
    worker = Worker.for_user(batch.study, user_of(request))
    return redirect(next_task(request, batch, worker).address)


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
    if mode == "work" and (address := _straight_on(request, receipt)):
        return redirect(address)
    return redirect("receipt", key=assignment.key)


def _straight_on(request: HttpRequest, receipt: Receipt) -> str:
    """Where who sent the form goes on; empty for those who don't want to, or can't: the receipt has a page."""
    is_ticked = request.POST.get(STRAIGHT_ON) == "on"
    keep_choice(request, is_ticked)
    address = task_after(request, receipt).address if is_ticked else ""
    if address:
        leave_message(request, receipt)
    return address


def task_page(
    request: HttpRequest,
    assignment: Assignment,
    answers: dict[str, Any],
    *,
    mode: str = "work",
    submit_key: str = "",
    refusal: Refused | None = None,
    urls: dict[str, str] | None = None,
    place: Place | None = None,
    extra: dict[str, Any] | None = None,
    layout: str = "base.html",
) -> HttpResponse:
    """The protocol's page with the answers so far; `urls`, `place` and `extra` are for workers without an account.

    `layout` is LOOSE for a page that is put where the one before it was: its script counts on by itself.
    """
    protocol = protocols.of(assignment.task.batch)
    submit_key = submit_key or secrets.token_hex(16)
    urls = account_urls(assignment) if urls is None else urls
    if place is None and mode == "work" and layout != LOOSE:
        place = place_of(assignment)
    config = page_config(assignment, answers, mode, submit_key, urls, place)
    context = {
        **protocol.page(assignment, answers),
        "layout": layout,
        "is_loose": layout == LOOSE,
        "place": place,
        "urls": urls,
        "assignment": assignment,
        "batch": assignment.task.batch,
        "mode": mode,
        "straight_on": goes_straight_on(request),
        "submit_key": submit_key,
        "refusal": refusal,
        "config": config if layout == LOOSE else {**config, "texts": page_texts(urls)},
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


@require_POST
@answers_refusals
def undo(request: HttpRequest, key: str) -> HttpResponse:
    """The worker who submitted, while the batch is open: take it back, and go on with the task."""
    return redirect("task", key=undo_submit(assignment_of(user_of(request), key).worker, key).key)


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
