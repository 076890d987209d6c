"""Lines of the ledger: what each kind of call promises, pays or takes back, and the token it is known by.

A token follows from what the money is for, so that the same call planned twice is one line, and the database refuses
the second. Amounts never change; an entry that the market refused can be planned again.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.base import Market
from annotation.models import Batch, Entry, Posting, Study, Submission, User

Kind, State = Entry.Kind, Entry.State


class OverBudget(Refused):
    """The database refused one cent too many; nothing was written and nothing spent."""

    status = 422


def token_for(batch: Batch, *values: object) -> str:
    """40 characters that follow from the study's secret and what the token is for."""
    words = ":".join(map(str, (batch.study.salt, batch.pk, *values)))
    return hashlib.blake2b(words.encode(), digest_size=20).hexdigest()


def batch_tag(batch: Batch) -> str:
    """By what a market's listing shows that something is of this batch."""
    return token_for(batch, "batch")[:16]


def posting_token(batch: Batch, task_id: int | None, part: int) -> str:
    return token_for(batch, "post", task_id or "all", part)


@contextmanager
def within_budget(study: Study) -> Iterator[None]:
    """One transaction; OverBudget, and nothing is written, when it would commit more than the study may spend."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if "study_budget_kept" not in str(error):
            raise
        raise OverBudget(_over_budget(study)) from None


def _over_budget(study: Study) -> str:
    study.refresh_from_db(fields=["budget_cents", "committed_cents"])
    left_cents = max(0, (study.budget_cents or 0) - study.committed_cents)
    return _(
        "This would go over the study's budget: %(left)s of %(budget)s %(currency)s are left. Nothing was spent; raise "
        "the budget, or ask for less."
    ) % {"left": money(left_cents), "budget": money(study.budget_cents or 0), "currency": study.currency}


def check_affordable(study: Study, market: Market, cents: int) -> None:
    """Refused, before anything is written, where the budget or the account on the market don't reach."""
    study.refresh_from_db(fields=["budget_cents", "committed_cents"])
    if study.budget_cents is not None and study.committed_cents + cents > study.budget_cents:
        raise OverBudget(_over_budget(study))
    _check_cents(market, cents)


def check_balance(market: Market, entries: Sequence[Entry]) -> None:
    """Refused, before anything is called, where the account on the market holds less than these cost."""
    _check_cents(market, sum(entry.promised_cents + entry.paid_cents for entry in entries))


def _check_cents(market: Market, cents: int) -> None:
    balance = market.balance_cents()
    if balance is not None and balance < cents:
        raise OverBudget(
            _("This costs %(sum)s, but the account on the market holds %(balance)s. Nothing was spent: put money in.")
            % {"sum": money(cents), "balance": money(balance)}
        )


def set_budget(study: Study, budget_cents: int | None) -> None:
    """Cap what the study may promise and pay; None lifts the cap. Refused below what is committed already."""
    try:
        with transaction.atomic():
            Study.objects.filter(pk=study.pk).update(budget_cents=budget_cents)
    except IntegrityError:
        study.refresh_from_db(fields=["committed_cents"])
        raise Refused(
            _("%(committed)s %(currency)s are committed already, so the budget can't be lower. Nothing was changed.")
            % {"committed": money(study.committed_cents), "currency": study.currency}
        ) from None
    study.refresh_from_db(fields=["budget_cents"])


# Lines


def promise(posting: Posting, asked_by: User | None) -> Entry:
    """The reward and the fee of every place, before it is put up."""
    return _line(posting, Kind.POST, posting.token, posting.places, asked_by=asked_by)


def extension(posting: Posting, places: int, token: str, asked_by: User | None, submission: Submission | None) -> Entry:
    """More places on what stands; or the place of a submission whose rejection is taken back."""
    return _line(posting, Kind.EXTEND, token, places, submission=submission, asked_by=asked_by)


