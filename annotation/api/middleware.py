"""What every request passes on its way in and out: sizes and types of bodies, methods, entity tags, headers."""

import hashlib
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from annotation.common.errors import DATABASE_IS_GONE
from annotation.common.middleware import Unreadable, address_is_text
from annotation.transfer.importing.uploads import MOST_MB

from .problems import Problem, problem_response, unavailable

logger = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]
WITH_BODY = ("POST", "PUT", "PATCH")


def api_view(view: View, *, takes_files: bool = False) -> View:
    """No sign-in and no CSRF token is asked for here: a request without a bearer token is nobody's, cookies or not."""

    @wraps(view)
    def guarded_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            answer = _unreadable(request, takes_files) or view(request, *args, **kwargs)
        except DATABASE_IS_GONE as error:  # while the middleware or the token asked for it
            answer = unavailable(request, error)
        except Exception:
            logger.exception("the API failed at %s", request.path)
            answer = problem_response(500, gettext("Something went wrong on our side. Nothing was changed."))
        return _finish_response(request, answer)

    return csrf_exempt(login_not_required(guarded_view))


def _unreadable(request: HttpRequest, takes_files: bool) -> HttpResponse | None:
    """A body that is too large or not JSON, or an address that is no text, is refused before anything reads it."""
    length = request.headers.get("Content-Length", "")
    most_bytes = MOST_MB * 10**6 if takes_files else settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    if length.isdigit() and int(length) > most_bytes:
        return problem_response(413, gettext("The body is too large. Nothing was changed."), "too-large")
    media_type = "multipart/form-data" if takes_files else "application/json"
    if request.method in WITH_BODY and length not in ("", "0") and request.content_type != media_type:
        sentence = gettext("Send the body as %(type)s. Nothing was changed.") % {"type": media_type}
        return problem_response(415, sentence, "not-json")
    if not address_is_text(request):
        return problem_response(400, str(Unreadable.sentence), "not-text")
    return None


def _finish_response(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    if answer.status_code == 405:
        methods = answer.headers.get("Allow", "")
        detail = gettext("This address does not take %(method)s. It takes: %(allowed)s.")
        sentence = detail % {"method": str(request.method)[:20], "allowed": methods}
        answer = problem_response(405, sentence, headers={"Allow": methods})
    if request.method == "GET" and answer.status_code == 200 and isinstance(answer, HttpResponse):
        answer = _unless_unchanged(request, answer)
    answer["Cache-Control"] = "private, no-cache"  # keep it, but ask each time whether it still holds
    answer["Vary"] = "Authorization, Accept-Language"
    rate = getattr(request, "rate", None)
    for name, value in (rate.headers if rate else {}).items():
        answer.headers.setdefault(name, value)
    return answer


def _unless_unchanged(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """304 when the caller has it already."""
    answer.headers.setdefault("ETag", tag_of(answer.content))
    known_tags = request.headers.get("If-None-Match", "")
    if known_tags and _matches(known_tags, answer["ETag"]):
        return HttpResponse(status=304, headers={"ETag": answer["ETag"]})
    return answer


def tag_of(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def row_tag(row: dict[str, Any]) -> str:
    return tag_of(repr(sorted(row.items())).encode())


def _matches(header: str, tag: str) -> bool:
    tags = [tag_text.strip().removeprefix("W/") for tag_text in header.split(",")]
    return "*" in tags or tag in tags


def require_match(request: HttpRequest, tag: str) -> None:
    """With If-Match, a write goes through only while the caller's picture of the thing is the present one."""
    expected_tags = request.headers.get("If-Match", "")
    if expected_tags and not _matches(expected_tags, tag):
        sentence = gettext("It has changed since you read it. Nothing was changed: read it again, then decide.")
        raise Problem(412, sentence, "changed", {"ETag": tag})


def nothing_here(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    """Everything under /api/ that is no address of the API."""
    return problem_response(404, gettext("There is nothing at this address. /api/v1/openapi.json lists them all."))
