"""Work that a crowd market brokers: what we posted there, what came back, and the money in between.

The ledger is append-only in its amounts: an entry is written before the call that spends or promises, with a token
that follows from what it is for, and only its state moves on after the call. `Study.committed_cents` follows the
entries by a trigger (annotation/models/triggers.py), and `study_budget_kept` refuses one cent too many, whoever writes.
"""

from typing import Any

from django.db import models
from django.db.models import Q

from .study import Study, User, Worker
from .work import Batch, Task


class Posting(models.Model):
    """What stands on the market for a batch: a HIT for one task (MTurk), or one study for all tasks (Prolific)."""

    class State(models.TextChoices):
        PLANNED = "planned", "planned"  # written here, the market may or may not have it yet
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        EXPIRED = "expired", "expired"  # nobody new can take it
        CLOSED = "closed", "closed"  # everything judged and settled

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="postings")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, null=True, blank=True, related_name="postings")
    part = models.PositiveSmallIntegerField(default=0)  # a task's places may be split over several postings
    token = models.CharField(max_length=64)  # follows from batch, task and part; the market carries it
    places = models.PositiveIntegerField()
    reward_cents = models.PositiveIntegerField()  # per place
    fee_cents = models.PositiveIntegerField(default=0)  # per place
    state = models.CharField(max_length=10, choices=State, default=State.PLANNED)
    market_id = models.CharField(max_length=100, blank=True)  # HITId, or the id of the study there
    market_type = models.CharField(max_length=100, blank=True)  # HITTypeId
    details: Any = models.JSONField(default=dict, blank=True)  # what else the market told (completion codes, groups)
    expires_at = models.DateTimeField(null=True, blank=True)
    collected_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["token"], name="posting_token_once"),
            models.UniqueConstraint(
                fields=["batch", "market_id"], condition=~Q(market_id=""), name="posting_market_id_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["planned", "open", "paused", "expired", "closed"]), name="posting_state_known"
            ),
            models.CheckConstraint(condition=Q(places__gte=1), name="posting_has_a_place"),
        ]
        indexes = [models.Index(fields=["batch", "state"], name="posting_by_state")]

    def __str__(self) -> str:
        return self.token


class Submission(models.Model):
    """One worker's turn at a posting, as the market knows it. Only what the market confirms is counted and paid."""

    class State(models.TextChoices):
        STARTED = "started", "started"  # opened with us; the market has not confirmed it
        SUBMITTED = "submitted", "submitted"  # the market confirms it and waits for our verdict
        APPROVED = "approved", "approved"
        REJECTED = "rejected", "rejected"
        RETURNED = "returned", "returned"  # given back, timed out or screened out: never to be paid

    CONFIRMED = (State.SUBMITTED, State.APPROVED, State.REJECTED)

    posting = models.ForeignKey(Posting, on_delete=models.PROTECT, related_name="submissions")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="submissions")
    market_id = models.CharField(max_length=100)  # AssignmentId, or the id of the submission there
    state = models.CharField(max_length=10, choices=State, default=State.STARTED)
    receipt = models.CharField(max_length=20, blank=True)  # the code a worker gets when the answers are safe with us
    started_at = models.DateTimeField(null=True, blank=True)
    saved_at = models.DateTimeField(null=True, blank=True)  # all its answers are with us
    submitted_at = models.DateTimeField(null=True, blank=True)  # the market's time
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)  # of a personal link (annotation/crowds/markets/direct.py)
    reason = models.TextField(blank=True)  # of a rejection, as the worker reads it
    answer: Any = models.JSONField(default=dict, blank=True)  # the fields that came through the market

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["posting", "market_id"], name="submission_once_per_market_id"),
            models.CheckConstraint(
                condition=Q(state__in=["started", "submitted", "approved", "rejected", "returned"]),
                name="submission_state_known",
            ),
        ]
        indexes = [models.Index(fields=["posting", "state"], name="submission_by_state")]

    def __str__(self) -> str:
        return self.market_id


