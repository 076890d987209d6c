"""Expire and Close, with what follows from them; and the closes that wait, which the background finishes."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common import clock
from annotation.common.money import amount
from annotation.crowds.launch.close import AtWork, clock_time, people_at_work, waiting_closes, why_not_yet
from annotation.jobs import start_job
from annotation.models import Batch, Job, Posting

from .monitor import Monitor

AGAIN = timedelta(minutes=2)
"""How long after one try the background tries to close a batch again."""
UNDER_WAY = (Job.State.WAITING, Job.State.RUNNING)


@dataclass(frozen=True)
class Ending:
    """What an Expire or a Close would do, for the person who is about to ask for it."""

    action: str
    button: str
    consequences: list[str]


def can_expire(state: Monitor) -> bool:
    """Whether somebody new can still take a task, whatever the batch's own state says."""
    return bool(state.postings.get(Posting.State.OPEN) or state.postings.get(Posting.State.PAUSED))


def can_close(state: Monitor) -> bool:
    """Whether it is open, or something of it stands on the market."""
    stands = can_expire(state) or bool(state.postings.get(Posting.State.EXPIRED))
    return stands or state.batch.state != Batch.State.CLOSED


def ending_of(batch: Batch, action: str, state: Monitor) -> Ending:
    """The consequences, a sentence each."""
    at_work = people_at_work(batch)
    if action == "close":
        return Ending(action, _("Close for good"), [*_of_expiring(batch, state), *_of_closing(batch, at_work)])
    return Ending(action, _("Expire: nobody new"), [*_of_expiring(batch, state), *_who_may_hand_in(at_work)])


def _of_expiring(batch: Batch, state: Monitor) -> list[str]:
    n_open = state.postings.get(Posting.State.OPEN, 0) + state.postings.get(Posting.State.PAUSED, 0)
    sentences = [
        ngettext(
            "%(n)d posting ends on the market: nobody new can take it.",
            "%(n)d postings end on the market: nobody new can take them.",
            n_open,
        )
        % {"n": n_open}
    ]
    if state.money.promised > 0:
        promised = amount(state.money.promised, batch.study.currency)
        sentences.append(_("Of %(sum)s promised, what nobody can claim any more is free again.") % {"sum": promised})
    return sentences


def _who_may_hand_in(at_work: AtWork) -> list[str]:
    if not at_work.until:
        return []
    return [
        ngettext(
            "%(n)d person is at work and may hand in until %(time)s.",
            "%(n)d people are at work and may hand in until %(time)s.",
            at_work.people,
        )
        % {"n": at_work.people, "time": clock_time(at_work.until)}
    ]


def _of_closing(batch: Batch, at_work: AtWork) -> list[str]:
    final = _("A closed batch stays closed: no top-up, no new answer. What was answered and paid stays as it is.")
    waits_for = why_not_yet(batch, at_work)
    return [final, waits_for] if waits_for else [final]


def start_waiting_closes() -> int:
    """Ask for a close again where one waits and nothing that we know keeps it open. How many were started."""
    return sum(_start_close(batch) for batch in waiting_closes())


def _start_close(batch: Batch) -> bool:
    with transaction.atomic():
        row = Batch.objects.select_for_update().select_related("study").get(pk=batch.pk)
        last_try = row.study.jobs.filter(kind="close", options__batch=row.pk).first()
        if row.state == Batch.State.CLOSED or not _is_due(last_try) or why_not_yet(row, people_at_work(row)):
            return False
        start_job(row.study, "close", {"batch": row.pk}, last_try.asked_by if last_try else None)
    return True


def _is_due(last_try: Job | None) -> bool:
    if last_try is None:
        return True
    ended: datetime | None = last_try.ended_at
    return last_try.state not in UNDER_WAY and (ended is None or ended < clock.now() - AGAIN)
