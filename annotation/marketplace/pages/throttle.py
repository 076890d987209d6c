"""Slowing down whoever guesses passwords. Failures are counted in the audit log, so all processes see them."""

from datetime import timedelta

from django.http import HttpRequest

from annotation.common import clock
from annotation.common.client_address import address_of
from annotation.marketplace.models import AuditEntry
from annotation.marketplace.people import record

FAILED = "sign-in refused"
GUESSED = "old password refused"
"""Counted apart: a stranger at the sign-in keeps nobody from changing their password."""
WINDOW = timedelta(minutes=10)
MOST_PER_NAME = 10
MOST_PER_ADDRESS = 50


def is_throttled(request: HttpRequest, name: str, action: str = FAILED) -> bool:
    """Too many failures lately, for this name or from this address."""
    recent = AuditEntry.objects.filter(action=action, at__gt=clock.now() - WINDOW)
    return (
        recent.filter(subject=name[:150].lower()).count() >= MOST_PER_NAME
        or recent.filter(detail__address=address_of(request)).count() >= MOST_PER_ADDRESS
    )


def note_failure(request: HttpRequest, name: str, action: str = FAILED) -> None:
    record(None, action, name[:150].lower(), address=address_of(request))