def approval(submission: Submission, asked_by: User | None) -> Entry:
    """The promise becomes a payment: neutral to the budget."""
    posting = submission.posting
    cents = posting.reward_cents + posting.fee_cents
    return Entry(
        **_posting_values(posting),
        submission=submission,
        kind=Kind.APPROVE,
        token=token_for(posting.batch, "approve", posting.token, submission.market_id),
        reward_cents=posting.reward_cents,
        fee_cents=posting.fee_cents,
        promised_cents=-cents,
        paid_cents=cents,
        asked_by=asked_by,
    )


def bonus_line(submission: Submission, cents: int, fee: int, reason: str, asked_by: User | None) -> Entry:
    """Paid beside the promise. The same sum for the same reason stands once per submission."""
    posting = submission.posting
    return Entry(
        **_posting_values(posting),
        submission=submission,
        kind=Kind.BONUS,
        token=token_for(posting.batch, "bonus", posting.token, submission.market_id, cents, reason),
        reward_cents=cents,
        fee_cents=fee,
        paid_cents=cents + fee,
        reason=reason,
        asked_by=asked_by,
    )


def release_of(submission: Submission) -> Entry:
    """A rejected submission's place: the market gives its money back, once it has said so."""
    posting = submission.posting
    token = token_for(posting.batch, "release", posting.token, submission.market_id)
    return _line(posting, Kind.RELEASE, token, -1, submission=submission, state=State.SETTLED)


def release_unfilled(posting: Posting, places: int, before: int) -> Entry:
    """Places that nobody can claim any more; `before` were released earlier."""
    token = token_for(posting.batch, "unfilled", posting.token, before)
    return _line(posting, Kind.RELEASE, token, -places, state=State.SETTLED)


def _line(posting: Posting, kind: str, token: str, places: int, **entry_values: object) -> Entry:
    reward, fee = places * posting.reward_cents, places * posting.fee_cents
    settled = {"settled_at": clock.now()} if entry_values.get("state") == State.SETTLED else {}
    return Entry(
        **_posting_values(posting),
        kind=kind,
        token=token,
        reward_cents=reward,
        fee_cents=fee,
        promised_cents=reward + fee,
        **settled,
        **entry_values,
    )


def _posting_values(posting: Posting) -> dict[str, object]:
    return {"study_id": posting.batch.study_id, "batch_id": posting.batch_id, "posting": posting}


# Moving on


def mark_called(entries: Iterable[Entry]) -> None:
    """Say in the database that the call is about to be made: from here on nobody knows whether it took effect."""
    now = clock.now()
    Entry.objects.filter(pk__in=[entry.pk for entry in entries]).update(called_at=now)


def settle_entry(entry: Entry, note: str = "", market_id: str = "") -> None:
    _move(entry, State.SETTLED, note, market_id)


def fail_entry(entry: Entry, note: str) -> None:
    _move(entry, State.FAILED, note)


def doubt_entry(entry: Entry, note: str) -> None:
    _move(entry, State.DOUBTFUL, note)


def _move(entry: Entry, state: str, note: str, market_id: str = "") -> None:
    entry.state, entry.note = state, note or entry.note
    entry.market_id = market_id or entry.market_id
    entry.settled_at = None if state == State.DOUBTFUL else clock.now()
    entry.save(update_fields=["state", "note", "market_id", "settled_at"])


def revive(entries: list[Entry]) -> list[Entry]:
    """Plan refused entries again. The database checks the budget anew."""
    for entry in entries:
        entry.state, entry.called_at, entry.settled_at = State.PLANNED, None, None
        entry.save(update_fields=["state", "called_at", "settled_at"])
    return entries


def write_once(entries: list[Entry]) -> None:
    """Write lines whose tokens may be there already; those stay as they are."""
    Entry.objects.bulk_create(entries, ignore_conflicts=True, batch_size=500)


def released_places(posting: Posting) -> int:
    """Unfilled places whose promise was taken back."""
    price = posting.reward_cents + posting.fee_cents
    lines = posting.entries.filter(kind=Kind.RELEASE, submission=None).aggregate(cents=Sum("promised_cents"))
    return -(lines["cents"] or 0) // price if price else 0
