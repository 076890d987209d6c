"""Where requests to the requester API come in."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class RequesterApi:
    """Middleware: `POST /` is the API, everything else goes on to the pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)
