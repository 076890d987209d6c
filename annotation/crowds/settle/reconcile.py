"""Comparing our postings and bonuses with the market's lists: what differs is said, never guessed away."""

from collections import Counter

from django.utils.translation import gettext as _

from annotation.common.money import money
from annotation.crowds.base import Market, PaidBonus, Posted
from annotation.crowds.collect import STANDING
from annotation.crowds.ledger import Kind, State
from annotation.crowds.ledger.calls import ask
from annotation.models import Batch, Posting, Submission


def check_postings(batch: Batch, market: Market, differences: list[str]) -> dict[str, Posted]:
    """What stands on the market by token. Postings that ran out of time there are marked expired here."""
    market_postings: dict[str, Posted] = {}
    for token, market_posting in market.find(batch):
        if token in market_postings:
            differences.append(
                _("The market has two postings for one: %(a)s and %(b)s. Expire one of them there.")
                % {"a": market_postings[token].market_id, "b": market_posting.market_id}
            )
        market_postings.setdefault(token, market_posting)
    postings = {posting.token: posting for posting in batch.postings.only("token", "state", "market_id", "batch_id")}
    differences += [
        _("The market has a posting of this batch that is not in the ledger: %(id)s.") % {"id": strange.market_id}
        for token, strange in market_postings.items()
        if token not in postings
    ]
    for token, posting in postings.items():
        if token in market_postings:
            _follow(posting, market_postings[token], differences)
        elif posting.state in STANDING:
            differences.append(
                _("Posting %(id)s is no longer on the market's list; it was deleted there.") % {"id": posting.market_id}
            )
    return market_postings


def _follow(posting: Posting, market_posting: Posted, differences: list[str]) -> None:
    if posting.state == Posting.State.OPEN and market_posting.state == Posting.State.EXPIRED:
        posting.state = Posting.State.EXPIRED
        posting.save(update_fields=["state"])
    elif posting.state == Posting.State.EXPIRED and market_posting.state == Posting.State.OPEN:
        differences.append(_("Posting %(id)s was opened again on the market.") % {"id": posting.market_id})
    if posting.market_id and posting.market_id != market_posting.market_id:
        differences.append(
            _("Posting %(id)s is listed by the market as %(other)s.")
            % {"id": posting.market_id, "other": market_posting.market_id}
        )


def check_bonuses(batch: Batch, market: Market, differences: list[str]) -> None:
    """Bonuses that only one side has."""
    worked = Submission.objects.filter(posting__batch=batch, state__in=Submission.CONFIRMED).values("posting")
    postings = batch.postings.filter(pk__in=worked, state__in=STANDING)
    for replies in ask(market, list(postings), lambda posting: list(market.bonuses(posting))):
        for reply in replies:
            if reply.value is not None:
                differences += _bonus_differences(reply.item, reply.value)


def _bonus_differences(posting: Posting, paid_bonuses: list[PaidBonus]) -> list[str]:
    reasons = any(bonus.reason for bonus in paid_bonuses)  # Prolific keeps none, so there the sums are compared
    lines = posting.entries.filter(kind=Kind.BONUS).exclude(state=State.FAILED).select_related("submission")
    our_lines = [
        (line.submission.market_id, line.reward_cents, line.reason if reasons else "", line.state)
        for line in lines
        if line.submission
    ]
    surplus = Counter((bonus.submission_id, bonus.cents, bonus.reason) for bonus in paid_bonuses)
    surplus.subtract(line[:3] for line in our_lines if line[3] == State.SETTLED)
    open_lines = {line[:3] for line in our_lines if line[3] != State.SETTLED}
    currency = posting.batch.study.currency
    return [_bonus_sentence(*line, n, currency) for line, n in surplus.items() if n and line not in open_lines]


def _bonus_sentence(market_id: str, cents: int, _reason: str, n: int, currency: str) -> str:
    values = {"sum": f"{money(cents)} {currency}", "id": market_id, "n": abs(n)}
    if n > 0:
        return _("The market lists a bonus of %(sum)s for %(id)s %(n)d times more than the ledger.") % values
    return _("The ledger has a bonus of %(sum)s for %(id)s that the market does not list.") % values
