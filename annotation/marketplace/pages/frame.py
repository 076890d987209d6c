"""What stands in the frame: the requester's own page, the HTML of an HTMLQuestion, or a QuestionForm.

HTML from a requester never runs as this site. It is served under `/frame/…`, in a sandbox without an origin (by the
iframe's attribute and by its own policy), reads no cookie, and can hand in its form here and nowhere else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation.marketplace.errors import BadParameter, Refused
from annotation.marketplace.hits.external_submit import PREVIEW_ID
from annotation.marketplace.hits.work import submit_assignment
from annotation.marketplace.models import HIT, Assignment
from annotation.marketplace.people.access_keys import frame_signatures
from annotation.marketplace.questions.answers import build_answers
from annotation.marketplace.questions.questions import (
    ExternalQuestion,
    HTMLQuestion,
    Question,
    QuestionForm,
    parse_question,
)

from .question_form import form_elements, read_answers

SALT = "annotation.marketplace.frame"
SANDBOX = "allow-scripts allow-forms allow-popups allow-modals allow-downloads"
ODD = "'none'"
"""The origin of an address that browsers may read otherwise than we do."""
PORTS = {"http": 80, "https": 443}
FILL = 0
"""A frame height that means: as high as the window allows."""


@dataclass(frozen=True)
class Frame:
    """An iframe, and what the page around it must allow."""

    src: str
    sandbox: str
    height: int
    origin: str
    """For frame-src: the requester's origin, or this site's."""


def submit_origin(request: HttpRequest) -> str:
    """What requesters' pages get as turkSubmitTo."""
    return (settings.MARKETPLACE_URL or request.build_absolute_uri("/")).rstrip("/")


def frame_for(request: HttpRequest, hit: HIT, question: Question, assignment: Assignment | None) -> Frame:
    """The frame to work in, or to preview in where there is no assignment."""
    values = {
        "assignmentId": assignment.assignment_id if assignment else PREVIEW_ID,
        "hitId": hit.hit_id,
        "turkSubmitTo": submit_origin(request),
    }
    if assignment:
        # Whoever only looks stays unknown to the requester.
        values["workerId"] = assignment.worker.worker_id
    if isinstance(question, ExternalQuestion):
        origin = origin_of(question.url)
        # On this site's own origin, scripts with allow-same-origin could lift the sandbox. So could an oddly written
        # address that a browser reads as this site.
        own_origins = {origin_of(submit_origin(request)), origin_of(request.build_absolute_uri("/"))}
        is_own_origin = origin in {*own_origins, ODD}
        sandbox = SANDBOX if is_own_origin else f"{SANDBOX} allow-same-origin allow-popups-to-escape-sandbox"
        signed = {"signature": _signatures(assignment)} if assignment else {}
        return Frame(with_query(question.url, {**values, **signed}), sandbox, question.frame_height, origin)
    token = signing.dumps([hit.hit_id, values["assignmentId"]], salt=SALT, compress=True)
    height = question.frame_height if isinstance(question, HTMLQuestion) else FILL
    return Frame(with_query(reverse("frame", args=[token]), values), SANDBOX, height, "'self'")


def _signatures(assignment: Assignment) -> list[str]:
    hit, worker = assignment.hit, assignment.worker
    return frame_signatures(hit.requester, assignment.assignment_id, hit.hit_id, worker.worker_id)


def with_query(url: str, values: Mapping[str, str | list[str]]) -> str:
    """The address with these values in its query; the requester's own stay."""
    scheme, host, path, query, fragment = urlsplit(url)
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in values]
    return urlunsplit((scheme, host, path, urlencode([*pairs, *values.items()], doseq=True), fragment))


def origin_of(url: str) -> str:
    """Scheme, host and port as browsers write them, safe to write into a policy; 'none' where that is not sure."""
    try:
        address = urlsplit(url)
        host, port = _host(address.hostname or ""), address.port
    except ValueError:
        return ODD
    if "\\" in address.netloc or not re.fullmatch(r"[a-z0-9._\-]+|\[[0-9a-f:]+\]", host):
        return ODD
    return f"{address.scheme}://{host}" + ("" if port in (None, PORTS.get(address.scheme)) else f":{port}")


