"""Approving, rejecting, paying bonuses: each payment is a line of the ledger before it is a call to the market.

All lines of one request are written in one transaction, so a crash leaves either none or all of them, and `settle`
carries out what was decided. A call whose fate is unknown stays planned; or doubtful, where a repeat would pay twice.
"""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.common.labels import label
from annotation.crowds.base import Market, MarketRefused
from annotation.crowds.ledger import (
    Kind,
    State,
    approval,
    check_balance,
    extension,
    fail_entry,
    mark_called,
    settle_entry,
    within_budget,
)
from annotation.crowds.ledger.calls import Reply, ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.crowds.seats.places import confirm, drop
from annotation.models import Entry, Submission, User

from .bonus import bonus
from .market_verdicts import book_verdicts, undo_token
from .outcome import Outcome, checked_reason, planned_line, waits, with_rows
from .work_done import work_done

Progress = Callable[[int, int], None]
Verdict = Submission.State


def approve(
    submissions: Sequence[Submission],
    asked_by: User | None,
    progress: Progress | None = None,
    *,
    without_answers: bool = False,
) -> Outcome:
    """Pay the reward of submitted work. What is not submitted, or judged already, is refused and costs nothing.

    So is what was handed in on the market without the answers that were promised, unless somebody asks for just that.
    """
    outcome = Outcome()
    for market, market_submissions in _by_market(submissions):
        ready = [submission for submission in market_submissions if _approvable(submission, outcome)]
        if not without_answers:
            ready = _with_answers(ready, outcome)
        with transaction.atomic():
            entries = [planned_line(approval(submission, asked_by)) for submission in ready]
        point("approve:written")
        carry_out_approvals(market, entries, outcome, progress)
    return outcome


def _approvable(submission: Submission, outcome: Outcome) -> bool:
    sentences = {
        Verdict.STARTED: _("It is not submitted yet, so there is nothing to approve. Nothing was spent."),
        Verdict.RETURNED: _("It was given back, so there is nothing to approve. Nothing was spent."),
        Verdict.APPROVED: _("It was approved before. Nothing was spent again."),
        Verdict.REJECTED: _("It was rejected; take the rejection back to pay it. Nothing was spent."),
    }
    if submission.state == Verdict.SUBMITTED:
        return True
    outcome.refuse(submission, sentences[Verdict(submission.state)])
    return False


def _with_answers(submissions: list[Submission], outcome: Outcome) -> list[Submission]:
    work = work_done(submissions)
    for submission in submissions:
        if not work[submission.pk].is_whole:
            outcome.refuse(submission, work[submission.pk].sentence)
    return [submission for submission in submissions if work[submission.pk].is_whole]


def carry_out_approvals(
    market: Market, entries: list[Entry], outcome: Outcome, progress: Progress | None = None, undo: bool = False
) -> None:
    """Call for each planned approval, and settle it."""

    def call(entry: Entry) -> bool:
        assert entry.submission is not None
        market.approve(entry.submission, undo_rejection=undo)
        point("approve:answered")
        return True

    todo = [entry for entry in entries if entry.state == State.PLANNED]
    outcome.paid += [entry.submission for entry in entries if entry.state != State.PLANNED and entry.submission]
    silent = ""
    waiting_entries = list(todo)
    for replies in ask(market, todo, call, _about_to("approve")):
        with transaction.atomic():
            for reply in replies:
                _keep_approval(reply, outcome)
                point("approve:half-kept")
        point("approve:kept")
        silent = next((str(reply.problem) for reply in replies if reply.unknown), "")
        waiting_entries = waiting_entries[len(replies) :]
        if progress:
            progress(len(todo) - len(waiting_entries), len(todo))
    for entry in waiting_entries:
        assert entry.submission is not None
        outcome.wait(entry.submission, f"{silent} {waits()}")


def _about_to(action: str) -> Callable[[list[Entry]], None]:
    def before(entries: list[Entry]) -> None:
        mark_called(entries)
        point(f"{action}:called")

    return before


