"""Where requests to the requester API come in: `POST /`, before sessions, cookies and pages."""

import json
import logging
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import UnreadablePostError

from annotation.common.errors import DATABASE_IS_GONE, RETRY_SECONDS
from annotation.marketplace.errors import Refused
from annotation.marketplace.hits import lifecycle, reviews

from . import contract, failures
from .failures import CallFailed
from .operations import HANDLERS
from .sigv4 import authenticate

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/x-amz-json-1.1"


class RequesterApi:
    """Middleware: `POST /` is the API, everything else goes on to the pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_call = request.method == "POST" and request.path == "/"
        return answer_call(request) if is_call else self.get_response(request)


def answer_call(request: HttpRequest) -> HttpResponse:
    """Whoever holds a requester's key may call; everybody else is told why not, and nothing happens."""
    try:
        return _respond(200, perform(request))
    except CallFailed as failure:
        return _respond(failure.status, {"__type": failure.kind, "Message": str(failure)})
    except Refused as refusal:
        body = {"__type": "RequestError", "Message": str(refusal), "TurkErrorCode": refusal.turk_error_code}
        return _respond(400, body)
    except DisallowedHost:
        return _respond(400, {"__type": "InvalidHostException", "Message": "This server has no such name."})
    except DATABASE_IS_GONE:
        log.exception("A call found no database")
        message = "The database doesn't answer now. Nothing was changed; try again in some seconds."
        response = _respond(503, {"__type": "ServiceUnavailable", "Message": message})
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    except Exception:
        # The caller must get a parseable answer whatever broke; the traceback goes to the log.
        log.exception("A call failed")
        code = "AWS.MechanicalTurk.ServiceFault"
        message = "Something broke on this server. Nothing was changed; try again, then tell the operator."
        return _respond(500, {"__type": "ServiceFault", "Message": message, "TurkErrorCode": code})


def perform(request: HttpRequest) -> dict[str, Any]:
    """Check who calls and what, do it, and give its document."""
    request.get_host()  # raises DisallowedHost: what was signed for another name is not for us
    name = _operation_name(request)
    try:
        body = request.body
    except (RequestDataTooBig, UnreadablePostError) as error:
        raise failures.unreadable(f"The body can't be read: {error}") from None
    requester = authenticate(request, body).requester
    request.is_signed = True  # type: ignore[attr-defined]  # its refusals are no stranger's (common/flood.py)
    params = contract.check_parameters(name, _parse(body))
    lifecycle.catch_up(requester)
    reviews.review_waiting(requester)
    return HANDLERS[name](requester, params) or {}


def _operation_name(request: HttpRequest) -> str:
    prefix, _, name = (request.headers.get("X-Amz-Target") or "").rpartition(".")
    if prefix != contract.target_prefix() or name not in contract.operation_names():
        raise failures.unknown_operation(name)
    return name


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise failures.unreadable(f"The body is not JSON: {error}") from None


def _respond(status: int, document: dict[str, Any]) -> HttpResponse:
    text = json.dumps(_without_none(document), default=_plain, ensure_ascii=False)
    response = HttpResponse(text.encode(), status=status, content_type=CONTENT_TYPE)
    response["x-amzn-RequestId"] = str(uuid.uuid4())
    response["Cache-Control"] = "no-store"
    if status >= 400:
        response["x-amzn-ErrorType"] = document["__type"]
    return response


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(member) for name, member in value.items() if member is not None}
    return [_without_none(entry) for entry in value] if isinstance(value, list) else value


def _plain(value: Any) -> float:
    if isinstance(value, datetime):
        return round(value.timestamp(), 3)
    raise TypeError(f"{type(value).__name__} has no place in an answer.")
