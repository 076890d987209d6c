"""The front door: what this is, the quick start, and a page for each operation."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from .frame import submit_origin
from .operations import ALL, BY_NAME, GROUPS, parameters, results
from .render import here, show


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Anybody: the front door. Who is signed in comes to the page of their role."""
    who = here(request)
    if who is None:
        return about(request)
    if who.worker is not None:
        return redirect("find")
    if who.requester is not None:
        return redirect("requester")
    return redirect("operator") if who.is_operator else about(request)


@login_not_required
@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Anybody: what this is, and the quick start."""
    return show(request, "front/door.html", {"section": "about", "endpoint": submit_origin(request)})


@login_not_required
@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    """Anybody: all operations, with what isn't like Amazon's."""
    groups = [(name, [one for one in ALL if one.group == name]) for name in GROUPS]
    return show(request, "front/operations.html", {"section": "operations", "groups": groups, "count": len(ALL)})


@login_not_required
@require_safe
def operation(request: HttpRequest, name: str) -> HttpResponse:
    """Anybody: one operation."""
    one = BY_NAME.get(name)
    if one is None:
        raise Http404(f"There is no operation {name}. The list has all {len(ALL)}.")
    context = {
        "section": "operations",
        "one": one,
        "parameters": parameters(name),
        "results": results(name),
        "endpoint": submit_origin(request),
    }
    return show(request, "front/operation.html", context)
