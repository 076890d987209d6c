"""Drafts: every change of an answer, kept on the server the moment it is made.

A draft has one entry per item: `{"value": …, "at": milliseconds, "version": n, …}`. Between two tabs or devices the
later change of an item wins, by the time it was made, not the time it came in. `version` counts the writes, so that
a page learns what others changed since it last looked. A draft is kept whatever becomes of the lease.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import BadAnswers
from annotation.models import Assignment, Worker

from .attention import merge_signals
from .leases import DONE, keep_alive, own_assignment

FIELD = re.compile(r"[\w:.\-]{1,100}")
MOST_BYTES = 256 * 1024
MOST_ITEMS = 500


@dataclass(frozen=True)
class Change:
    """One item's new content: `content` has "value", and whatever the protocol keeps beside it."""

    field: str
    content: Mapping[str, Any]
    at: int  # when it was made: milliseconds since 1970, by the server's clock as the page knows it


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
        if signals and merge_signals(assignment, signals):
            fields.append("signals")
        if fields:
            assignment.save(update_fields=fields)
    return draft_state(assignment, seen_version, is_held)


def merge_changes(assignment: Assignment, changes: Sequence[Change]) -> bool:
    """Put the changes into the assignment's draft (not saved); True when anything is new."""
    draft = assignment.draft or {}
    version, items = draft.get("version", 0), dict(draft.get("items", {}))
    latest = now_ms()
    news: dict[str, dict[str, Any]] = {}
    for change in changes:
        at = min(change.at, latest)  # a clock that runs ahead must not win for ever
        previous = news.get(change.field) or items.get(change.field)
        if previous is None or at >= previous["at"]:
            news[change.field] = {**change.content, "at": at, "version": version + 1}
    news = {name: entry for name, entry in news.items() if not _is_same(entry, items.get(name))}
    if not news:
        return False
    items.update(news)
    _check_size(items)
    assignment.draft = {**draft, "version": version + 1, "items": items}
    return True


def _is_same(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> bool:
    """A repeated change (a retry) is no news."""
    return old is not None and {**new, "version": 0} == {**old, "version": 0}


def _check_size(items: Mapping[str, Any]) -> None:
    if len(items) > MOST_ITEMS or len(json.dumps(items)) > MOST_BYTES:
        raise BadAnswers(_("This draft is too large to be kept. What was saved before is still here."))


def draft_state(assignment: Assignment, seen_version: int, is_held: bool) -> DraftState:
    draft = assignment.draft or {}
    news = {name: entry for name, entry in draft.get("items", {}).items() if entry["version"] > seen_version}
    seconds = (assignment.lease_until - clock.now()).total_seconds() if assignment.lease_until else 0
    return DraftState(draft.get("version", 0), news, assignment.state, max(0, int(seconds)) if is_held else 0, is_held)


def drafted_answers(assignment: Assignment) -> dict[str, Any]:
    """The draft as answers: field -> {"value": …, …}."""
    return dict((assignment.draft or {}).get("items", {}))


def drafted_since_submit(assignment: Assignment) -> dict[str, Any]:
    """Of a submitted task, what was drafted after its last submit or revision: a revision under way."""
    if assignment.state not in DONE or assignment.submitted_at is None:
        return drafted_answers(assignment)
    since = (assignment.draft or {}).get("settled", int(assignment.submitted_at.timestamp() * 1000))
    return {name: entry for name, entry in drafted_answers(assignment).items() if entry["at"] > since}


def now_ms() -> int:
    return int(clock.now().timestamp() * 1000)
