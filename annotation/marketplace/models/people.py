"""Who signs in: accounts, and what they are on the market: requesters, workers, operators."""

import re
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q

from annotation.common.throttle import FailureCount
from annotation.marketplace import ids

SIMULATED = re.compile(r"sim\d+-[a-z-]+-\d+")
"""How the site's `simulate` names its people."""


class Account(AbstractUser):
    """A person who signs in. May be a worker, a requester, an operator, or several of these."""

    is_operator = models.BooleanField(default=False)
    is_demo = models.BooleanField(default=False)


class Requester(models.Model):
    """Who publishes HITs, and the state of their money (each change is a Transfer, see books/books.py)."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="requester")
    requester_id = models.CharField(max_length=64, unique=True, default=ids.customer_id)
    name = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    put_in_cents = models.BigIntegerField(default=0, editable=False)
    available_cents = models.BigIntegerField(default=0, editable=False)
    held_cents = models.BigIntegerField(default=0, editable=False)
    paid_cents = models.BigIntegerField(default=0, editable=False)
    fees_cents = models.BigIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(put_in_cents=F("available_cents") + F("held_cents") + F("paid_cents") + F("fees_cents")),
                name="requester_books_balance",
            ),
            models.CheckConstraint(
                condition=Q(available_cents__gte=0, held_cents__gte=0, paid_cents__gte=0, fees_cents__gte=0),
                name="requester_owes_nothing",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Worker(models.Model):
    """Who takes HITs. Approval figures are counted here, because system qualifications ask for them all the time."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, null=True, blank=True, related_name="worker")
    worker_id = models.CharField(max_length=64, unique=True, default=ids.customer_id)
    country = models.CharField(max_length=2, blank=True)  # ISO 3166
    subdivision = models.CharField(max_length=3, blank=True)  # ISO 3166-2, without the country
    is_adult = models.BooleanField(default=False)  # has agreed to see adult content
    is_master = models.BooleanField(default=False)  # granted by the operator
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    approved_count = models.PositiveIntegerField(default=0, editable=False)
    rejected_count = models.PositiveIntegerField(default=0, editable=False)
    earned_cents = models.BigIntegerField(default=0, editable=False)
    paid_out_cents = models.BigIntegerField(default=0, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(paid_out_cents__gte=0, paid_out_cents__lte=F("earned_cents")),
                name="worker_paid_out_at_most_earned",
            )
        ]

    def __str__(self) -> str:
        return self.worker_id

    @property
    def is_simulated(self) -> bool:
        """Whether the account is one of those that the site's `simulate` signs up: nobody is to be paid for it."""
        return self.account is not None and SIMULATED.fullmatch(self.account.username) is not None

    @property
    def owed_cents(self) -> int:
        return self.earned_cents - self.paid_out_cents

    @property
    def percent_approved(self) -> int:
        """100 for somebody nobody has judged yet, so that beginners can begin."""
        judged_count = self.approved_count + self.rejected_count
        return 100 * self.approved_count // judged_count if judged_count else 100


class AccessKey(models.Model):
    """A requester's key. The secret is derived from SECRET_KEY and `salt` (people.access_keys); it is not stored."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="access_keys")
    key_id = models.CharField(max_length=32, unique=True, default=ids.access_key_id)
    salt = models.CharField(max_length=64)
    label = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.key_id


class Invitation(models.Model):
    """A code that lets one person sign up."""

    class Role(models.TextChoices):
        WORKER = "worker", "worker"
        REQUESTER = "requester", "requester"

    code = models.CharField(max_length=64, unique=True, default=ids.invitation_code)
    role = models.CharField(max_length=10, choices=Role, default=Role.WORKER)
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(role__in=["worker", "requester"]), name="invitation_role_known")
        ]

    def __str__(self) -> str:
        return self.code

    def is_open(self, now: datetime) -> bool:
        return self.used_at is None and now < self.expires_at


@dataclass(frozen=True)
class FeeRates:
    """The operator's fees, in percent of the amount paid, with Amazon's as defaults."""

    percent: int = 20
    large_percent: int = 20
    """On top, for HITs with ten or more assignments."""
    masters_percent: int = 5
    """On top, for HITs that ask for Masters."""
    least_cents: int = 1
    """Per assignment or bonus."""


class MarketSettings(models.Model):
    """What the operator has decided; one row. `MarketSettings.current()` reads it."""

    open_sign_up = models.BooleanField(default=False)  # workers may sign up without an invitation
    fee_percent = models.PositiveSmallIntegerField(default=20)
    large_fee_percent = models.PositiveSmallIntegerField(default=20)
    masters_fee_percent = models.PositiveSmallIntegerField(default=5)
    least_fee_cents = models.PositiveSmallIntegerField(default=1)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="market_settings_one_row")]

    def __str__(self) -> str:
        return "settings of the market"

    @classmethod
    def current(cls) -> "MarketSettings":
        try:
            return cls.objects.get(pk=1)
        except cls.DoesNotExist:
            return cls(pk=1)

    @property
    def rates(self) -> FeeRates:
        return FeeRates(self.fee_percent, self.large_fee_percent, self.masters_fee_percent, self.least_fee_cents)


class SignInFailures(FailureCount):
    class Meta:
        constraints = [models.UniqueConstraint(fields=["key"], name="market_failures_once_per_key")]


class AuditEntry(models.Model):
    """Who did what to whom, for the operator. Written once, never changed."""

    at = models.DateTimeField()
    actor = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    action = models.CharField(max_length=60)  # e.g. "top-up", "key issued"
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action}: {self.subject}"
