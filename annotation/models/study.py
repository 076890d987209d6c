"""A study, its people, and the workers who judge for it."""

import base64
import hashlib
import hmac
import re
import secrets
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils.text import slugify
from django.utils.translation import gettext

from annotation.common.prepared_queries import PreparedObjects, PreparedQuery

PSEUDONYM = re.compile(r"(?:w|sim)-[a-z2-7]{16}")


class User(AbstractUser):
    """A person who signs in. Demo accounts work in the demo only (annotation/accounts)."""

    is_demo = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_demo=False) | Q(is_superuser=False), name="user_demo_is_never_superuser"
            )
        ]


class StudyQuerySet(models.QuerySet["Study"]):
    def visible_to(self, user: User) -> "StudyQuerySet":
        """The studies a person has any role in; a superuser sees all."""
        if user.is_superuser:
            return self
        return self.filter(memberships__user=user).distinct()


def new_salt() -> str:
    return secrets.token_hex(32)


class Study(models.Model):
    """Documents, systems and judgments that belong together."""

    class BatchRule(models.TextChoices):
        LATEST = "latest", "the latest batch counts"
        SEPARATE = "separate", "every batch counts, as a rater of its own"
        CHOSEN = "chosen", "chosen batches count"

    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    salt = models.CharField(max_length=64, default=new_salt, editable=False)  # never exported
    # sha256 over the imported files, so that importing the same folder again is known to change nothing.
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    # Which answers count where one person judged the same unit in several batches (analysis/tables/batches.py)
    batch_rule = models.CharField(max_length=10, choices=BatchRule, default=BatchRule.LATEST)
    language = models.CharField(max_length=35, blank=True)  # of the texts, such as "ar" or "pt-BR"; empty: not said
    # Money, in the currency's cents
    currency = models.CharField(max_length=3, default="USD")
    budget_cents = models.PositiveBigIntegerField(null=True, blank=True)  # no cap while empty
    committed_cents = models.BigIntegerField(default=0, editable=False)  # promised and paid; kept by a trigger
    minimum_wage_cents = models.PositiveIntegerField(null=True, blank=True)  # per hour

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["name"], name="study_name_once"),
            models.UniqueConstraint(fields=["slug"], name="study_slug_once"),
            models.CheckConstraint(
                condition=Q(budget_cents__isnull=True) | Q(committed_cents__lte=F("budget_cents")),
                name="study_budget_kept",
            ),
            models.CheckConstraint(
                condition=Q(batch_rule__in=["latest", "separate", "chosen"]), name="study_batch_rule_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.slug = self.slug or self._free_slug()
        super().save(*args, **kwargs)

    def _free_slug(self) -> str:
        """A readable address; two names that read alike ("A b", "A-B") get a number."""
        stem = slugify(self.name)[:70] or "study"
        slugs = set(Study.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
        return next(slug for n in range(1, 10**6) if (slug := stem if n == 1 else f"{stem}-{n}") not in slugs)

    def pseudonym(self, crowd: str, external_id: str) -> str:
        """What others see instead of a worker's id. An imported pseudonym stays what it is."""
        if crowd == Worker.IMPORTED and PSEUDONYM.fullmatch(external_id):
            return external_id
        digest = hmac.new(self.salt.encode(), f"{crowd}:{external_id}".encode(), hashlib.sha256).digest()
        return "w-" + base64.b32encode(digest).decode().lower()[:16]

    def filter_in_force(self) -> "FilterDecision | None":
        """The decision by which answers are left out now; None while every answer counts."""
        return self.filter_decisions.in_force().first()

    def role_of(self, user: User) -> str | None:
        """The person's role in this study: superusers count as admins; None for strangers."""
        if user.is_superuser:
            return Role.ADMIN
        return next((role for (role,) in _ROLE(study=self.pk, user=user.pk)), None)


_ROLE = PreparedQuery(
    lambda study, user: Membership.objects.filter(study=study, user=user).values_list("role"), "study", "user"
)


class Role(models.TextChoices):
    ANNOTATOR = "annotator", "annotator"
    ADMIN = "admin", "admin"
    ANALYST = "analyst", "analyst"


class Membership(models.Model):
    """What a person may do in a study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="membership_once_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.study}"


class Worker(models.Model):
    """Somebody who judges for one study: a crowd's own id, beside the pseudonym that others see."""

    DIRECT = "direct"
    PERSON = "person:"  # before the name on a personal link, so that it never meets the id of an account
    IMPORTED = "import"
    SIMULATED = "sim-"  # how the pseudonym of somebody begins who was simulated

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="workers")
    crowd = models.CharField(max_length=20)
    external_id = models.CharField(max_length=200)
    pseudonym = models.CharField(max_length=20)
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="workers")
    blocked_at = models.DateTimeField(null=True, blank=True)
    block_reason = models.TextField(blank=True)
    preferences: Any = models.JSONField(
        default=dict, blank=True
    )  # of the work page (annotation/judging/preferences.py)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "crowd", "external_id"], name="worker_once_per_crowd"),
            models.UniqueConstraint(fields=["study", "pseudonym"], name="worker_pseudonym_once"),
            models.UniqueConstraint(fields=["study", "user"], name="worker_once_per_person"),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def known_as(self) -> str:
        """As admins know them: the name of the account, the name on a personal link, or the market's own id."""
        if self.user:
            return self.user.get_username()
        name = self.external_id.removeprefix(self.PERSON)
        return gettext("%(name)s (simulated)") % {"name": name} if self.is_simulated else name

    @property
    def is_simulated(self) -> bool:
        """A rehearsal's person: the pseudonym says it, so that every table and export does."""
        return self.pseudonym.startswith(self.SIMULATED)

    @classmethod
    def for_user(cls, study: Study, user: User) -> "Worker":
        """The worker that a signed-in person is in this study."""
        if worker := _WORKER.first(study=study.pk, user=user.pk):
            return worker
        key = str(user.pk)
        facts = {"crowd": cls.DIRECT, "external_id": key, "pseudonym": study.pseudonym(cls.DIRECT, key)}
        return cls.objects.get_or_create(study=study, user=user, defaults=facts)[0]


_WORKER = PreparedObjects(lambda study, user: Worker.objects.filter(study=study, user=user), "study", "user")


class FilterDecisionQuerySet(models.QuerySet["FilterDecision"]):
    def in_force(self) -> "FilterDecisionQuerySet":
        """Those that nobody has undone: at most one in a study."""
        return self.filter(undone_at__isnull=True)


class FilterDecision(models.Model):
    """Which workers' answers a study leaves out, by which rules. Undone, never deleted: the log is the record."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="filter_decisions")
    rules = models.JSONField()  # rule names with options, as `python -m analysis filter --rule` reads them
    seed = models.IntegerField(default=0)
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = FilterDecisionQuerySet.as_manager()

    class Meta:
        ordering = ["decided_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["study"], condition=Q(undone_at__isnull=True), name="filter_decision_one_in_force"
            )
        ]

    def __str__(self) -> str:
        return ", ".join(self.rules)
