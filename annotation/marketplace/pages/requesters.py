"""A requester's pages: keys, money, HITs and assignments at a glance, events."""

import secrets
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.marketplace.books.money import dollars
from annotation.marketplace.checks import check_length
from annotation.marketplace.errors import Refused
from annotation.marketplace.hits import lifecycle
from annotation.marketplace.hits.assignments import LONGEST_FEEDBACK, approve_assignment, reject_assignment
from annotation.marketplace.models import HIT, Assignment, Notice, Transfer
from annotation.marketplace.people.access_keys import issue_key, revoke_key
from annotation.marketplace.questions.answers import parse_answers

from .errors import answers_refusals
from .frame import submit_origin
from .render import account_of, as_csv, paginate, requester_of, show

State = Assignment.State
COLUMNS = ["at", "what", "from", "to", "usd", "hit_id", "assignment_id", "worker_id", "note"]


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Requesters: balance, what waits for them, the newest HITs."""
    requester = requester_of(request)
    lifecycle.catch_up(requester)
    requester.refresh_from_db()
    counts = requester.hits.aggregate(
        open=Count("pk", filter=Q(status=HIT.Status.ASSIGNABLE)),
        taken=Count("pk", filter=Q(status=HIT.Status.UNASSIGNABLE)),
        review=Count("pk", filter=Q(status__in=[HIT.Status.REVIEWABLE, HIT.Status.REVIEWING])),
        all=Count("pk"),
    )
    submitted_count = Assignment.objects.filter(hit__requester=requester, state=State.SUBMITTED).count()
    context = {
        "section": "requester",
        "requester": requester,
        "counts": counts,
        "waiting": submitted_count,
        "hits": requester.hits.select_related("hit_type").order_by("-pk")[:10],
        "has_key": requester.access_keys.filter(revoked_at__isnull=True).exists(),
        "endpoint": submit_origin(request),
    }
    return show(request, "requester/overview.html", context)


@never_cache
@answers_refusals
def keys(request: HttpRequest) -> HttpResponse:
    """Requesters: their access keys. A new secret is in this one answer and nowhere else."""
    requester = requester_of(request)
    issued = None
    if request.method == "POST":
        label, form = request.POST.get("label", "").strip()[:100], request.POST.get("form", "")[:64]
        issued = issue_key(requester, label, account_of(request), form)
    context = {
        "section": "keys",
        "keys": requester.access_keys.all(),
        "issued": issued,
        "form_key": secrets.token_hex(12),
        "endpoint": submit_origin(request),
    }
    return show(request, "requester/keys.html", context)


@require_POST
@answers_refusals
def revoke(request: HttpRequest, key_id: str) -> HttpResponse:
    """Requesters: end one of their keys at once."""
    revoke_key(requester_of(request), key_id, actor=account_of(request))
    messages.success(request, f"Revoked {key_id}. Nothing signed with it is taken any more.")
    return redirect("keys")


@require_safe
def statement(request: HttpRequest) -> HttpResponse:
    """Requesters: every movement of their money, as a page or as CSV."""
    requester = requester_of(request)
    rows = Transfer.objects.filter(requester=requester).select_related("hit", "assignment", "worker").order_by("-pk")
    if request.GET.get("format") == "csv":
        return as_csv("statement.csv", COLUMNS, (_line(row) for row in rows.iterator(2000)))
    return show(
        request,
        "requester/statement.html",
        {"section": "statement", "requester": requester, "page": paginate(request, rows)},
    )


def _line(row: Transfer) -> list[Any]:
    return [
        row.at.isoformat(),
        row.kind,
        row.source,
        row.target,
        dollars(row.cents),
        row.hit.hit_id if row.hit else "",
        row.assignment.assignment_id if row.assignment else "",
        row.worker.worker_id if row.worker else "",
        row.note,
    ]


@require_safe
def hits(request: HttpRequest) -> HttpResponse:
    """Requesters: their HITs with the counters that the API shows, too."""
    requester = requester_of(request)
    lifecycle.catch_up(requester)
    rows = requester.hits.select_related("hit_type").order_by("-pk")
    status, query = request.GET.get("status", ""), request.GET.get("q", "").strip()[:200]
    if status in HIT.Status.values:
        rows = rows.filter(status=status)
    if query:
        rows = rows.filter(Q(hit_id=query) | Q(hit_type__title__icontains=query) | Q(annotation__icontains=query))
    context = {
        "section": "hits",
        "page": paginate(request, rows),
        "status": status,
        "query": query,
        "statuses": HIT.Status.choices,
    }
    return show(request, "requester/hits.html", context)


@require_safe
def hit(request: HttpRequest, hit_id: str) -> HttpResponse:
    """The requester whose HIT it is: its money and its assignments."""
    requester = requester_of(request)
    lifecycle.catch_up(requester)
    hit = requester.hits.select_related("hit_type").filter(hit_id=hit_id).first()
    if hit is None:
        raise Http404("There is no such HIT of yours.")
    rows = (
        hit.assignments.filter(state__in=Assignment.DELIVERED).select_related("worker").order_by("submitted_at", "pk")
    )
    page = paginate(request, rows, 30)
    context = {
        "section": "hits",
        "hit": hit,
        "page": page,
        "assignments": [(assignment, _answers(assignment.answer)) for assignment in page],
        "whole_cents": hit.price_cents * hit.max_assignments,
        "fees_cents": hit.fee_cents * hit.max_assignments,
        "rewards_cents": hit.reward_cents * hit.max_assignments,
    }
    return show(request, "requester/hit.html", context)


def _answers(xml: str) -> list[tuple[str, str]]:
    """Question and answer, readable; what can't be read is shown as it stands."""
    try:
        answers = parse_answers(xml)
    except Refused:
        return [("answer", xml)]
    return [
        (
            name,
            answer.text
            or ", ".join([*answer.selections, *([f"other: {answer.other_text}"] if answer.other_text else [])]),
        )
        for name, answer in answers.items()
    ]


