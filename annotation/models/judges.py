"""Models that judge: which one, asked how, at what price; and every call, kept whole.

A call is written before it is made, with the most that it can cost, and settled after. `JudgeRun.committed_micros`
follows the calls by a trigger (annotation/models/triggers.py), and `judge_run_cap_kept` refuses one that could go over
the cap, whoever writes. Amounts are millionths of the study's currency: a call costs a fraction of a cent.
"""

from typing import Any

from django.db import models
from django.db.models import F, Q

from .study import Study, User
from .work import Assignment, Batch

MICROS_A_CENT = 10_000


class Judge(models.Model):
    """A model and how it is asked. A change is a new version: the old one stays, with what it was asked and said."""

    class Kind(models.TextChoices):
        CHAT = "chat", "chat"  # a language model behind an endpoint that speaks the chat completions API
        NLI = "nli", "nli"  # a model on this machine that tells whether one text follows from another

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=Kind)
    endpoint = models.CharField(max_length=300, blank=True)
    model = models.CharField(max_length=200)
    prompt = models.TextField(blank=True)
    options: Any = models.JSONField(default=dict)  # of sampling (annotation/crowds/markets/models/versions.py)
    digest = models.CharField(max_length=64)  # sha256 over all that decides what it is asked
    # Of the currency, for a million tokens
    price_in = models.DecimalField(max_digits=12, decimal_places=4, default=0)
    price_out = models.DecimalField(max_digits=12, decimal_places=4, default=0)
    own_system = models.CharField(max_length=200, blank=True)  # the system that is this model, or its kin
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name", "version"], name="judge_version_once"),
            models.CheckConstraint(condition=Q(kind__in=["chat", "nli"]), name="judge_kind_known"),
            models.CheckConstraint(condition=Q(price_in__gte=0, price_out__gte=0), name="judge_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def worker_name(self) -> str:
        """As `worker_id` names it in every table: so nobody takes it for a person."""
        return f"model-{self.digest[:12]}"

    @property
    def is_free(self) -> bool:
        return not self.price_in and not self.price_out


class JudgeRun(models.Model):
    """A judge's work on the tasks of a batch, and what it may cost."""

    batch = models.OneToOneField(Batch, on_delete=models.CASCADE, related_name="judge_run")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    quoted_micros = models.BigIntegerField()
    quoted_in = models.BigIntegerField()  # tokens
    quoted_out = models.BigIntegerField()
    cap_micros = models.BigIntegerField()
    committed_micros = models.BigIntegerField(default=0, editable=False)  # spent and under way; kept by a trigger
    unanswered = models.PositiveIntegerField(default=0)  # items that were asked time and again in vain
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(committed_micros__lte=F("cap_micros")), name="judge_run_cap_kept")
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.batch}"


class JudgeCall(models.Model):
    """One question to a model: the request as it was sent, the answer as it came."""

    class State(models.TextChoices):
        PLANNED = "planned", "planned"  # written; it may have been sent
        ANSWERED = "answered", "answered"
        FAILED = "failed", "failed"  # turned away: nothing was spent
        DOUBTFUL = "doubtful", "doubtful"  # the answer was lost; counts as spent until a person has said
        LOST = "lost", "lost"  # doubtful, and a person has said what it cost

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="calls", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="judge_calls", db_index=False)
    sample = models.PositiveSmallIntegerField()
    attempt = models.PositiveSmallIntegerField()
    token = models.CharField(max_length=64)  # sent as Idempotency-Key
    state = models.CharField(max_length=10, choices=State, default=State.PLANNED)
    request: Any = models.JSONField()
    answer: Any = models.JSONField(null=True, blank=True)
    problem = models.TextField(blank=True)  # why it gave no answer, or none that could be read
    micros = models.BigIntegerField()  # before the answer: the most that it can cost
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    written_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "sample", "attempt"], name="judge_call_once"),
            models.UniqueConstraint(fields=["token"], name="judge_call_token_once"),
            models.CheckConstraint(
                condition=Q(state__in=["planned", "answered", "failed", "doubtful", "lost"]),
                name="judge_call_state_known",
            ),
            models.CheckConstraint(condition=Q(micros__gte=0), name="judge_call_cost_not_negative"),
        ]
        indexes = [models.Index(fields=["run", "state"], name="judge_call_by_state")]

    def __str__(self) -> str:
        return self.token