class Entry(models.Model):
    """One line of the ledger: a call that spends or promises money, written before it is made."""

    class Kind(models.TextChoices):
        POST = "post", "post"  # promises reward and fee for every place
        EXTEND = "extend", "extend"  # promises more places on a posting that stands
        APPROVE = "approve", "approve"  # turns a promise into a payment
        BONUS = "bonus", "bonus"  # pays beside the promise
        RELEASE = "release", "release"  # takes back promises that nobody can claim any more

    class State(models.TextChoices):
        PLANNED = "planned", "planned"  # written; the call may or may not have been made
        SETTLED = "settled", "settled"  # the market confirms it
        FAILED = "failed", "failed"  # the market refused it: nothing was spent
        DOUBTFUL = "doubtful", "doubtful"  # nobody can tell; waits for a person, and counts as spent until then

    COUNTED = (State.PLANNED, State.SETTLED, State.DOUBTFUL)

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="entries")
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="entries")
    posting = models.ForeignKey(Posting, on_delete=models.PROTECT, null=True, blank=True, related_name="entries")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, null=True, blank=True, related_name="entries")
    kind = models.CharField(max_length=10, choices=Kind)
    token = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State, default=State.PLANNED)
    reward_cents = models.IntegerField()  # to workers; negative where a promise is taken back
    fee_cents = models.IntegerField(default=0)  # to the market
    promised_cents = models.IntegerField(default=0)  # by how much open promises change
    paid_cents = models.IntegerField(default=0)  # by how much payments change
    reason = models.TextField(blank=True)  # of a bonus, as the worker reads it
    market_id = models.CharField(max_length=100, blank=True)
    note = models.TextField(blank=True)  # why it failed or is doubtful, and how a person settled it
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    written_at = models.DateTimeField(auto_now_add=True)
    called_at = models.DateTimeField(null=True, blank=True)  # set just before the call
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "entries"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["token"], name="entry_token_once"),
            models.CheckConstraint(
                condition=Q(state__in=["planned", "settled", "failed", "doubtful"]), name="entry_state_known"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["post", "extend", "approve", "bonus", "release"]), name="entry_kind_known"
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=["approve", "bonus"]) | Q(submission__isnull=False),
                name="entry_pays_a_submission",
            ),
            models.CheckConstraint(
                condition=~Q(kind="approve") | Q(promised_cents=-models.F("paid_cents")),
                name="entry_approval_draws_on_its_promise",
            ),
        ]
        indexes = [
            models.Index(fields=["batch", "state"], name="entry_by_state"),
            models.Index(fields=["study", "kind"], name="entry_by_kind"),
        ]

    def __str__(self) -> str:
        return self.token


class WorkerFigures(models.Model):
    """What a worker's answers in a batch look like, rejected ones too: worked out in the background for its pages."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="figures", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="figures")
    tasks = models.PositiveIntegerField(default=0)  # handed in
    answers = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)  # median active seconds per answer
    active_seconds = models.FloatField(default=0)
    agreement = models.FloatField(null=True)  # with the others, as the Quality page has it
    checks = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    is_fast = models.BooleanField(default=False)
    fails_checks = models.BooleanField(default=False)
    focus_lost = models.PositiveIntegerField(default=0)
    pastes = models.PositiveIntegerField(default=0)
    dropped_by: Any = models.JSONField(default=list)  # rules of the filter in force that leave answers of theirs out
    stands_out = models.PositiveSmallIntegerField(default=0)  # how much: those with the most come first

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "worker"], name="figures_once_per_batch")]

    def __str__(self) -> str:
        return f"{self.worker_id} in {self.batch_id}"


class Schedule(models.Model):
    """What the background does for a batch that stands on a market, and when it last did."""

    class Rule(models.TextChoices):
        NOBODY = "", "nothing"
        WHOLE = "whole", "whole work"  # all promised answers are with us
        CLEAN = "clean", "whole work of workers who don't stand out"

    batch = models.OneToOneField(Batch, on_delete=models.CASCADE, related_name="schedule")
    collect_minutes = models.PositiveSmallIntegerField(default=10)  # 0: not by itself
    approve = models.CharField(max_length=10, choices=Rule, default=Rule.NOBODY, blank=True)
    approve_hours = models.PositiveSmallIntegerField(default=24)  # so long after it was handed in
    settle_hours = models.PositiveSmallIntegerField(default=24)  # 0: not by itself
    looked_at = models.DateTimeField(null=True, blank=True)  # when the background last saw whether something is due
    collected_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(approve__in=["", "whole", "clean"]), name="schedule_rule_known")
        ]

    def __str__(self) -> str:
        return f"schedule of {self.batch_id}"


class MarketHook(models.Model):
    """Where a market reports changes of a study's work to us, and by which secret we know that it was the market."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="market_hooks")
    crowd = models.CharField(max_length=20)
    address = models.CharField(max_length=64)  # the last part of the address that the market calls
    secret = models.TextField()  # encrypted as a MarketToken is
    market_id = models.CharField(max_length=100)  # of the subscription there
    recent: Any = models.JSONField(default=dict)  # reports of the last minutes by their ids, with their times
    heard_at = models.DateTimeField(null=True, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "crowd"], name="market_hook_once_per_market"),
            models.UniqueConstraint(fields=["address"], name="market_hook_address_once"),
        ]

    def __str__(self) -> str:
        return f"{self.crowd} of {self.study_id}"


class MarketToken(models.Model):
    """A study's own token for a market, encrypted (annotation/crowds/markets/prolific/study_token.py)."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="market_tokens")
    crowd = models.CharField(max_length=20)
    secret = models.TextField()
    ending = models.CharField(max_length=4)  # its last characters, so that people know which one it is
    set_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "crowd"], name="market_token_once_per_market")]

    def __str__(self) -> str:
        return f"…{self.ending}"