@require_POST
def judge(request: HttpRequest, assignment_id: str) -> HttpResponse:
    """The requester whose HIT it is: approve (and pay), or reject with a reason."""
    requester = requester_of(request)
    feedback = request.POST.get("feedback", "").strip()
    try:
        if request.POST.get("verdict") == "approve":
            assignment = approve_assignment(requester, assignment_id, feedback, override_rejection=True)
            messages.success(
                request, f"Approved; ${dollars(assignment.reward_cents)} paid, ${dollars(assignment.fee_cents)} fee."
            )
        else:
            check_length("The reason", feedback, LONGEST_FEEDBACK)  # people are told why; programs may leave it empty
            assignment = reject_assignment(requester, assignment_id, feedback)
            messages.success(request, "Rejected. The worker sees your reason; you can still approve within 30 days.")
    except Refused as refusal:
        messages.warning(request, str(refusal))
        own_hits = HIT.objects.filter(requester=requester, assignments__assignment_id=assignment_id)
        hit_id = own_hits.values_list("hit_id", flat=True).first()
        return redirect("requester-hit", hit_id) if hit_id else redirect("requester-hits")
    return redirect("requester-hit", assignment.hit.hit_id)


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """Requesters: the events they asked to hear of, and whether their callback took them."""
    rows = Notice.objects.filter(requester=requester_of(request))
    return show(request, "requester/events.html", {"section": "events", "page": paginate(request, rows)})


@require_safe
def payments(request: HttpRequest) -> HttpResponse:
    """Requesters: what went to which worker, as CSV."""
    rows = Transfer.objects.filter(
        requester=requester_of(request), kind__in=[Transfer.Kind.REWARD, Transfer.Kind.BONUS]
    ).select_related("hit", "assignment", "worker")
    return as_csv("payments.csv", COLUMNS, (_line(row) for row in rows.order_by("pk").iterator(2000)))
