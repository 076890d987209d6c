"""`/mturk/externalSubmit`: where a worker's browser hands in the form from inside the frame.

The frame belongs to another site and browsers keep our cookies out of it, so neither a session nor a CSRF token can be
asked for. The assignment id, long and random, is the permission; it hands in one assignment and does nothing else.
"""

from urllib.parse import urlencode

from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from annotation.marketplace.errors import BadParameter, NotYours, Refused
from annotation.marketplace.models import Assignment
from annotation.marketplace.questions.answers import answers_from_fields

from .work import submit_assignment

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
OURS = {"assignmentId"}
"""Fields that belong to the market, not to the answers."""
TEMPLATE = "marketplace/submitted.html"


@csrf_exempt
@login_not_required
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})
@require_http_methods(["POST", "OPTIONS"])
def external_submit(request: HttpRequest) -> HttpResponseBase:
    """Anybody who knows the assignment id hands it in. A form is sent on to a page, a script (CORS) gets JSON."""
    if request.method == "OPTIONS":
        return with_cors(HttpResponse(status=204))
    script = is_script(request)
    try:
        assignment = take_answers(request.POST)
    except Refused as refusal:
        answer = {"status": "refused", "message": str(refusal), "code": refusal.turk_error_code}
        if script:
            return with_cors(JsonResponse(answer, status=refusal.status))
        return render(request, TEMPLATE, {"message": str(refusal)}, status=refusal.status)
    if script:
        return with_cors(JsonResponse({"status": "submitted", "assignmentId": assignment.assignment_id}))
    # 303: reloading the page that follows hands in nothing again.
    address = f"{reverse('submitted')}?{urlencode({'assignmentId': assignment.assignment_id})}"
    return HttpResponse(status=303, headers={"Location": address})


# A stray character must not cost a worker the work: answers.py leaves it out (annotation/common/middleware.py).
external_submit.cleans_its_form = True  # type: ignore[attr-defined]


@login_not_required
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})
@require_safe
def submitted(request: HttpRequest) -> HttpResponse:
    """The receipt, for whoever knows the assignment id; it appears in the frame of our own work page, and no other."""
    assignment = Assignment.objects.filter(
        assignment_id=request.GET.get("assignmentId", ""), state__in=Assignment.DELIVERED
    ).first()
    if assignment is None:
        return render(request, TEMPLATE, {"message": NotYours.sentence}, status=404)
    return render(request, TEMPLATE, {"assignment": assignment})


def take_answers(fields: QueryDict) -> Assignment:
    """Submit the fields of a form. Raises Refused with a sentence for the worker."""
    assignment_id = fields.get("assignmentId", "")
    if not assignment_id:
        raise BadParameter("The form has no assignmentId, so it can't be handed in. Tell the requester.")
    if assignment_id == PREVIEW_ID:
        raise BadParameter("This is a preview. Accept the HIT first; then your answers can be handed in.")
    if not assignment_id.isprintable():
        raise NotYours
    answers = [(name, value) for name, values in fields.lists() if name not in OURS for value in values]
    if not answers:
        raise BadParameter("The form has no field beside the assignmentId: there is no answer to hand in.")
    return submit_assignment(assignment_id, answers_from_fields(answers))


def is_script(request: HttpRequest) -> bool:
    """A fetch, and not a form that navigates."""
    mode = request.headers.get("Sec-Fetch-Mode")
    return mode in {"cors", "no-cors"} or "application/json" in (request.headers.get("Accept") or "")


def with_cors(response: HttpResponse) -> HttpResponse:
    """Any origin may hand in: the id is the permission, and no cookie is read."""
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Allow-Methods"] = "POST, OPTIONS"
    response["Access-Control-Allow-Headers"] = "Content-Type"
    response["Access-Control-Max-Age"] = "86400"
    return response
