"""The API's addresses: /api/v1/…"""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path, re_path
from django.views.decorators.http import require_GET

from .core import make_api
from .middleware import api_view, nothing_here
from .reference import operations

PREFIX = "/api/v1/"
api = make_api()


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document: the code's alone, so it is made once per process."""
    return dict(api.get_openapi_schema(path_prefix=PREFIX))


@require_GET
def openapi(request: HttpRequest) -> HttpResponse:
    """Everybody: the OpenAPI document. It holds no data."""
    return JsonResponse(document())


@require_GET
def reference(request: HttpRequest) -> HttpResponse:
    """Everybody: the same document as a page to read."""
    return render(request, "annotation/api/reference.html", {"parts": operations(document())})


def _through_the_door(pattern: Any) -> URLPattern:
    takes_files = pattern.name == "post_import"
    return path(f"v1/{pattern.pattern}", api_view(pattern.callback, takes_files=takes_files), name=pattern.name)


app_name = "api"
urlpatterns = [
    path("v1/openapi.json", api_view(openapi), name="openapi"),
    path("v1/", api_view(reference), name="reference"),
    *map(_through_the_door, api.urls[0][:-1]),
    re_path(r"^(?P<rest>.*)$", api_view(nothing_here), name="nothing"),
]
