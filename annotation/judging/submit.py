"""Turning answers into judgments, once and for all; and revising them while the batch is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import AlreadySubmitted, Refused
from annotation.models import Assignment, Batch
from annotation.protocols.model_question import ModelAnswer

from .attention import merge_signals
from .drafts import Change, drafted_answers, merge_changes, now_ms
from .flags import PREFIX as FLAG
from .flags import store_flags
from .leases import DONE, Holder, check_open, hold, own_assignment

State = Assignment.State
Fields = Mapping[str, Any]  # by name, as the page sends them


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
    holder: Holder, key: str, answers: Fields, submit_key: str, *, signals: Fields | None = None
) -> Receipt:
    """Write one judgment per item in one transaction; an item that `answers` doesn't name is taken from the draft.

    The same `submit_key` again changes nothing and gets the same receipt. A submit after the lease ended, or after
    the batch was closed, is kept as surplus. Raises NotYours, AlreadySubmitted or BadAnswers; then nothing is written.
    """
    with transaction.atomic():
        assignment = own_assignment(holder, key, lock=True)
        if assignment.state in DONE:
            return _repeated_receipt(assignment, submit_key)
        if submit_key and submit_key in assignment.revision_keys:
            raise Refused(_("You took this submit back, and the task is open again. Nothing was changed."))
        if signals:
            merge_signals(assignment, signals)
        now = clock.now()
        protocol = protocols.of(assignment.task.batch)
        n_answers = protocol.store(assignment, {**drafted_answers(assignment), **answers}, now)
        store_flags(assignment, answers)
        _mark_submitted(assignment, submit_key, now)
        return Receipt(assignment, n_answers, repeated=False)


def submit_model(assignment: Assignment, answers: Mapping[str, ModelAnswer], submit_key: str) -> int:
    """Write what a model answered of a task, which is done thereby. Call it inside a transaction; how many answers."""
    now = clock.now()
    n_answers = protocols.of(assignment.task.batch).store_model(assignment, answers, now)
    _mark_submitted(assignment, submit_key, now)
    return n_answers


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
    holder: Holder, key: str, answers: Fields, submit_key: str, *, signals: Fields | None = None
) -> Receipt:
    """Append what changed since the last submit; nothing is overwritten. `judgments` is how many changed.

    The same `submit_key` again changes nothing. Raises NotYours, BatchNotOpen, BadAnswers, or Refused when nothing
    was submitted yet.
    """
    with transaction.atomic():
        assignment = own_assignment(holder, key, lock=True)
        if assignment.state not in DONE:
            raise Refused(_("This task isn’t submitted yet, so there is nothing to revise. Nothing was changed."))
        if not submit_key or submit_key in (assignment.submit_key, *assignment.revision_keys):
            return Receipt(assignment, 0, repeated=True)
        check_open(assignment.task.batch)
        if signals:
            merge_signals(assignment, signals)
        protocol = protocols.of(assignment.task.batch)
        n_changed = protocol.revise(assignment, {**protocol.answers_of(assignment), **answers}, clock.now())
        store_flags(assignment, answers)
        assignment.revision_keys = [*assignment.revision_keys, submit_key]
        assignment.draft = {**(assignment.draft or {}), "settled": now_ms()}
        assignment.save(update_fields=["revision_keys", "signals", "draft"])
        return Receipt(assignment, n_changed, repeated=False)


def undo_submit(holder: Holder, key: str) -> Assignment:
    """Take a submit back while the batch is open: the task is in hand again, its answers are its draft.

    The judgments stay on record and count no more; the next submit adds newer ones. Safe to repeat. Raises NotYours,
    BatchNotOpen, or Refused when a market has the work.
    """
    with transaction.atomic():
        assignment = own_assignment(holder, key, lock=True)
        if assignment.state not in DONE:
            return assignment
        check_open(assignment.task.batch)
        _check_not_handed_in(assignment)
        protocol = protocols.of(assignment.task.batch)
        _draft_again(assignment, protocol.answers_of(assignment))
        protocol.withdraw(assignment)
        _mark_open(assignment)
        return assignment


def _draft_again(assignment: Assignment, answers: Fields) -> None:
    """The answers become the draft; what was drafted under other names is gone, except for flags."""
    names = [name for name in drafted_answers(assignment) if not name.startswith(FLAG)]
    contents = {**{name: {"value": None} for name in names}, **answers}
    merge_changes(assignment, [Change(name, content, now_ms()) for name, content in contents.items()])


def _check_not_handed_in(assignment: Assignment) -> None:
    submission = assignment.submission
    if submission is not None and (submission.saved_at is not None or submission.state in submission.CONFIRMED):
        raise Refused(_("Your work is with the market already, so it can’t be taken back. Nothing was changed."))


def _mark_open(assignment: Assignment) -> None:
    """A submit keeps its place when it is taken back; what was surplus had none, and gets one if it is free."""
    assignment.state = State.LEASED if assignment.state == State.SUBMITTED else State.EXPIRED
    assignment.revision_keys = [*assignment.revision_keys, assignment.submit_key]
    assignment.submitted_at, assignment.submit_key = None, ""
    fields = ["state", "draft", "revision_keys", "submitted_at", "submit_key"]
    assignment.save(update_fields=fields)
    hold(assignment)
