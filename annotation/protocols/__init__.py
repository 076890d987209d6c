"""The ways of judging. Each is one file here with its template; `get(name)` finds it by name."""

from annotation.models import Batch

from .base import Item, Protocol
from .likert import Likert
from .litepyramid import LitePyramid
from .scu import SCU
from .second import SecondRound

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (SCU(), LitePyramid(), Likert())}

SECOND_ROUND = SecondRound()


def get(name: str) -> Protocol:
    """The protocol of that name; an unknown one is answered with the known ones."""
    try:
        return PROTOCOLS[name]
    except KeyError:
        raise ValueError(f"There is no protocol {name!r}. Known: {', '.join(sorted(PROTOCOLS))}.") from None


def of(batch: Batch) -> Protocol:
    """How this batch's tasks are done: its protocol, or a second look at contested answers."""
    return SECOND_ROUND if "round_of" in batch.options else get(batch.protocol)


__all__ = ["PROTOCOLS", "Item", "Protocol", "get", "of"]
