"""What happens by itself while a batch stands on a market: collecting, approving by rule, settling.

The background process looks every half minute what is due (manage.py worker). One job of a kind at a time; an earlier
one that is over gives way, so that a batch of weeks leaves one row and not a thousand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.crowds.collect import STANDING
from annotation.crowds.lookup import MARKETS
from annotation.crowds.pay.approve import approve
from annotation.crowds.pay.work_done import whole_and_other
from annotation.jobs import Progress, kind, start_job
from annotation.jobs.page_cache import make_now
from annotation.models import Batch, Job, Posting, Schedule, Submission, WorkerFigures

from .jobs import outcome_sentence

SILENT = timedelta(minutes=5)
"""Without a look for so long, no background process runs."""
OVER = (Job.State.DONE, Job.State.FAILED)
BY_RULE = "approve-by-rule"
LIMITS = {"collect_minutes": 1440, "approve_hours": 720, "settle_hours": 720}


@dataclass(frozen=True)
class Step:
    """One thing that the schedule does, as the page shows it."""

    title: str
    last: Job | None
    due_at: datetime | None
    """None: it doesn't happen by itself."""


def schedule_of(batch: Batch) -> Schedule:
    """The batch's schedule; one that nobody has set or used yet has the defaults."""
    return Schedule.objects.filter(batch=batch).first() or Schedule(batch=batch)


def is_silent(schedule: Schedule) -> bool:
    """Whether no background process has looked for a while: then nothing happens by itself."""
    return schedule.looked_at is None or schedule.looked_at < clock.now() - SILENT


def schedule_steps(batch: Batch) -> list[Step]:
    schedule = schedule_of(batch)
    titles = {"collect": _("Collect"), BY_RULE: _("Approve by rule"), "settle": _("Settle the ledger")}
    newest: dict[str, Job] = {}
    for job in batch.study.jobs.filter(kind__in=titles, options__batch=batch.pk, options__scheduled=True):
        newest.setdefault(job.kind, job)
    return [Step(title, newest.get(name), _due_at(schedule, name)) for name, title in titles.items()]


def set_schedule(batch: Batch, form: Mapping[str, Any]) -> Schedule:
    """Keep what was chosen. Refused for a number that makes no sense, with nothing changed."""
    rule = str(form.get("approve", ""))
    if rule not in Schedule.Rule.values:
        raise Refused(_("There is no such rule for approvals. Nothing was changed."))
    numbers = {name: parse_int(str(form.get(name, "")), -1) for name in LIMITS}
    for name, number in numbers.items():
        if not 0 <= number <= LIMITS[name]:
            raise Refused(
                _("“%(text)s” is no number from 0 to %(most)d. Nothing was changed.")
                % {"text": str(form.get(name, ""))[:20], "most": LIMITS[name]}
            )
    return Schedule.objects.update_or_create(batch=batch, defaults={"approve": rule, **numbers})[0]


def start_due_work() -> int:
    """Start what is due for every batch that stands on a market. How many jobs were started."""
    return sum(_start_for(batch) for batch in _standing_batches())


def _standing_batches() -> QuerySet[Batch]:
    paying = [name for name, market in MARKETS.items() if market.pays]
    postings = Posting.objects.filter(batch=OuterRef("pk"), state__in=STANDING).exclude(market_id="")
    return Batch.objects.filter(Exists(postings), crowd__in=paying).select_related("study").order_by("pk")


def _start_for(batch: Batch) -> int:
    Schedule.objects.get_or_create(batch=batch)
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update().get(batch=batch)
        due = [name for name in COLUMNS if _is_due(schedule, name)]
        for name in due:
            _start(batch, name)
            setattr(schedule, COLUMNS[name], clock.now())
        schedule.looked_at = clock.now()
        schedule.save()
    return len(due)


COLUMNS = {"collect": "collected_at", BY_RULE: "approved_at", "settle": "settled_at"}


def _due_at(schedule: Schedule, name: str) -> datetime | None:
    """When it is to happen next; None where it is not to."""
    pauses = {
        "collect": timedelta(minutes=schedule.collect_minutes),
        BY_RULE: timedelta(hours=1) if schedule.approve else timedelta(),
        "settle": timedelta(hours=schedule.settle_hours),
    }
    last: datetime | None = getattr(schedule, COLUMNS[name])
    return (last + pauses[name] if last else clock.now()) if pauses[name] else None


def _is_due(schedule: Schedule, name: str) -> bool:
    due_at = _due_at(schedule, name)
    if due_at is None or due_at > clock.now():
        return False
    jobs = schedule.batch.study.jobs.filter(kind=name, options__batch=schedule.batch_id)
    return not jobs.exclude(state__in=OVER).exists()


def _start(batch: Batch, name: str) -> None:
    own = {"batch": batch.pk, "scheduled": True}
    batch.study.jobs.filter(kind=name, options=own, state__in=OVER).delete()
    start_job(batch.study, name, own, None)


# Approving by rule


def due_for_approval(batch: Batch, schedule: Schedule) -> list[Submission]:
    """Whole work that was handed in long enough ago; with the rule `clean`, of workers who don't stand out."""
    long_ago = clock.now() - timedelta(hours=schedule.approve_hours)
    rows = Submission.objects.filter(
        posting__batch=batch, state=Submission.State.SUBMITTED, submitted_at__lte=long_ago, worker__blocked_at=None
    )
    if schedule.approve == Schedule.Rule.CLEAN:
        make_now("workers", batch.study)
        figures = WorkerFigures.objects.filter(batch=batch, worker=OuterRef("worker"))
        rows = rows.filter(Exists(figures.filter(stands_out=0)))
    submissions = rows.select_related("posting__batch__study", "worker__user").order_by("pk")
    return whole_and_other(list(submissions))[0] if schedule.approve else []


@kind(BY_RULE, money=True)
def approve_by_rule(job: Job, progress: Progress) -> str:
    batch = Batch.objects.select_related("study").get(pk=job.options["batch"], study=job.study)
    schedule = schedule_of(batch)
    submissions = due_for_approval(batch, schedule)
    if not submissions:
        return _("Nothing was due for approval.")
    return outcome_sentence(approve(submissions, None, progress), _("approved"))
