"""Comparing our postings and bonuses with the market's lists: what differs is said, never guessed away."""

from collections import Counter

from django.utils.translation import gettext as _

from annotation.common.money import money
from annotation.crowds.base import Market, PaidBonus, Posted
from annotation.crowds.ledger import Kind, State
from annotation.crowds.ledger.calls import ask
from annotation.models import Batch, Posting, Submission

GONE = (Posting.State.OPEN, Posting.State.PAUSED, Posting.State.EXPIRED)


def check_postings(batch: Batch, market: Market, differences: list[str]) -> dict[str, Posted]:
    """What stands on the market by token. Postings that ran out of time there are marked expired here."""
    found: dict[str, Posted] = {}
    for token, posted in market.find(batch):
        if token in found:
            differences.append(
                _("The market has two postings for one: %(a)s and %(b)s. Expire one of them there.")
                % {"a": found[token].market_id, "b": posted.market_id}
            )
        found.setdefault(token, posted)
    known = {one.token: one for one in batch.postings.only("token", "state", "market_id", "batch_id")}
    differences += [
        _("The market has a posting of this batch that is not in the ledger: %(id)s.") % {"id": posted.market_id}
        for token, posted in found.items()
        if token not in known
    ]
    for token, posting in known.items():
        if token in found:
            _follow(posting, found[token], differences)
        elif posting.state in GONE:
            differences.append(
                _("Posting %(id)s is no longer on the market's list; it was deleted there.") % {"id": posting.market_id}
            )
    return found


def _follow(posting: Posting, posted: Posted, differences: list[str]) -> None:
    if posting.state == Posting.State.OPEN and posted.state == Posting.State.EXPIRED:
        posting.state = Posting.State.EXPIRED
        posting.save(update_fields=["state"])
    elif posting.state == Posting.State.EXPIRED and posted.state == Posting.State.OPEN:
        differences.append(_("Posting %(id)s was opened again on the market.") % {"id": posting.market_id})
    if posting.market_id and posting.market_id != posted.market_id:
        differences.append(
            _("Posting %(id)s is listed by the market as %(other)s.")
            % {"id": posting.market_id, "other": posted.market_id}
        )


def check_bonuses(batch: Batch, market: Market, differences: list[str]) -> None:
    """Bonuses that only one side has."""
    worked = Submission.objects.filter(posting__batch=batch, state__in=Submission.CONFIRMED).values("posting")
    postings = batch.postings.filter(pk__in=worked, state__in=GONE)
    for replies in ask(market, list(postings), lambda posting: list(market.bonuses(posting))):
        for reply in replies:
            if reply.value is not None:
                differences += _bonus_differences(reply.item, reply.value)


def _bonus_differences(posting: Posting, paid: list[PaidBonus]) -> list[str]:
    reasons = any(one.reason for one in paid)  # Prolific keeps none, so there the sums are compared
    lines = posting.entries.filter(kind=Kind.BONUS).exclude(state=State.FAILED).select_related("submission")
    ours = [
        (one.submission.market_id, one.reward_cents, one.reason if reasons else "", one.state)
        for one in lines
        if one.submission
    ]
    theirs = Counter((one.submission_id, one.cents, one.reason) for one in paid)
    theirs.subtract((market_id, cents, reason) for market_id, cents, reason, state in ours if state == State.SETTLED)
    open_lines = {line[:3] for line in ours if line[3] != State.SETTLED}
    currency = posting.batch.study.currency
    return [_bonus_sentence(*line, more, currency) for line, more in theirs.items() if more and line not in open_lines]


def _bonus_sentence(market_id: str, cents: int, _reason: str, more: int, currency: str) -> str:
    about = {"sum": f"{money(cents)} {currency}", "id": market_id, "n": abs(more)}
    if more > 0:
        return _("The market lists a bonus of %(sum)s for %(id)s %(n)d times more than the ledger.") % about
    return _("The ledger has a bonus of %(sum)s for %(id)s that the market does not list.") % about
