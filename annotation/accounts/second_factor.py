"""A second factor by authenticator app: time-based one-time codes (RFC 6238), and recovery codes for a lost phone."""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from urllib.parse import quote

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django_otp.oath import TOTP

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import SecondFactor, User

STEP, DIGITS, RECOVERY = 30, 6, 10


class BadCode(Refused):
    status = 422
    sentence = _("This code is wrong or was used already. Nothing was changed: wait for the next one and type that.")


@dataclass(frozen=True)
class Setup:
    """What a person needs to put the account into an authenticator."""

    secret: str
    address: str
    """otpauth:// as authenticators read it from the picture."""
    picture: str
    """The same as an SVG."""


def begin(user: User) -> Setup:
    """A fresh secret, to be confirmed by a first code. One that is in force is left alone."""
    factor, _new = SecondFactor.objects.get_or_create(user=user, defaults={"secret": _new_secret()})
    if factor.confirmed_at:
        raise Refused(_("You have a second factor already. Nothing was changed: turn it off first."))
    import segno

    label = quote(f"Pyramidion:{user.get_username()}")
    address = f"otpauth://totp/{label}?secret={factor.secret}&issuer=Pyramidion&period={STEP}&digits={DIGITS}"
    picture = segno.make(address, micro=False).svg_inline(scale=5, border=2, dark="#000", light="#fff")
    return Setup(factor.secret, address, picture)


def confirm(user: User, code: str) -> list[str]:
    """Put it in force with a first code; returns the recovery codes, shown this once."""
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update().filter(user=user, confirmed_at=None).first()
        if factor is None:
            raise Refused(_("There is nothing to confirm. Nothing was changed."))
        _use(factor, code)
        codes = [f"{secrets.token_hex(2)}-{secrets.token_hex(2)}-{secrets.token_hex(2)}" for _n in range(RECOVERY)]
        factor.recovery = [_digest(recovery_code) for recovery_code in codes]
        factor.confirmed_at = clock.now()
        factor.save()
    return codes


def is_on(user: User) -> bool:
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def check_code(user: User, code: str) -> None:
    """Nothing for a good code, which is then used up; BadCode otherwise."""
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update().filter(user=user, confirmed_at__isnull=False).first()
        if factor is None:
            raise BadCode
        digest = _digest(code.strip().lower())
        if digest in factor.recovery:
            factor.recovery = [unused for unused in factor.recovery if unused != digest]
            factor.save(update_fields=["recovery"])
            return
        _use(factor, code)
        factor.save(update_fields=["last_step"])


def turn_off(user: User, code: str) -> None:
    """Away with it, for somebody who can still show a code."""
    check_code(user, code)
    SecondFactor.objects.filter(user=user).delete()


def _use(factor: SecondFactor, code: str) -> None:
    """Accept a code of this, the last or the next half minute, newer than the last one used."""
    digits = "".join(code.split())
    totp = TOTP(base64.b32decode(factor.secret), STEP, digits=DIGITS)
    totp.time = clock.now().timestamp()
    is_code = len(digits) == DIGITS and digits.isascii() and digits.isdigit()
    if not is_code or not totp.verify(int(digits), tolerance=1, min_t=factor.last_step + 1):
        raise BadCode
    factor.last_step = totp.t()


def _digest(code: str) -> str:
    return hashlib.sha256(f"recovery:{code}".encode()).hexdigest()


def _new_secret() -> str:
    return base64.b32encode(secrets.token_bytes(20)).decode()
