"""Keys to the API: who made them, what they open, until when; and how often they were used lately."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from .study import Study, User


class Scope(models.TextChoices):
    READ = "read", _("read what your role may read")
    WRITE = "write", _("change what your role may change")
    ADMIN = "admin", _("see what only admins see: workers' own ids")
    PAY = "pay", _("spend a study's money: launch, judge hand-ins, pay bonuses")


class ApiToken(models.Model):
    """One key of one person. Only its digest is stored; it ends by itself, and a revoked one stays for the record."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    start = models.CharField(max_length=12)  # how the token begins, to know it again
    digest = models.CharField(max_length=64)  # sha256 of a token with 256 random bits: nothing to guess
    scopes: Any = models.JSONField(default=list)
    study = models.ForeignKey(  # empty: every study its person has a part in
        Study, on_delete=models.CASCADE, null=True, blank=True, related_name="api_tokens"
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="api_token_digest_once"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="api_token_ends_after_start"),
        ]

    def __str__(self) -> str:
        return self.name

    def is_alive(self, now: datetime) -> bool:
        return self.revoked_at is None and self.expires_at > now


class RateCount(models.Model):
    """Requests of one token, or of one address without a token, in one minute."""

    key = models.CharField(max_length=80)
    minute = models.PositiveBigIntegerField()  # since 1970
    count = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key"], name="rate_count_once_per_key")]

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"
