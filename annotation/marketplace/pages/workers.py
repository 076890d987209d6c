"""Finding, previewing and accepting HITs; working on them and giving them back."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common import clock
from annotation.marketplace.books.money import cents
from annotation.marketplace.errors import BadParameter, HITDoesNotExist, NoneLeft, Refused
from annotation.marketplace.hits import lifecycle
from annotation.marketplace.hits.work import (
    SORTS,
    accept_from_group,
    accept_hit,
    open_hits,
    preview_hit,
    return_assignment,
    search_hits,
)
from annotation.marketplace.models import HIT, Assignment, HITType, QualificationType, Worker
from annotation.marketplace.qualifications.eligibility import (
    SYSTEM_NAMES,
    Action,
    Requirement,
    describe,
    is_met,
    profile_of,
    unmet,
)
from annotation.marketplace.questions.questions import parse_question

from .errors import answers_refusals
from .frame import frame_for, set_frame_policy
from .render import paginate, show, worker_of
from .wages import wages

WARN_BEFORE = 300
"""Seconds before the end at which the work page warns; for short assignments, a fifth of their time."""
LOOK_EVERY = 15
"""Seconds between two looks of the work page at what became of the assignment."""
SORT_NAMES = {"newest": "Newest first", "reward": "Highest reward", "most": "Most HITs", "shortest": "Shortest time"}
State = Assignment.State
HANDED_IN = (State.SUBMITTED, State.APPROVED)


@require_safe
def find(request: HttpRequest) -> HttpResponse:
    """Workers: the HITs they may see, by groups."""
    worker = worker_of(request)
    query, sort = request.GET.get("q", "")[:200], request.GET.get("sort", "newest")
    least_cents, problem = _read_least_cents(request.GET.get("least", ""))
    only = request.GET.get("only") == "yes"
    all_groups = search_hits(worker, query, least_cents=least_cents, only_qualified=only, sort=sort)
    page = paginate(request, all_groups, 20)
    groups = list(page)
    hints = wages(group.hit_type for group in groups)
    names = _type_names([group.hit_type for group in groups])
    context = {
        "section": "find",
        "page": page,
        "rows": [
            (group, hints.get(group.hit_type.pk), [in_words(requirement, names) for requirement in group.unmet])
            for group in groups
        ],
        "query": query,
        "sort": sort if sort in SORTS else "newest",
        "sorts": SORT_NAMES,
        "least": request.GET.get("least", ""),
        "only": only,
        "problem": problem,
        "filtered": bool(query or least_cents or only),
    }
    return show(request, "worker/find.html", context)


def _read_least_cents(words: str) -> tuple[int, str]:
    try:
        return cents(words.strip().lstrip("$") or "0"), ""
    except BadParameter as problem:
        return 0, str(problem)


def _type_names(hit_types: list[HITType]) -> dict[str, str]:
    type_ids = {requirement["QualificationTypeId"] for hit_type in hit_types for requirement in hit_type.requirements}
    qualification_types = QualificationType.objects.filter(qualification_type_id__in=type_ids)
    return dict(qualification_types.values_list("qualification_type_id", "name"))


def in_words(requirement: Requirement, names: dict[str, str]) -> str:
    """A requirement for workers' eyes; having something at all is said more plainly than a comparison."""
    type_id = requirement["QualificationTypeId"]
    name = SYSTEM_NAMES.get(type_id) or names.get(type_id, type_id)
    plain = {"Exists": f"the qualification “{name}”", "DoesNotExist": f"not to have “{name}”"}
    return plain.get(requirement["Comparator"]) or describe(requirement, names)


@require_safe
@answers_refusals
def preview(request: HttpRequest, hit_id: str) -> HttpResponse:
    """Workers whom the HIT lets preview it. Nothing is taken; inputs are off."""
    worker = worker_of(request)
    hit_preview = preview_hit(worker, hit_id)
    if hit_preview.assignment is not None:
        return redirect("work", hit_preview.assignment.assignment_id)
    frame = frame_for(request, hit_preview.hit, hit_preview.question, None)
    context = {
        "section": "find",
        "hit": hit_preview.hit,
        "frame": frame,
        "missing": hit_preview.unmet,
        "open": hit_preview.hit.status == HIT.Status.ASSIGNABLE and hit_preview.hit.expires_at > clock.now(),
        "wage": wages([hit_preview.hit.hit_type]).get(hit_preview.hit.hit_type.pk),
        "requirements": requirements_for(worker, hit_preview.hit.hit_type),
    }
    return set_frame_policy(show(request, "worker/preview.html", context), frame)


def requirements_for(worker: Worker, hit_type: HITType) -> list[dict[str, Any]]:
    """Each requirement in words, whether it is met, and where it can be asked for."""
    profile, names = profile_of(worker), _type_names([hit_type])
    type_ids = {requirement["QualificationTypeId"] for requirement in hit_type.requirements}
    askable = set(
        QualificationType.objects.requestable()
        .filter(qualification_type_id__in=type_ids)
        .values_list("qualification_type_id", flat=True)
    )
    return [
        {
            "words": in_words(requirement, names),
            "met": is_met(requirement, profile),
            "ask": requirement["QualificationTypeId"] if requirement["QualificationTypeId"] in askable else "",
        }
        for requirement in hit_type.requirements
    ]


