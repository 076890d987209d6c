"""Flags: what an annotator tells the researchers about an item that is broken, or about the task as a whole.

On the page a flag is a draft like any other, so that it is kept offline and saved at once; it reaches admins whether
the task is submitted or not. It changes no answer.
"""

from collections.abc import Mapping
from typing import Any

from annotation import protocols
from annotation.common import clock
from annotation.models import Assignment, Flag
from annotation.protocols.base import answer_value

PREFIX = "flag:"
TASK = "task"
LONGEST = 1000  # characters of a note


def store_flags(assignment: Assignment, contents: Mapping[str, Any]) -> None:
    """Keep the flags among a draft's contents, by field; one that was taken back goes. Others' fields are ignored."""
    flags = {
        name.removeprefix(PREFIX): content
        for name, content in contents.items()
        if name.startswith(PREFIX) and isinstance(content, Mapping)
    }
    if not flags:
        return
    items = {item.field: item for item in protocols.of(assignment.task.batch).items(assignment)}
    for field, content in flags.items():
        item = items.get(field)
        if item is None and field != TASK:
            continue
        if not answer_value(content):
            Flag.objects.filter(assignment=assignment, field=field).delete()
            continue
        place = {"summary_id": item.summary_id, "unit": item.unit} if item else {}
        facts = {**place, "note": _note(content), "raised_at": clock.now()}
        Flag.objects.update_or_create(assignment=assignment, field=field, defaults=facts)


def _note(content: Mapping[str, Any]) -> str:
    return " ".join(str(content.get("note") or "").split())[:LONGEST]
