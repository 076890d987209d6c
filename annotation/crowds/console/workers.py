"""The people of a batch, for its admins: what each did, how well, what it earned them, and what stands out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _

from annotation import protocols
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.models import Assignment, Batch, Entry, Submission, Worker
from annotation.models.attention import totals
from annotation.tables.records import records
from annotation.tables.trusted import batch_judgments, trusted_judgments

FOCUS = 5
"""Leaving the page so often per task is worth a look."""
State = Submission.State


@dataclass(frozen=True)
class WorkerRow:
    worker: Worker
    tasks: int
    """Assignments that count."""
    answers: int
    seconds: float | None
    """Median active seconds per answer."""
    active_seconds: float
    paid_cents: int
    """Rewards and bonuses, without fees."""
    agreement: float | None
    checks: int
    failed: int
    unjudged: int
    """Submissions that wait for a verdict."""
    approved: int
    rejected: int
    signals: list[str] = field(default_factory=list)
    dropped_by: list[str] = field(default_factory=list)
    """The rules of the filter in force that leave answers of theirs out."""

    @property
    def hourly_cents(self) -> int | None:
        return round(self.paid_cents * 3600 / self.active_seconds) if self.active_seconds and self.paid_cents else None


def worker_table(batch: Batch) -> list[WorkerRow]:
    """Everybody with work in this batch; those who stand out come first."""
    figures_by_worker = {row["worker_id"]: row for row in _figures(batch)}
    verdict_counts, paid_cents, times = _verdict_counts(batch), _paid(batch), _times(batch)
    dropped = dropped_workers(batch)
    rows = []
    for worker in Worker.objects.filter(pk__in={*verdict_counts, *times}).select_related("user").order_by("pk"):
        figures = figures_by_worker.get(worker.pseudonym, {})
        time, counts = times.get(worker.pk, _Time()), verdict_counts.get(worker.pk, {})
        rows.append(
            WorkerRow(
                worker=worker,
                tasks=time.tasks,
                answers=figures.get("answers", 0),
                seconds=figures.get("seconds"),
                active_seconds=time.active,
                paid_cents=paid_cents.get(worker.pk, 0),
                agreement=figures.get("agreement"),
                checks=figures.get("checks", 0),
                failed=figures.get("failed", 0),
                unjudged=counts.get("unjudged", 0),
                approved=counts.get("approved", 0),
                rejected=counts.get("rejected", 0),
                signals=_signals(worker, time, figures),
                dropped_by=dropped.get(worker.pseudonym, []),
            )
        )
    return sorted(rows, key=lambda row: (not row.dropped_by, -len(row.signals), row.agreement or 0, row.worker.pk))


def _figures(batch: Batch) -> list[dict[str, Any]]:
    """Answers, time, checks and agreement by worker, as the Quality page has them."""
    from analysis.filters.workers import standing_out, worker_figures

    figures = standing_out(worker_figures(batch_judgments(batch), protocols.level_of(batch.protocol)))
    return records(figures.astype(object).where(figures.notna(), None))


def _verdict_counts(batch: Batch) -> dict[int, dict[str, int]]:
    submissions = Submission.objects.filter(posting__batch=batch).values("worker")
    rows = submissions.annotate(
        unjudged=Count("pk", filter=Q(state=State.SUBMITTED)),
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
    )
    return {
        row["worker"]: {"unjudged": row["unjudged"], "approved": row["approved"], "rejected": row["rejected"]}
        for row in rows
    }


def _paid(batch: Batch) -> dict[int, int]:
    spent = batch.entries.filter(kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS]).exclude(state=Entry.State.FAILED)
    rows = spent.values_list("submission__worker").annotate(cents=Sum("reward_cents"))
    return {worker: cents for worker, cents in rows if worker is not None}


@dataclass
class _Time:
    tasks: int = 0
    active: float = 0.0
    focus: int = 0
    pastes: int = 0


def _times(batch: Batch) -> dict[int, _Time]:
    times: dict[int, _Time] = {}
    assignments = Assignment.objects.counted().filter(task__batch=batch).values_list("worker", "signals")
    for worker, signals in assignments.iterator(chunk_size=2000):
        time, sums = times.setdefault(worker, _Time()), totals(signals)
        time.tasks += 1
        time.active += sums.active_seconds
        time.focus += sums.focus_lost
        time.pastes += sums.pastes
    return times


def _signals(worker: Worker, time: _Time, figures: dict[str, Any]) -> list[str]:
    signals = []
    if worker.blocked_at:
        signals.append(_("blocked"))
    if figures.get("fails_checks"):
        signals.append(_("%(n)d checks failed") % {"n": figures["failed"]})
    if figures.get("is_fast"):
        signals.append(_("very fast"))
    if time.pastes:
        signals.append(_("pasted %(n)d times") % {"n": time.pastes})
    if time.tasks and time.focus / time.tasks >= FOCUS:
        signals.append(_("left the page %(n)d times a task") % {"n": round(time.focus / time.tasks)})
    return signals


def dropped_workers(batch: Batch) -> dict[str, list[str]]:
    """Pseudonym -> the rules in force that drop answers of theirs; empty without a filter."""
    from analysis.filters.caught import caught_by
    from analysis.tables import AnalysisError

    decision = batch.study.filter_in_force()
    if decision is None:
        return {}
    try:
        trusted = trusted_judgments(batch.study)
        caught = caught_by(trusted.drops, trusted.choice.judgments)
        workers = trusted.choice.workers
        return {workers.get(name, name): rules for name, rules in caught.items()}
    except AnalysisError:  # a rule that doesn't apply (yet): the Quality page says why
        return {}


# What admins do about people


def chosen_workers(batch: Batch, ids: Iterable[str]) -> list[Worker]:
    """The ticked workers of this batch's study; Refused when there is none."""
    keys = [parse_int(worker_id) for worker_id in ids]
    workers = list(Worker.objects.filter(study=batch.study, pk__in=keys).select_related("user").order_by("pk"))
    if not workers:
        raise Refused(_("Tick at least one worker. Nothing was done."))
    return workers


def submissions_of(batch: Batch, workers: Sequence[Worker], *states: str) -> list[Submission]:
    """What these workers handed in, in these states, oldest first."""
    submissions = Submission.objects.filter(posting__batch=batch, worker__in=workers, state__in=states)
    return list(submissions.select_related("posting__batch__study", "worker").order_by("pk"))


def newest_submissions(batch: Batch, workers: Sequence[Worker]) -> list[Submission]:
    """The newest confirmed submission of each worker: a bonus belongs to one."""
    newest = {submission.worker_id: submission for submission in submissions_of(batch, workers, *Submission.CONFIRMED)}
    return list(newest.values())


@dataclass(frozen=True)
class Price:
    """What an action costs, before it is done."""

    submissions: int
    workers: int
    reward_cents: int
    fee_cents: int

    @property
    def total_cents(self) -> int:
        return self.reward_cents + self.fee_cents


def price_of_approval(submissions: Sequence[Submission]) -> Price:
    """Rewards and fees that approving these pays out of what was promised."""
    return Price(
        len(submissions),
        len({submission.worker_id for submission in submissions}),
        sum(submission.posting.reward_cents for submission in submissions),
        sum(submission.posting.fee_cents for submission in submissions),
    )
