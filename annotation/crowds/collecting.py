"""Fetching what workers handed in. Only what the market lists is counted and paid, whatever our own pages saw.

Each chunk of postings is one transaction: a crash leaves it undone, and the next collect does it. Nothing here asks for
money; approvals that the market gave by itself are booked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from annotation import clock
from annotation.leases import DONE
from annotation.models import Assignment, Batch, Posting, Submission, Worker

from . import market_for
from .base import Listed, Market, MarketUnreachable
from .calls import ask
from .faults import point
from .forms import keep_form
from .places import confirm, drop
from .terms import Terms, terms_of
from .verdicts import book_verdicts, is_news

Progress = Callable[[int, int], None]
STANDING = (Posting.State.OPEN, Posting.State.PAUSED, Posting.State.EXPIRED)
CHUNK = 24
READ = 200


@dataclass(frozen=True)
class Collected:
    """What the market has of a batch, and what it was new."""

    submissions: int
    """That the market confirms, in all."""
    new: int
    """Of which this collect learnt."""
    confirmed: int
    """Whose answers count."""
    unmatched: int
    """For which there are no usable answers with us."""
    problems: list[str] = field(default_factory=list)


def collect(batch: Batch, progress: Progress | None = None) -> Collected:
    """Bring our submissions in line with the market's lists. Safe at any time, twice, or after a crash."""
    market = market_for(batch.crowd)
    point("collect:begin")
    postings = batch.postings.filter(state__in=STANDING).exclude(market_id="")
    total, done, new, problems = postings.count(), 0, 0, list[str]()
    for replies in ask(market, _in_order(postings), lambda posting: list(market.listed(posting)), size=CHUNK):
        point("collect:listed")
        news = _keep(batch, [(reply.item, reply.value) for reply in replies if reply.value is not None], problems)
        point("collect:kept")
        _exclude_from_later(batch, market, news)
        done, new = done + len(replies), new + len(news)
        problems += [str(reply.problem) for reply in replies if reply.problem and not reply.unknown]
        if progress:
            progress(done, total)
        if silent := next((reply.problem for reply in replies if reply.unknown), None):
            raise MarketUnreachable(
                _("%(problem)s What came before is kept: %(done)d of %(total)d postings were looked at.")
                % {"problem": silent, "done": done, "total": total}
            )
    point("collect:end")
    return _summary(batch, new, problems)


def _in_order(postings) -> Iterator[Posting]:  # type: ignore[no-untyped-def]
    last = 0
    rows = postings.select_related("batch__study", "task__batch__study", "task__document", "task__summary")
    while chunk := list(rows.filter(pk__gt=last).order_by("pk")[:READ]):
        yield from chunk
        last = chunk[-1].pk


def _keep(batch: Batch, found: list[tuple[Posting, list[Listed]]], problems: list[str]) -> list[Submission]:
    """One transaction for a chunk; once more when a worker came in through our door at the same moment."""
    for last_try in (False, True):
        try:
            with transaction.atomic():
                return _write(batch, found, problems)
        except IntegrityError:
            if last_try:
                raise
    raise AssertionError("unreachable")


def _write(batch: Batch, found: list[tuple[Posting, list[Listed]]], problems: list[str]) -> list[Submission]:
    """The chunk's submissions that are news, written with all that follows from them."""
    workers = _workers(batch, {one.worker_id for _posting, listed in found for one in listed})
    point("collect:workers")
    postings = {posting.pk: posting for posting, _listed in found}
    known = {(one.posting_id, one.market_id): one for one in Submission.objects.filter(posting__in=postings)}
    news = []
    for posting, listed in found:
        for one in listed:
            mine = known.get((posting.pk, one.market_id)) or Submission(posting=posting, market_id=one.market_id)
            mine.posting = posting
            if mine.pk is None or is_news(mine.state, one.state):
                news.append(_told(mine, one, workers[one.worker_id]))
    Submission.objects.bulk_create(one for one in news if one.pk is None)
    Submission.objects.bulk_update([one for one in news if (one.posting_id, one.market_id) in known], FIELDS)
    for submission in news:
        _follow(submission)
        point("collect:half-kept")
    problems += book_verdicts(news)
    Posting.objects.filter(pk__in=postings).update(collected_at=clock.now())
    return news


FIELDS = ["worker", "state", "submitted_at", "auto_approve_at", "decided_at", "answer", "reason"]


def _told(mine: Submission, one: Listed, worker: Worker) -> Submission:
    mine.worker, mine.state = worker, one.state
    mine.submitted_at = one.submitted_at or mine.submitted_at
    mine.auto_approve_at = one.auto_approve_at or mine.auto_approve_at
    mine.decided_at = one.decided_at or mine.decided_at
    mine.answer, mine.reason = one.answer or mine.answer, one.reason or mine.reason
    return mine


def _follow(submission: Submission) -> None:
    """What the market confirms counts; what it took back doesn't."""
    if submission.state in (Submission.State.SUBMITTED, Submission.State.APPROVED):
        if submission.posting.batch.terms.get("question") == "html":
            keep_form(submission)
        confirm(submission)
    elif submission.state == Submission.State.REJECTED:
        if submission.posting.batch.terms.get("question") == "html":
            keep_form(submission)
        drop(submission)
    elif submission.state == Submission.State.RETURNED:
        drop(submission)


def _workers(batch: Batch, ids: set[str]) -> dict[str, Worker]:
    """The study's workers by their market's ids; made where they are new."""
    mine = Worker.objects.filter(study_id=batch.study_id, crowd=batch.crowd, external_id__in=ids)
    known = {worker.external_id: worker for worker in mine}
    if missing := ids - known.keys():
        Worker.objects.bulk_create(
            [
                Worker(
                    study_id=batch.study_id,
                    crowd=batch.crowd,
                    external_id=one,
                    pseudonym=batch.study.pseudonym(batch.crowd, one),
                )
                for one in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        known = {worker.external_id: worker for worker in mine.all()}
    return known


def _exclude_from_later(batch: Batch, market: Market, news: Sequence[Submission]) -> None:
    """Who has just worked on this batch may not take the ones that exclude it."""
    if not news:
        return
    for later in batch.study.batches.filter(crowd=batch.crowd, state=Batch.State.OPEN).exclude(pk=batch.pk):
        if later.terms and batch.pk in _excluded(later):
            market.exclude(later, [one.worker for one in news])


def _excluded(batch: Batch) -> list[int]:
    terms: Terms = terms_of(batch)
    return terms.exclude_batches


def _summary(batch: Batch, new: int, problems: list[str]) -> Collected:
    mine = Assignment.objects.filter(submission=OuterRef("pk"), worker=OuterRef("worker"))
    listed = Submission.objects.filter(posting__batch=batch, state__in=Submission.CONFIRMED)
    return Collected(
        submissions=listed.count(),
        new=new,
        confirmed=listed.filter(Exists(mine.filter(state=Assignment.State.SUBMITTED))).count(),
        unmatched=listed.exclude(Exists(mine.filter(state__in=DONE))).count(),
        problems=problems,
    )
