"""Qualifications: what a worker has, what they can ask for, and tests."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common import clock
from annotation.marketplace.errors import Refused
from annotation.marketplace.models import Qualification, QualificationRequest, QualificationType, Worker
from annotation.marketplace.qualifications.eligibility import SYSTEM_NAMES, profile_of
from annotation.marketplace.qualifications.requests import request_qualification, submit_test
from annotation.marketplace.questions.answers import build_answers
from annotation.marketplace.questions.questions import parse_test

from .errors import answers_refusals
from .question_form import form_elements, media_origins, read_answers
from .render import paginate, safe_next, show, worker_of

State = QualificationRequest.State


@dataclass(frozen=True)
class Offer:
    """A qualification type as one worker sees it."""

    type: QualificationType
    qualification: Qualification | None
    last: QualificationRequest | None
    again_at: datetime | None
    """When it may be asked for; None: not again, or a request is open."""

    @property
    def in_test(self) -> bool:
        return self.last is not None and self.last.state == State.STARTED and not _is_late(self.last)

    @property
    def may_ask(self) -> bool:
        return self.in_test or (self.again_at is not None and self.again_at <= clock.now())


@require_safe
def qualifications(request: HttpRequest) -> HttpResponse:
    """Workers: what they have, and what they can ask for."""
    worker = worker_of(request)
    query = request.GET.get("q", "")[:200]
    types = QualificationType.objects.requestable().select_related("requester").order_by("name", "pk")
    for word in query.split()[:10]:
        types = types.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    page = paginate(request, types, 30)
    granted = worker.qualifications.filter(status="Granted").select_related("qualification_type__requester")
    profile = profile_of(worker)
    context = {
        "section": "qualifications",
        "page": page,
        "query": query,
        "offers": offers(worker, list(page)),
        "granted": granted.order_by("qualification_type__name"),
        "system": [
            (name, profile.values[key])
            for key, name in SYSTEM_NAMES.items()
            if key in profile.values and name != "Masters"
        ],
        "worker": worker,
    }
    return show(request, "worker/qualifications.html", context)


def offers(worker: Worker, types: list[QualificationType]) -> list[Offer]:
    """Two queries for the whole page."""
    granted = {
        qualification.qualification_type_id: qualification
        for qualification in Qualification.objects.filter(worker=worker, qualification_type__in=types, status="Granted")
    }
    requests = QualificationRequest.objects.filter(worker=worker, qualification_type__in=types).order_by("started_at")
    last = {request.qualification_type_id: request for request in requests}
    return [
        Offer(
            qualification_type,
            granted.get(qualification_type.pk),
            last.get(qualification_type.pk),
            _again_at(qualification_type, last.get(qualification_type.pk)),
        )
        for qualification_type in types
    ]


def _is_late(test: QualificationRequest) -> bool:
    """Its time ran out, whether or not that was noted already."""
    return test.state == State.LAPSED or (test.state == State.STARTED and _seconds_left(test) <= 0)


def _seconds_left(test: QualificationRequest) -> int:
    return ceil((test.deadline - clock.now()).total_seconds()) if test.deadline else 0


def _again_at(qualification_type: QualificationType, last: QualificationRequest | None) -> datetime | None:
    """As `requests.may_ask_again_at`, without a query, and with a test whose time has just run out."""
    if last is None:
        return clock.now()
    is_open = last.state in (State.STARTED, State.PENDING) and not _is_late(last)
    if is_open or qualification_type.retry_seconds is None:
        return None
    return last.started_at + timedelta(seconds=qualification_type.retry_seconds)


@require_safe
def qualification(request: HttpRequest, qualification_type_id: str) -> HttpResponse:
    """Workers: one qualification, with the button to ask for it."""
    worker = worker_of(request)
    qualification_types = QualificationType.objects.existing().select_related("requester")
    qualification_type = qualification_types.filter(qualification_type_id=qualification_type_id).first()
    if qualification_type is None:
        raise Http404("There is no such qualification.")
    offer = offers(worker, [qualification_type])[0]
    context = {"section": "qualifications", "offer": offer, "next": safe_next(request)}
    return show(request, "worker/qualification.html", context)


@require_http_methods(["GET", "POST"])
@answers_refusals
def ask(request: HttpRequest, qualification_type_id: str) -> HttpResponse:
    """Workers. Granted at once, by a test that starts now, or when the requester agrees.

    Who had to sign in after pressing the button comes by GET: back to the page with the button.
    """
    worker = worker_of(request)
    if request.method == "GET":
        return redirect("qualification", qualification_type_id)
    qualification_request = request_qualification(worker, qualification_type_id)
    onward = safe_next(request)
    if qualification_request.state == State.STARTED:
        request.session["after_test"] = onward
        return redirect("test", qualification_request.request_id)
    if qualification_request.state == State.GRANTED:
        messages.success(request, "You have this qualification now.")
    else:
        messages.success(request, "Asked. The requester decides; you will get a message.")
    return redirect(onward or "qualifications")


@answers_refusals
def test(request: HttpRequest, request_id: str) -> HttpResponse:
    """The worker who started this test, until its time is up."""
    worker = worker_of(request)
    qualification_request = (
        worker.qualification_requests.select_related("qualification_type__requester")
        .filter(request_id=request_id)
        .first()
    )
    if qualification_request is None:
        raise Http404("There is no such test of yours.")
    is_late = _is_late(qualification_request)
    if is_late or qualification_request.state != State.STARTED:
        context = {"section": "qualifications", "qualification_request": qualification_request, "is_late": is_late}
        return show(request, "worker/test_over.html", context)
    form = parse_test(qualification_request.qualification_type.test)
    filled_form = None
    if request.method == "POST":
        filled_form = read_answers(form, request.POST)
        if not filled_form.problems:
            return _hand_in(request, worker, request_id, build_answers(filled_form.answers))
    context = {
        "section": "qualifications",
        "qualification_request": qualification_request,
        "elements": form_elements(form, filled_form),
        "filled_form": filled_form,
        "seconds": _seconds_left(qualification_request),
        "warn": min(300, (qualification_request.qualification_type.test_seconds or 0) // 5),
    }
    response = show(request, "worker/test.html", context, status=422 if filled_form else 200)
    sources = ["'self'", "data:", *media_origins(form)]
    response._csp_update = {"img-src": sources, "media-src": sources}  # type: ignore[attr-defined]
    return response


def _hand_in(request: HttpRequest, worker: Worker, request_id: str, answers: str) -> HttpResponse:
    try:
        qualification_request = submit_test(worker, request_id, answers)
    except Refused as refusal:
        messages.warning(request, str(refusal))
        return redirect("test", request_id)
    if qualification_request.state == State.GRANTED:
        score = worker.qualifications.get(qualification_type=qualification_request.qualification_type_id).value
        messages.success(request, f"Done. Your score is {score}.")
    else:
        messages.success(request, "Handed in. The requester looks at it; you will get a message.")
    return redirect(request.session.pop("after_test", "") or "qualifications")
