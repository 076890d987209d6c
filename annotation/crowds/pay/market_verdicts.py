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


def is_news(our_state: str, market_state: str) -> bool:
    """Whether the market tells of a later state than we know."""
    if market_state == Verdict.RETURNED:
        return our_state in (Verdict.STARTED, Verdict.SUBMITTED)
    return RANK[Verdict(market_state)] > RANK[Verdict(our_state)]


def book_verdicts(submissions: Iterable[Submission]) -> list[str]:
    """Bring the ledger in line with approved and rejected submissions; a sentence for each that does not fit."""
    decided = [submission for submission in submissions if submission.state in (Verdict.APPROVED, Verdict.REJECTED)]
    lines = _lines_of(decided)
    write_once([release_of(submission) for submission in decided if submission.state == Verdict.REJECTED])
    approved = [submission for submission in decided if submission.state == Verdict.APPROVED]
    undone = (_book_undone(submission, lines.get(submission.pk, {})) for submission in approved)
    problems = [problem for problem in undone if problem]
    new = [_by_itself(submission) for submission in approved if Kind.APPROVE not in lines.get(submission.pk, {})]
    write_once(new)
    for submission in approved:
        entry = lines.get(submission.pk, {}).get(Kind.APPROVE)
        if entry is not None and entry.state != State.SETTLED:
            settle_entry(entry)
    return problems


def _lines_of(submissions: list[Submission]) -> dict[int, dict[str, Entry]]:
    lines: dict[int, dict[str, Any]] = {}
    kinds = (Kind.APPROVE, Kind.RELEASE, Kind.EXTEND)
    for entry in Entry.objects.filter(submission__in=submissions, kind__in=kinds):
        assert entry.submission_id is not None
        lines.setdefault(entry.submission_id, {})[entry.kind] = entry
    return lines


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
