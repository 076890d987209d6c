"""The ways of judging. Each is one file here with its template; `get(name)` finds it by name."""

from collections.abc import Collection

from annotation.models import Batch

from .base import Item, Protocol
from .errors import Errors
from .likert import Likert
from .litepyramid import LitePyramid
from .preference import Preference
from .scu import SCU
from .second_round import SecondRound

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (SCU(), LitePyramid(), Likert(), Preference(), Errors())
}


def get(name: str) -> Protocol:
    """The protocol of that name; an unknown one is answered with the known ones."""
    try:
        return PROTOCOLS[name]
    except KeyError:
        raise ValueError(f"There is no protocol {name!r}. Known: {', '.join(sorted(PROTOCOLS))}.") from None


def of(batch: Batch) -> Protocol:
    """How this batch's tasks are done: its protocol, or a second look at contested answers."""
    protocol = get(batch.protocol)
    return SecondRound(protocol) if "round_of" in batch.options else protocol


def among(names: Collection[str]) -> list[Protocol]:
    """The protocols of these names, in their order; names that nobody knows any more are left out."""
    return [protocol for name, protocol in PROTOCOLS.items() if name in names]


def level_of(name: str) -> str:
    """The level of measurement, also of judgments whose protocol isn't here any more."""
    return PROTOCOLS.get(name, Protocol).level


def rates_dimensions(name: str) -> bool:
    """Whether units are alike in all documents, also of judgments whose protocol isn't here any more."""
    return PROTOCOLS.get(name, Protocol).rates_dimensions


def comparing() -> list[str]:
    """The names of those that ask which of two summaries is better."""
    return [name for name, protocol in PROTOCOLS.items() if protocol.compares]


def judging() -> list[str]:
    """The names of those whose answers are judgments."""
    return [name for name, protocol in PROTOCOLS.items() if not protocol.extracts_scus]


def judging_scus() -> list[str]:
    """The names of those that ask whether SCUs are present."""
    return [name for name, protocol in PROTOCOLS.items() if protocol.judges_scus]


def extracting_scus() -> list[str]:
    """The names of those whose answers are SCUs."""
    return [name for name, protocol in PROTOCOLS.items() if protocol.extracts_scus]


__all__ = [
    "PROTOCOLS",
    "Item",
    "Protocol",
    "among",
    "comparing",
    "extracting_scus",
    "get",
    "judging",
    "judging_scus",
    "level_of",
    "of",
    "rates_dimensions",
]
