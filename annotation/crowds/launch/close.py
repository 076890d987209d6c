"""Pausing, going on and ending what stands on a market; promises that nobody can claim any more are taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.base import Market, Posted
from annotation.crowds.collect import STANDING, collect
from annotation.crowds.ledger import State, release_unfilled, released_places, write_once
from annotation.crowds.ledger.calls import ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.models import Batch, Posting, Submission, Worker

from .extend import ToppedUp, top_up

Open = Posting.State


def pause(batch: Batch) -> int:
    """Nobody new can take a task; promises stay. Returns how many postings were paused."""
    market = market_for(batch.crowd, batch.study)
    return _move(batch, market, market.pause, [Open.OPEN], Open.PAUSED, Batch.State.PAUSED)


def resume(batch: Batch) -> int:
    """Paused postings are open again, for as long as they were at first."""
    market = market_for(batch.crowd, batch.study)
    return _move(batch, market, market.resume, [Open.PAUSED], Open.OPEN, Batch.State.OPEN)


def expire(batch: Batch) -> int:
    """Nobody new can take a task; who holds one may finish it. Money of places that stay empty is taken back."""
    ended, _market_postings = _end(batch, market_for(batch.crowd, batch.study))
    return ended


def _end(batch: Batch, market: Market) -> tuple[int, dict[str, Posted]]:
    ended = _move(batch, market, market.expire, [Open.OPEN, Open.PAUSED], Open.EXPIRED, Batch.State(batch.state))
    market_postings = dict(market.find(batch))  # before the submissions: so nobody's work falls between the two looks
    collect(batch)
    release_places(batch, market_postings)
    return ended, market_postings


class ClosesLater(Refused):
    """Nobody new comes; what keeps the batch from being closed ends by itself, or by a verdict."""


def close(batch: Batch) -> int:
    """Take everything down, once nobody works on it, all work is judged and nothing is open in the ledger.

    Until then ClosesLater says what it waits for. The wish is kept: `waiting_closes` finds it.
    """
    _note_wish(batch)
    market = market_for(batch.crowd, batch.study)
    _ended, market_postings = _end(batch, market)
    if reason := why_not_yet(batch, people_at_work(batch, market_postings)):
        raise ClosesLater(reason)
    if batch.postings.filter(state__in=[Open.OPEN, Open.PAUSED]).exclude(market_id="").exists():
        raise ClosesLater(_("A top-up was put up meanwhile: it is ended first, and the batch closes by itself then."))
    closed = _move(batch, market, market.close, [Open.EXPIRED], Open.CLOSED, Batch.State.CLOSED)
    release_places(batch, {})
    return closed


def _note_wish(batch: Batch) -> None:
    """From here on nothing more is asked for. A top-up that is being written down is waited for."""
    with transaction.atomic():
        row = Batch.objects.select_for_update().get(pk=batch.pk)
        if row.close_asked_at is None and row.state != Batch.State.CLOSED:
            row.close_asked_at = clock.now()
            row.save(update_fields=["close_asked_at"])
    batch.close_asked_at, batch.state = row.close_asked_at, row.state


@dataclass(frozen=True)
class AtWork:
    """People who hold a place that they may still hand in."""

    people: int
    until: datetime | None
    """At the latest; None when there is nobody."""


def people_at_work(batch: Batch, market_postings: dict[str, Posted] | None = None) -> AtWork:
    """By the market's word, or by our own where it doesn't tell or isn't asked."""
    started = Submission.objects.filter(posting__batch=batch, state=Submission.State.STARTED)
    started = started.exclude(posting__state=Open.CLOSED)
    limit = timedelta(seconds=int(batch.terms.get("duration_seconds") or 0))
    recent = started.filter(started_at__gt=clock.now() - limit)
    begun = [moment for moment in recent.values_list("started_at", flat=True) if moment]
    pending = [posting.claimable for posting in (market_postings or {}).values() if posting.state == Open.EXPIRED]
    counts = [n for n in pending if n is not None]
    people = sum(counts) if counts else len(begun)
    if not people:
        return AtWork(0, None)
    is_known = begun and people <= len(begun)
    return AtWork(people, max(begun) + limit if is_known else clock.now() + limit)


