"""How a market's worker comes in, goes on, and gets out again: no cookie, no account, one token."""

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Count, F, OuterRef, Q, Subquery
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common import clock
from annotation.common.errors import NotYours, Refused
from annotation.crowds.base import Comer, NoSuchPosting
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.seats.places import BlockedOnMarket, hold_place, next_place, open_submission, tasks_of, worker_of
from annotation.crowds.seats.tokens import (
    AnotherStudysToken,
    AnotherWorkersToken,
    TokenRevoked,
    Visit,
    make_token,
    read_token,
)
from annotation.guidance import first_gate
from annotation.judging.leases import DONE, check_open, lease_task
from annotation.judging.pace import Place, median_seconds, place_of
from annotation.models import Assignment, Batch, ContentUnit, Judgment, Posting, Submission

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # of a receipt code: none that look alike
LONGEST_ID = 100


class StrangeMarket(Refused):
    status = 403

    def __init__(self, origin: str) -> None:
        super().__init__(
            _("This task was opened from “%(origin)s”, which is no market of this site. Nothing was done.")
            % {"origin": origin[:100] or "–"}
        )


class SubmissionReturned(Refused):
    status = 410
    sentence = gettext_lazy(
        "You gave this task back, or its time ran out on the market. What you saved is kept, but it can't be handed in."
    )


def market_origins() -> list[str]:
    """The origins that may frame worker pages and take finished work."""
    addresses = settings.MARKET_ORIGINS or [address for market in MARKETS.values() for address in market().origins()]
    return [origin_of(address) for address in addresses]


def origin_of(url: str) -> str:
    """Scheme, host and port of an address."""
    url_parts = urlsplit(url)
    return f"{url_parts.scheme}://{url_parts.netloc}".lower()


def posting_at(token: str, crowd: str) -> Posting:
    """The posting behind the address that a market shows. Raises NoSuchPosting."""
    postings = Posting.objects.select_related("batch__study", "task__document", "task__summary")
    posting = postings.filter(token=token, batch__crowd=crowd).first()
    if posting is None:
        raise NoSuchPosting
    return posting


def submit_origin(address: str) -> str:
    """Where finished work goes, from what the market said. Raises StrangeMarket for any origin not on the list."""
    origin = origin_of(address)
    if origin not in market_origins():
        raise StrangeMarket(address)
    return origin


def enter(posting: Posting, comer: Comer) -> str:
    """A worker whom the market sent: their submission is opened, and the token for it returned. Safe to repeat."""
    origin = "" if comer.submit_to is None else submit_origin(comer.submit_to)
    ids = (comer.market_id, comer.worker_id)
    if not all(ids) or max(map(len, ids)) > LONGEST_ID:
        raise Refused(
            _("The market did not say who you are, so you can't start. Open the task again from the market's own page.")
        )
    submission = open_submission(posting, comer.market_id, worker_of(posting, comer.worker_id))
    return make_token(submission, origin=origin)


def visit_of(token: str) -> Visit:
    """Who comes with this token. Raises a Refused with the reason, also when it was given back."""
    visit = read_token(token)
    if visit.submission.state == Submission.State.RETURNED:
        raise SubmissionReturned if market_for(visit.batch.crowd).confirms else TokenRevoked
    if visit.worker.blocked_at:
        raise BlockedOnMarket
    return visit


@dataclass(frozen=True)
class Next:
    """Where a worker goes on: one of a gate before the first task, an assignment, or the way out."""

    gate: str = ""
    """The name of a guidance page: consent, tutorial, test."""
    assignment: Assignment | None = None


def go_on(visit: Visit) -> Next:
    """What comes next for this worker; a task is held for them. Raises BatchNotOpen, NoTaskLeft, NotReady."""
    if is_finished(visit):
        return Next()
    if visit.batch.state == Batch.State.CLOSED:
        check_open(visit.batch)
    if address := first_gate(visit.batch, visit.worker):
        return Next(gate=_name_of(address))
    return Next(assignment=_held(visit))