@require_safe
@answers_refusals
def preview_group(request: HttpRequest) -> HttpResponse:
    """The address that MTurk scripts print: `/mturk/preview?groupId=…`. Goes to a HIT of the group."""
    worker, group_id = worker_of(request), request.GET.get("groupId", "")
    in_group = Q(hit_type__group_id=group_id) | Q(hit_type__hit_type_id=group_id)
    hit = open_hits(worker).filter(in_group).order_by("pk").first()
    if hit is None:
        raise HITDoesNotExist("There are no HITs in this group now, or none that you may see.")
    return redirect("preview", hit.hit_id)


@require_http_methods(["GET", "POST"])
@answers_refusals
def accept(request: HttpRequest, hit_id: str) -> HttpResponse:
    """Workers who meet the requirements. If this very HIT has just gone, another one of its group is taken.

    Who had to sign in after pressing the button comes by GET, here and below: back to the page with the button.
    """
    worker = worker_of(request)
    if request.method == "GET":
        return redirect("preview", hit_id)
    try:
        assignment = accept_hit(worker, hit_id)
    except NoneLeft:
        assignment = accept_from_group(worker, HITType.objects.get(hits__hit_id=hit_id))
    return redirect("work", assignment.assignment_id)


@require_http_methods(["GET", "POST"])
@answers_refusals
def accept_next(request: HttpRequest, hit_type_id: str) -> HttpResponse:
    """Workers who meet the requirements: any HIT of this group. The work page's script is told where it is; it names
    the assignment `after` which it comes, and nothing is accepted while that isn't handed in."""
    worker, hit_type = worker_of(request), HITType.objects.filter(hit_type_id=hit_type_id).first()
    if request.method == "GET":
        return redirect("find")
    if hit_type is None:
        raise HITDoesNotExist("There are no such HITs.")
    wants_json = "application/json" in request.headers.get("Accept", "")
    if (after := request.POST.get("after", "")) and (state := _own(worker, after).state) not in HANDED_IN:
        return JsonResponse({"state": state}, status=409)
    try:
        assignment = accept_from_group(worker, hit_type)
    except Refused as refusal:
        if wants_json:
            return JsonResponse({"message": str(refusal)}, status=refusal.status)
        if not isinstance(refusal, NoneLeft):
            raise
        messages.info(request, f"“{hit_type.title}” has no HIT left for you. Here is what else there is.")
        return redirect("find")
    if wants_json:
        return JsonResponse({"address": reverse("work", args=[assignment.assignment_id])})
    return redirect("work", assignment.assignment_id)


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """Workers: what they have accepted and not submitted yet."""
    accepted = Assignment.objects.filter(worker=worker_of(request), state=State.ACCEPTED, deadline__gt=clock.now())
    rows = accepted.select_related("hit__hit_type", "hit__requester").order_by("deadline")
    return show(request, "worker/queue.html", {"section": "queue", "rows": rows})


def _own(worker: Worker, assignment_id: str) -> Assignment:
    """The worker's assignment, as the clock has it now."""
    assignments = Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker").filter(worker=worker)
    assignment = assignments.filter(assignment_id=assignment_id).first()
    if assignment is None:
        raise Http404("There is no such assignment of yours.")
    if assignment.hit.due_at is not None and assignment.hit.due_at <= clock.now():
        with transaction.atomic():
            lifecycle.locked_hit(assignment.hit.hit_id)
        assignment = assignments.get(assignment_id=assignment_id)
    return assignment


@require_safe
@answers_refusals
def work(request: HttpRequest, assignment_id: str) -> HttpResponse:
    """The worker who accepted it: the frame while it is in work, afterwards what became of it."""
    worker = worker_of(request)
    assignment = _own(worker, assignment_id)
    if assignment.state != State.ACCEPTED:
        has_more = _may_go_on(worker, assignment.hit.hit_type)
        bonuses = assignment.bonus_payments.order_by("granted_at")
        context = {"section": "queue", "assignment": assignment, "more": has_more, "bonuses": bonuses}
        return show(request, "worker/done.html", context)
    frame = frame_for(request, assignment.hit, parse_question(assignment.hit.question), assignment)
    context = {
        "section": "queue",
        "assignment": assignment,
        "frame": frame,
        "seconds": assignment.seconds_left(clock.now()),
        "warn": min(WARN_BEFORE, assignment.hit.hit_type.assignment_seconds // 5),
        "every": LOOK_EVERY,
    }
    return set_frame_policy(show(request, "worker/work.html", context), frame)


def _may_go_on(worker: Worker, hit_type: HITType) -> bool:
    """There is another HIT of this kind for this worker."""
    missing = unmet(hit_type.requirements, profile_of(worker), Action.ACCEPT)
    return not missing and open_hits(worker).filter(hit_type=hit_type).exists()


@require_safe
def work_state(request: HttpRequest, assignment_id: str) -> JsonResponse:
    """The worker who accepted it; the work page asks."""
    assignment = _own(worker_of(request), assignment_id)
    return JsonResponse({"state": assignment.state, "seconds_left": assignment.seconds_left(clock.now())})


@require_http_methods(["GET", "POST"])
def give_back(request: HttpRequest, assignment_id: str) -> HttpResponse:
    """The worker who accepted it. Costs nothing: returned work is neither approved nor rejected."""
    worker = worker_of(request)
    if request.method == "GET":
        return redirect("work", assignment_id)
    try:
        return_assignment(worker, assignment_id)
    except Refused as refusal:
        messages.warning(request, str(refusal))
        return redirect("work", assignment_id)
    messages.success(request, "Returned. Somebody else can take it now; it counts neither for nor against you.")
    return redirect("find")