def why_not_yet(batch: Batch, at_work: AtWork) -> str:
    """What keeps the batch from being closed; empty when nothing does."""
    if at_work.people:
        return ngettext(
            "%(n)d person works on it until %(time)s at the latest; it closes by itself then.",
            "%(n)d people work on it until %(time)s at the latest; it closes by itself then.",
            at_work.people,
        ) % {"n": at_work.people, "time": clock_time(at_work.until)}
    n_unjudged = Submission.objects.filter(posting__batch=batch, state=Submission.State.SUBMITTED).count()
    if n_unjudged:
        return ngettext(
            "%(n)d submission waits for your verdict: approve or reject it, and the batch closes by itself.",
            "%(n)d submissions wait for your verdict: approve or reject them, and the batch closes by itself.",
            n_unjudged,
        ) % {"n": n_unjudged}
    if batch.entries.filter(state__in=[State.PLANNED, State.DOUBTFUL]).exists():
        return _("The ledger of this batch has open lines: settle them, and it closes by itself.")
    return ""


def clock_time(moment: datetime | None) -> str:
    """A moment as sentences say it, in the site's time zone."""
    return date_format(timezone.localtime(moment), "Y-m-d H:i") if moment else ""


def waiting_closes() -> QuerySet[Batch]:
    """Batches that somebody asked to close and that could not be closed then."""
    return Batch.objects.filter(close_asked_at__isnull=False).exclude(state=Batch.State.CLOSED).order_by("pk")


def standing_after_close(batches: QuerySet[Batch]) -> QuerySet[Posting]:
    """Postings that stand on a market for a closed batch, where nobody can do them: their money is promised in vain."""
    closed = batches.filter(state=Batch.State.CLOSED).exclude(crowd=Worker.DIRECT)
    return Posting.objects.filter(batch__in=closed, state__in=STANDING).exclude(market_id="")


def _move(
    batch: Batch, market: Market, call: Callable[[Posting], None], source: Sequence[str], target: str, state: str
) -> int:
    """Call for every posting in one of these states, and note it."""
    moved, problem = 0, None
    postings = list(batch.postings.filter(state__in=source).exclude(market_id="").select_related("batch__study"))
    for replies in ask(market, postings, call):
        point("expire:answered")
        moved_ids = [reply.item.pk for reply in replies if reply.problem is None]
        batch.postings.filter(pk__in=moved_ids).update(state=target)
        point("expire:kept")
        moved += len(moved_ids)
        problem = problem or next((reply.problem for reply in replies if reply.problem), None)
    if problem is not None:
        raise type(problem)(
            _("%(problem)s %(n)d of %(all)d postings were changed; try again for the rest.")
            % {"problem": problem, "n": moved, "all": len(postings)}
        )
    if batch.state != state:
        batch.state = state
        batch.save(update_fields=["state"])
    return moved


def release_places(batch: Batch, market_postings: dict[str, Posted]) -> int:
    """Take back the promises of places that nobody can claim any more. `market_postings` is older than our submissions.

    Returns how many places. A place is claimable while the market says so, or while a worker whom we saw may still
    hand in; a closed posting has none left.
    """
    released = 0
    postings = batch.postings.filter(state__in=[Open.OPEN, Open.EXPIRED, Open.CLOSED]).annotate(
        delivered=Count("submissions", filter=Q(submissions__state__in=Submission.CONFIRMED)),
        started=Count("submissions", filter=Q(submissions__state=Submission.State.STARTED)),
    )
    for posting in postings.select_related("batch__study").iterator(chunk_size=500):
        claimable = _claimable(posting, market_postings.get(posting.token))
        if claimable is None or posting.delivered + claimable >= posting.places:
            continue
        with transaction.atomic():
            before = released_places(posting)
            due = posting.places - claimable - posting.delivered - before
            if due > 0:
                write_once([release_unfilled(posting, due, before)])
                released += due
    return released


def _claimable(posting: Posting, market_posting: Posted | None) -> int | None:
    if posting.state == Open.CLOSED:
        return 0
    if market_posting is None or market_posting.places != posting.places:  # not up yet, or topped up since that look
        return None
    if market_posting.claimable is not None:
        return market_posting.claimable
    return posting.started if posting.state == Open.EXPIRED else None  # type: ignore[attr-defined]


__all__ = [
    "ClosesLater",
    "ToppedUp",
    "close",
    "expire",
    "pause",
    "people_at_work",
    "release_places",
    "resume",
    "standing_after_close",
    "top_up",
    "waiting_closes",
    "why_not_yet",
]
