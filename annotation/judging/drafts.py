"""Drafts of assignments: every change of an answer, kept on the server the moment it is made.

What a draft is, and how changes are merged, stands in annotation/common/drafts.py. A draft is kept whatever becomes of
the lease.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.common import clock
from annotation.common.drafts import Change, merge_draft, news_since, now_ms
from annotation.models import Assignment, Worker

from .attention import merge_signals
from .flags import store_flags
from .leases import DONE, keep_alive, own_assignment
from .preferences import store_preferences

__all__ = ["Change", "DraftState", "draft_state", "drafted_answers", "drafted_since_submit", "now_ms", "save_draft"]


@dataclass(frozen=True)
class DraftState:
    """What the page learns from a save."""

    version: int
    items: dict[str, Any]  # what changed since the version the page had seen
    state: str
    seconds_left: int
    is_held: bool  # the lease goes on


def save_draft(
    worker: Worker | None,
    key: str,
    changes: Sequence[Change],
    *,
    signals: Mapping[str, Any] | None = None,
    preferences: Any = None,
    seen_version: int = 0,
) -> DraftState:
    """Keep the changes and the signals, and renew the lease: a save is a sign of life.

    Without changes it is a heartbeat. Raises NotYours, or BadAnswers when the draft is too large.
    """
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True, texts=False)
        is_held = keep_alive(assignment)
        fields = []
        if merge_changes(assignment, changes):
            fields.append("draft")
            items = assignment.draft["items"]
            store_flags(assignment, {change.field: items.get(change.field) for change in changes})
        if signals and merge_signals(assignment, signals):
            fields.append("signals")
        if fields:
            assignment.save(update_fields=fields)
        if preferences is not None:
            store_preferences(assignment.worker_id, preferences)
    return draft_state(assignment, seen_version, is_held)


def merge_changes(assignment: Assignment, changes: Sequence[Change]) -> bool:
    """Put the changes into the assignment's draft (not saved); True when anything is new."""
    draft = merge_draft(assignment.draft or {}, changes)
    if draft is None:
        return False
    assignment.draft = draft
    return True


def draft_state(assignment: Assignment, seen_version: int, is_held: bool) -> DraftState:
    draft = assignment.draft or {}
    seconds = (assignment.lease_until - clock.now()).total_seconds() if assignment.lease_until else 0
    seconds_left = max(0, int(seconds)) if is_held else 0
    return DraftState(draft.get("version", 0), news_since(draft, seen_version), assignment.state, seconds_left, is_held)


def drafted_answers(assignment: Assignment) -> dict[str, Any]:
    """The draft as answers: field -> {"value": …, …}."""
    return dict((assignment.draft or {}).get("items", {}))


def drafted_since_submit(assignment: Assignment) -> dict[str, Any]:
    """Of a submitted task, what was drafted after its last submit or revision: a revision under way."""
    if assignment.state not in DONE or assignment.submitted_at is None:
        return drafted_answers(assignment)
    since = (assignment.draft or {}).get("settled", int(assignment.submitted_at.timestamp() * 1000))
    return {name: entry for name, entry in drafted_answers(assignment).items() if entry["at"] > since}
