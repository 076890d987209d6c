"""Pages for what went wrong, each with a sentence and a way on."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.urls import URLPattern

from annotation.marketplace.errors import Refused

View = Callable[..., HttpResponse]
UNREADABLE = "The request can't be read. Nothing was changed; go back and try again."


def answers_refusals(view: View) -> View:
    """A Refused raised inside a view becomes a page with its sentence."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refused as refusal:
            return error_page(request, refusal.status, str(refusal))

    return wrapper


def error_page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """Needs no database: it also serves when that is what went wrong."""
    return render(request, "marketplace/error.html", {"sentence": sentence, "status": status}, status=status)


def answer_wrong_methods(patterns: list[URLPattern]) -> list[URLPattern]:
    """The same addresses; Django's blank 405 becomes a page for people. Programs keep the blank one."""
    for pattern in patterns:
        pattern.callback = _answers_wrong_methods(pattern.callback)
    return patterns


def _answers_wrong_methods(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if not isinstance(response, HttpResponseNotAllowed) or not request.accepts("text/html"):
            return response
        page = error_page(request, 405, _wrong_method(request))
        page["Allow"] = response["Allow"]
        return page

    return wrapper


def _wrong_method(request: HttpRequest) -> str:
    if request.method in ("GET", "HEAD"):
        return "This address only takes what a button sends. Nothing was changed."
    return UNREADABLE


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 400, str(getattr(exception, "sentence", "") or UNREADABLE))


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, str(exception) or "This page is not for your role. Nothing was changed.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return error_page(request, 404, sentence or "There is nothing at this address.")


def broken(request: HttpRequest) -> HttpResponse:
    return error_page(request, 500, "Something went wrong on our side. Please try again in a minute.")
