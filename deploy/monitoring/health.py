"""Is it alive, is it ready, and how is it doing: for load balancers and for Prometheus. No page for people."""

import secrets

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET


@login_not_required
@never_cache
@require_GET
def alive(request: HttpRequest) -> JsonResponse:
    """Everybody: 200 while the process answers at all."""
    return JsonResponse({"alive": True})


@login_not_required
@never_cache
@require_GET
def ready(request: HttpRequest) -> JsonResponse:
    """Everybody: 200 when the database answers and has every migration; otherwise 503 with the reason."""
    problem = _problem()
    return JsonResponse({"ready": not problem, "problem": problem}, status=503 if problem else 200)


def _problem() -> str:
    try:
        executor = MigrationExecutor(connection)
        migrations = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "The database does not answer."
    return f"{len(migrations)} migrations wait: run manage.py migrate." if migrations else ""


@login_not_required
@never_cache
@require_GET
def meters(request: HttpRequest) -> HttpResponse:
    """Whoever shows METRICS_TOKEN (in the demo: everybody on this machine); otherwise 404."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    expected = settings.METRICS_TOKEN
    is_allowed = secrets.compare_digest(token.encode(), expected.encode()) if expected else settings.DEMO
    if not is_allowed:
        raise Http404
    from .prometheus import exposition

    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")
