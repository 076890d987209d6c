"""Guessing takes time: after a few failures a name, and an address, must wait, twice as long each time.

An attempt is counted as a failure before it is looked at, with its rows locked, and taken back when it was none. So of
many attempts at once only those are looked at that the count allows. The counts are in the database of the site or the
marketplace, so that it doesn't matter which process is asked.
"""

import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.http import HttpRequest

from annotation.common import clock

FREE = {"name": 5, "address": 30, "code": 5, "password": 5}  # failures without a wait
FORGET = timedelta(hours=1)
LONGEST = timedelta(minutes=15)


class FailureCount(models.Model):
    """Failures for one account name or from one address, lately. Which one is known by a digest only."""

    key = models.CharField(max_length=64)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()
    closed_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.failures} failures"


class Throttle:
    """What one product counts: in its own table, under keys that say of what kind they are."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def begin(self, keys: Mapping[str, str]) -> int:
        """Seconds to wait; 0: the attempt may be made, and counts as failed until it is known to have succeeded."""
        now = clock.now()
        with transaction.atomic():
            rows = self._locked(keys, now)
            closed = [row.closed_until for row in rows if row.closed_until and row.closed_until > now]
            if closed:
                return int((max(closed) - now).total_seconds()) + 1
            for row in rows:
                row.failures = 1 + (row.failures if row.last_at > now - FORGET else 0)
                row.last_at, row.closed_until = now, _closed_until(row.failures, keys[row.key], now)
                row.save()
        self._drop_old(now)
        return 0

    def succeeded(self, keys: Mapping[str, str]) -> None:
        """The name is free again. The address is as before: others may be tried from there."""
        self.table.objects.filter(key__in=[key for key, kind in keys.items() if kind != "address"]).delete()
        self.take_back({key: kind for key, kind in keys.items() if kind == "address"})

    def take_back(self, keys: Mapping[str, str]) -> None:
        """The attempt was no failure."""
        with transaction.atomic():
            for row in self.table.objects.select_for_update().filter(key__in=keys).order_by("key"):
                row.failures = max(0, row.failures - 1)
                if row.failures < FREE[keys[row.key]]:
                    row.closed_until = None
                row.save()
        self.table.objects.filter(key__in=keys, failures=0).delete()

    def _locked(self, keys: Mapping[str, str], now: datetime) -> list[Any]:
        """The rows of these keys, always locked in the same order."""
        blank = [self.table(key=key, last_at=now) for key in keys]
        self.table.objects.bulk_create(blank, ignore_conflicts=True)
        return list(self.table.objects.select_for_update().filter(key__in=keys).order_by("key"))

    def _drop_old(self, now: datetime) -> None:
        with transaction.atomic():
            old = self.table.objects.select_for_update(skip_locked=True).filter(last_at__lt=now - FORGET)
            self.table.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()


def _closed_until(failures: int, kind: str, now: datetime) -> datetime | None:
    over = failures - FREE[kind]
    return now + min(timedelta(seconds=30 * 2 ** min(over, 10)), LONGEST) if over >= 0 else None


def address_of(request: HttpRequest) -> str:
    """Who asks. Behind our proxy, the last address it noted; what a client claims further left is worth nothing."""
    if settings.SECURE_PROXY_SSL_HEADER:
        noted = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
        if noted:
            return noted
    return str(request.META.get("REMOTE_ADDR", ""))


def name_as_read(name: str) -> str:
    """The account's name as sign-in forms read it: what is typed otherwise and means the same counts as the same."""
    return unicodedata.normalize("NFKC", name.strip()).casefold()


def minutes(seconds: int) -> int:
    """Whole minutes, so that whoever waits as told has waited enough."""
    return -(-seconds // 60)
