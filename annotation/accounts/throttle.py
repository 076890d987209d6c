"""What the site counts guesses under (annotation/common/throttle.py has the rule)."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from annotation.common.throttle import Throttle, address_of, minutes, name_as_read
from annotation.models import SignInFailures

__all__ = ["code_key", "keys_of", "minutes", "password_key", "throttle"]

throttle = Throttle(SignInFailures)


def keys_of(request: HttpRequest, name: str) -> dict[str, str]:
    """What one attempt is counted under: the account's name as the form reads it, and where it came from."""
    return {_key("name", name_as_read(name)): "name", _key("address", address_of(request)): "address"}


def code_key(user_id: int) -> dict[str, str]:
    """Codes, wherever they are asked for."""
    return {_key("code", str(user_id)): "code"}


def password_key(user_id: int) -> dict[str, str]:
    """The old password, asked of somebody who is signed in."""
    return {_key("password", str(user_id)): "password"}


def _key(kind: str, value: str) -> str:
    return salted_hmac(f"annotation.safety.{kind}", value, algorithm="sha256").hexdigest()
