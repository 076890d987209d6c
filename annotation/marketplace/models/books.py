"""The books: every cent that moved, from where to where. Rows are written once."""

from django.db import models
from django.db.models import F, Q

from .hits import HIT, Assignment
from .people import Account, Requester, Worker


class Pot(models.TextChoices):
    OUTSIDE = "outside", "outside the market"
    AVAILABLE = "available", "available"
    HELD = "held", "held for HITs"
    PAID = "paid", "paid to workers"
    FEES = "fees", "fees"


class BonusPayment(models.Model):
    """Money beyond the reward, with its reason."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="bonus_payments")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonus_payments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonus_payments")
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason


class Transfer(models.Model):
    """`cents` went from one pot to another: each row is its own debit and credit."""

    class Kind(models.TextChoices):
        TOP_UP = "top-up", "top-up"
        REFUND = "refund", "refund by the operator"
        HOLD = "hold", "held for a HIT"
        RELEASE = "release", "released from a HIT"
        REWARD = "reward", "reward"
        BONUS = "bonus", "bonus"
        FEE = "fee", "fee"

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="transfers")
    kind = models.CharField(max_length=8, choices=Kind)
    source = models.CharField(max_length=10, choices=Pot)
    target = models.CharField(max_length=10, choices=Pot)
    cents = models.BigIntegerField()
    at = models.DateTimeField()
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, null=True, blank=True, related_name="transfers")
    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="transfers"
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, null=True, blank=True, related_name="transfers")
    note = models.CharField(max_length=200, blank=True)
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="transfer_moves_something"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="transfer_between_two_pots"),
        ]
        indexes = [models.Index(fields=["requester", "id"], name="transfer_by_requester")]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents}"


class Payout(models.Model):
    """That the operator has paid a worker outside the market (bank, voucher), with the reference of it."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="payouts")
    cents = models.PositiveIntegerField()
    reference = models.CharField(max_length=200)
    at = models.DateTimeField()
    by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(cents__gt=0), name="payout_pays_something")]

    def __str__(self) -> str:
        return self.reference


class BankDetails(models.Model):
    """Where a worker wants to be paid, as they entered it: encrypted (people/bank.py), shown to nobody in full."""

    worker = models.OneToOneField(Worker, on_delete=models.CASCADE, related_name="bank_details")
    sealed = models.TextField()
    ending = models.CharField(max_length=4)  # of the account, so that people know which one it is
    set_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"…{self.ending}"


class PayoutList(models.Model):
    """What the operator pays in one go: a line for each worker, with the amount as it was owed then."""

    class State(models.TextChoices):
        OPEN = "open", "to be paid"
        PAID = "paid", "paid"
        WITHDRAWN = "withdrawn", "withdrawn"

    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    reference = models.CharField(max_length=100, blank=True)  # of the payment at the bank
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "paid", "withdrawn"]), name="payout_list_state_known")
        ]

    def __str__(self) -> str:
        return f"Payout {self.pk}"


class PayoutLine(models.Model):
    """One worker on a list."""

    payout_list = models.ForeignKey(PayoutList, on_delete=models.CASCADE, related_name="lines")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="payout_lines")
    cents = models.PositiveIntegerField()
    is_open = models.BooleanField(default=True)  # the list waits to be paid

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="payout_line_pays_something"),
            models.UniqueConstraint(
                fields=["worker"], condition=Q(is_open=True), name="payout_line_open_once_per_worker"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.cents}"