def _keep_approval(reply: "Reply[Entry, bool]", outcome: Outcome) -> None:
    entry = reply.item
    submission = entry.submission
    assert submission is not None
    if reply.value:
        undone = submission.state == Verdict.REJECTED
        set_verdict(submission, Verdict.APPROVED)
        settle_entry(entry)
        if undone:
            book_verdicts([submission])
            confirm(submission)
        outcome.paid.append(submission)
    elif reply.unknown:
        outcome.wait(submission, f"{reply.problem} {waits()}")
    else:
        fail_entry(entry, str(reply.problem))
        outcome.refuse(submission, reply.problem)


def set_verdict(submission: Submission, state: str, reason: str = "") -> None:
    submission.state, submission.decided_at, submission.reason = state, clock.now(), reason
    submission.save(update_fields=["state", "decided_at", "reason"])


def reject(submissions: Sequence[Submission], reason: str, asked_by: User | None) -> Outcome:
    """Refuse submitted work, with a reason for the worker. Nothing is spent: the market gives the promise back."""
    reason = checked_reason(reason)
    outcome = Outcome()
    for market, market_submissions in _by_market(submissions):
        ready = [submission for submission in market_submissions if _rejectable(submission, outcome)]
        point("reject:begin")

        def call(submission: Submission, market: Market = market) -> bool:
            market.reject(submission, reason)
            point("reject:answered")
            return True

        for replies in ask(market, ready, call):
            with transaction.atomic():
                for reply in replies:
                    _keep_rejection(reply, reason, outcome)
            point("reject:kept")
            ready = ready[len(replies) :]
        for submission in ready:
            outcome.wait(submission, _("The market fell silent before. Nothing was changed here; try again later."))
    return outcome


def _rejectable(submission: Submission, outcome: Outcome) -> bool:
    planned = submission.entries.filter(kind=Kind.APPROVE, state__in=[State.PLANNED, State.DOUBTFUL]).exists()
    if submission.state == Verdict.SUBMITTED and not planned:
        return True
    sentence = _("Only submitted work can be rejected; this is %(state)s. Nothing was changed.")
    if planned:
        sentence = _("Its approval is under way, so it can't be rejected. Nothing was changed; settle first.")
    outcome.refuse(submission, sentence % {"state": label(submission.state)})
    return False


def _keep_rejection(reply: "Reply[Submission, bool]", reason: str, outcome: Outcome) -> None:
    submission = reply.item
    if reply.value:
        set_verdict(submission, Verdict.REJECTED, reason)
        book_verdicts([submission])
        drop(submission)
        outcome.paid.append(submission)
    elif reply.unknown:
        outcome.wait(submission, reply.problem)
    else:
        outcome.refuse(submission, reply.problem)


def undo_rejection(submission: Submission, asked_by: User | None) -> Outcome:
    """Approve after all, where the market allows it. The place costs its promise again, within the budget."""
    return undo_rejections([submission], asked_by)


def undo_rejections(submissions: Sequence[Submission], asked_by: User | None) -> Outcome:
    """The same for several: all of them, or none where budget or balance don't reach."""
    outcome = Outcome()
    for market, rejected in _by_market(submissions):
        if any(submission.state != Verdict.REJECTED for submission in rejected):
            raise Refused(_("Only a rejected submission can be approved after all. Nothing was spent."))
        if not market.undoes_rejection:
            raise MarketRefused(_("This market can't take a rejection back. Nothing was spent."))
        with within_budget(rejected[0].posting.batch.study):
            places = [planned_line(extension(row.posting, 1, undo_token(row), asked_by, row)) for row in rejected]
            entries = [planned_line(approval(submission, asked_by)) for submission in rejected]
            check_balance(market, places)
        point("undo:written")
        mark_called(places)
        carry_out_approvals(market, entries, outcome, undo=True)
        for place, entry in zip(places, entries, strict=True):
            entry.refresh_from_db(fields=["state"])
            if entry.state == State.FAILED:
                fail_entry(place, entry.note)
    return outcome


def _by_market(submissions: Sequence[Submission]) -> list[tuple[Market, list[Submission]]]:
    by_market: dict[tuple[str, int], list[Submission]] = {}
    for submission in with_rows(submissions):
        batch = submission.posting.batch
        by_market.setdefault((batch.crowd, batch.study_id), []).append(submission)
    return [(market_for(crowd, rows[0].posting.batch.study), rows) for (crowd, _study), rows in by_market.items()]


__all__ = ["Outcome", "approve", "bonus", "reject", "undo_rejection", "undo_rejections"]
