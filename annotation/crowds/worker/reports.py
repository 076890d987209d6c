"""Where a market reports that something has changed."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.crowds.collect.reports import hear

LONGEST = 64 * 1024


@csrf_exempt
@login_not_required
@require_POST
def report(request: HttpRequest, crowd: str, address: str) -> HttpResponse:
    """The market, by its signature: 204, and collecting comes soon. Anybody else gets 404, and nothing happens."""
    length = request.headers.get("Content-Length", "")
    if length and (not length.isdecimal() or int(length) > LONGEST):
        return HttpResponse(status=413)
    return HttpResponse(status=204 if hear(crowd, address, request.headers, request.body) else 404)
