"""Bonuses: paid beside the reward, once for the same sum and reason; in doubt a person decides, not a second call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from annotation.common.errors import Refused
from annotation.crowds.base import Market
from annotation.crowds.ledger import (
    State,
    bonus_line,
    check_balance,
    doubt_entry,
    fail_entry,
    mark_called,
    settle_entry,
    within_budget,
)
from annotation.crowds.ledger.calls import Reply, ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.models import Entry, Submission, User

from .outcome import Outcome, checked_reason, planned_line, waits, with_rows
from .work_done import work_done

Progress = Callable[[int, int], None]
FOUND = "An earlier call had paid it: the market lists it."
PAID_BEFORE = gettext_lazy("This bonus was paid before, for the same reason. Nothing was spent again.")
IN_DOUBT = gettext_lazy("Nobody knows whether this bonus was paid: settle that first. Nothing was spent again.")
UNCERTAIN = gettext_noop("The market did not answer, and asking again could pay twice. Look there whether it was paid.")


@dataclass(frozen=True)
class Bonus:
    """A sum for one submission."""

    submission: Submission
    cents: int


def bonus(submission: Submission, cents: int, reason: str, asked_by: User | None) -> Outcome:
    """Pay beside the reward, once work is submitted. The same sum for the same reason is paid once."""
    outcome = pay_bonuses([Bonus(submission, cents)], reason, asked_by)
    for _submission, sentence in outcome.refused:
        if sentence in (str(PAID_BEFORE), str(IN_DOUBT)):
            raise Refused(sentence)
    return outcome


def pay_bonuses(
    amounts: Sequence[Bonus], reason: str, asked_by: User | None, progress: Progress | None = None
) -> Outcome:
    """Several bonuses of one market for one reason: all of them, or none where budget or balance don't reach.

    One that was paid before is not paid again, and the others are; its sentence says so. A market that falls silent is
    asked no more: what is left stays planned.
    """
    reason, outcome = checked_reason(reason), Outcome()
    lines = _lines(amounts, reason, asked_by)
    if not lines:
        return outcome
    market = market_for(lines[0].batch.crowd, lines[0].study)
    with within_budget(lines[0].study):
        entries = [planned_line(line) for line in lines]
        check_balance(market, [entry for entry in entries if entry.state == State.PLANNED])
    point("bonus:written")
    for number, entry in enumerate(entries, start=1):
        _pay(market, entry, outcome)
        if progress:
            progress(number, len(entries))
    return outcome


def _lines(amounts: Sequence[Bonus], reason: str, asked_by: User | None) -> list[Entry]:
    submissions = {row.pk: row for row in with_rows([amount.submission for amount in amounts])}
    if any(amount.cents < 1 for amount in amounts):
        raise Refused(_("A bonus is at least 0.01. Nothing was spent."))
    for submission in submissions.values():
        if not is_payable(submission):
            raise Refused(_("A bonus can be paid once the work is submitted; it is not yet. Nothing was spent."))
    return [
        bonus_line(
            submission := submissions[amount.submission.pk],
            amount.cents,
            market_for(submission.posting.batch.crowd).bonus_fee_cents(amount.cents),
            reason,
            asked_by,
        )
        for amount in amounts
    ]


def is_payable(submission: Submission) -> bool:
    """Whether there is work that a bonus can belong to: also of who left early, and gave the rest back."""
    if submission.state == Submission.State.RETURNED:
        return work_done([submission])[submission.pk].tasks > 0
    return submission.state in Submission.CONFIRMED


def _pay(market: Market, entry: Entry, outcome: Outcome) -> None:
    assert entry.submission is not None
    if entry.state == State.SETTLED:
        outcome.refuse(entry.submission, PAID_BEFORE)
    elif entry.state == State.DOUBTFUL:
        outcome.refuse(entry.submission, IN_DOUBT)
    elif outcome.unanswered:
        outcome.wait(entry.submission, waits())
    else:
        carry_out_bonus(market, entry, outcome)


def carry_out_bonus(market: Market, entry: Entry, outcome: Outcome) -> None:
    """Call for a planned bonus, and settle it; in doubt, wait for a person where the market would pay twice."""
    submission = entry.submission
    assert submission is not None
    if entry.called_at is not None:
        if is_paid(market, entry):
            settle_entry(entry, note=FOUND)
            outcome.paid.append(submission)
            return
        if not market.repeats_bonus_safely:
            doubt_entry(entry, UNCERTAIN)
            outcome.wait(submission, _(UNCERTAIN))
            return
    mark_called([entry])
    point("bonus:called")
    for [reply] in ask(market, [entry], market.bonus):
        point("bonus:answered")
        _keep_bonus(reply, market, outcome)
    point("bonus:kept")


def is_paid(market: Market, entry: Entry) -> bool:
    """Whether the market lists this bonus; its tokens are forgotten after a day, its list is not."""
    assert entry.submission is not None
    facts = (entry.submission.market_id, entry.reward_cents, entry.reason)
    paid_bonuses = market.bonuses(entry.submission.posting)
    return any((bonus.submission_id, bonus.cents, bonus.reason) == facts for bonus in paid_bonuses)


def _keep_bonus(reply: "Reply[Entry, str]", market: Market, outcome: Outcome) -> None:
    entry = reply.item
    assert entry.submission is not None
    if reply.problem is None:
        settle_entry(entry, market_id=reply.value or "")
        outcome.paid.append(entry.submission)
        return
    if not reply.unknown:
        fail_entry(entry, str(reply.problem))
        outcome.refuse(entry.submission, reply.problem)
    elif market.repeats_bonus_safely:
        outcome.wait(entry.submission, f"{reply.problem} {waits()}")
    else:
        doubt_entry(entry, UNCERTAIN)
        outcome.wait(entry.submission, _(UNCERTAIN))
