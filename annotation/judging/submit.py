"""Turning answers into judgments, once and for all; and revising them while the batch is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, NotYours, Refused
from annotation.models import Assignment, Batch, Worker

from .attention import merge_signals
from .drafts import drafted_answers, now_ms
from .leases import DONE, check_open, own_assignment

State = Assignment.State


@dataclass(frozen=True)
class Receipt:
    """What a worker gets for a submit; `repeated` when the same submit had come before."""

    assignment: Assignment
    judgments: int
    repeated: bool

    @property
    def surplus(self) -> bool:
        return self.assignment.state == State.SURPLUS


def submit_judgments(
    worker: Worker | None,
    key: str,
    answers: Mapping[str, Any],
    submit_key: str,
    *,
    signals: Mapping[str, Any] | None = None,
) -> Receipt:
    """Write one judgment per item in one transaction; an item that `answers` doesn't name is taken from the draft.

    The same `submit_key` again changes nothing and gets the same receipt. A submit after the lease ended, or after
    the batch was closed, is kept as surplus. Raises NotYours, AlreadySubmitted or BadAnswers; then nothing is written.
    """
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True)
        if assignment.state in DONE:
            return _repeated_receipt(assignment, submit_key)
        if signals:
            merge_signals(assignment, signals)
        now = clock.now()
        protocol = protocols.of(assignment.task.batch)
        n_answers = protocol.store(assignment, {**drafted_answers(assignment), **answers}, now)
        _mark_submitted(assignment, submit_key, now)
        return Receipt(assignment, n_answers, repeated=False)


def _repeated_receipt(assignment: Assignment, submit_key: str) -> Receipt:
    if not submit_key or submit_key != assignment.submit_key:
        raise AlreadySubmitted
    return Receipt(assignment, protocols.of(assignment.task.batch).count_answers(assignment), repeated=True)


def _mark_submitted(assignment: Assignment, submit_key: str, now: datetime) -> None:
    in_time = assignment.state == State.LEASED and not assignment.is_expired(now)
    counts = in_time and assignment.task.batch.state != Batch.State.CLOSED
    assignment.state = State.SUBMITTED if counts else State.SURPLUS
    assignment.submitted_at, assignment.submit_key = now, submit_key
    assignment.save(update_fields=["state", "submitted_at", "submit_key", "signals"])


def revise_judgments(
    worker: Worker | None,
    key: str,
    answers: Mapping[str, Any],
    submit_key: str,
    *,
    signals: Mapping[str, Any] | None = None,
) -> Receipt:
    """Append what changed since the last submit; nothing is overwritten. `judgments` is how many changed.

    The same `submit_key` again changes nothing. Raises NotYours, BatchNotOpen, BadAnswers, or Refused when nothing
    was submitted yet.
    """
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True)
        if assignment.state not in DONE:
            raise Refused(_("This task isn’t submitted yet, so there is nothing to revise. Nothing was changed."))
        if not submit_key or submit_key in (assignment.submit_key, *assignment.revision_keys):
            return Receipt(assignment, 0, repeated=True)
        check_open(assignment.task.batch)
        if signals:
            merge_signals(assignment, signals)
        protocol = protocols.of(assignment.task.batch)
        n_changed = protocol.revise(assignment, {**protocol.answers_of(assignment), **answers}, clock.now())
        assignment.revision_keys = [*assignment.revision_keys, submit_key]
        assignment.draft = {**(assignment.draft or {}), "settled": now_ms()}
        assignment.save(update_fields=["revision_keys", "signals", "draft"])
        return Receipt(assignment, n_changed, repeated=False)


__all__ = ["NotYours", "Receipt", "revise_judgments", "submit_judgments"]
