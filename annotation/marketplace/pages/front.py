"""The front door: what this is, the quick start, and a page for each operation."""

import json

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from annotation.marketplace.errors import Refused
from annotation.marketplace.qualifications.eligibility import SYSTEM_NAMES, count_qualified
from annotation.marketplace.qualifications.requirements import normalize_requirements

from .frame import submit_origin
from .operations import ALL, BY_NAME, GROUPS, parameters, results
from .render import show, visitor_of

LONGEST = 10_000  # characters of requirements


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Anybody: the front door. Who is signed in comes to the page of their role."""
    visitor = visitor_of(request)
    if visitor is None:
        return about_page(request)
    if visitor.worker is not None:
        return redirect("find")
    if visitor.requester is not None:
        return redirect("requester")
    return redirect("operator") if visitor.is_operator else about_page(request)


@login_not_required
@require_safe
def about_page(request: HttpRequest) -> HttpResponse:
    """Anybody: what this is, and the quick start."""
    return show(request, "front/door.html", {"section": "about", "endpoint": submit_origin(request)})


@login_not_required
@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    """Anybody: all operations, with what isn't like Amazon's."""
    groups = [(name, [operation for operation in ALL if operation.group == name]) for name in GROUPS]
    return show(request, "front/operations.html", {"section": "operations", "groups": groups, "count": len(ALL)})


@login_not_required
@require_safe
def operation(request: HttpRequest, name: str) -> HttpResponse:
    """Anybody: one operation."""
    operation = BY_NAME.get(name)
    if operation is None:
        raise Http404(f"There is no operation {name}. The list has all {len(ALL)}.")
    context = {
        "section": "operations",
        "operation": operation,
        "parameters": parameters(name),
        "results": results(name),
        "endpoint": submit_origin(request),
    }
    return show(request, "front/operation.html", context)


@login_not_required
@require_safe
def qualified(request: HttpRequest) -> HttpResponse:
    """Anybody: how many workers there are, and how many meet `requirements` (a JSON list). Numbers, and no names;
    who has a requester's own qualification is told to nobody here."""
    try:
        requirements = normalize_requirements(json.loads(request.GET.get("requirements", "")[:LONGEST] or "[]"))
    except (ValueError, TypeError, AttributeError, LookupError, Refused):
        return JsonResponse({"message": "requirements must be a list of QualificationRequirements."}, status=400)
    if any(requirement["QualificationTypeId"] not in SYSTEM_NAMES for requirement in requirements):
        return JsonResponse({"message": "Only the market's own qualifications are counted."}, status=400)
    total, meeting = count_qualified(requirements)
    return JsonResponse({"workers": total, "qualified": meeting})
