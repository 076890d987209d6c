"""Turning answers into judgments, once and for all."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from . import clock, protocols
from .errors import AlreadySubmitted, NotYours
from .leases import own_assignment
from .models import Assignment, Judgment, Worker
from .protocols.base import Answer

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


def submit_judgments(worker: Worker, key: str, answers: Mapping[str, str], submit_key: str) -> Receipt:
    """Write one judgment per item in one transaction.

    The same `submit_key` again changes nothing and gets the same receipt. A submit after the lease ended is kept
    as surplus. Raises NotYours, AlreadySubmitted or BadAnswers; then nothing is written.
    """
    with transaction.atomic():
        assignment = own_assignment(worker, key, lock=True)
        if assignment.state in (State.SUBMITTED, State.SURPLUS):
            return _again(assignment, submit_key)
        checked = protocols.of(assignment.task.batch).check_answers(assignment, answers)
        return _write(assignment, checked, submit_key)


def _again(assignment: Assignment, submit_key: str) -> Receipt:
    if not submit_key or submit_key != assignment.submit_key:
        raise AlreadySubmitted
    return Receipt(assignment, assignment.judgments.filter(is_current=True).count(), repeated=True)


def _write(assignment: Assignment, answers: list[Answer], submit_key: str) -> Receipt:
    now, batch = clock.now(), assignment.task.batch
    in_time = assignment.state == State.LEASED and not assignment.is_expired(now)
    assignment.state = State.SUBMITTED if in_time else State.SURPLUS
    assignment.submitted_at, assignment.submit_key = now, submit_key
    assignment.save(update_fields=["state", "submitted_at", "submit_key"])
    Judgment.objects.bulk_create(
        Judgment(
            assignment=assignment,
            summary_id=answer.item.summary_id,
            unit=answer.item.unit,
            value=answer.value,
            scale_min=batch.scale_min,
            scale_max=batch.scale_max,
            is_check=answer.item.is_check,
            position=answer.position,
            submitted_at=now,
        )
        for answer in answers
    )
    return Receipt(assignment, len(answers), repeated=False)


__all__ = ["NotYours", "Receipt", "submit_judgments"]
