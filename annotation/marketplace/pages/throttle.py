"""Slowing down whoever guesses passwords, by the rule of annotation/common/throttle.py."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from annotation.common.throttle import Throttle, address_of, name_as_read
from annotation.marketplace.models import SignInFailures
from annotation.marketplace.people import record

FAILED = "sign-in refused"
GUESSED = "old password refused"

throttle = Throttle(SignInFailures)


def sign_in_keys(request: HttpRequest, name: str) -> dict[str, str]:
    return {_key("name", name_as_read(name)): "name", _key("address", address_of(request)): "address"}


def password_keys(account_id: int) -> dict[str, str]:
    """Counted apart: a stranger at the sign-in keeps nobody from changing their password."""
    return {_key("password", str(account_id)): "password"}


def note_failure(request: HttpRequest, name: str, action: str = FAILED) -> None:
    """For the operator to see."""
    record(None, action, name[:150].lower(), address=address_of(request))


def _key(kind: str, value: str) -> str:
    return salted_hmac(f"annotation.marketplace.safety.{kind}", value, algorithm="sha256").hexdigest()