def _host(host: str) -> str:
    """Browsers read 0x7f.1 and 127.1 as 127.0.0.1: of addresses in numbers, only the usual form is taken."""
    last = host.removesuffix(".").rpartition(".")[2]
    if ":" in host:
        return f"[{ip_address(host).compressed}]"
    return str(ip_address(host)) if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last) else host


def set_frame_policy(response: HttpResponse, frame: Frame) -> HttpResponse:
    """The page may frame this HIT's origin and our own receipt; nothing else."""
    response._csp_update = {"frame-src": sorted({"'self'", frame.origin})}  # type: ignore[attr-defined]
    return response


@csrf_exempt
@login_not_required
@require_http_methods(["GET", "POST"])
def frame(request: HttpRequest, token: str) -> HttpResponseBase:
    """Whoever holds the token, which this site signed: the question itself. No cookie is read or set."""
    try:
        hit_id, assignment_id = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return _sandboxed(request, HttpResponse("This address was not made by this marketplace.", status=404))
    hit = HIT.objects.filter(hit_id=hit_id).first()
    question = parse_question(hit.question) if hit else None
    if isinstance(question, HTMLQuestion) and request.method == "GET":
        return _sandboxed(
            request, HttpResponse(with_helper(question.html, _helper(request, assignment_id))), loose=True
        )
    if isinstance(question, QuestionForm):
        return _sandboxed(request, _form_page(request, question, assignment_id))
    return _sandboxed(request, HttpResponse("There is no such question any more.", status=404))


frame.cleans_its_form = True  # type: ignore[attr-defined]  # as externalSubmit does


def with_helper(page: str, helper: str) -> str:
    """Put the helper first in the head: a page may call turkSetAssignmentID() before its end."""
    for opening in (r"<head(\s[^>]*)?>", r"<html(\s[^>]*)?>", r"<!doctype[^>]*>"):
        match = re.search(opening, page, re.IGNORECASE)
        if match:
            return page[: match.end()] + helper + page[match.end() :]
    return f"<!doctype html>{helper}{page}"


def _helper(request: HttpRequest, assignment_id: str) -> str:
    """The script that fills in the ids, points forms here, and switches inputs off in a preview."""
    return format_html(
        '<script src="{}" data-assignment-id="{}" data-submit="{}" data-preview="{}"></script>',
        submit_origin(request) + static("marketplace/htmlquestion.js"),
        assignment_id,
        submit_origin(request) + reverse("external-submit"),
        "yes" if assignment_id == PREVIEW_ID else "",
    )


def _form_page(request: HttpRequest, form: QuestionForm, assignment_id: str) -> HttpResponse:
    filled_form, preview = None, assignment_id == PREVIEW_ID
    if request.method == "POST":
        try:
            if preview:
                raise BadParameter("This is a preview. Accept the HIT first; then your answers can be handed in.")
            filled_form = read_answers(form, request.POST)
            if not filled_form.problems:
                submit_assignment(assignment_id, build_answers(filled_form.answers))
                address = f"{reverse('submitted')}?{urlencode({'assignmentId': assignment_id})}"
                return HttpResponseRedirect(address, status=303)
        except Refused as refusal:
            return render(request, "marketplace/submitted.html", {"message": str(refusal)}, status=refusal.status)
    context = {"elements": form_elements(form, filled_form), "preview": preview, "filled_form": filled_form}
    return render(request, "marketplace/question_form.html", context, status=422 if filled_form else 200)


def _sandboxed(request: HttpRequest, response: HttpResponse, loose: bool = False) -> HttpResponse:
    """Policy of the frame: no origin of its own, framed by this site only, forms only to this site.

    Requesters' HTML may load what it likes (`loose`), as it could anywhere else on the web.
    """
    site_origin = origin_of(submit_origin(request))
    sources = "* data: blob: 'unsafe-inline' 'unsafe-eval'" if loose else site_origin
    media = "* data: blob:" if loose else f"{site_origin} http: https:"
    response["Content-Security-Policy"] = (
        f"sandbox {SANDBOX}; default-src {sources}; img-src {media}; media-src {media}; form-action {site_origin}; "
        f"frame-ancestors {site_origin}; base-uri 'none'; object-src 'none'"
    )
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response.xframe_options_exempt = True  # frame-ancestors says it more exactly
    return response
