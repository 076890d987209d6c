"""The last page: what people see when the pages for failures would fail themselves, as with the database down.

The products' own page asks for the session and the person, to show the usual frame. This one asks for nothing.
"""

import logging
import sys
from collections.abc import Callable
from html import escape

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import get_callable
from django.utils.translation import get_language, gettext

from annotation.common.errors import DATABASE_IS_GONE, RETRY_SECONDS

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PAGE = """<!doctype html>
<html lang="{language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{heading}</title></head>
<body><main><h1>{heading}</h1><p>{sentence}</p><p><small>{status} <code>{name}</code></small></p></main></body>
</html>
"""

logger = logging.getLogger("pyramidion.failures")


def or_last_page(page: str) -> Callable[[HttpRequest], HttpResponse]:
    """A handler500: the product's own page by its dotted name, or the last page where that can't be made."""

    def answer(request: HttpRequest) -> HttpResponse:
        error = sys.exc_info()[1]
        if isinstance(error, DATABASE_IS_GONE) or _wants_json(request):
            return last_page(request, error)
        try:
            response: HttpResponse = get_callable(page)(request)
        except Exception as another:
            return last_page(request, another)
        return response

    return answer


def last_page(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    """Everybody: one sentence and the name of the request, as a page or as JSON; 503 when the database is gone.

    The log gets one record with the whole story.
    """
    status = 503 if isinstance(error, DATABASE_IS_GONE) else 500
    sentence = gettext("Something went wrong on our side. What you had saved is kept; please try again in a minute.")
    name = getattr(request, "request_id", "")
    logger.error("%s %s: %s", request.method, request.path, status, exc_info=error)
    response: HttpResponse
    if _wants_json(request):
        kind = "unavailable" if status == 503 else "failed"
        response = JsonResponse({"error": kind, "sentence": sentence, "request": name}, status=status)
    else:
        facts = {"language": get_language() or "en", "status": status, "sentence": sentence, "name": name}
        facts["heading"] = gettext("Our mistake")
        words = {key: escape(str(value)) for key, value in facts.items()}
        response = HttpResponse(PAGE.format(**words), status=status)
    for header, value in HEADERS.items():
        response[header] = value
    # Django's own line would come a second time, and without the request's name.
    response._has_been_logged = True  # type: ignore[attr-defined]
    if status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _wants_json(request: HttpRequest) -> bool:
    return any("application/json" in request.headers.get(name, "") for name in ("Accept", "Content-Type"))
