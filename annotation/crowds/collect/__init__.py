"""Fetching what workers handed in. Only what the market lists is counted and paid, whatever our own pages saw.

Each chunk of postings is one transaction: a crash leaves it undone, and the next collect does it. Nothing here asks for
money; approvals that the market gave by itself are booked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext as _

from annotation.common import clock
from annotation.crowds.base import Listed, Market, MarketUnreachable
from annotation.crowds.ledger.calls import ask
from annotation.crowds.ledger.crash_points import point
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.market_verdicts import book_verdicts, is_news
from annotation.crowds.seats.places import bring_home, confirm, drop
from annotation.crowds.terms import terms_of
from annotation.judging.leases import DONE
from annotation.models import Assignment, Batch, Posting, Submission, Worker

from .html_forms import keep_form

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
    market = market_for(batch.crowd, batch.study)
    point("collect:begin")
    postings = batch.postings.filter(state__in=STANDING).exclude(market_id="")
    total, looked_at, new, problems = postings.count(), 0, 0, list[str]()
    for replies in ask(market, _in_order(postings), lambda posting: list(market.listed(posting)), size=CHUNK):
        point("collect:listed")
        listings = [(reply.item, reply.value) for reply in replies if reply.value is not None]
        with transaction.atomic():  # a chunk at a time: a crash leaves it undone, and the next collect does it
            news = _write(batch, listings, problems)
        point("collect:kept")
        _exclude_from_later(batch, market, news)
        looked_at, new = looked_at + len(replies), new + len(news)
        problems += [str(reply.problem) for reply in replies if reply.problem and not reply.unknown]
        if progress:
            progress(looked_at, total)
        if silent := next((reply.problem for reply in replies if reply.unknown), None):
            raise MarketUnreachable(
                _("%(problem)s What came before is kept: %(done)d of %(total)d postings were looked at.")
                % {"problem": silent, "done": looked_at, "total": total}
            )
    point("collect:end")
    return _summary(batch, new, problems)


def _in_order(postings) -> Iterator[Posting]:  # type: ignore[no-untyped-def]
    last = 0
    rows = postings.select_related("batch__study", "task__batch__study", "task__document", "task__summary")
    while chunk := list(rows.filter(pk__gt=last).order_by("pk")[:READ]):
        yield from chunk
        last = chunk[-1].pk


def _write(batch: Batch, listings: list[tuple[Posting, list[Listed]]], problems: list[str]) -> list[Submission]:
    """The chunk's submissions that are news, written with all that follows from them. Call it in a transaction."""
    workers = _workers(batch, {row.worker_id for _posting, submissions in listings for row in submissions})
    point("collect:workers")
    postings = {posting.pk: posting for posting, _listed in listings}
    rows = Submission.objects.select_for_update(of=("self",)).filter(posting__in=postings)
    rows_by_id = {(row.posting_id, row.market_id): row for row in rows}
    news = []
    for posting, market_submissions in listings:
        for market_submission in market_submissions:
            row = rows_by_id.get((posting.pk, market_submission.market_id))
            if row is None or is_news(row.state, market_submission.state):
                news.append(_merged_row(posting, row, market_submission, workers[market_submission.worker_id]))
    # A worker who comes in through our door at this moment may have made the row: then it is told what we know.
    Submission.objects.bulk_create(
        news, update_conflicts=True, unique_fields=["posting", "market_id"], update_fields=FIELDS, batch_size=200
    )
    _bring_home(batch, news)
    unsure = _to_confirm(news)
    for submission in news:
        _follow(submission, submission.pk in unsure)
        point("collect:half-kept")
    problems += book_verdicts(news)
    Posting.objects.filter(pk__in=postings).update(collected_at=clock.now())
    return news


FIELDS = ["worker", "state", "submitted_at", "auto_approve_at", "decided_at", "answer", "reason"]


def _merged_row(posting: Posting, row: Submission | None, market_submission: Listed, worker: Worker) -> Submission:
    """The row as the market has it; what it doesn't tell stays as we had it."""
    row = row or Submission()
    return Submission(
        posting=posting,
        market_id=market_submission.market_id,
        worker=worker,
        state=market_submission.state,
        submitted_at=market_submission.submitted_at or row.submitted_at,
        auto_approve_at=market_submission.auto_approve_at or row.auto_approve_at,
        decided_at=market_submission.decided_at or row.decided_at,
        answer=market_submission.answer or row.answer,
        reason=market_submission.reason or row.reason,
    )


def _bring_home(batch: Batch, news: Sequence[Submission]) -> None:
    """For what the market has and nothing is saved for: the work may hang on a submission that was made up."""
    if batch.terms.get("question") == "html":  # their answers come with the list
        return
    submission_ids = [submission.pk for submission in news]
    assignments = Assignment.objects.filter(submission__in=submission_ids, worker=F("submission__worker"))
    saved = set(assignments.values_list("submission", flat=True))
    for submission in news:
        if submission.state in Submission.CONFIRMED and submission.pk not in saved:
            bring_home(submission)


def _to_confirm(news: Sequence[Submission]) -> set[int]:
    """Whose saved work has lost its place, or stands under the name of another worker; the rest counts as it is."""
    saved = Assignment.objects.filter(submission__in=[submission.pk for submission in news])
    unclear = saved.filter(Q(state=Assignment.State.SURPLUS) | ~Q(worker=F("submission__worker")))
    return set(unclear.values_list("submission", flat=True))


def _follow(submission: Submission, unsure: bool) -> None:
    """What the market confirms counts; what it took back doesn't."""
    is_form = submission.posting.batch.terms.get("question") == "html"
    if submission.state in Submission.CONFIRMED and is_form:
        keep_form(submission)
    if submission.state in (Submission.State.REJECTED, Submission.State.RETURNED):
        drop(submission)
    elif unsure:
        confirm(submission)


def _workers(batch: Batch, ids: set[str]) -> dict[str, Worker]:
    """The study's workers by their market's ids; made where they are new."""
    rows = Worker.objects.filter(study_id=batch.study_id, crowd=batch.crowd, external_id__in=ids)
    workers = {worker.external_id: worker for worker in rows}
    if missing := ids - workers.keys():
        Worker.objects.bulk_create(
            [
                Worker(
                    study_id=batch.study_id,
                    crowd=batch.crowd,
                    external_id=external_id,
                    pseudonym=batch.study.pseudonym(batch.crowd, external_id),
                )
                for external_id in sorted(missing)
            ],
            ignore_conflicts=True,
        )
        workers = {worker.external_id: worker for worker in rows.all()}
    return workers


def _exclude_from_later(batch: Batch, market: Market, news: Sequence[Submission]) -> None:
    """Who has just worked on this batch may not take the ones that exclude it."""
    if not news:
        return
    for later_batch in batch.study.batches.filter(crowd=batch.crowd, state=Batch.State.OPEN).exclude(pk=batch.pk):
        if later_batch.terms and batch.pk in terms_of(later_batch).exclude_batches:
            market.exclude(later_batch, [submission.worker for submission in news])


def _summary(batch: Batch, new: int, problems: list[str]) -> Collected:
    assignments = Assignment.objects.filter(submission=OuterRef("pk"), worker=OuterRef("worker"))
    submissions = Submission.objects.filter(posting__batch=batch, state__in=Submission.CONFIRMED)
    return Collected(
        submissions=submissions.count(),
        new=new,
        confirmed=submissions.filter(Exists(assignments.filter(state=Assignment.State.SUBMITTED))).count(),
        unmatched=submissions.exclude(Exists(assignments.filter(state__in=DONE))).count(),
        problems=problems,
    )
