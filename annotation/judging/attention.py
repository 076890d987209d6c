"""Signals for quality: time and attention while a task was open. Told to workers in the consent text.

A page counts for itself, from when it was loaded, and sends its totals again and again: the largest ones stand, so a
lost or repeated message changes nothing. `Assignment.signals` keeps them per load; annotation/models/attention.py adds
them up. They are stored with the assignment, exported, and shown to no other annotator.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from annotation.models import Assignment

LOAD = re.compile(r"[a-z0-9]{4,32}")
MOST_LOADS = 100
MOST_ITEMS = 500
NUMBERS = ("active", "focus_lost", "pastes")


def merge_signals(assignment: Assignment, totals: Mapping[str, Any]) -> bool:
    """Put one page's totals into the assignment's signals (not saved); True when anything grew."""
    load = totals.get("load")
    if not isinstance(load, str) or not LOAD.fullmatch(load):
        return False
    signals = assignment.signals or {}
    loads = dict(signals.get("loads", {}))
    if load not in loads and len(loads) >= MOST_LOADS:
        return False
    previous = loads.get(load, {})
    merged = {name: max(_number(totals.get(name)), previous.get(name, 0)) for name in NUMBERS}
    merged["items"] = _items(totals.get("items"), previous.get("items", {}))
    if merged == previous:
        return False
    assignment.signals = {**signals, "loads": {**loads, load: merged}}
    return True


def _items(sent_items: Any, previous_items: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    items = {name: dict(item) for name, item in previous_items.items()}
    for name, item in sent_items.items() if isinstance(sent_items, Mapping) else ():
        if isinstance(item, Mapping) and len(str(name)) <= 100 and (name in items or len(items) < MOST_ITEMS):
            old = items.get(name, {})
            items[name] = {
                "seconds": max(_number(item.get("seconds")), old.get("seconds", 0)),
                "changes": max(_number(item.get("changes")), old.get("changes", 0)),
            }
    return items


def _number(value: Any) -> float:
    """A browser's number, or 0 for anything else: signals never make a save fail."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0
    return min(max(round(value, 1), 0), 10**7)