def _held(visit: Visit) -> Assignment | None:
    if visit.posting.task is not None:
        return hold_place(visit.submission, visit.posting.task)
    if not market_for(visit.batch.crowd).confirms:
        return lease_task(visit.batch, visit.worker)
    return next_place(visit.submission, tasks_of(visit.batch))


def _name_of(address: str) -> str:
    try:
        return resolve(address).url_name or ""
    except Resolver404:
        return ""


def own_assignment(visit: Visit, key: str) -> Assignment:
    """The visitor's assignment by its key. Raises a Refused that says whose it is not."""
    assignments = Assignment.objects.select_related("task__batch__study", "task__document", "task__summary", "worker")
    assignment = assignments.filter(key=key).first()
    if assignment is None:
        raise NotYours
    if assignment.task.batch.study_id != visit.study.pk:
        raise AnotherStudysToken
    if assignment.worker_id != visit.worker.pk:
        raise AnotherWorkersToken
    if assignment.task.batch_id != visit.batch.pk:
        raise NotYours
    return assignment


@dataclass(frozen=True)
class Sitting:
    """How far a worker is in this submission."""

    done: int
    of: int

    @property
    def number(self) -> int:
        return min(self.done + 1, self.of)


def sitting(visit: Visit) -> Sitting:
    """Tasks done and asked for here; for a personal link, in the whole batch (`of` is 0: no end is set)."""
    assignments = Assignment.objects.filter(worker=visit.worker, task__batch=visit.batch, state__in=DONE)
    if not market_for(visit.batch.crowd).confirms:
        return Sitting(assignments.count(), 0)
    n_tasks = 1 if visit.posting.task_id else tasks_of(visit.batch)
    return Sitting(assignments.filter(submission=visit.submission).count(), n_tasks)


def place_in_sitting(visit: Visit, assignment: Assignment) -> Place:
    """Which task this is, of how many: in the sitting, or for a personal link in the whole batch."""
    seat = sitting(visit)
    if not seat.of:
        return place_of(assignment, paced=not assignment.is_ahead)
    seconds = None if assignment.is_ahead or not seat.done else median_seconds(visit.batch, visit.worker)
    return Place(min(seat.number + assignment.is_ahead, seat.of), seat.of, seconds)


def is_finished(visit: Visit) -> bool:
    """All answers of this submission are with us."""
    return visit.submission.saved_at is not None


def finish(visit: Visit, *, early: bool = False) -> Submission:
    """Close the submission on our side once everything asked for is saved, with a receipt code. Safe to repeat.

    `early`: there is no other task for this worker, so what is done is all; `outcome` says so to the market. Raises
    Refused when answers are missing.
    """
    submission, seat = visit.submission, sitting(visit)
    if not seat.of:
        raise Refused(_("A personal link has no last step: stop when you like. What you saved is kept."))
    if submission.saved_at is None:
        if seat.done < seat.of and not (early and seat.done):
            raise Refused(_("This task is not finished yet. What you saved is kept; go on with it first."))
        submission.saved_at = clock.now()
        submission.receipt = submission.receipt or new_receipt()
        submission.save(update_fields=["saved_at", "receipt"])
    return submission


def new_receipt() -> str:
    letters = "".join(secrets.choice(LETTERS) for _n in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def outcome(visit: Visit) -> str:
    """How a sitting ended: done; left_early with fewer tasks than promised; or failed_checks when half or more of at
    least two checks were answered wrong."""
    seat = sitting(visit)
    if seat.done < seat.of:
        return "left_early"
    units = ContentUnit.objects.filter(
        document=OuterRef("summary__document"), scu_id=OuterRef("unit"), expected__isnull=False
    )
    answers = Judgment.objects.filter(
        assignment__submission=visit.submission, assignment__worker=visit.worker, is_current=True, is_check=True
    ).annotate(expected=Subquery(units.values("expected")[:1]))
    counts = answers.filter(expected__isnull=False).aggregate(
        of=Count("pk"), wrong=Count("pk", filter=~Q(value=F("expected")))
    )
    return "failed_checks" if counts["of"] >= 2 and counts["wrong"] * 2 >= counts["of"] else "done"
