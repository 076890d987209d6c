"""Pages for what went wrong, each with a sentence and a way on."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ..errors import Refused

View = Callable[..., HttpResponse]


def answers_refusals(view: View) -> View:
    """A Refused raised inside a view becomes a page with its sentence."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refused as refusal:
            return error_page(request, refusal.status, str(refusal))

    return wrapped


def error_page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """Needs no database: it also serves when that is what went wrong."""
    return render(request, "marketplace/error.html", {"sentence": sentence, "status": status}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    usual = "The request can't be read. Nothing was changed; go back and try again."
    return error_page(request, 400, str(getattr(exception, "sentence", "") or usual))


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, str(exception) or "This page is not for your role. Nothing was changed.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return error_page(request, 404, sentence or "There is nothing at this address.")


def broken(request: HttpRequest) -> HttpResponse:
    return error_page(request, 500, "Something went wrong on our side. Please try again in a minute.")
