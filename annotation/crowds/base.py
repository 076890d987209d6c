"""What a crowd market can do. A market only speaks to the outside: who may spend what is decided around it.

Every method talks to the market and to nothing else: no method writes to our database. The callers (launch,
collect, pay, settle) write the ledger before the call and settle it after.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.common.errors import Refused
from annotation.models import Batch, Entry, Posting, Study, Submission, Worker

OUTCOMES = ("done", "screened_out", "failed_checks", "left_early")


class MarketRefused(Refused):
    """The market said no, for good: nothing was spent by this call."""

    status = 422
    sentence = _("The market refused this. Nothing was spent.")


class MarketUnreachable(Refused):
    """The market did not answer, or answered with a fault: whether the call took effect is not known."""

    status = 503
    sentence = _("The market does not answer. Nothing here was changed; try again later.")


class NoSuchPosting(Refused):
    status = 404
    sentence = _("There is no such task here. It may have been taken down; please return it on the market.")


@dataclass(frozen=True)
class Comer:
    """Whom a market sends, by its own ids: `enter` (worker/entry.py) refuses one that is empty."""

    market_id: str
    """Of the worker's submission: `listed` names the same once it is handed in."""
    worker_id: str
    submit_to: str | None = None
    """Where a page inside the market's frame hands in, which must be one of `origins`; None outside a frame."""


@dataclass(frozen=True)
class Listed:
    """One submission as the market lists it."""

    market_id: str
    worker_id: str
    """The market's own id of the worker: never shown to anybody but admins."""
    state: str
    """One of Submission.State."""
    submitted_at: datetime | None = None
    auto_approve_at: datetime | None = None
    decided_at: datetime | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Posted:
    """What the market says of a posting that it has."""

    market_id: str
    market_type: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None
    places: int = 0
    state: str = Posting.State.OPEN
    claimable: int | None = None
    """Places that somebody holds or can still take; None where the market doesn't tell."""


@dataclass(frozen=True)
class PaidBonus:
    """A bonus that the market lists as paid."""

    submission_id: str
    cents: int
    reason: str
    paid_at: datetime | None = None


@dataclass(frozen=True)
class Subscription:
    """That a market reports changes to us."""

    market_id: str
    secret: str
    """By which its reports are signed."""


@dataclass(frozen=True)
class Report:
    """What a market reports. It is a hint: only what the market lists is counted."""

    key: str
    """The same for a report that comes twice."""
    sent_at: datetime
    market_ids: tuple[str, ...]
    """Of the posting or the submission that changed."""


@dataclass(frozen=True)
class WayOut:
    """Where a worker's browser goes when a sitting is over."""

    url: str
    code: str = ""
    """To type in by hand, should the address fail."""


