"""Where workers come from: one file per crowd, each a `Market` (base.py). The money rules stand around them, once."""

from .base import Market
from .direct import Direct
from .mturk import MTurk
from .prolific import Prolific

MARKETS: dict[str, type[Market]] = {market.name: market for market in (Direct, MTurk, Prolific)}


def market_for(crowd: str) -> Market:
    """The market of that name; ValueError lists the known ones."""
    if crowd not in MARKETS:
        raise ValueError(f"There is no crowd {crowd!r}. Known: {', '.join(MARKETS)}.")
    return MARKETS[crowd]()
