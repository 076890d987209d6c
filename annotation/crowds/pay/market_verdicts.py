"""Booking what the market says of submissions: approved ones are paid, rejected ones give their promise back.

The market's word stands, whoever gave the verdict: we, its own clock (auto-approval), or somebody on its pages.
Everything here is safe to repeat.
"""

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction

from annotation.crowds.ledger import Kind, State, approval, extension, release_of, settle_entry, token_for, write_once
from annotation.models import Entry, Submission

Verdict = Submission.State
# A later state is never overwritten by an earlier one: a listing may be older than our own last call.
RANK = {Verdict.STARTED: 0, Verdict.RETURNED: 1, Verdict.SUBMITTED: 2, Verdict.REJECTED: 3, Verdict.APPROVED: 4}
BY_ITSELF = "The market approved it without a call of ours."


def is_news(known: str, told: str) -> bool:
    """Whether the market tells of a later state than we know."""
    if told == Verdict.RETURNED:
        return known in (Verdict.STARTED, Verdict.SUBMITTED)
    return RANK[Verdict(told)] > RANK[Verdict(known)]


def book_verdicts(submissions: Iterable[Submission]) -> list[str]:
    """Bring the ledger in line with approved and rejected submissions; a sentence for each that does not fit."""
    judged = [one for one in submissions if one.state in (Verdict.APPROVED, Verdict.REJECTED)]
    lines = _lines_of(judged)
    write_once([release_of(one) for one in judged if one.state == Verdict.REJECTED])
    approved = [one for one in judged if one.state == Verdict.APPROVED]
    problems = [problem for one in approved if (problem := _book_undone(one, lines.get(one.pk, {})))]
    new = [_by_itself(one) for one in approved if Kind.APPROVE not in lines.get(one.pk, {})]
    write_once(new)
    for one in approved:
        entry = lines.get(one.pk, {}).get(Kind.APPROVE)
        if entry is not None and entry.state != State.SETTLED:
            settle_entry(entry)
    return problems


def _lines_of(submissions: list[Submission]) -> dict[int, dict[str, Entry]]:
    found: dict[int, dict[str, Any]] = {}
    kinds = (Kind.APPROVE, Kind.RELEASE, Kind.EXTEND)
    for entry in Entry.objects.filter(submission__in=submissions, kind__in=kinds):
        assert entry.submission_id is not None
        found.setdefault(entry.submission_id, {})[entry.kind] = entry
    return found


def _by_itself(submission: Submission) -> Entry:
    entry = approval(submission, None)
    entry.state, entry.note, entry.settled_at = State.SETTLED, BY_ITSELF, submission.decided_at
    return entry


def undo_token(submission: Submission) -> str:
    posting = submission.posting
    return token_for(posting.batch, "undo", posting.token, submission.market_id)


def _book_undone(submission: Submission, lines: dict[str, Entry]) -> str:
    """A rejection that was taken back costs its place again: first the promise, then the payment draws on it."""
    if Kind.RELEASE not in lines:
        return ""
    entry = lines.get(Kind.EXTEND)
    if entry is not None and entry.state != State.FAILED:
        if entry.state != State.SETTLED:
            settle_entry(entry)
        return ""
    try:
        with transaction.atomic():
            if entry is None:
                entry = extension(submission.posting, 1, undo_token(submission), None, submission)
                entry.save()
            settle_entry(entry, note=BY_ITSELF)
    except IntegrityError as error:
        if "study_budget_kept" not in str(error):
            raise
        return f"Submission {submission.market_id} was approved on the market after its rejection, beyond the budget."
    return ""
