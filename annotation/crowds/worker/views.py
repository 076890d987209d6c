"""Pages for workers whom a market or a personal link sent: no account, no cookie, a token in the address."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import protocols
from annotation.accounts.access import study_for
from annotation.common.errors import BadAnswers, NoTaskLeft, Refused
from annotation.common.parsing import parse_int
from annotation.crowds.base import NoSuchPosting
from annotation.crowds.lookup import market_for
from annotation.crowds.seats.places import leave
from annotation.crowds.seats.tokens import Visit
from annotation.crowds.worker.entry import enter, finish, go_on, outcome, own_assignment, posting_at, sitting
from annotation.guidance import NoTriesLeft
from annotation.guidance.pages import Steps, consent_page, instructions_page, test_page, tutorial_page
from annotation.judging.drafts import drafted_answers
from annotation.judging.leases import DONE, check_open, draw_seed
from annotation.judging.script_views import keep_draft, read_body, receipt_answer, take_answers
from annotation.judging.submit import submit_judgments
from annotation.judging.views import form_answers, task_page
from annotation.models import Assignment, Batch, Posting, Role, Submission, Task, Worker
from annotation.protocols.scu import reference_of
from annotation.scus.views import advice_response

from .access import BARE, by_token, by_token_api, framed_by, handin_texts, open_door, steps_of, task_urls

NOWHERE = Steps(take="", consent="", instructions="", tutorial="", test="", home="", extra=BARE)


@open_door
@require_GET
def come_in(request: HttpRequest, crowd: str, token: str) -> HttpResponse:
    """Whoever a market sends here, by what it says in the address: a preview, or the way in; otherwise a sentence.

    The market calls with GET, and repeats it at will: a second call finds what the first one made.
    """
    posting = posting_at(token, crowd)
    comer = market_for(crowd).entry(posting, request.GET)
    if comer is None:
        return preview_page(request, posting.batch, posting.task, reverse("crowd-about", args=[token]))
    return redirect("crowd-start", enter(posting, comer))


@open_door
@require_GET
def about(request: HttpRequest, token: str) -> HttpResponse:
    """Whoever the market shows a preview: the instructions of the task."""
    posting = Posting.objects.select_related("batch__study").filter(token=token).first()
    if posting is None:
        raise NoSuchPosting
    return instructions_page(request, posting.batch, NOWHERE)


@never_cache
@require_GET
def preview(request: HttpRequest, batch_id: int) -> HttpResponse:
    """Admins of the study: a task of the batch, exactly as a worker sees it before accepting."""
    batch = get_object_or_404(Batch.objects.select_related("study"), pk=batch_id)
    study_for(request, batch.study.slug, Role.ADMIN)
    task = batch.tasks.filter(pk=parse_int(request.GET.get("task", ""))).first()
    return framed_by(preview_page(request, batch, task, reverse("instructions", args=[batch.pk])), ["'self'"])


def preview_page(request: HttpRequest, batch: Batch, task: Task | None, instructions: str) -> HttpResponse:
    """A task to look at: nothing is held, every input is off."""
    task = task or batch.tasks.select_related("document", "summary").order_by("pk").first()
    if task is None:
        raise NoTaskLeft
    task.batch = batch
    nobody = Worker(study=batch.study, crowd=batch.crowd, pseudonym="preview")
    assignment = Assignment(task=task, worker=nobody, key="preview", seed=draw_seed(task, batch, nobody))
    return task_page(request, assignment, {}, mode="preview", urls={"instructions": instructions}, extra=BARE)


@by_token
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The person a link was made for: what it is about, and the way in. Posting it starts."""
    if request.method == "POST":
        return _next(request, visit)
    context = {"visit": visit, "sitting": sitting(visit), "protocol": protocols.of(visit.batch), **BARE}
    return render(request, "annotation/crowds/worker/link.html", context)


