"""Topping up: more places on tasks that need more answers, on what stands or on a new posting."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.crowds.base import Market, MarketRefused, Posted
from annotation.crowds.ledger import (
    Kind,
    State,
    check_balance,
    extension,
    fail_entry,
    mark_called,
    posting_token,
    promise,
    revive,
    settle_entry,
    token_for,
    within_budget,
)
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.crowds.terms import Terms, terms_of
from annotation.models import Assignment, Batch, Entry, Posting, Submission, Task, User

from .plan import SMALL
from .publish import put_up

Open = Posting.State
CLOSED = "The batch was closed before it was asked for."


@dataclass(frozen=True)
class ToppedUp:
    """How many places were added, on how many tasks, for how many cents."""

    tasks: int
    places: int
    cents: int


def top_up(batch: Batch, task_ids: Sequence[int] | None, places: int, asked_by: User | None) -> ToppedUp:
    """So many more places on each of these tasks (None: all): on the posting that stands, or on a new one."""
    market, terms = market_for(batch.crowd, batch.study), terms_of(batch)
    if places < 1:
        raise Refused(_("A top-up is at least one place. Nothing was changed."))
    market.check()
    with within_budget(batch.study):
        refuse_closed(Batch.objects.select_for_update().get(pk=batch.pk))
        entries = _write_top_up(batch, market, terms, task_ids, places, asked_by)
        check_balance(market, entries)
    point("extend:written")
    carry_out_extensions(batch, market, {})
    _done, _cents, problem = put_up(batch, market)
    if problem is not None:
        raise problem
    return _topped_up(entries, places)


def refuse_closed(batch: Batch) -> None:
    """Nobody can do a task of a batch that is closed, or about to be: nothing more is asked for."""
    if batch.state == Batch.State.CLOSED or batch.close_asked_at is not None:
        raise Refused(
            _("“%(batch)s” is closed or about to be, so nobody could give more answers. Nothing was spent.")
            % {"batch": batch}
        )


def _topped_up(entries: list[Entry], places: int) -> ToppedUp:
    settled = Entry.objects.filter(pk__in=[entry.pk for entry in entries], state=State.SETTLED)
    tasks = settled.count()
    return ToppedUp(tasks, tasks * places, sum(settled.values_list("promised_cents", flat=True)))


def _write_top_up(
    batch: Batch, market: Market, terms: Terms, task_ids: Sequence[int] | None, places: int, asked_by: User | None
) -> list[Entry]:
    if market.one_posting:
        posting = batch.postings.filter(task=None).select_related("batch__study").first()
        if posting is None:
            raise Refused(_("“%(batch)s” is not on the market yet: publish it first.") % {"batch": batch})
        _raise_quota(batch.tasks.filter(pk__in=task_ids) if task_ids is not None else batch.tasks.all(), places)
        return [_extend_line(posting, places, asked_by)]
    tasks = batch.tasks.filter(pk__in=task_ids) if task_ids is not None else batch.tasks.all()
    lines = []
    for task in tasks.select_related("summary__system").order_by("pk"):
        open_posting = _extendable(batch, task, places)
        lines.append(
            _extend_line(open_posting, places, asked_by)
            if open_posting
            else _new_part(batch, task, market, terms, places, asked_by)
        )
    _raise_quota(tasks, places)
    return lines


def _extendable(batch: Batch, task: Task, places: int) -> Posting | None:
    """A posting that can take more places: open, and not grown from small to large, which MTurk refuses."""
    postings = batch.postings.filter(task=task, state=Open.OPEN).select_related("batch__study").order_by("part")
    return next((posting for posting in postings if posting.places > SMALL or posting.places + places <= SMALL), None)


def _extend_line(posting: Posting, places: int, asked_by: User | None) -> Entry:
    """The token follows from how many places there were: the same top-up asked for twice is one."""
    token = token_for(posting.batch, "extend", posting.token, posting.places)
    written_entry = Entry.objects.filter(token=token).select_related("posting").first()
    if written_entry is not None:
        return revive([written_entry])[0] if written_entry.state == State.FAILED else written_entry
    entry = extension(posting, places, token, asked_by, None)
    entry.save()
    return entry


def _new_part(batch: Batch, task: Task, market: Market, terms: Terms, places: int, asked_by: User | None) -> Entry:
    part_number = (batch.postings.filter(task=task).aggregate(most=Max("part"))["most"] or 0) + 1
    reward = terms.reward_for(task.summary.system.group if task.summary else "")
    posting = Posting.objects.create(
        batch=batch,
        task=task,
        part=part_number,
        token=posting_token(batch, task.pk, part_number),
        places=places,
        reward_cents=reward,
        fee_cents=market.fee_cents(reward, places, terms.as_json()),
    )
    entry = promise(posting, asked_by)
    entry.save()
    return entry


def _raise_quota(tasks: QuerySet[Task], places: int) -> None:
    """A task must have room for what counts already, what stands open, and the new places."""
    for task in tasks.annotate(
        counted=Count("assignments", filter=Q(assignments__state=Assignment.State.SUBMITTED), distinct=True)
    ):
        postings = Posting.objects.filter(task=task, state__in=[Open.OPEN, Open.PAUSED, Open.PLANNED]).annotate(
            delivered=Count("submissions", filter=Q(submissions__state__in=Submission.CONFIRMED))
        )
        standing_postings = [posting for posting in postings if posting.state != Open.PLANNED]
        open_places = sum(max(0, posting.places - posting.delivered) for posting in standing_postings)
        quota = task.counted + open_places + places
        if quota > task.quota:
            Task.objects.filter(pk=task.pk).update(quota=quota)


def carry_out_extensions(batch: Batch, market: Market, market_postings: dict[str, Posted]) -> None:
    """Call for every planned extension; one that the market shows to have taken effect is only noted."""
    rows = batch.entries.filter(kind=Kind.EXTEND, state=State.PLANNED, submission=None)
    for entry in rows.select_related("posting__batch__study"):
        posting = entry.posting
        assert posting is not None
        new_places = entry.promised_cents // max(1, posting.reward_cents + posting.fee_cents)
        market_posting = market_postings.get(posting.token)
        if market_posting is None and entry.called_at is not None:
            market_posting = dict(market.find(batch)).get(posting.token)
        if market_posting is None or market_posting.places < posting.places + new_places:
            if batch.state == Batch.State.CLOSED:
                fail_entry(entry, CLOSED)
                continue
            mark_called([entry])
            try:
                market.extend(posting, new_places, entry.token)
            except MarketRefused as refusal:
                fail_entry(entry, str(refusal))
                continue
            point("extend:answered")
        with transaction.atomic():
            settle_entry(entry)
            Posting.objects.filter(pk=posting.pk).update(places=posting.places + new_places)
