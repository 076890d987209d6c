"""Markets that report changes: they are asked to where this site can be reached; a report brings the next look forward.

A report is a hint. It pays nothing and counts nothing: the background collects soon instead of at its next time, and it
collects at its times whether reports come or not.
"""

import logging
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from annotation.common import clock
from annotation.common.private import seal, unseal
from annotation.crowds.base import MarketRefused, MarketUnreachable, Report
from annotation.crowds.lookup import market_for
from annotation.models import Batch, MarketHook, Posting, Schedule

logger = logging.getLogger(__name__)
NEW = timedelta(minutes=5)
"""An older report, or one from the future, is not taken: somebody may have kept it."""


def can_be_reached(site: str) -> bool:
    """Whether a market can call this address: by https, under a name or number that is not one of a local network."""
    host = urlsplit(site).hostname or ""
    if not site.startswith("https://") or host == "localhost" or host.endswith((".local", ".internal", ".localhost")):
        return False
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host


def begin_reports(batch: Batch) -> MarketHook | None:
    """Have the batch's market report changes, where it can; without that, collecting goes by its schedule alone."""
    hook = MarketHook.objects.filter(study=batch.study, crowd=batch.crowd).first()
    if hook is not None or not can_be_reached(settings.SITE_URL):
        return hook
    address = secrets.token_urlsafe(32)
    try:
        market = market_for(batch.crowd, batch.study)
        subscription = market.subscribe(settings.SITE_URL + reverse("crowd-report", args=[batch.crowd, address]))
    except (MarketRefused, MarketUnreachable, KeyError) as problem:
        logger.warning("the market reports no changes of batch %s: %s", batch.pk, type(problem).__name__)
        return None
    if subscription is None:
        return None
    facts = {"address": address, "secret": seal(subscription.secret), "market_id": subscription.market_id}
    return MarketHook.objects.get_or_create(study=batch.study, crowd=batch.crowd, defaults=facts)[0]


def end_reports(batch: Batch) -> None:
    """Once nothing of the study stands on the market any more, it need not report."""
    standing = Posting.objects.filter(batch__study=batch.study, batch__crowd=batch.crowd).exclude(
        state=Posting.State.CLOSED
    )
    hook = MarketHook.objects.filter(study=batch.study, crowd=batch.crowd).first()
    if hook is None or standing.exists():
        return
    try:
        market_for(batch.crowd, batch.study).unsubscribe(hook.market_id)
    except (MarketRefused, MarketUnreachable) as problem:
        logger.warning("the market still reports to a closed study: %s", type(problem).__name__)
    hook.delete()


def hear(crowd: str, address: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Take a report; False where it is not the market's. One that is old, or was here before, changes nothing."""
    hook = MarketHook.objects.select_related("study").filter(crowd=crowd, address=address).first()
    secret = unseal(hook.secret) if hook else None
    if hook is None or not secret:
        return False
    report = market_for(crowd, hook.study).report(secret, headers, body)
    if report is None:
        return False
    now = clock.now()
    if abs(now - report.sent_at) <= NEW:
        with transaction.atomic():
            locked = MarketHook.objects.select_for_update().get(pk=hook.pk)
            if report.key not in locked.recent:
                _take(locked, report, now)
    return True


def _take(hook: MarketHook, report: Report, now: datetime) -> None:
    """Collecting becomes due for the batch that it is about; a report on somebody else's work is about none."""
    recent = {key: time for key, time in hook.recent.items() if time >= (now - 2 * NEW).timestamp()}
    hook.recent, hook.heard_at = {**recent, report.key: now.timestamp()}, now
    hook.save(update_fields=["recent", "heard_at"])
    ours = Q(market_id__in=report.market_ids) | Q(submissions__market_id__in=report.market_ids)
    batches = Posting.objects.filter(ours, batch__study=hook.study, batch__crowd=hook.crowd).values("batch")
    Schedule.objects.filter(batch__in=batches).update(collected_at=None)
