"""A judge's money: its cap is a promise in the ledger, what it used a payment, the rest is given back.

Within a run the database keeps the cap call by call (annotation/models/judges.py); the ledger counts whole cents.
"""

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.ledger import Kind, State, posting_token, promise, settle_entry, token_for, within_budget
from annotation.models import Batch, Entry, JudgeRun, Posting, Submission, User, Worker
from annotation.models.judges import MICROS_A_CENT

MOST_CENTS = 10_000_00


def cents_of(micros: int) -> int:
    """Rounded up."""
    return -(-micros // MICROS_A_CENT)


def promise_cap(batch: Batch, cents: int, asked_by: User | None) -> Posting:
    """The posting that stands for the run, with its cap as a promise. Call it within the budget."""
    posting = Posting.objects.create(
        batch=batch,
        token=posting_token(batch, None, 0),
        places=1,
        reward_cents=0,
        fee_cents=cents,
        state=Posting.State.OPEN,
        market_id=f"judge-{batch.pk}",
    )
    if cents:
        entry = promise(posting, asked_by)
        entry.save()
        settle_entry(entry, market_id=posting.market_id)
    return posting


def raise_cap(run: JudgeRun, cents: int, asked_by: User | None) -> None:
    """Let it cost so many cents more. Refused beyond the study's budget, or once the run is settled."""
    if not 0 < cents <= MOST_CENTS:
        raise Refused(_("Raise the cap by an amount above 0 and up to 10,000. Nothing was changed."))
    with within_budget(run.batch.study):
        locked = JudgeRun.objects.select_for_update().get(pk=run.pk)
        if locked.ended_at:
            raise Refused(_("This run is over and settled, so it needs no cap. Nothing was changed."))
        entry = _line(run, Kind.EXTEND, token_for(run.batch, "judge-cap", locked.cap_micros), cents, asked_by)
        entry.promised_cents = cents
        entry.save()
        JudgeRun.objects.filter(pk=run.pk).update(cap_micros=locked.cap_micros + cents * MICROS_A_CENT)


def settle_run(run: JudgeRun, worker: Worker) -> None:
    """The run is over: what it used is paid, what it did not is given back. Safe to repeat."""
    with transaction.atomic():
        locked = JudgeRun.objects.select_for_update().get(pk=run.pk)
        if locked.ended_at:
            return
        spent, cap = cents_of(locked.committed_micros), cents_of(locked.cap_micros)
        posting = run.batch.postings.get(task=None, part=0)
        now = clock.now()
        submission = Submission.objects.create(
            posting=posting,
            worker=worker,
            market_id=f"run-{run.pk}",
            state=Submission.State.APPROVED,
            started_at=run.made_at,
            submitted_at=now,
            decided_at=now,
        )
        if spent:
            payment = _line(run, Kind.APPROVE, token_for(run.batch, "judged"), spent, None)
            payment.submission, payment.promised_cents, payment.paid_cents = submission, -spent, spent
            payment.save()
        if cap > spent:
            rest = _line(run, Kind.RELEASE, token_for(run.batch, "judge-rest"), spent - cap, None)
            rest.promised_cents = spent - cap
            rest.save()
        JudgeRun.objects.filter(pk=run.pk).update(ended_at=now)
        Posting.objects.filter(pk=posting.pk).update(state=Posting.State.CLOSED)


def _line(run: JudgeRun, kind: str, token: str, cents: int, asked_by: User | None) -> Entry:
    return Entry(
        study_id=run.batch.study_id,
        batch=run.batch,
        posting=run.batch.postings.get(task=None, part=0),
        kind=kind,
        token=token,
        state=State.SETTLED,
        settled_at=clock.now(),
        reward_cents=0,
        fee_cents=cents,
        asked_by=asked_by,
    )
