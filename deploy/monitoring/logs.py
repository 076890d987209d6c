"""Log lines that a machine can read: one JSON object each, with the request it belongs to, and without secrets.

Every answer carries its `X-Request-Id`, so that what a person saw can be found in the log.
"""

import json
import logging
import re
import time
import traceback
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from deploy.monitoring.last_error_page import last_page

request_id: ContextVar[str] = ContextVar("request_id", default="")
HEADER = "X-Request-Id"
_SOUND_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_SECRETS = re.compile(
    r"((?:authorization|password|passwd|secret|token|api[_-]?key|cookie|aws_secret_access_key)[\"']?\s*[=:]\s*[\"']?)"
    r"(?:(?:bearer|token|basic)\s+)?[^\s\"',;&]+",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(://[^:/@\s]+:)[^@/\s]+@")
# Links that let somebody in, workers' own ids, and assignment ids, which hand work in. Files of the program are none.
_SECRET_PATH = re.compile(
    r"(/(?:w/[a-z]+|invited|join|frame|operator/workers|requester/assignments|work(?!/batch/))/)"
    r"(?![\w.]+\.(?:py|js|css)\b)[^/\s?\"]+"
)
_WORKER_QUERY = re.compile(r"((?:workerId|PROLIFIC_PID|assignmentId|SESSION_ID)=)[^&\s\"]+")

logger = logging.getLogger("pyramidion.requests")


def clean(text: str) -> str:
    """The text without passwords, tokens, links that let somebody in, and workers' own ids."""
    text = _SECRETS.sub(r"\1…", text)
    text = _IN_ADDRESS.sub(r"\1…@", text)
    return _WORKER_QUERY.sub(r"\1…", _SECRET_PATH.sub(r"\1…", text))


class JsonFormatter(logging.Formatter):
    """One line per record: time, level, logger, message, request, and what `extra={"facts": …}` adds."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": clean(record.getMessage()),
            "request": request_id.get() or None,
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = clean("".join(traceback.format_exception(*record.exc_info)))
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """For people at a terminal; secrets are left out here as well."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


class RequestLog:
    """Middleware: names each request, tells how long it took, and hands the name back to the browser."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent_id = request.headers.get(HEADER, "")
        name = sent_id if _SOUND_ID.fullmatch(sent_id) else uuid.uuid4().hex
        mark = request_id.set(name)
        request.request_id = name  # type: ignore[attr-defined]
        began = time.perf_counter()
        try:
            response = self._answer(request)
            self._note(request, response, time.perf_counter() - began)
        finally:
            request_id.reset(mark)
        response[HEADER] = name
        return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        """Whatever happens further in: nobody is left with the server's bare words."""
        try:
            return self.get_response(request)
        except Exception as error:
            return last_page(request, error)

    def _note(self, request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
        from .prometheus import observe

        match = request.resolver_match
        route = (match.view_name if match else "") or "none"
        observe(route, request.method or "", response.status_code, seconds)
        facts = {
            "method": request.method,
            "path": clean(request.path),
            "route": route,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
        }
        logger.info("%s %s %s", request.method, clean(request.path), response.status_code, extra={"facts": facts})
