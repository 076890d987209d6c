"""A study's own token for a market: kept encrypted, shown to nobody, readable with this site's secret key alone."""

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.private import seal, unseal
from annotation.crowds.base import MarketRefused
from annotation.models import MarketToken, Study, User

LONGEST = 500


def keep_token(study: Study, crowd: str, token: str, user: User) -> None:
    """Keep it in place of the one before; Refused where it can't be one."""
    token = token.strip()
    if not 8 <= len(token) <= LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused(_("That is no token: copy it whole from your account there. Nothing was changed."))
    facts = {"secret": seal(token), "ending": token[-4:], "set_by": user}
    MarketToken.objects.update_or_create(study=study, crowd=crowd, defaults=facts)


def remove_token(study: Study, crowd: str) -> None:
    MarketToken.objects.filter(study=study, crowd=crowd).delete()


def token_of(study: Study | None, crowd: str) -> str:
    """The study's own token; empty where it has none. MarketRefused where the site's secret key has changed."""
    row = MarketToken.objects.filter(study=study, crowd=crowd).first() if study else None
    if row is None:
        return ""
    token = unseal(row.secret)
    if token is None:
        raise MarketRefused(
            _(
                "The study's token for the market can't be read: the site's SECRET_KEY has changed since. Nothing was "
                "spent: enter the token again on the Launch page."
            )
        )
    return token
