"""Pausing, going on and ending what stands on a market; promises that nobody can claim any more are taken back."""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.errors import Refused
from annotation.crowds.base import Market, Posted
from annotation.crowds.collect import collect
from annotation.crowds.ledger import State, release_unfilled, released_places, write_once
from annotation.crowds.ledger.calls import ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.models import Batch, Posting, Submission

from .extend import ToppedUp, top_up

Open = Posting.State


def pause(batch: Batch) -> int:
    """Nobody new can take a task; promises stay. Returns how many postings were paused."""
    market = market_for(batch.crowd)
    return _move(batch, market, market.pause, [Open.OPEN], Open.PAUSED, Batch.State.PAUSED)


def resume(batch: Batch) -> int:
    """Paused postings are open again, for as long as they were at first."""
    market = market_for(batch.crowd)
    return _move(batch, market, market.resume, [Open.PAUSED], Open.OPEN, Batch.State.OPEN)


def expire(batch: Batch) -> int:
    """Nobody new can take a task; who holds one may finish it. Money of places that stay empty is taken back."""
    market = market_for(batch.crowd)
    ended = _move(batch, market, market.expire, [Open.OPEN, Open.PAUSED], Open.EXPIRED, Batch.State(batch.state))
    market_postings = dict(market.find(batch))  # before the submissions: so nobody's work falls between the two looks
    collect(batch)
    release_places(batch, market_postings)
    return ended


def close(batch: Batch) -> int:
    """Take everything down, once all work is judged and nothing is open in the ledger."""
    market = market_for(batch.crowd)
    expire(batch)
    _check_closable(batch)
    closed = _move(batch, market, market.close, [Open.EXPIRED], Open.CLOSED, Batch.State.CLOSED)
    release_places(batch, {})
    return closed


def _check_closable(batch: Batch) -> None:
    n_unjudged = Submission.objects.filter(posting__batch=batch, state=Submission.State.SUBMITTED).count()
    if n_unjudged:
        raise Refused(
            ngettext(
                "%(n)d submission waits for your verdict: approve or reject it first. The batch stays open to that.",
                "%(n)d submissions wait for your verdict: approve or reject them first. The batch stays open to that.",
                n_unjudged,
            )
            % {"n": n_unjudged}
        )
    if batch.entries.filter(state__in=[State.PLANNED, State.DOUBTFUL]).exists():
        raise Refused(_("The ledger of this batch has open lines: settle them first. The batch stays as it is."))


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


__all__ = ["ToppedUp", "close", "expire", "pause", "release_places", "resume", "top_up"]
