"""Where workers come from: one file per crowd, each a `Market` (base.py). The money rules stand around them, once."""

from importlib import import_module

from .base import Market

_FILES = {"direct": "Direct", "mturk": "MTurk", "prolific": "Prolific"}
MARKETS: dict[str, type[Market]] = {}
for _name, _class in _FILES.items():
    try:
        MARKETS[_name] = getattr(import_module(f".{_name}", __name__), _class)
    except ModuleNotFoundError:
        continue


def market_for(crowd: str) -> Market:
    """The market of that name; ValueError lists the known ones."""
    if crowd not in MARKETS:
        raise ValueError(f"There is no crowd {crowd!r}. Known: {', '.join(MARKETS)}.")
    return MARKETS[crowd]()
