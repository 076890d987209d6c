"""What Prometheus reads at /metrics.

Counts that the database knows are read from it at each scrape, so that every web process tells the same. How long
requests take is known to the process that answered: with METERS_DIR each process keeps a file there, and whichever
process is asked adds them up. Without it, a scrape tells of one process only.
"""

import os
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Count, Min, Q, Sum
from django.utils import timezone
from django.utils.module_loading import import_string

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


_making = threading.Lock()


def _histogram() -> Any:
    with _making:  # the first requests of a process come at once
        return _make_histogram()


@cache
def _make_histogram() -> Any:
    if settings.METERS_DIR:
        os.makedirs(settings.METERS_DIR, exist_ok=True)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = settings.METERS_DIR
    from prometheus_client import Histogram

    text, labels = "Time to answer a request.", ["route", "method", "status"]
    return Histogram("pyramidion_request_seconds", text, labels, buckets=BUCKETS, registry=None)


def observe(route: str, method: str, status: int, seconds: float) -> None:
    """Count one answered request."""
    _histogram().labels(route, method, f"{status // 100}xx").observe(seconds)


def exposition() -> bytes:
    """Everything, in Prometheus's text form."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    _histogram()
    registry = CollectorRegistry()
    registry.register(_Facts())
    if settings.METERS_DIR:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_histogram())
    return bytes(generate_latest(registry))


class _Facts:
    """What the database knows."""

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for name, text, rows in _facts() if apps.is_installed("annotation") else _market_facts():
            family = GaugeMetricFamily(f"pyramidion_{name}", text, labels=["kind"])
            for kind, value in rows.items():
                family.add_metric([kind], value)
            yield family


def _market_facts() -> Iterator[tuple[str, str, dict[str, float]]]:
    """The marketplace's own; by name, because the site's process must not load its tables."""
    for name, text, rows in import_string("annotation.marketplace.prometheus.figures")():
        yield f"market_{name}", text, rows


def _facts() -> Iterator[tuple[str, str, dict[str, float]]]:
    from annotation.models import Assignment, Entry, Job, Judgment

    now = timezone.now()
    jobs = Job.objects.filter(state__in=["waiting", "running"])
    yield "jobs", "Background jobs by state.", dict(jobs.values_list("state").annotate(Count("pk")))
    oldest = jobs.filter(state="waiting").aggregate(at=Min("asked_at"))["at"]
    yield (
        "job_wait_seconds",
        "How long the oldest waiting job has waited.",
        {"oldest": (now - oldest).total_seconds() if oldest else 0},
    )
    assignments = Assignment.objects.aggregate(
        live=Count("pk", filter=Q(state="leased", lease_until__gt=now)),
        overdue=Count("pk", filter=Q(state="leased", lease_until__lte=now)),
        expired=Count("pk", filter=Q(state="expired")),
        submitted=Count("pk", filter=Q(state="submitted")),
        surplus=Count("pk", filter=Q(state="surplus")),
    )
    yield "assignments", "Assignments by what became of them.", assignments
    yield "judgments", "Judgments kept.", {"all": Judgment.objects.count()}
    entries = Entry.objects.exclude(state="failed").aggregate(promised=Sum("promised_cents"), paid=Sum("paid_cents"))
    yield "money_cents", "Money promised and paid.", {name: value or 0 for name, value in entries.items()}
    doubtful = Entry.objects.filter(state="doubtful").count()
    yield "entries_waiting", "Ledger entries that wait for a person.", {"doubtful": doubtful}
