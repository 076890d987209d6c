"""What annotators told of a batch's items and tasks, for its Monitor page."""

from dataclasses import dataclass

from annotation import protocols
from annotation.models import Batch, Flag
from annotation.protocols.descriptions import title_of

SHOWN = 50


@dataclass(frozen=True)
class FlagRow:
    """One flag; `item` is empty for a note on the task as a whole."""

    flag: Flag
    item: str


@dataclass(frozen=True)
class FlagList:
    """The newest flags of a batch, and how many there are."""

    rows: list[FlagRow]
    total: int


def flags_of(batch: Batch) -> FlagList:
    """In a fixed number of queries."""
    flags = Flag.objects.filter(assignment__task__batch=batch)
    newest = flags.select_related("assignment__task__document", "assignment__worker__user", "summary__system")
    titles = protocols.get(batch.protocol).unit_titles(batch)
    rows = [
        FlagRow(flag, title_of(titles, flag.assignment.task.document_id, flag.unit) or flag.unit)
        for flag in newest.order_by("-raised_at", "-pk")[:SHOWN]
    ]
    return FlagList(rows, flags.count())
