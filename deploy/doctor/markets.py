"""The markets' addresses and keys, the time, payments in doubt, and who may measure."""

import http.client
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.core.checks import Error
from django.db import connection
from django.utils import timezone

from . import Problems, check

SKEW = timedelta(seconds=30)
REDIRECTS = {301, 302, 303, 307, 308}


@check("endpoints", site_only=True)
def endpoints_answer() -> Problems:
    for name in ("MTURK_ENDPOINT_URL", "PROLIFIC_URL"):
        address = str(getattr(settings, name, "") or "")
        if not address or (name == "PROLIFIC_URL" and not settings.PROLIFIC_TOKEN):
            continue
        if urlsplit(address).scheme != "https" and not settings.DEMO and not _is_local(address):
            yield Error(f"{name} is {address}: keys would travel in the clear.", "Name it by https.")
        answer = _knock(address)
        if answer is None:
            yield Error(f"{name} is {address}, and nobody answers there.", "Correct it, or start the market.")
        elif answer.moved_to and name == "MTURK_ENDPOINT_URL":
            yield Error(
                f"{name} is {address}, which redirects to {answer.moved_to}.", "Calls don't follow: name that address."
            )


@check("market key", site_only=True)
def market_key_is_there() -> Problems:
    has_key = settings.MTURK_ACCESS_KEY_ID and settings.MTURK_SECRET_ACCESS_KEY
    if settings.MTURK_ENDPOINT_URL and not has_key and not settings.DEMO:
        yield Error(
            "MTURK_ENDPOINT_URL is set, but no key: nothing can be published, and nobody whom the market signs for is "
            "let in.",
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )


@check("signed entry", site_only=True)
def market_signs_whom_it_sends() -> Problems:
    if not settings.MTURK_ENDPOINT_URL or settings.DEMO or settings.MTURK_SIGNED_ENTRY is not _is_amazon():
        return
    if settings.MTURK_SIGNED_ENTRY:
        yield Error(
            "Amazon's market signs nothing, so all its workers would be turned away.", "Set MTURK_SIGNED_ENTRY=no."
        )
    else:
        yield Error(
            "Whoever knows a worker's id can come to a task under it.",
            "The marketplace signs whom it sends: set MTURK_SIGNED_ENTRY=yes.",
        )


def _is_amazon() -> bool:
    return f".{urlsplit(settings.MTURK_ENDPOINT_URL).hostname or ''}".endswith(".amazonaws.com")


@check("clock")
def clock_is_right() -> Problems:
    endpoint = getattr(settings, "MTURK_ENDPOINT_URL", "")
    market = _knock(endpoint) if endpoint else None
    times = [("the market", market.clock if market else None)]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            times.append(("the database", cursor.fetchone()[0]))
    for whose, time in times:
        off = abs(time - datetime.now(UTC)) if time else timedelta(0)
        if off > SKEW:
            yield Error(
                f"This clock and that of {whose} differ by {off.total_seconds():.0f} seconds: "
                "leases and signatures would fail.",
                "Run a time service (timedatectl set-ntp true).",
            )


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Knock:
    """What a web server says when it is asked for anything."""

    clock: datetime | None
    """By the Date of its answer; None when it keeps its time to itself."""
    moved_to: str
    """The other origin where it sends callers; empty when it answers itself."""


def _knock(address: str) -> Knock | None:
    """None when nobody answers."""
    target = urlsplit(address)
    kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
    server = kind(target.hostname or "", target.port, timeout=5)
    try:
        server.request("HEAD", target.path or "/")
        answer = server.getresponse()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        server.close()
    moved = urljoin(address, answer.getheader("Location") or "") if answer.status in REDIRECTS else ""
    if urlsplit(moved)[:2] == target[:2]:
        moved = ""
    try:
        return Knock(parsedate_to_datetime(answer.getheader("Date") or ""), moved)
    except ValueError:
        return Knock(None, moved)


@check("ledger", site_only=True)
def ledger_waits_for_nobody() -> Problems:
    from annotation.models import Entry

    doubtful = Entry.objects.filter(state=Entry.State.DOUBTFUL).count()
    old = timezone.now() - timedelta(hours=1)
    unsettled = Entry.objects.filter(state=Entry.State.PLANNED, called_at__lt=old).count()
    if doubtful:
        yield Error(f"{doubtful} payments wait for a person's word (Collect → Ledger):", "say whether each was paid.")
    if unsettled:
        yield Error(f"{unsettled} payments were begun and never confirmed.", "Run manage.py settle.")


@check("closed batches", site_only=True)
def nothing_stands_for_a_closed_batch() -> Problems:
    from annotation.crowds.launch.close import standing_after_close
    from annotation.models import Batch

    postings = standing_after_close(Batch.objects.all())
    if n_postings := postings.count():
        names = postings.order_by("batch").values_list("batch__study__name", "batch__name").distinct()[:3]
        batches = "; ".join(f"{study}: {batch}" for study, batch in names)
        yield Error(
            f"{n_postings} postings stand on a market for closed batches ({batches}): nobody can do them, and their "
            "money is promised.",
            "Close them again on their Monitor pages.",
        )


@check("measuring", site_only=True)
def measuring_is_protected() -> Problems:
    if not settings.METRICS_TOKEN and not settings.DEMO:
        yield Error(
            "METRICS_TOKEN is not set, so /metrics answers nobody.", "Set it to a long random string to measure."
        )
