"""What an operator measures of the market: counts and sums that the database knows, for /metrics."""

from collections.abc import Iterator

from django.db.models import Count, F, Min, Q, Sum

from annotation.common import clock

from .models import HIT, Assignment, Notice, Requester, Worker

POTS = ("put_in", "available", "held", "paid", "fees")


def figures() -> Iterator[tuple[str, str, dict[str, float]]]:
    """(name, what it is, value by kind)."""
    now = clock.now()
    yield "hits", "HITs by status.", _count_by(HIT, "status", HIT.Status.values)
    yield "assignments", "Assignments by state.", _count_by(Assignment, "state", Assignment.State.values)
    money = Requester.objects.aggregate(**{pot: Sum(f"{pot}_cents", default=0) for pot in POTS})
    owed = Worker.objects.aggregate(owed=Sum(F("earned_cents") - F("paid_out_cents"), default=0))
    yield "money_cents", "Requesters' money by pot, and what workers are owed.", {**money, **owed}
    oldest = HIT.objects.filter(due_at__lte=now).aggregate(at=Min("due_at"))["at"]
    delay_seconds = (now - oldest).total_seconds() if oldest else 0
    yield "due_seconds", "How long what is due by the clock has waited.", {"oldest": delay_seconds}
    notices = Notice.objects.exclude(callback="").aggregate(
        waiting=Count("pk", filter=Q(next_try_at__isnull=False)),
        given_up=Count("pk", filter=Q(next_try_at=None, delivered_at=None)),
    )
    yield "notices", "Events for callbacks that have not arrived.", notices


def _count_by(model: type[HIT] | type[Assignment], field: str, values: list[str]) -> dict[str, float]:
    counts = dict(model.objects.values_list(field).annotate(Count("pk")))
    return {value: counts.get(value, 0) for value in values}
