"""Every refusal as an `application/problem+json` document (RFC 9457): what happened, and what to do."""

import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError
from pydantic import Field

from annotation.common.errors import DATABASE_IS_GONE, RETRY_SECONDS, Refused

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class Fault(Schema):
    """One thing that is wrong with a request."""

    where: str = Field(description="The place: query.limit, body.name, …")
    message: str


class ProblemOut(Schema):
    """What went wrong, in one sentence for people and one word for programs."""

    type: str = Field(description="urn:pyramidion:problem:…, the word for programs")
    title: str
    status: int
    detail: str
    errors: list[Fault] = Field(default=[], description="With 422: each thing that is wrong")


class Problem(Exception):
    """Answered as it is."""

    def __init__(self, status: int, detail: str, code: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.headers = status, detail, code, headers or {}


def problem_response(
    status: int,
    detail: str,
    code: str = "",
    *,
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    phrase = HTTPStatus(status).phrase
    content: dict[str, Any] = {
        "type": f"urn:pyramidion:problem:{code or phrase.lower().replace(' ', '-')}",
        "title": phrase,
        "status": status,
        "detail": detail,
    }
    if errors:
        content["errors"] = errors
    return HttpResponse(json.dumps(content), status=status, content_type=MEDIA_TYPE, headers=headers)


def unauthorized(detail: str) -> Problem:
    return Problem(401, detail, "token-missing", {"WWW-Authenticate": 'Bearer realm="Pyramidion"'})


def _of_problem(_: HttpRequest, error: Problem) -> HttpResponse:
    return problem_response(error.status, error.detail, error.code, headers=error.headers)


def _of_refusal(_: HttpRequest, error: Refused) -> HttpResponse:
    return problem_response(error.status, str(error), "refused")


def _of_missing(_: HttpRequest, error: Http404) -> HttpResponse:
    sentence = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    return problem_response(404, sentence or gettext("There is nothing at this address."))


def _of_denial(_: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem_response(403, str(error) or gettext("Your role does not allow this."), "role")


def _of_http_error(_: HttpRequest, error: HttpError) -> HttpResponse:
    if error.status_code == 401:
        return _of_problem(_, unauthorized(gettext("Send a token: “Authorization: Bearer pyr_…”.")))
    if error.status_code == 400:
        return problem_response(400, gettext("The body is not JSON. Nothing was changed."), "not-json")
    return problem_response(error.status_code, str(error))


def _of_invalid(_: HttpRequest, error: ValidationError) -> HttpResponse:
    faults = [
        {"where": ".".join(str(name) for name in invalid["loc"] if name != "data"), "message": str(invalid["msg"])}
        for invalid in error.errors
    ]
    detail = gettext("The request does not fit: %(faults)s. Nothing was changed.") % {
        "faults": "; ".join(f"{fault['where']}: {fault['message']}" for fault in faults[:5])
    }
    return problem_response(422, detail, "invalid", errors=faults)


def _of_size(_: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem_response(413, gettext("The body is too large. Nothing was changed."), "too-large")


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """The database is locked or gone: nothing is wrong with the request."""
    logger.error("the API found no database at %s", request.path, exc_info=error)
    sentence = gettext("The database doesn't answer now. Nothing was changed; try again in some seconds.")
    return problem_response(503, sentence, "unavailable", headers={"Retry-After": str(RETRY_SECONDS)})


def _of_fault(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("the API failed at %s", request.path, exc_info=error)
    return problem_response(500, gettext("Something went wrong on our side; the log has it. Nothing was changed."))


HANDLERS: list[tuple[type[Exception], Callable[[HttpRequest, Any], HttpResponse]]] = [
    (Problem, _of_problem),
    (Refused, _of_refusal),
    (Http404, _of_missing),
    (PermissionDenied, _of_denial),
    (HttpError, _of_http_error),
    (ValidationError, _of_invalid),
    (RequestDataTooBig, _of_size),
    *((kind, unavailable) for kind in DATABASE_IS_GONE),
    (Exception, _of_fault),
]


def answer_problems(api: NinjaAPI) -> None:
    """Every error that leaves an operation becomes a document."""
    for kind, handler in HANDLERS:
        api.add_exception_handler(kind, handler)
