"""What keeps strangers out: failed sign-ins, second factors, invitations; and the record of who changed what."""

from typing import Any

from django.db import models
from django.db.models import Q

from annotation.common.throttle import FailureCount

from .study import Role, Study, User


class SignInFailures(FailureCount):
    class Meta:
        verbose_name_plural = "sign-in failures"
        constraints = [models.UniqueConstraint(fields=["key"], name="sign_in_failures_once_per_key")]


class SecondFactor(models.Model):
    """A person's authenticator. It counts once a first code has confirmed it."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)  # base32
    confirmed_at = models.DateTimeField(null=True, blank=True)
    last_step = models.BigIntegerField(default=0)  # the time step of the last code: none is taken twice
    recovery: Any = models.JSONField(default=list)  # digests of codes for a lost authenticator, each good once

    def __str__(self) -> str:
        return f"second factor of {self.user_id}"


class Invitation(models.Model):
    """A link that gives whoever opens it first a role in a study. Only its digest is stored; it ends by itself."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role)
    note = models.CharField(max_length=200, blank=True)  # for whom, as the admin remembers them
    digest = models.CharField(max_length=64)
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-made_at"]
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="invitation_digest_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class AuditEvent(models.Model):
    """Somebody changed something. Rows are added and never changed (annotation/models/triggers.py)."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    name = models.CharField(max_length=150, blank=True)  # the account's name at that time
    study = models.ForeignKey(Study, on_delete=models.PROTECT, null=True, blank=True, related_name="audit_events")
    action = models.CharField(max_length=80)
    facts: Any = models.JSONField(default=dict, blank=True)
    request = models.CharField(max_length=64, blank=True)  # its id in the log

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "-id"], name="audit_event_by_study")]

    def __str__(self) -> str:
        return f"{self.action} by {self.name}"
