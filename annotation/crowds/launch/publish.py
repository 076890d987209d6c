"""Putting a batch on its market. Resumable: what stands there already is never put up again.

Postings and promises are written first, all in one transaction, so that the budget is checked as a whole. Then each
call is marked before it is made and settled after. A crash in between leaves planned entries; `settle`, or publishing
again, looks at what the market lists and goes on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.crowds.base import Market, MarketRefused, MarketUnreachable, Posted
from annotation.crowds.ledger import fail_entry, mark_called, promise, revive, settle_entry, within_budget
from annotation.crowds.ledger.calls import Reply, ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.crowds.terms import Terms, set_terms, terms_of
from annotation.guidance.pinning import pin
from annotation.models import Batch, Entry, Posting, Submission, User, Worker

from .plan import Planned, plan
from .quote import quote, refuse_problems

Progress = Callable[[int, int], None]
WRITE = 500


@dataclass(frozen=True)
class Published:
    """What a publish did."""

    postings: int
    """Put up now."""
    already: int
    """Stood there before."""
    cents: int
    """Promised by what was put up now."""


def publish(batch: Batch, progress: Progress | None = None, asked_by: User | None = None) -> Published:
    """Put up whatever of the batch does not stand yet. Refused, with nothing spent, while the quote has a problem."""
    market, terms = market_for(batch.crowd, batch.study), terms_of(batch)
    refuse_problems(quote(batch, terms))
    point("publish:begin")
    market.exclude(batch, earlier_workers(terms))
    already = batch.postings.exclude(state=Posting.State.PLANNED).count()
    _write_plan(batch, terms, market, asked_by)
    point("publish:planned")
    before = batch.state
    pin(batch)
    _set_state(batch, Batch.State.OPEN)
    n_posted, cents, problem = put_up(batch, market, progress)
    if problem is not None:
        if not n_posted and not already:
            _set_state(batch, before)
        raise _stopped(problem, batch)
    point("publish:end")
    return Published(n_posted, already, cents)


def earlier_workers(terms: Terms) -> list[Worker]:
    """Who has handed in work in the batches that these terms exclude."""
    submissions = Submission.objects.filter(posting__batch__in=terms.exclude_batches, state__in=Submission.CONFIRMED)
    workers = Worker.objects.filter(assignments__task__batch__in=terms.exclude_batches, assignments__state="submitted")
    return list((Worker.objects.filter(submissions__in=submissions) | workers).distinct())


def _write_plan(batch: Batch, terms: Terms, market: Market, asked_by: User | None) -> None:
    """Postings and promises that are not written yet; refused promises are planned again. All of it, or none."""
    with within_budget(batch.study):
        Batch.objects.select_for_update().get(pk=batch.pk)  # one plan at a time
        tokens = set(batch.postings.values_list("token", flat=True))
        new = (planned for planned in plan(batch, terms, market) if planned.token not in tokens)
        while chunk := list(islice(new, WRITE)):
            postings = Posting.objects.bulk_create(_posting(batch, planned) for planned in chunk)
            Entry.objects.bulk_create(promise(posting, asked_by) for posting in postings)
        revive(list(batch.entries.filter(kind=Entry.Kind.POST, state=Entry.State.FAILED)))


def _posting(batch: Batch, planned: Planned) -> Posting:
    return Posting(
        batch=batch,
        task_id=planned.task_id,
        part=planned.part,
        token=planned.token,
        places=planned.places,
        reward_cents=planned.reward_cents,
        fee_cents=planned.fee_cents,
    )


def put_up(
    batch: Batch,
    market: Market,
    progress: Progress | None = None,
    market_postings: dict[str, Posted] | None = None,
) -> tuple[int, int, MarketRefused | MarketUnreachable | None]:
    """Call for every planned posting; how many stand now, for how many cents, and what stopped it, if anything did."""
    entries = planned_posts(batch)
    total, n_posted, cents = entries.count(), 0, 0
    if market_postings is None:  # the market's tokens are forgotten after a day, its list is not
        market_postings = dict(market.find(batch)) if entries.exclude(called_at=None).exists() else {}
    for replies in ask(market, _in_order(entries), _posted(market, market_postings), _ready(market)):
        with transaction.atomic():
            has_posted = [_keep(reply) for reply in replies]
        point("publish:kept")
        n_posted, cents = n_posted + sum(has_posted), cents + sum(r.item.promised_cents for r in replies if r.value)
        if progress:
            progress(n_posted, total)
        if problem := next((reply.problem for reply in replies if reply.problem), None):
            fail_the_rest(batch, problem)
            return n_posted, cents, problem
    return n_posted, cents, None


def planned_posts(batch: Batch):  # type: ignore[no-untyped-def]
    """Promises that are written and not settled."""
    return batch.entries.filter(kind=Entry.Kind.POST, state=Entry.State.PLANNED, posting__state=Posting.State.PLANNED)


def _in_order(entries) -> Iterator[Entry]:  # type: ignore[no-untyped-def]
    """In chunks by key: a list of everything would grow with the batch."""
    last = 0
    rows = entries.select_related("posting__batch__study", "posting__task")
    while chunk := list(rows.filter(pk__gt=last).order_by("pk")[:WRITE]):
        yield from chunk
        last = chunk[-1].pk


def _ready(market: Market) -> Callable[[list[Entry]], None]:
    def ready(entries: list[Entry]) -> None:
        market.prepare([entry.posting for entry in entries if entry.posting])
        mark_called(entries)
        point("publish:called")

    return ready


def _posted(market: Market, market_postings: dict[str, Posted]) -> Callable[[Entry], Posted]:
    def call(entry: Entry) -> Posted:
        assert entry.posting is not None
        market_posting = market_postings.get(entry.token) or market.post(entry.posting)
        point("publish:answered")
        return market_posting

    return call


def _keep(reply: "Reply[Entry, Posted]") -> bool:
    """Write what the market said of one posting; True when it stands."""
    entry = reply.item
    if reply.value is not None:
        keep_posted(entry, reply.value)
        point("publish:half-kept")
        return True
    if not reply.unknown:
        fail_entry(entry, str(reply.problem))
    return False


def keep_posted(entry: Entry, market_posting: Posted) -> None:
    """The posting stands, and its promise is settled."""
    posting = entry.posting
    assert posting is not None
    posting.state, posting.expires_at = market_posting.state, market_posting.expires_at
    posting.market_id, posting.market_type = market_posting.market_id, market_posting.market_type
    posting.details = {**posting.details, **market_posting.details}
    posting.save(update_fields=["state", "market_id", "market_type", "details", "expires_at"])
    settle_entry(entry, market_id=market_posting.market_id)


def fail_the_rest(batch: Batch, problem: MarketRefused | MarketUnreachable) -> None:
    """After a refusal nothing more is promised; after silence the rest waits as planned."""
    if isinstance(problem, MarketRefused):
        for entry in planned_posts(batch).filter(called_at=None):
            fail_entry(entry, str(problem))


def _set_state(batch: Batch, state: str) -> None:
    batch.state = state
    batch.save(update_fields=["state"])


def _stopped(problem: Refused, batch: Batch) -> Refused:
    """What stands by the ledger, whichever try of this publish put it up; and what does not, to be told apart."""
    planned, standing = count_postings(batch)
    sentence = _("%(problem)s %(n)d postings stand, %(rest)d are planned; publish again to go on.") % {
        "problem": problem,
        "n": standing,
        "rest": planned,
    }
    return type(problem)(sentence if standing else str(problem))


def count_postings(batch: Batch) -> tuple[int, int]:
    """How many are only planned, and how many stand on the market or stood there."""
    is_planned = Q(state=Posting.State.PLANNED)
    counts = batch.postings.aggregate(planned=Count("pk", filter=is_planned), standing=Count("pk", filter=~is_planned))
    return counts["planned"], counts["standing"]


__all__ = ["Published", "publish", "set_terms"]
