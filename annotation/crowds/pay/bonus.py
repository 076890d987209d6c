"""Bonuses: paid beside the reward, once for the same sum and reason; in doubt a person decides, not a second call."""

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.crowds.base import Market
from annotation.crowds.ledger import (
    State,
    bonus_line,
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

FOUND = "An earlier call had paid it: the market lists it."
UNCERTAIN = "The market did not answer, and asking again could pay twice. Look there whether it was paid."


def bonus(submission: Submission, cents: int, reason: str, asked_by: User | None) -> Outcome:
    """Pay beside the reward, once work is submitted. The same sum for the same reason is paid once."""
    reason = checked_reason(reason)
    [submission] = with_rows([submission])
    if cents < 1:
        raise Refused(_("A bonus is at least 0.01. Nothing was spent."))
    if submission.state not in Submission.CONFIRMED:
        raise Refused(_("A bonus can be paid once the work is submitted; it is not yet. Nothing was spent."))
    market = market_for(submission.posting.batch.crowd)
    line = bonus_line(submission, cents, market.bonus_fee_cents(cents), reason, asked_by)
    with within_budget(submission.posting.batch.study):
        entry = planned_line(line)
    if entry.state == State.SETTLED:
        raise Refused(_("This bonus was paid before, for the same reason. Nothing was spent again."))
    if entry.state == State.DOUBTFUL:
        raise Refused(_("Nobody knows whether this bonus was paid: settle that first. Nothing was spent again."))
    point("bonus:written")
    outcome = Outcome()
    carry_out_bonus(market, entry, outcome)
    return outcome


def carry_out_bonus(market: Market, entry: Entry, outcome: Outcome) -> None:
    """Call for a planned bonus, and settle it; in doubt, wait for a person where the market would pay twice."""
    submission = entry.submission
    assert submission is not None
    if entry.called_at is not None:
        if is_paid(market, entry):
            settle_entry(entry, note=FOUND)
            outcome.done += 1
            return
        if not market.repeats_bonus_safely:
            doubt_entry(entry, UNCERTAIN)
            outcome.refuse(submission, UNCERTAIN)
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
        outcome.done += 1
        return
    if reply.unknown and not market.repeats_bonus_safely:
        doubt_entry(entry, UNCERTAIN)
    elif not reply.unknown:
        fail_entry(entry, str(reply.problem))
    outcome.refuse(entry.submission, f"{reply.problem} {waits()}" if reply.unknown else reply.problem)
