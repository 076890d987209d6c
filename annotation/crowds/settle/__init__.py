"""Reconciling the ledger with what the market lists. Safe at any time, twice, or after a crash.

What was decided and not carried out is carried out; what was carried out and not noted is noted; what nobody can tell
waits for a person. Tokens protect a repeated call for 24 hours; so everything is looked up before it is called again.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import IntegrityError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.crowds.base import Market, MarketRefused, Posted
from annotation.crowds.collect import collect
from annotation.crowds.launch.close import ClosesLater, close, release_places, standing_after_close, waiting_closes
from annotation.crowds.launch.extend import CLOSED, carry_out_extensions
from annotation.crowds.launch.publish import earlier_workers, keep_posted, put_up
from annotation.crowds.ledger import Kind, State, fail_entry
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.approve import carry_out_approvals
from annotation.crowds.pay.bonus import carry_out_bonus
from annotation.crowds.pay.outcome import Outcome
from annotation.crowds.terms import terms_of
from annotation.models import Batch, Entry, Posting, Study, Submission

from .doubtful import decide
from .reconcile import check_bonuses, check_postings

Progress = Callable[[int, int], None]
IN_FLIGHT = timedelta(seconds=60)
"""A call that was begun so lately may still be under way in another process."""


@dataclass
class Settled:
    """What a settle found."""

    checked: int = 0
    """Entries that were not settled."""
    finished: int = 0
    failed: int = 0
    doubtful: list[Entry] = field(default_factory=list)
    """Which wait for a person (`decide`)."""
    unreachable: list[str] = field(default_factory=list)
    """Batches that could not be settled, because their market does not answer, say; a sentence each."""
    differences: list[str] = field(default_factory=list)
    """What the market lists otherwise than the ledger, a sentence each."""


def settle(study: Study, progress: Progress | None = None) -> Settled:
    """Bring every batch of a study in line with its market."""
    report = Settled()
    candidates = (batch for batch in study.batches.order_by("pk") if batch.postings.exists())
    batches = [batch for batch in candidates if market_for(batch.crowd, batch.study).pays]
    for number, batch in enumerate(batches, start=1):
        try:
            settle_batch(batch, report)
            _finish_close(batch)
        except Refused as problem:  # the other batches are settled all the same
            report.unreachable.append(_("“%(batch)s” was left out: %(problem)s") % {"batch": batch, "problem": problem})
        if progress:
            progress(number, len(batches))
    report.doubtful = list(Entry.objects.filter(study=study, state=State.DOUBTFUL).order_by("pk"))
    return report


def settle_batch(batch: Batch, report: Settled) -> None:
    """Look first, then carry out: postings, places, submissions, approvals, bonuses, and what is given back."""
    market = market_for(batch.crowd, batch.study)
    market.check()
    open_before = set(_unsettled(batch).values_list("pk", flat=True))
    report.checked += len(open_before)
    market_postings = check_postings(batch, market, report.differences)
    _finish_posts(batch, market, market_postings)
    carry_out_extensions(batch, market, market_postings)
    if terms_of(batch).exclude_batches:
        market.exclude(batch, earlier_workers(terms_of(batch)))
    report.differences += collect(batch).problems
    _finish_approvals(batch, market)
    _finish_bonuses(batch, market)
    check_bonuses(batch, market, report.differences)
    release_places(batch, market_postings)
    report.differences += _left_standing(batch, market_postings)
    states = list(Entry.objects.filter(pk__in=open_before).values_list("state", flat=True))
    report.finished += states.count(State.SETTLED)
    report.failed += states.count(State.FAILED)


def _left_standing(batch: Batch, market_postings: dict[str, Posted]) -> list[str]:
    """A sentence where postings stand for a batch that is closed."""
    in_books = set(standing_after_close(Batch.objects.filter(pk=batch.pk)).values_list("market_id", flat=True))
    on_market = {posting.market_id for posting in market_postings.values() if posting.state == Posting.State.OPEN}
    n = len(in_books | on_market) if batch.state == Batch.State.CLOSED else 0
    if not n:
        return []
    return [
        ngettext(
            "%(n)d posting stands on the market for “%(batch)s”, which is closed: close it again on its Monitor page.",
            "%(n)d postings stand on the market for “%(batch)s”, which is closed: close it again on its Monitor page.",
            n,
        )
        % {"n": n, "batch": batch}
    ]


def _finish_close(batch: Batch) -> None:
    """Close what somebody asked to close, if nothing keeps it open any more."""
    if waiting_closes().filter(pk=batch.pk).exists():
        with suppress(ClosesLater):
            close(batch)


def _unsettled(batch: Batch):  # type: ignore[no-untyped-def]
    return batch.entries.filter(state__in=[State.PLANNED, State.DOUBTFUL])


def under_way(market: Market, entry: Entry) -> bool:
    """Where a call can't be repeated safely, one that was begun a moment ago is left alone."""
    lately = entry.called_at is not None and entry.called_at > clock.now() - IN_FLIGHT
    return lately and not market.repeats_bonus_safely


def _finish_posts(batch: Batch, market: Market, market_postings: dict[str, Posted]) -> None:
    posts = batch.entries.filter(kind=Kind.POST).exclude(state=State.SETTLED).select_related("posting__batch__study")
    for entry in posts:
        if entry.token in market_postings:
            try:
                keep_posted(entry, market_postings[entry.token])
            except IntegrityError as error:  # refused before, yet it stands, and the budget has gone elsewhere
                raise Refused(_("A posting stands on the market beyond the budget: raise it, and settle.")) from error
    planned = posts.filter(state=State.PLANNED)
    if batch.state == Batch.State.CLOSED:  # nobody could do it
        for entry in planned:
            fail_entry(entry, CLOSED)
        return
    if any(under_way(market, entry) for entry in planned):
        return
    if planned.exists():
        _done, _cents, problem = put_up(batch, market, market_postings=market_postings)
        if problem is not None and not isinstance(problem, MarketRefused):
            raise problem


def _finish_approvals(batch: Batch, market: Market) -> None:
    rows = batch.entries.filter(kind=Kind.APPROVE, state=State.PLANNED)
    planned = list(rows.select_related("submission__posting__batch__study", "submission__worker", "posting"))
    plain = [entry for entry in planned if entry.submission and entry.submission.state == Submission.State.SUBMITTED]
    undone = [entry for entry in planned if entry.submission and entry.submission.state == Submission.State.REJECTED]
    for entries, undo in ((plain, False), (undone, True)):
        if entries:
            carry_out_approvals(market, entries, Outcome(), undo=undo)
    for entry in undone:
        entry.refresh_from_db(fields=["state", "note"])
        if entry.state == State.FAILED and entry.submission:
            for extension_entry in entry.submission.entries.filter(kind=Kind.EXTEND, state=State.PLANNED):
                fail_entry(extension_entry, entry.note)


def _finish_bonuses(batch: Batch, market: Market) -> None:
    rows = batch.entries.filter(kind=Kind.BONUS, state=State.PLANNED)
    for entry in rows.select_related("submission__posting__batch__study", "submission__worker", "posting"):
        if not under_way(market, entry):
            carry_out_bonus(market, entry, Outcome())


__all__ = ["Settled", "decide", "settle"]
