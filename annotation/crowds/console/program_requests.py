"""What a program asks of a batch on a market: whole or not at all, and never for more than it says it may cost."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.money import amount
from annotation.crowds.launch.quote import quote, refuse_problems
from annotation.crowds.ledger import check_affordable
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.bonus import is_payable
from annotation.crowds.pay.outcome import checked_reason
from annotation.crowds.pay.work_done import whole_and_other
from annotation.crowds.terms import Terms, set_terms
from annotation.models import Batch, Job, Submission

from .worker_actions import reason_given
from .workers import price_of_approval

Start = Callable[[str, dict[str, Any]], Job]
"""Writes down a job of this kind with these options."""
State = Submission.State
NEEDED_STATES = {"approve": State.SUBMITTED, "reject": State.SUBMITTED, "undo": State.REJECTED}
NAMED_AT_MOST = 10


def request_launch(batch: Batch, crowd: str, terms: Terms, most_cents: int, start: Start) -> Job:
    """Put the batch on a market by these terms."""
    price = quote(batch, terms, crowd)
    refuse_problems(price)
    _refuse_dearer(batch, price.total_cents, most_cents)
    with transaction.atomic():
        set_terms(batch, terms, crowd)
        return start("publish", {"batch": batch.pk})


def request_verdicts(
    batch: Batch, verdict: str, submission_ids: Sequence[int], reason: str, most_cents: int, start: Start
) -> Job:
    """Approve, reject, or undo the rejection of these hand-ins: each of them, or none."""
    submissions = _submissions(batch, submission_ids)
    market = market_for(batch.crowd, batch.study)
    _refuse_some(
        [row for row in submissions if row.state != NEEDED_STATES[verdict]],
        _("These hand-ins wait for no such verdict: %(ids)s. Nothing was done."),
    )
    options: dict[str, Any] = {"batch": batch.pk, "submissions": [row.pk for row in submissions]}
    if verdict == "reject":
        return start(verdict, {**options, "reason": reason_given(reason, market.least_reason)})
    if verdict == "approve":
        sentence = _("Not all promised answers of these hand-ins are with us: %(ids)s. Nothing was done.")
        _refuse_some(whole_and_other(submissions)[1], sentence)
    elif not market.undoes_rejection:
        raise Refused(_("This market can't take a rejection back. Nothing was spent."))
    cents = price_of_approval(submissions).total_cents
    _refuse_dearer(batch, cents, most_cents)
    if verdict == "undo":
        check_affordable(batch.study, market, cents)
    return start(verdict, options)


def request_bonuses(
    batch: Batch, submission_ids: Sequence[int], cents: int, reason: str, most_cents: int, start: Start
) -> Job:
    """Pay so much beside the reward for each of these hand-ins: for all of them, or for none."""
    submissions = _submissions(batch, submission_ids)
    sentence = _("A bonus belongs to work that was handed in, and these were not: %(ids)s. Nothing was spent.")
    _refuse_some([row for row in submissions if not is_payable(row)], sentence)
    market = market_for(batch.crowd, batch.study)
    total = len(submissions) * (cents + market.bonus_fee_cents(cents))
    _refuse_dearer(batch, total, most_cents)
    check_affordable(batch.study, market, total)
    options = {"submissions": [row.pk for row in submissions], "cents": cents, "reason": checked_reason(reason)}
    return start("bonus", {"batch": batch.pk, **options})


def _submissions(batch: Batch, submission_ids: Sequence[int]) -> list[Submission]:
    if not market_for(batch.crowd, batch.study).pays:
        raise Refused(_("“%(batch)s” is on no market that pays. Nothing was done.") % {"batch": batch})
    rows = Submission.objects.filter(pk__in=submission_ids, posting__batch=batch)
    submissions = list(rows.select_related("posting__batch__study", "worker").order_by("pk"))
    unknown_ids = set(submission_ids) - {row.pk for row in submissions}
    if unknown_ids:
        raise Refused(
            _("There is no hand-in %(id)d in this batch. Nothing was done.") % {"id": min(unknown_ids)},
        )
    return submissions


def _refuse_some(submissions: Sequence[Submission], sentence: str) -> None:
    if submissions:
        raise Refused(sentence % {"ids": ", ".join(str(row.pk) for row in submissions[:NAMED_AT_MOST])})


def _refuse_dearer(batch: Batch, cents: int, most_cents: int) -> None:
    if cents > most_cents:
        currency = batch.study.currency
        raise Refused(
            _("This costs %(sum)s with fees, and may cost %(most)s. Nothing was spent.")
            % {"sum": amount(cents, currency), "most": amount(most_cents, currency)}
        )
