"""What a signed-in person sees is for nobody else: no proxy keeps it, and no browser after they have gone.

The marketplace uses it as well: nothing here knows the site's tables.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase


class Private:
    """Middleware: answers to whoever brings a session are not kept, unless the page says more exactly how long.

    The cookie is enough to know: reading the session would ask the database on pages that don't need it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
