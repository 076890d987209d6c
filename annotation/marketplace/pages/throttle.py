"""Slowing down whoever guesses passwords. Failures are counted in the audit log, so all processes see them."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest

from annotation.marketplace import clock
from annotation.marketplace.models import AuditEntry
from annotation.marketplace.people import record

FAILED = "sign-in refused"
GUESSED = "old password refused"
"""Counted apart: a stranger at the sign-in keeps nobody from changing their password."""
WINDOW = timedelta(minutes=10)
MOST_PER_NAME = 10
MOST_PER_ADDRESS = 50


def address_of(request: HttpRequest) -> str:
    """Who asks. Behind our proxy, the last address it noted; what a client claims further left is worth nothing."""
    if settings.SECURE_PROXY_SSL_HEADER:
        noted = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
        if noted:
            return noted
    return str(request.META.get("REMOTE_ADDR", ""))


def is_throttled(request: HttpRequest, name: str, action: str = FAILED) -> bool:
    """Too many failures lately, for this name or from this address."""
    recent = AuditEntry.objects.filter(action=action, at__gt=clock.now() - WINDOW)
    return (
        recent.filter(subject=name[:150].lower()).count() >= MOST_PER_NAME
        or recent.filter(detail__address=address_of(request)).count() >= MOST_PER_ADDRESS
    )


def note_failure(request: HttpRequest, name: str, action: str = FAILED) -> None:
    record(None, action, name[:150].lower(), address=address_of(request))
