"""A study's own token for a market: kept encrypted, shown to nobody, readable with this site's secret key alone."""

import base64
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.crowds.base import MarketRefused
from annotation.models import MarketToken, Study, User

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

LONGEST = 500


def keep_token(study: Study, crowd: str, token: str, user: User) -> None:
    """Keep it in place of the one before; Refused where it can't be one."""
    token = token.strip()
    if not 8 <= len(token) <= LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused(_("That is no token: copy it whole from your account there. Nothing was changed."))
    facts = {"secret": _box().encrypt(token.encode()).decode(), "ending": token[-4:], "set_by": user}
    MarketToken.objects.update_or_create(study=study, crowd=crowd, defaults=facts)


def remove_token(study: Study, crowd: str) -> None:
    MarketToken.objects.filter(study=study, crowd=crowd).delete()


def token_of(study: Study | None, crowd: str) -> str:
    """The study's own token; empty where it has none. MarketRefused where the site's secret key has changed."""
    row = MarketToken.objects.filter(study=study, crowd=crowd).first() if study else None
    if row is None:
        return ""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(row.secret.encode()).decode()
    except InvalidToken:
        raise MarketRefused(
            _(
                "The study's token for the market can't be read: the site's SECRET_KEY has changed since. Nothing was "
                "spent: enter the token again on the Launch page."
            )
        ) from None


def _box() -> "Fernet":
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derive = HKDF(SHA256(), length=32, salt=None, info=b"annotation.crowds.market_tokens")
    return Fernet(base64.urlsafe_b64encode(derive.derive(settings.SECRET_KEY.encode())))
