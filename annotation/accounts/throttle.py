"""Guessing passwords takes time: after a few failures a name, and an address, must wait, twice as long each time.

The counts are in the database, so that it doesn't matter which process is asked.
"""

import unicodedata
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from annotation.common import clock
from annotation.common.client_address import address_of
from annotation.models import SignInFailures

FREE = {"name": 5, "address": 30, "code": 5, "password": 5}  # failures without a wait
FORGET = timedelta(hours=1)
LONGEST = timedelta(minutes=15)


def keys_of(request: HttpRequest, name: str) -> dict[str, str]:
    """What one attempt is counted under: the account's name as the form reads it, and where it came from."""
    read = unicodedata.normalize("NFKC", name.strip()).casefold()
    return {_key("name", read): "name", _key("address", address_of(request)): "address"}


def code_key(user_id: int) -> dict[str, str]:
    """Codes, wherever they are asked for."""
    return {_key("code", str(user_id)): "code"}


def password_key(user_id: int) -> dict[str, str]:
    """The old password, asked of somebody who is signed in."""
    return {_key("password", str(user_id)): "password"}


def seconds_to_wait(keys: dict[str, str]) -> int:
    """0 when an attempt may be made now."""
    now = clock.now()
    closed = SignInFailures.objects.filter(key__in=keys, closed_until__gt=now).values_list("closed_until", flat=True)
    return max((int((moment - now).total_seconds()) + 1 for moment in closed if moment), default=0)


def note_failure(keys: dict[str, str]) -> None:
    """Count a failure; from a number on, the next attempt has to wait."""
    now = clock.now()
    SignInFailures.objects.filter(last_at__lt=now - FORGET).delete()
    for key, kind in keys.items():
        with transaction.atomic():
            SignInFailures.objects.get_or_create(key=key, defaults={"last_at": now})
            SignInFailures.objects.filter(key=key).update(failures=F("failures") + 1, last_at=now)
            row = SignInFailures.objects.select_for_update().get(key=key)
            over = row.failures - FREE[kind]
            if over >= 0:
                row.closed_until = now + min(timedelta(seconds=30 * 2 ** min(over, 10)), LONGEST)
                row.save(update_fields=["closed_until"])


def forget(keys: dict[str, str]) -> None:
    """A success: the name is free again (the address is not: others may be tried from there)."""
    SignInFailures.objects.filter(key__in=[key for key, kind in keys.items() if kind != "address"]).delete()


def _key(kind: str, value: str) -> str:
    return salted_hmac(f"annotation.safety.{kind}", value, algorithm="sha256").hexdigest()


__all__ = ["code_key", "forget", "keys_of", "note_failure", "password_key", "seconds_to_wait"]
