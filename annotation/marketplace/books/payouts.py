"""Paying workers in one go: a list with what each is owed, a file for the bank, and a mark when it is paid.

A worker stands on one open list at a time. The mark is made for the whole list or not at all, and once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet, Sum

from annotation.common import clock
from annotation.marketplace.errors import BadParameter, DoesNotExist, InsufficientFunds
from annotation.marketplace.models import Account, Payout, PayoutLine, PayoutList, Worker
from annotation.marketplace.people import record
from annotation.marketplace.people.bank import bank_of

from .money import dollars

CURRENCY = "USD"
COLUMNS = ["holder", "account", "bank", "amount", "currency", "reference", "worker_id", "country"]
State = PayoutList.State


@dataclass(frozen=True)
class Debts:
    """Whom the market owes, by what stands between them and a list."""

    payable: list[Worker]
    without_bank: list[Worker]
    on_a_list: list[Worker]
    simulated: list[Worker]

    @property
    def payable_cents(self) -> int:
        return sum(worker.owed_cents for worker in self.payable)


def owed_workers() -> QuerySet[Worker]:
    rows = Worker.objects.select_related("account", "bank_details")
    return rows.filter(earned_cents__gt=F("paid_out_cents")).order_by("worker_id")


def debts(least_cents: int = 1) -> Debts:
    """Everybody who is owed at least so much."""
    listed = set(PayoutLine.objects.filter(is_open=True).values_list("worker_id", flat=True))
    result = Debts([], [], [], [])
    for worker in owed_workers():
        if worker.is_simulated:
            result.simulated.append(worker)
        elif worker.pk in listed:
            result.on_a_list.append(worker)
        elif not hasattr(worker, "bank_details"):
            result.without_bank.append(worker)
        elif worker.owed_cents >= least_cents:
            result.payable.append(worker)
    return result


def make_list(actor: Account, least_cents: int = 1) -> PayoutList:
    """A list of everybody who can be paid. BadParameter where there is nobody."""
    payable = debts(least_cents).payable
    if not payable:
        raise BadParameter("Nobody can be paid now: no bank details, or too little is owed. No list was made.")
    try:
        with transaction.atomic():
            payout_list = PayoutList.objects.create(made_at=clock.now(), made_by=actor)
            PayoutLine.objects.bulk_create(
                PayoutLine(payout_list=payout_list, worker=worker, cents=worker.owed_cents) for worker in payable
            )
            record(actor, "payout list", str(payout_list.pk), workers=len(payable), cents=total_of(payout_list))
    except IntegrityError:
        raise BadParameter("Somebody made a list at the same moment. None was made: look at that one.") from None
    return payout_list


def list_by_number(number: int) -> PayoutList:
    payout_list = PayoutList.objects.filter(pk=number).first()
    if payout_list is None:
        raise DoesNotExist("There is no such payout list.")
    return payout_list


def total_of(payout_list: PayoutList) -> int:
    return int(payout_list.lines.aggregate(cents=Sum("cents", default=0))["cents"])


def bank_rows(payout_list: PayoutList) -> Iterator[list[str]]:
    """The file for the bank, a line for each worker; a reference says which list and whose."""
    for line in payout_list.lines.select_related("worker").order_by("worker__worker_id"):
        bank = bank_of(line.worker)
        data = [bank.holder, bank.account, bank.bank] if bank else ["", "", ""]
        reference = f"Payout {payout_list.pk} {line.worker.worker_id}"
        yield [*data, dollars(line.cents), CURRENCY, reference, line.worker.worker_id, line.worker.country]


def mark_paid(payout_list: PayoutList, reference: str, actor: Account) -> None:
    """Record every payout of the list. One that can't be recorded, and none is; marked before, nothing changes."""
    reference = " ".join(reference.split())[:100]
    if not reference:
        raise BadParameter("Write the bank's reference of the payment. Nothing was recorded.")
    with transaction.atomic():
        _end(payout_list, State.PAID, reference=reference)
        for line in payout_list.lines.select_related("worker").order_by("worker_id"):
            _pay(line, f"{reference}, payout {payout_list.pk}", actor)
        record(actor, "payout list paid", str(payout_list.pk), cents=total_of(payout_list), reference=reference)


def _pay(line: PayoutLine, reference: str, actor: Account) -> None:
    owed = Worker.objects.filter(pk=line.worker_id, earned_cents__gte=F("paid_out_cents") + line.cents)
    if not owed.update(paid_out_cents=F("paid_out_cents") + line.cents):
        raise InsufficientFunds(
            f"{line.worker.worker_id} is owed less than the {dollars(line.cents)} of this list: something was paid "
            "meanwhile. Nothing of the list was recorded: withdraw it, and make a new one."
        )
    Payout.objects.create(worker=line.worker, cents=line.cents, reference=reference, at=clock.now(), by=actor)


def withdraw_list(payout_list: PayoutList, actor: Account) -> None:
    """It is not paid: its workers can stand on the next one."""
    with transaction.atomic():
        _end(payout_list, State.WITHDRAWN)
        record(actor, "payout list withdrawn", str(payout_list.pk))


def _end(payout_list: PayoutList, state: str, **values: str) -> None:
    open_list = PayoutList.objects.filter(pk=payout_list.pk, state=State.OPEN)
    if not open_list.update(state=state, ended_at=clock.now(), **values):
        payout_list.refresh_from_db()
        raise BadParameter(f"This list is {payout_list.get_state_display()} already. Nothing was changed.")
    payout_list.lines.update(is_open=False)
    payout_list.refresh_from_db()
