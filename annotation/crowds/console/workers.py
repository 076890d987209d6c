"""The people of a batch, for its admins: what each did, how well, what it earned them, and what stands out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, FilteredRelation, Q, QuerySet, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.jobs.page_cache import newest_content
from annotation.models import Assignment, Batch, Entry, Job, Submission, User, Worker, WorkerFigures

from .worker_figures import handed_in, odd_things

ROWS = 50
State = Submission.State
SORTS: dict[str, tuple[str | Promise, list[Any]]] = {
    "standing": (gettext_lazy("Those who stand out first"), [F("f__stands_out").desc(nulls_last=True), "f__agreement"]),
    "agreement": (gettext_lazy("Least agreement first"), [F("f__agreement").asc(nulls_last=True)]),
    "failed": (gettext_lazy("Most failed checks first"), [F("f__failed").desc(nulls_last=True)]),
    "fast": (gettext_lazy("Fastest first"), [F("f__seconds").asc(nulls_last=True)]),
    "tasks": (gettext_lazy("Most tasks first"), [F("f__tasks").desc(nulls_last=True)]),
    "name": (gettext_lazy("By id"), ["external_id"]),
}
SHOWN: dict[str, str | Promise] = {
    "all": gettext_lazy("Everybody"),
    "waiting": gettext_lazy("With work that waits"),
    "odd": gettext_lazy("Who stand out"),
    "dropped": gettext_lazy("Left out by the filter"),
    "rejected": gettext_lazy("With rejected work"),
    "blocked": gettext_lazy("Blocked"),
}


@dataclass(frozen=True)
class WorkerQuery:
    """What a list of workers shows, in which order."""

    search: str = ""
    shown: str = "all"
    sort: str = "standing"

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> "WorkerQuery":
        shown, sort = str(parameters.get("show", "")), str(parameters.get("sort", ""))
        return cls(
            str(parameters.get("q", "")).strip()[:200],
            shown if shown in SHOWN else "all",
            sort if sort in SORTS else "standing",
        )

    def address(self) -> str:
        """Without what is as usual."""
        values = {"q": self.search, "show": self.shown, "sort": self.sort}
        usual = {"q": "", "show": "all", "sort": "standing"}
        return urlencode({name: value for name, value in values.items() if value != usual[name]})


@dataclass(frozen=True)
class WorkerRow:
    worker: Worker
    figures: WorkerFigures
    paid_cents: int
    """Rewards and bonuses, without fees."""
    unjudged: int
    """Submissions that wait for a verdict."""
    approved: int
    rejected: int
    signals: list[str] = field(default_factory=list)

    @property
    def hourly_cents(self) -> int | None:
        active = self.figures.active_seconds
        return round(self.paid_cents * 3600 / active) if active and self.paid_cents else None


@dataclass(frozen=True)
class WorkerList:
    """A page of the workers of a batch."""

    rows: list[WorkerRow]
    page: Page[Any]
    query: WorkerQuery
    made_at: datetime | None
    """When agreement, checks and times were worked out."""
    job: Job | None
    """That works them out anew."""

    @property
    def total(self) -> int:
        return self.page.paginator.count


def worker_list(batch: Batch, parameters: Mapping[str, Any], asked_by: User | None = None) -> WorkerList:
    """The people with work in this batch, a page of them, in a fixed number of queries."""
    query, newest = WorkerQuery.of(parameters), newest_content("workers", batch.study, asked_by)
    page = Paginator(workers_shown(batch, query), ROWS).get_page(str(parameters.get("page", "1")))
    return WorkerList(worker_rows(batch, list(page.object_list)), page, query, newest.made_at, newest.job)


def workers_shown(batch: Batch, query: WorkerQuery) -> QuerySet[Worker]:
    """Everybody with work in this batch whom the list is about."""
    submissions = Submission.objects.filter(posting__batch=batch).order_by()
    work = Assignment.objects.filter(handed_in(), task__batch=batch).order_by()
    # Lists of ids, each made once: a question asked of every worker anew takes PostgreSQL seconds.
    has_part = Q(pk__in=submissions.values("worker")) | Q(pk__in=work.values("worker"))
    workers = Worker.objects.filter(has_part, study=batch.study)
    workers = workers.annotate(f=FilteredRelation("figures", condition=Q(figures__batch=batch)))
    conditions = {
        "waiting": Q(pk__in=submissions.filter(state=State.SUBMITTED).values("worker")),
        "rejected": Q(pk__in=submissions.filter(state=State.REJECTED).values("worker")),
        "odd": Q(f__stands_out__gt=0),
        "dropped": Q(f__stands_out__gte=10),
        "blocked": Q(blocked_at__isnull=False),
    }
    if query.shown in conditions:
        workers = workers.filter(conditions[query.shown])
    if query.search:
        names = ("external_id", "pseudonym", "user__username")
        workers = workers.filter(Q(*((f"{name}__icontains", query.search) for name in names), _connector=Q.OR))
    return workers.select_related("user").order_by(*SORTS[query.sort][1], "pk")


def worker_rows(batch: Batch, workers: Sequence[Worker]) -> list[WorkerRow]:
    """What is known of these workers."""
    figures = {row.worker_id: row for row in WorkerFigures.objects.filter(batch=batch, worker__in=workers)}
    verdicts, paid = _verdict_counts(batch, workers), _paid(batch, workers)
    rows = []
    for worker in workers:
        row = figures.get(worker.pk) or WorkerFigures(batch=batch, worker=worker)
        counts = verdicts.get(worker.pk, {})
        rows.append(
            WorkerRow(
                worker=worker,
                figures=row,
                paid_cents=paid.get(worker.pk, 0),
                unjudged=counts.get(State.SUBMITTED, 0),
                approved=counts.get(State.APPROVED, 0),
                rejected=counts.get(State.REJECTED, 0),
                signals=_signals(worker, row),
            )
        )
    return rows


def _verdict_counts(batch: Batch, workers: Sequence[Worker]) -> dict[int, dict[str, int]]:
    submissions = Submission.objects.filter(posting__batch=batch, worker__in=workers).order_by()
    counts: dict[int, dict[str, int]] = {}
    for worker, state, n in submissions.values_list("worker", "state").annotate(n=Count("pk")):
        counts.setdefault(worker, {})[state] = n
    return counts


def _paid(batch: Batch, workers: Sequence[Worker]) -> dict[int, int]:
    spent = Entry.objects.filter(batch=batch, submission__worker__in=workers).exclude(state=Entry.State.FAILED)
    rows = spent.filter(kind__in=[Entry.Kind.APPROVE, Entry.Kind.BONUS]).order_by()
    return dict(rows.values_list("submission__worker").annotate(cents=Sum("reward_cents")))


def _signals(worker: Worker, row: WorkerFigures) -> list[str]:
    sentences = {
        "checks": _("%(n)d checks failed") % {"n": row.failed},
        "fast": _("very fast"),
        "pastes": _("pasted %(n)d times") % {"n": row.pastes},
        "focus": _("left the page %(n)d times a task") % {"n": round(row.focus_lost / max(1, row.tasks))},
    }
    return [*([_("blocked")] if worker.blocked_at else []), *(sentences[name] for name in odd_things(row))]


# What admins do about people


def chosen_workers(batch: Batch, form: Any) -> list[Worker]:
    """The ticked workers of this batch's study, or everybody whom the list showed; Refused when there is none."""
    workers = Worker.objects.filter(study=batch.study).select_related("user").order_by("pk")
    if form.get("everybody"):
        everybody = workers_shown(batch, WorkerQuery.of(form)).values("pk")
        chosen = list(workers.filter(pk__in=everybody))
    else:
        chosen = list(workers.filter(pk__in=[parse_int(worker_id) for worker_id in form.getlist("worker")]))
    if not chosen:
        raise Refused(_("Tick at least one worker. Nothing was done."))
    return chosen


def submissions_of(batch: Batch, workers: Sequence[Worker], *states: str) -> list[Submission]:
    """What these workers handed in, in these states, oldest first."""
    submissions = Submission.objects.filter(
        posting__batch=batch, worker__in=[worker.pk for worker in workers], state__in=states
    )
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
