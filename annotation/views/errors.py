"""Pages for what went wrong, each with a sentence and a way on."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext

from annotation.errors import Refused

Answer = TypeVar("Answer", bound=HttpResponseBase)


def answers_refusals(view: Callable[..., Answer]) -> Callable[..., Answer | HttpResponse]:
    """A Refused raised inside a view becomes a page with its sentence."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Answer | HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refused as refusal:
            return error_page(request, refusal.status, str(refusal))

    return wrapped


def error_page(request: HttpRequest, status: int, sentence: str, extra: dict[str, Any] | None = None) -> HttpResponse:
    context = {"sentence": sentence, "status": status, **(extra or {})}
    return render(request, "annotation/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 400, gettext("The request can't be read. Nothing was changed; go back and try again."))


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, str(exception) or gettext("This page is not for your role. Nothing was changed."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return error_page(request, 404, sentence or gettext("There is nothing at this address."))


def broken(request: HttpRequest) -> HttpResponse:
    return error_page(
        request,
        500,
        gettext("Something went wrong on our side. What you had saved is kept; please try again in a minute."),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_page(
        request,
        403,
        gettext(
            "This page was open for too long, or cookies are off. Nothing was changed: go back, reload, try again."
        ),
    )
