"""Where workers come from: one file per crowd, each a `Market` (base.py). The money rules stand around them, once."""

from django.utils.translation import gettext as _

from annotation.errors import Refused

from .base import Market
from .direct import Direct
from .mturk import MTurk
from .prolific import Prolific

MARKETS: dict[str, type[Market]] = {market.name: market for market in (Direct, MTurk, Prolific)}


def market_for(crowd: str) -> Market:
    """The market of that name; Refused lists the known ones."""
    if crowd not in MARKETS:
        raise Refused(
            _("There is no crowd “%(name)s”. Known: %(known)s. Nothing was changed.")
            % {"name": crowd[:40], "known": ", ".join(MARKETS)}
        )
    return MARKETS[crowd]()
