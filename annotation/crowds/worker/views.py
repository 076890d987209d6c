"""Pages for workers whom a market or a personal link sent: no account, no cookie, a token in the address."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import protocols
from annotation.accounts.access import study_for
from annotation.common.drafts import read_body
from annotation.common.errors import BadAnswers, NoTaskLeft, Refused
from annotation.common.parsing import parse_int
from annotation.crowds.base import NoSuchPosting
from annotation.crowds.lookup import market_for
from annotation.crowds.seats.places import leave, place_ahead
from annotation.crowds.seats.tokens import Visit
from annotation.crowds.worker.entry import (
    enter,
    finish,
    go_on,
    outcome,
    own_assignment,
    place_in_sitting,
    posting_at,
    sitting,
)
from annotation.guidance import Kind, NoTriesLeft, may_work, newest_text
from annotation.guidance.pages import Steps, consent_page, instructions_page, test_page, tutorial_page
from annotation.judging.drafts import drafted_answers
from annotation.judging.leases import DONE, check_open
from annotation.judging.next_task import NAME as STRAIGHT_ON
from annotation.judging.next_task import NextTask, reply_of
from annotation.judging.preview import preview_page
from annotation.judging.script_views import keep_draft, take_answers
from annotation.judging.submit import submit_judgments, undo_submit
from annotation.judging.views import LOOSE, form_answers, task_page
from annotation.models import Assignment, Batch, Posting, Role, Submission
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
        return preview_page(
            request, posting.batch, posting.task, reverse("crowd-about", args=[token]), _preview_context(posting.batch)
        )
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
    address = reverse("instructions", args=[batch.pk])
    return framed_by(preview_page(request, batch, task, address, _preview_context(batch)), ["'self'"])


def _preview_context(batch: Batch) -> dict[str, Any]:
    return {**BARE, "consent_text": newest_text(batch.study, Kind.CONSENT), "contact": settings.WORKER_CONTACT}


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
    return _task_page(request, visit, assignment, answers, submit_key=submit_key, refusal=refusal)


def _task_page(
    request: HttpRequest, visit: Visit, assignment: Assignment, answers: dict[str, Any], **options: Any
) -> HttpResponse:
    urls, place = task_urls(visit, assignment), place_in_sitting(visit, assignment)
    extra = {**BARE, "market_clock": bool(visit.origin)}
    return task_page(request, assignment, answers, urls=urls, place=place, extra=extra, **options)


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
    body = read_body(request)
    receipt = take_answers(submit_judgments, visit.worker, key, body)
    following = _task_after(visit) if body.get(STRAIGHT_ON) is True else None
    return JsonResponse(reply_of(receipt, reverse("crowd-done", args=[visit.token, key]), following))


def _task_after(visit: Visit) -> NextTask:
    """Where the worker goes straight on; the answers are stored, so that nothing is refused here."""
    seat = sitting(visit)
    if seat.of and seat.done >= seat.of:
        return NextTask(reverse("crowd-finish", args=[visit.token]))
    try:
        step = go_on(visit)
    except Refused as refusal:
        return NextTask(sentence=str(refusal))
    if step.assignment is None:
        return NextTask(reverse(f"crowd-{step.gate or 'finish'}", args=[visit.token]))
    return NextTask(reverse("crowd-task", args=[visit.token, step.assignment.key]), step.assignment.key)


@by_token_api
@require_POST
def ahead(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who holds the assignment: the page of the task after it, held for a short time; 204 without one."""
    own_assignment(visit, key)
    may_work(visit.batch, visit.worker)
    limit = sitting(visit).of
    following = None if visit.posting.task_id else place_ahead(visit.submission, limit, key)
    if following is None:
        return HttpResponse(status=204)
    assignment = own_assignment(visit, following.key)
    return _task_page(request, visit, assignment, drafted_answers(assignment), layout=LOOSE)


@by_token
@require_POST
def undo(request: HttpRequest, visit: Visit, key: str) -> HttpResponse:
    """The worker who submitted, while the batch is open: take it back, and go on with the task."""
    own_assignment(visit, key)
    return redirect("crowd-task", visit.token, undo_submit(visit.worker, key).key)


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
    """The worker whose answers are all saved: hand in to the market, with a receipt code for the case it is silent.

    Who is not through goes on with the next task; where there is none, the sitting ends early.
    """
    seat, market = sitting(visit), market_for(visit.batch.crowd)
    if 0 < seat.done < seat.of and _has_more(visit):
        return redirect("crowd-start", visit.token)
    submission = finish(visit, early=True)
    context = {
        "sitting": seat,
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


def _has_more(visit: Visit) -> bool:
    """Whether there is something left to do here."""
    try:
        step = go_on(visit)
    except Refused:  # no task, or a batch that is closed
        return False
    return bool(step.gate or step.assignment)


@by_token
@require_http_methods(["GET", "POST"])
def stop(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker who stops early: the task in hand is given back with its draft, what is done stays."""
    if request.method == "POST":
        leave(visit.submission)
        return redirect("crowd-leave", visit.token)
    market, seat = market_for(visit.batch.crowd), sitting(visit)
    way_out = market.way_out(visit.submission, outcome(visit)) if seat.of else None
    context = {"visit": visit, "sitting": seat, "market": market, "way_out": way_out, **BARE}
    return render(request, "annotation/crowds/worker/left.html", context)


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
@require_http_methods(["GET", "POST", "PUT"])
def test(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The worker: take the qualification test. PUT keeps a draft."""
    return test_page(request, visit.batch, visit.worker, steps_of(visit))