class Market(ABC):
    """One source of workers, as one study uses it; without a study, as the whole site does."""

    def __init__(self, study: Study | None = None) -> None:
        self.study = study

    name: ClassVar[str]
    title: ClassVar[str | Promise]
    pays: ClassVar[bool] = True
    """Whether workers are paid."""
    of_people: ClassVar[bool] = True
    """Its workers are people whom a launch invites; models are asked on the Judges page."""
    one_posting: ClassVar[bool] = False
    """One posting serves all tasks of a batch (Prolific, links); otherwise one posting per task."""
    repeats_bonus_safely: ClassVar[bool] = False
    """Whether the same bonus asked for twice is paid once; where not, a doubtful one waits for a person."""
    undoes_rejection: ClassVar[bool] = False
    least_reason: ClassVar[int] = 0
    """Characters that it asks of a rejection's reason."""
    recruited: ClassVar[str] = ""
    """Where its workers were found, for the datasheet; empty: its name says it."""
    confirms: ClassVar[bool] = True
    """Whether work counts only once the market confirms it."""
    calls_at_once: ClassVar[int] = 1
    """How many calls may run beside each other, in threads. With more than one, `post`, `listed`, `approve` and the
    like must not touch the database: what they need is read before (`prepare`, and related rows by the caller)."""

    @abstractmethod
    def check(self) -> None:
        """Raise MarketRefused or MarketUnreachable, with one sentence, unless the market can be used."""

    def balance_cents(self) -> int | None:
        """What the account holds; None where the market doesn't tell."""
        return None

    def fee_cents(self, reward_cents: int, places: int, terms: dict[str, Any]) -> int:
        """The market's fee for one place of a posting with this many places."""
        return 0

    def bonus_fee_cents(self, cents: int) -> int:
        return 0

    def qualified(self, terms: dict[str, Any]) -> tuple[int, int] | None:
        """How many workers the market has, and how many may take such a task; None where it doesn't tell."""
        return None

    def problems(self, batch: Batch, terms: dict[str, Any]) -> list[str]:
        """What speaks against a launch by these terms on this market, a sentence each."""
        return []

    def exclude(self, batch: Batch, workers: Sequence[Worker]) -> None:
        """Keep workers of earlier batches from this one, where the market has a way to. Safe to repeat."""
        return

    def prepare(self, postings: Sequence[Posting]) -> None:
        """Get ready what `post` will need for these: whatever is read from the database, or asked once for all."""
        return

    @abstractmethod
    def post(self, posting: Posting) -> Posted:
        """Put it up. The posting's token makes a repeat harmless, or `find` finds the first."""

    @abstractmethod
    def find(self, batch: Batch) -> Iterator[tuple[str, Posted]]:
        """(token, what stands there) for everything of this batch that the market has."""

    @abstractmethod
    def listed(self, posting: Posting) -> Iterator[Listed]:
        """Every submission of a posting."""

    def extend(self, posting: Posting, places: int, token: str) -> None:
        """More places on a posting that stands."""
        raise MarketRefused

    @abstractmethod
    def expire(self, posting: Posting) -> None:
        """Nobody new can take it; who holds a place may finish."""

    def pause(self, posting: Posting) -> None:
        raise MarketRefused(_("This market knows no pause. Expire the postings, and top up later."))

    def resume(self, posting: Posting) -> None:
        raise MarketRefused(_("This market knows no pause, so there is nothing to go on with."))

    @abstractmethod
    def close(self, posting: Posting) -> None:
        """Take it down for good, once everything is judged."""

    @abstractmethod
    def approve(self, submission: Submission, *, undo_rejection: bool = False) -> None:
        """Pay the reward."""

    def reject(self, submission: Submission, reason: str) -> None:
        raise MarketRefused

    def bonus(self, entry: Entry) -> str:
        """Pay `entry.reward_cents` beside the reward; the market's id of the payment, where it has one."""
        raise MarketRefused

    def bonuses(self, posting: Posting) -> Iterator[PaidBonus]:
        """Every bonus the market lists as paid for a posting."""
        yield from ()

    # Reports of changes

    def subscribe(self, address: str) -> Subscription | None:
        """Have changes reported to this address; None where the market does no such thing, or not for this account."""
        return None

    def unsubscribe(self, market_id: str) -> None:
        """Have them reported no more. Safe to repeat."""
        return

    def report(self, secret: str, headers: Mapping[str, str], body: bytes) -> Report | None:
        """What came to the address; None where the signature is not the market's, or it can't be read."""
        return None

    # A worker's way in and out

    def address(self, posting: Posting) -> str:
        """Where a worker of this posting comes in; the market adds who they are, and `entry` reads it."""
        return settings.SITE_URL + reverse("crowd-entry", args=[self.name, posting.token])

    def entry(self, posting: Posting, query: QueryDict) -> Comer | None:
        """Who comes to `address` with this query; None: they only look at the task. Refused says what is wrong.

        A market calls with GET, and repeats it at will: the same query must give the same comer.
        """
        raise NoSuchPosting

    def origins(self) -> list[str]:
        """Addresses of the sites that may frame its workers' pages."""
        return []

    def hand_in(self, origin: str) -> str:
        """Where a page in its frame posts `assignmentId` and `receipt` when a sitting is over."""
        return origin

    def way_out(self, submission: Submission, outcome: str) -> WayOut | None:
        """Where a browser goes at the end of a sitting, by its outcome (OUTCOMES); None: our page is the end."""
        return None

    @abstractmethod
    def block(self, worker: Worker, reason: str) -> None:
        """Keep a worker from this requester's work."""

    @abstractmethod
    def unblock(self, worker: Worker) -> None:
        """Let a blocked worker in again."""

    def message(self, workers: Sequence[Worker], subject: str, text: str) -> Iterable[str]:
        """Write to workers; the ids of those whom it could not reach."""
        raise MarketRefused


def check_posting(posting: Posting, market_id: str) -> None:
    """The HIT or study that a market names, where it does, must be the one we posted."""
    if posting.market_id and market_id and market_id != posting.market_id:
        raise NoSuchPosting(gettext("This task belongs to another posting of the market. Nothing was done."))
