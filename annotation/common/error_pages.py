"""Pages for what went wrong, each with a sentence and a way on."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.urls import URLPattern, URLResolver
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from annotation.common.errors import Refused

DJANGOS_OWN = "matches the given query."  # get_object_or_404 says it, in English only and with a model's name
Route = URLPattern | URLResolver
Answer = TypeVar("Answer", bound=HttpResponseBase)


def answers_refusals(view: Callable[..., Answer]) -> Callable[..., Answer | HttpResponse]:
    """A Refused raised inside a view becomes a page with its sentence."""

    @wraps(view)
    def view_or_refusal(request: HttpRequest, *args: Any, **kwargs: Any) -> Answer | HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refused as refusal:
            return error_page(request, refusal.status, str(refusal))

    return view_or_refusal


def error_page(request: HttpRequest, status: int, sentence: str, extra: dict[str, Any] | None = None) -> HttpResponse:
    context = {"sentence": sentence, "status": status, "back": _page_before(request), **(extra or {})}
    return render(request, "annotation/common/error.html", context, status=status)


def _page_before(request: HttpRequest) -> str:
    """The page of ours whose form was refused; empty when nothing was sent, or from elsewhere."""
    referer = request.headers.get("Referer", "")
    if request.method != "POST" or not referer:
        return ""
    try:
        host = request.get_host()
    except DisallowedHost:  # then this is the page that says so
        return ""
    return referer if url_has_allowed_host_and_scheme(referer, {host}, require_https=request.is_secure()) else ""


def answer_wrong_methods(patterns: Sequence[Route], extra: dict[str, Any] | None = None) -> Sequence[Route]:
    """The same addresses; Django's blank 405 becomes a page for people. Programs keep the blank one."""
    for route in patterns:
        if isinstance(route, URLResolver):
            answer_wrong_methods(route.url_patterns, extra)
        else:
            route.callback = _answers_wrong_methods(route.callback, extra)
    return patterns


def _answers_wrong_methods(view: Callable[..., Any], extra: dict[str, Any] | None) -> Callable[..., Any]:
    @wraps(view)
    def view_or_page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = view(request, *args, **kwargs)
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not _is_person(request):
            return response
        page = error_page(request, 405, _wrong_method(request), extra)
        page["Allow"] = response["Allow"]
        return page

    return view_or_page


def _is_person(request: HttpRequest) -> bool:
    return request.accepts("text/html") and request.content_type != "application/json"


def _wrong_method(request: HttpRequest) -> str:
    if request.method in ("GET", "HEAD"):
        return gettext("This address only takes what a button sends. Nothing was changed.")
    return gettext("The request can't be read. Nothing was changed; go back and try again.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = getattr(exception, "sentence", "")
    default = gettext("The request can't be read. Nothing was changed; go back and try again.")
    return error_page(request, 400, str(sentence or default))


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, str(exception) or gettext("This page is not for your role. Nothing was changed."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    if sentence.endswith(DJANGOS_OWN):
        sentence = ""
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
        {"too_old": True},
    )
