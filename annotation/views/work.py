"""An annotator's pages: take a task, judge, submit, get a receipt."""

import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import protocols
from annotation.access import study_for, user_of
from annotation.errors import BadAnswers
from annotation.leases import lease_task, own_assignment, release_task
from annotation.models import Assignment, Batch, Role, Worker
from annotation.submits import submit_judgments

from .errors import answers_refusals

FIELD = "answer:"


@require_POST
@answers_refusals
def take(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Annotators and admins of the batch's study: hold a task and go to it; otherwise a sentence says why not."""
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ANNOTATOR, Role.ADMIN)
    assignment = lease_task(batch, Worker.for_user(batch.study, user_of(request)))
    return redirect("task", key=assignment.key)


def _worker(request: HttpRequest, key: str) -> Worker | None:
    """The signed-in person as the worker who holds this assignment; None when it is somebody else's."""
    return Worker.objects.filter(user=user_of(request), assignments__key=key).first()


@require_http_methods(["GET", "POST"])
@answers_refusals
def task(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: see the task and submit it; anybody else gets 404."""
    assignment = own_assignment(_worker(request, key), key)
    if request.method == "POST":
        return _submit(request, assignment)
    if assignment.state in (Assignment.State.SUBMITTED, Assignment.State.SURPLUS):
        return redirect("receipt", key=key)
    return _task_page(request, assignment, {}, secrets.token_hex(16))


def _submit(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    given = {name.removeprefix(FIELD): value for name, value in request.POST.items() if name.startswith(FIELD)}
    submit_key = request.POST.get("submit_key", "")[:64]
    try:
        submit_judgments(assignment.worker, assignment.key, given, submit_key)
    except BadAnswers as refusal:
        return _task_page(request, assignment, given, submit_key, refusal)
    return redirect("receipt", key=assignment.key)


def _task_page(
    request: HttpRequest,
    assignment: Assignment,
    given: dict[str, str],
    submit_key: str,
    refusal: BadAnswers | None = None,
) -> HttpResponse:
    protocol = protocols.of(assignment.task.batch)
    items = [(item, given.get(item.field, "")) for item in protocol.items(assignment)]
    context = {"assignment": assignment, "items": items, "submit_key": submit_key, "refusal": refusal}
    return render(request, protocol.template, context, status=refusal.status if refusal else 200)


@require_POST
@answers_refusals
def release(request: HttpRequest, key: str) -> HttpResponse:
    """The holder of the assignment: give it back."""
    release_task(_worker(request, key), key)
    return redirect("home")


@require_GET
@answers_refusals
def receipt(request: HttpRequest, key: str) -> HttpResponse:
    """The worker who submitted: what was kept, and the next task."""
    assignment = own_assignment(_worker(request, key), key)
    if assignment.submitted_at is None:
        return redirect("task", key=key)
    count = assignment.judgments.filter(is_current=True).count()
    return render(request, "annotation/work/receipt.html", {"assignment": assignment, "count": count})
