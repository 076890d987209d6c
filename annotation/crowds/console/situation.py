"""The true state of a batch in sentences: what is under way, what stopped, what has not been heard of."""

from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotation.models import Batch, Job, Posting

from .monitor import Monitor
from .schedule import is_silent, schedule_of


@dataclass(frozen=True)
class Situation:
    """What the Monitor says above its figures; `problems` want somebody to act."""

    heading: str
    sentences: list[str]
    problems: list[str]


def situation(batch: Batch, state: Monitor) -> Situation:
    publishing = batch.study.jobs.filter(kind="publish", options__batch=batch.pk).first()
    is_publishing = publishing is not None and not publishing.is_over
    n_postings, n_planned = sum(state.postings.values()), state.postings.get(Posting.State.PLANNED, 0)
    up = {"n": _grouped(n_postings - n_planned), "of": _grouped(n_postings)}
    sentences, problems = [], []
    if is_publishing:
        sentences.append(_("%(n)s of %(of)s postings are up.") % up)
    elif n_planned:
        problems.append(
            _("Publishing stopped: %(n)s of %(of)s postings are up. Publish again on the Launch page puts up the rest.")
            % up
        )
    return Situation(_heading(batch, state, is_publishing), sentences, [*problems, *_background(batch, state)])


def _grouped(number: int) -> str:
    return number_format(number, force_grouping=True)


def _heading(batch: Batch, state: Monitor, is_publishing: bool) -> str:
    if is_publishing:
        return _("Publishing")
    if state.finished:
        return _("Complete")
    if batch.state == Batch.State.CLOSED:
        return _("Closed")
    if batch.state == Batch.State.PAUSED:
        return _("Paused")
    return _("Under way") if state.done or state.working else _("Nobody has answered yet")


def _background(batch: Batch, state: Monitor) -> list[str]:
    """What doesn't happen though the schedule says so; only for batches that stand on a market."""
    stands = any(state.postings.get(name) for name in (Posting.State.OPEN, Posting.State.PAUSED))
    if not stands or batch.is_direct:
        return []
    schedule = schedule_of(batch)
    problems = []
    if schedule.collect_minutes and is_silent(schedule):
        problems.append(
            _(
                "No background process has looked at this batch lately, so nothing is collected by itself: use "
                "“Collect now”, or have whoever runs this site start “manage.py worker”."
            )
        )
    job = batch.study.jobs.filter(kind="collect", options__batch=batch.pk).first()
    if job is not None and job.state == Job.State.FAILED:
        problems.append(
            _("The last collect, at %(time)s, did not succeed: the figures are older. %(reason)s")
            % {"time": f"{job.asked_at:%Y-%m-%d %H:%M}", "reason": job.message}
        )
    return problems
