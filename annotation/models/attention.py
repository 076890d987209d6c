"""The signals of an assignment added up: how long its page was open and used (judging/attention.py gathers them)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Totals:
    """All loads of a page together."""

    active_seconds: float
    focus_lost: int
    pastes: int
    changes: int
    loads: int


def totals(signals: Mapping[str, Any] | None) -> Totals:
    loads = list((signals or {}).get("loads", {}).values())
    changes = sum(item.get("changes", 0) for load in loads for item in load.get("items", {}).values())
    return Totals(
        active_seconds=round(sum(load.get("active", 0) for load in loads), 1),
        focus_lost=int(sum(load.get("focus_lost", 0) for load in loads)),
        pastes=int(sum(load.get("pastes", 0) for load in loads)),
        changes=int(changes),
        loads=len(loads),
    )
