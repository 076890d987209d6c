"""Middleware of both products: what no text has stays outside, and what a signed-in person sees is for nobody else.

No text has NUL or halves of surrogate pairs. PostgreSQL keeps neither, so they stop at the door.
"""

import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.middleware.gzip import GZipMiddleware
from django.utils.translation import gettext_lazy as _

NextStep = Callable[[HttpRequest], HttpResponseBase]
NO_TEXT = re.compile("[\x00\ud800-\udfff]")
JSON = "application/json"
PIECE, MOST_DRAINED = 1 << 16, 20 << 20


class Unreadable(BadRequest):
    """The page for bad requests shows its sentence."""

    sentence = _("This request can't be read: it holds a character that no text has. Nothing was changed.")


def is_text(words: Iterable[str]) -> bool:
    return not any(NO_TEXT.search(word) for word in words)


def address_is_text(request: HttpRequest) -> bool:
    return is_text([request.path_info, *_words(request.GET)])


def strip_unreadable(value: Any) -> Any:
    """The same JSON without such characters, in names and values; a number that JSON has no word for becomes null."""
    match value:
        case str():
            return NO_TEXT.sub("", value)
        case dict():
            return {strip_unreadable(name): strip_unreadable(inner) for name, inner in value.items()}
        case list():
            return [strip_unreadable(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
    return value


class WholeRequestMiddleware:
    """Reads what was sent and nobody wanted to know: an answer given before the body was read would be lost, because
    the connection is reset by what is left in it. A browser would see a broken page, a proxy 502."""

    def __init__(self, get_response: NextStep) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        with suppress(OSError):  # whoever sent it is gone
            for _ in range(MOST_DRAINED // PIECE):
                if not request._stream.read(PIECE):  # Django's own, within Content-Length
                    break
        return response


class PrivateResponseMiddleware:
    """No proxy keeps an answer to whoever brings a session, and no browser after they have gone.

    A page that says more exactly how long has its way. The cookie is enough to know: reading the session would ask
    the database on pages that don't need it.
    """

    def __init__(self, get_response: NextStep) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class CompressPagesMiddleware(GZipMiddleware):
    """Pages and answers to scripts travel compressed, with padding of random length (so that no secret can be guessed
    from a page's size). Downloads stay as they are: whoever goes on with half a file counts its bytes."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.streaming or kind not in ("text/html", JSON):
            return response
        return super().process_response(request, response)


class ReadableTextMiddleware:
    """Refuses such a request before any view sees it. The API refuses in its own form (api/middleware.py)."""

    def __init__(self, get_response: NextStep) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        by_api = match is not None and "api" in match.namespaces
        if by_api or (address_is_text(request) and _form_is_text(request, view)):
            return None
        if request.content_type == JSON or JSON in request.headers.get("Accept", ""):
            return JsonResponse({"error": "Unreadable", "sentence": str(Unreadable.sentence)}, status=400)
        raise Unreadable


def _form_is_text(request: HttpRequest, view: Any) -> bool:
    """A view may say that it cleans its form. A body of JSON isn't read here: the views that take one clean it."""
    return getattr(view, "cleans_its_form", False) or is_text(_words(request.POST))


def _words(form: QueryDict) -> Iterable[str]:
    for name, values in form.lists():
        yield name
        yield from (str(value) for value in values)