@by_token
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: on to what comes next, be it consent, a task, or the end."""
    return _next(request, visit)


def _next(request: HttpRequest, visit: Visit) -> HttpResponse:
    try:
        step = go_on(visit)
    except (NoTriesLeft, NoTaskLeft) as refusal:
        return _stopped(request, visit, refusal)
    if step.gate:
        return redirect(f"crowd-{step.gate}", visit.token)
    if step.assignment is None:
        return redirect("crowd-finish", visit.token)
    return redirect("crowd-task", visit.token, step.assignment.key)


def _stopped(request: HttpRequest, visit: Visit, refusal: Refused) -> HttpResponse:
    """Why there is no task, and the way back to the market where it offers one."""
    market = market_for(visit.batch.crowd)
    context = {"refusal": refusal, "market": market, "way_out": market.way_out(visit.submission, "screened_out")}
    return render(request, "annotation/crowds/worker/stopped.html", {**context, **BARE}, status=refusal.status)


@by_token
@require_http_methods(["GET", "POST"])
def task(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who holds the assignment: see the task and submit it; anybody else gets a sentence."""
    assignment = own_assignment(visit, key)
    answers, refusal, submit_key = drafted_answers(assignment), None, ""
    if request.method == "POST":
        sent_answers, submit_key = form_answers(request)
        try:
            submit_judgments(visit.worker, key, sent_answers, submit_key)
            return redirect("crowd-done", visit.token, key)
        except BadAnswers as error:
            answers, refusal = {**answers, **sent_answers}, error
    if assignment.state in DONE:
        return redirect("crowd-done", visit.token, key)
    if visit.batch.state == Batch.State.CLOSED:
        check_open(visit.batch)
    extra: dict[str, Any] = {**BARE, "sitting": sitting(visit)}
    urls = task_urls(visit, assignment)
    return task_page(request, assignment, answers, submit_key=submit_key, refusal=refusal, urls=urls, extra=extra)


@by_token_api
@require_http_methods(["PUT"])
def draft(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who holds the assignment: keep changes and signals, renew the lease."""
    own_assignment(visit, key)
    return keep_draft(request, visit.worker, key)


@by_token_api
@require_POST
def submit(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who holds the assignment: submit, once per submit key."""
    own_assignment(visit, key)
    receipt = take_answers(submit_judgments, visit.worker, key, read_body(request))
    return receipt_answer(receipt, reverse("crowd-done", args=[visit.token, key]))


@by_token_api
@require_POST
def advice(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who holds the assignment: gentle advice on the SCUs so far."""
    return advice_response(request, reference_of(own_assignment(visit, key).task))


@by_token
@require_GET
def done(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who submitted: the next task of the sitting, the hand-in, or a receipt."""
    assignment = own_assignment(visit, key)
    if assignment.submitted_at is None:
        return redirect("crowd-task", visit.token, key)
    seat = sitting(visit)
    if not seat.of:
        context = {"assignment": assignment, "sitting": seat, "visit": visit, **BARE}
        return render(request, "annotation/crowds/worker/received.html", context)
    return redirect("crowd-finish" if seat.done >= seat.of else "crowd-start", visit.token)


@by_token
@require_GET
def end(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker whose answers are all saved: hand in to the market, with a receipt code for the case it is silent."""
    submission, market = finish(visit, early=True), market_for(visit.batch.crowd)
    context = {
        "visit": visit,
        "submission": submission,
        "confirmed": submission.state in Submission.CONFIRMED,
        "sentences": handin_texts(),
        "market": market,
        "hand_in": market.hand_in(visit.origin) if visit.origin else "",
        "way_out": None if visit.origin else market.way_out(submission, outcome(visit)),
        **BARE,
    }
    return render(request, "annotation/crowds/worker/finish.html", context)


@by_token
@require_http_methods(["GET", "POST"])
def stop(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker who stops early: the task in hand is given back with its draft, what is done stays."""
    if request.method == "POST":
        leave(visit.submission)
        return redirect("crowd-leave", visit.token)
    return render(request, "annotation/crowds/worker/left.html", {"visit": visit, "sitting": sitting(visit), **BARE})


@by_token
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: read the consent text and agree."""
    return consent_page(request, visit.batch, visit.worker, steps_of(visit)) or redirect("crowd-start", visit.token)


@by_token
@require_GET
def instructions(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: how to do this batch's tasks."""
    return instructions_page(request, visit.batch, steps_of(visit))


@by_token
@require_http_methods(["GET", "POST"])
def tutorial(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: practise before the first task."""
    return tutorial_page(request, visit.batch, visit.worker, steps_of(visit)) or redirect("crowd-start", visit.token)


@by_token
@require_http_methods(["GET", "POST"])
def test(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: take the qualification test."""
    return test_page(request, visit.batch, visit.worker, steps_of(visit))
