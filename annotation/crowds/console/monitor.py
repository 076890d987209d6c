"""A batch while people work on it: how far it is, how fast, what it has cost. A fixed number of queries."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Count, Min, Q, QuerySet, Sum

from annotation.common import clock
from annotation.models import Assignment, Batch, Entry, Posting, Submission
from annotation.models.attention import totals
from annotation.models.work import counted

HOURS = 24
LATELY = timedelta(hours=3)
ENOUGH_ANSWERS, ENOUGH_TIME = 5, timedelta(minutes=10)
"""With less than either, a pace would be a guess."""
SPENT = Q(kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS])
"""Lines of the ledger by which somebody was paid."""
State = Assignment.State


@dataclass(frozen=True)
class Hour:
    """Answers that came in during one hour."""

    begins: datetime
    answers: int


@dataclass(frozen=True)
class Money:
    """A part of the ledger, in cents."""

    promised: int
    paid: int
    reward: int
    """Of what was paid, to workers."""
    fee: int
    doubtful: int
    """Entries that wait for a person."""
    waiting: int
    """Entries that were written and not settled."""

    @property
    def committed(self) -> int:
        return self.promised + self.paid


@dataclass(frozen=True)
class Monitor:
    batch: Batch
    places: int
    done: int
    """Answers that count: confirmed by the market where there is one."""
    saved: int
    """With us, and not confirmed by the market yet."""
    working: int
    tasks: list[tuple[int, int]]
    """(answers that count, number of tasks with so many), from 0 up."""
    postings: dict[str, int]
    submissions: dict[str, int]
    """Submissions by state."""
    hours: list[Hour]
    per_hour: float | None
    """Answers per hour, lately; None while it is too early to tell."""
    time_left: timedelta | None
    """Time to the end at this pace; None when nobody works, all is done, or it is too early to tell."""
    money: Money
    active_seconds: float | None
    """Median active time on a task."""
    hourly_cents: int | None
    """What that makes of the mean reward per hour."""
    ends_at: datetime | None
    approves_at: datetime | None
    """When the market approves the first unjudged work by itself."""
    made_at: datetime = field(default_factory=clock.now)

    @property
    def percent(self) -> int:
        return 100 * self.done // self.places if self.places else 0

    @property
    def unjudged(self) -> int:
        return self.submissions.get(Submission.State.SUBMITTED, 0)

    @property
    def finished(self) -> bool:
        return self.places > 0 and self.done >= self.places


def monitor(batch: Batch) -> Monitor:
    """The state of a batch now."""
    tasks = list(
        batch.tasks.annotate(n=Count("assignments", filter=counted("assignments__"))).values_list("quota", "n")
    )
    places, n_answers = sum(quota for quota, _n in tasks), sum(n for _quota, n in tasks)
    work = Assignment.objects.filter(task__batch=batch).aggregate(
        saved=Count("pk", filter=Q(state=State.SUBMITTED) & ~counted()),
        working=Count("pk", filter=Q(state=State.LEASED, is_ahead=False)),
    )
    times = _times(batch)
    per_hour = pace(times)
    money, seconds = money_of(batch.entries.all()), _active_seconds(batch)
    postings = batch.postings.aggregate(
        price=Sum("reward_cents"), n=Count("pk"), ends=Min("expires_at", filter=Q(state=Posting.State.OPEN))
    )
    reward = postings["price"] / postings["n"] if postings["n"] else 0
    return Monitor(
        batch=batch,
        places=places,
        done=n_answers,
        saved=work["saved"],
        working=work["working"],
        tasks=sorted(Counter(n for _quota, n in tasks).items()),
        postings=dict(batch.postings.order_by().values_list("state").annotate(n=Count("pk"))),
        submissions=_submissions_by_state(batch),
        hours=_hours(times),
        per_hour=per_hour,
        time_left=timedelta(hours=(places - n_answers) / per_hour) if per_hour and n_answers < places else None,
        money=money,
        active_seconds=seconds,
        hourly_cents=round(reward * 3600 / seconds) if seconds and reward else None,
        ends_at=postings["ends"],
        approves_at=_unjudged(batch).aggregate(first=Min("auto_approve_at"))["first"],
    )


def _submissions_by_state(batch: Batch) -> dict[str, int]:
    submissions = Submission.objects.filter(posting__batch=batch).order_by()
    return dict(submissions.values_list("state").annotate(n=Count("pk")))


def _unjudged(batch: Batch):  # type: ignore[no-untyped-def]
    return Submission.objects.filter(posting__batch=batch, state=Submission.State.SUBMITTED)


def _times(batch: Batch) -> list[datetime]:
    """When the answers of the last day came in."""
    assignments = Assignment.objects.filter(counted(), task__batch=batch, submitted_at__gte=_first_hour())
    return [moment for moment in assignments.values_list("submitted_at", flat=True) if moment is not None]


def _first_hour() -> datetime:
    return clock.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)


def _hours(times: list[datetime]) -> list[Hour]:
    """The last day by hours, without the empty ones before the first answer."""
    first = _first_hour()
    counts = Counter(int((moment - first).total_seconds() // 3600) for moment in times)
    begun = min(counts, default=HOURS)
    return [Hour(first + timedelta(hours=n), counts[n]) for n in range(begun, HOURS)]


def pace(times: list[datetime]) -> float | None:
    """Answers per hour since the first one of the last three hours; None while they are too few or too fresh."""
    now = clock.now()
    lately = [moment for moment in times if moment > now - LATELY]
    if not lately:
        return 0.0
    if len(lately) < ENOUGH_ANSWERS:
        lately = times  # a slow crowd shows its pace over the day
    span = now - min(lately)
    if len(lately) < ENOUGH_ANSWERS or span < ENOUGH_TIME:
        return None
    return len(lately) * timedelta(hours=1) / span


def money_of(entries: QuerySet[Entry]) -> Money:
    """What these lines of the ledger come to."""
    sums = entries.exclude(state=Entry.State.FAILED).aggregate(
        promised=Sum("promised_cents", default=0),
        paid=Sum("paid_cents", default=0),
        reward=Sum("reward_cents", filter=SPENT, default=0),
        fee=Sum("fee_cents", filter=SPENT, default=0),
        doubtful=Count("pk", filter=Q(state=Entry.State.DOUBTFUL)),
        waiting=Count("pk", filter=Q(state=Entry.State.PLANNED)),
    )
    return Money(**sums)


def _active_seconds(batch: Batch) -> float | None:
    newest = Assignment.objects.filter(counted(), task__batch=batch).order_by("-pk")
    times = [totals(signals).active_seconds for signals in newest.values_list("signals", flat=True)[:500]]
    measured = [time for time in times if time > 0]
    return median(measured) if measured else None
