"""Moving money. Every change is a Transfer row and one conditional UPDATE; a check constraint keeps the sum.

For each requester: available + held + paid + fees = what was put in, to the cent, after every transaction.
"""

from collections import Counter
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Sum

from annotation.common import clock
from annotation.marketplace.errors import BadParameter, InsufficientFunds
from annotation.marketplace.models import Account, Payout, Pot, Requester, Transfer, Worker
from annotation.marketplace.people import check_form, record

from .money import Price, dollars

Kind = Transfer.Kind


@dataclass(frozen=True)
class Move:
    """So many cents from one pot to another; nothing is written for zero cents."""

    kind: str
    source: str
    target: str
    cents: int
    columns: dict[str, Any] = field(default_factory=dict)


def post(requester_id: int, moves: list[Move], at: datetime | None = None) -> None:
    """Write the moves and change the balances by them. Raises InsufficientFunds, and then nothing has changed."""
    moves = [move for move in moves if move.cents]
    if not moves:
        return
    change: Counter[str] = Counter()
    for move in moves:
        change[move.source] -= move.cents
        change[move.target] += move.cents
    change["put_in"] = -change.pop(Pot.OUTSIDE, 0)
    enough = {f"{pot}_cents__gte": -cents for pot, cents in change.items() if cents < 0}
    values = {f"{pot}_cents": F(f"{pot}_cents") + cents for pot, cents in change.items() if cents}
    # No savepoint of its own: whoever posts rolls back everything when the money isn't there.
    with transaction.atomic(savepoint=False):
        if not Requester.objects.filter(pk=requester_id, **enough).update(**values):
            raise InsufficientFunds
        at = at or clock.now()
        Transfer.objects.bulk_create(
            Transfer(
                requester_id=requester_id,
                kind=move.kind,
                source=move.source,
                target=move.target,
                cents=move.cents,
                at=at,
                **move.columns,
            )
            for move in moves
        )


def hold(requester_id: int, cents: int, **columns: Any) -> None:
    post(requester_id, [Move(Kind.HOLD, Pot.AVAILABLE, Pot.HELD, cents, columns)])


def release(requester_id: int, cents: int, **columns: Any) -> None:
    post(requester_id, [Move(Kind.RELEASE, Pot.HELD, Pot.AVAILABLE, cents, columns)])


def pay_worker(requester_id: int, worker_id: int, price: Price, source: Pot, kind: str, **columns: Any) -> None:
    """The reward or bonus to the worker, the fee to the market."""
    columns = {**columns, "worker_id": worker_id}
    post(
        requester_id,
        [
            Move(kind, source, Pot.PAID, price.reward_cents, columns),
            Move(Kind.FEE, source, Pot.FEES, price.fee_cents, columns),
        ],
    )
    Worker.objects.filter(pk=worker_id).update(earned_cents=F("earned_cents") + price.reward_cents)


def top_up(requester: Requester, cents: int, note: str = "", actor: Account | None = None, form: str = "") -> None:
    """Put money in: play money, or the record of a real payment. Once per `form`."""
    if cents <= 0:
        raise BadParameter("A top-up is more than zero.")
    with transaction.atomic():
        check_form(requester, requester.requester_id, form)
        post(requester.pk, [Move(Kind.TOP_UP, Pot.OUTSIDE, Pot.AVAILABLE, cents, {"note": note, "by": actor})])
        record(actor, "top-up", requester.requester_id, cents=cents, note=note, form=form)
    requester.refresh_from_db()


def refund(requester: Requester, cents: int, note: str = "", actor: Account | None = None, form: str = "") -> None:
    """Give available money back to the requester, outside the market. Once per `form`. Raises InsufficientFunds."""
    if cents <= 0:
        raise BadParameter("A refund is more than zero.")
    with transaction.atomic():
        check_form(requester, requester.requester_id, form)
        post(requester.pk, [Move(Kind.REFUND, Pot.AVAILABLE, Pot.OUTSIDE, cents, {"note": note, "by": actor})])
        record(actor, "refund", requester.requester_id, cents=cents, note=note, form=form)
    requester.refresh_from_db()


def record_payout(worker: Worker, cents: int, reference: str, actor: Account | None = None, form: str = "") -> Payout:
    """Note that a worker was paid outside the market. Never more than is owed, and once per `form`."""
    if cents <= 0:
        raise BadParameter("A payout is more than zero.")
    with transaction.atomic():
        check_form(worker, worker.worker_id, form)
        owed = Worker.objects.filter(pk=worker.pk, earned_cents__gte=F("paid_out_cents") + cents)
        if not owed.update(paid_out_cents=F("paid_out_cents") + cents):
            worker.refresh_from_db()
            raise InsufficientFunds(
                f"Worker {worker.worker_id} is owed ${dollars(worker.owed_cents)}, less than ${dollars(cents)}. "
                "Nothing was recorded."
            )
        payout = Payout.objects.create(worker=worker, cents=cents, reference=reference, at=clock.now(), by=actor)
        record(actor, "payout", worker.worker_id, cents=cents, reference=reference, form=form)
    worker.refresh_from_db()
    return payout


@dataclass(frozen=True)
class Balances:
    """One requester's money, added up from the transfers (not from the cached columns)."""

    put_in_cents: int
    available_cents: int
    held_cents: int
    paid_cents: int
    fees_cents: int


def balances(requester: Requester) -> Balances:
    """Recount from the transfers; `books_agree` compares."""
    rows = Transfer.objects.filter(requester=requester).values("source", "target").annotate(cents=Sum("cents"))
    total: Counter[str] = Counter()
    for row in rows:
        total[row["source"]] -= row["cents"]
        total[row["target"]] += row["cents"]
    pots = (Pot.AVAILABLE, Pot.HELD, Pot.PAID, Pot.FEES)
    return Balances(-total[Pot.OUTSIDE], *(total[pot] for pot in pots))


def books_agree(requester: Requester) -> bool:
    """The cached balances equal the transfers, and the parts equal the whole."""
    requester.refresh_from_db()
    recounted = balances(requester)
    cached = Balances(**{column.name: getattr(requester, column.name) for column in fields(Balances)})
    total_cents = recounted.available_cents + recounted.held_cents + recounted.paid_cents + recounted.fees_cents
    return recounted == cached and recounted.put_in_cents == total_cents
