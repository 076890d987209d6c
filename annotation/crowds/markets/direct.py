"""One's own people: an account that signs in, or a personal link that needs neither account nor cookie.

A link is a Submission of the batch's one posting. It is bound to one person, ends, and can be withdrawn. No market
stands between, so work done through it counts at once.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common import clock
from annotation.common.errors import BadAnswers, Refused
from annotation.common.parsing import parse_int
from annotation.crowds.base import Listed, Market, MarketRefused, Posted
from annotation.crowds.ledger import posting_token
from annotation.crowds.seats.tokens import make_token
from annotation.judging.leases import DONE
from annotation.models import Batch, Posting, Submission, Worker
from annotation.models.work import new_key

MOST = 1000
LONGEST_NAME = 100
MOST_DAYS = 365
State = Submission.State


class Direct(Market):
    name = "direct"
    title = gettext_lazy("Your own people")
    pays = False
    one_posting = True
    confirms = False
    recruited = "by invitation to this site"

    def check(self) -> None:
        if not settings.SITE_URL:
            raise MarketRefused(_("Links need the address of this site: set SITE_URL. Nothing was changed."))

    def post(self, posting: Posting) -> Posted:
        return Posted(market_id=f"links-{posting.batch_id}", places=posting.places)

    def find(self, batch: Batch) -> Iterator[tuple[str, Posted]]:
        for posting in batch.postings.exclude(market_id=""):
            yield posting.token, Posted(market_id=posting.market_id, places=posting.places, state=posting.state)

    def listed(self, posting: Posting) -> Iterator[Listed]:
        """Nobody else keeps a list of them: what came in is here already."""
        yield from ()

    def expire(self, posting: Posting) -> None:
        """Pausing or closing the batch is enough: links open its pages only."""

    def pause(self, posting: Posting) -> None:
        """As above."""

    def resume(self, posting: Posting) -> None:
        """As above."""

    def close(self, posting: Posting) -> None:
        """As above."""

    def approve(self, submission: Submission, *, undo_rejection: bool = False) -> None:
        """Nobody is paid here."""

    def block(self, worker: Worker, reason: str) -> None:
        """`Worker.blocked_at` keeps them out."""

    def unblock(self, worker: Worker) -> None:
        """`Worker.blocked_at` lets them in."""


@dataclass(frozen=True)
class Link:
    """A personal link, as the admins who made it see it."""

    id: int
    name: str
    pseudonym: str
    url: str
    """Empty once it is withdrawn."""
    state: str
    """open, expired or withdrawn"""
    expires_at: datetime | None
    done: int
    """Tasks this person has done in the batch."""


def read_names(text: str) -> list[str]:
    """Names from lines or a CSV (its column `name`, else the first), each once, in order. Raises BadAnswers."""
    rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(cell.strip() for cell in row)]
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    place = header.index("name") if "name" in header else 0
    names = [" ".join(row[place].split()) if len(row) > place else "" for row in rows["name" in header :]]
    names = list(dict.fromkeys(name for name in names if name))
    if not names:
        raise BadAnswers(_("There is no name in this. Nothing was made: give one name per line, or a CSV with “name”."))
    if len(names) > MOST or max(map(len, names)) > LONGEST_NAME:
        raise BadAnswers(
            _("At most %(most)d names of at most %(long)d characters can be invited at once. Nothing was made.")
            % {"most": MOST, "long": LONGEST_NAME}
        )
    return names


def read_days(text: str) -> int:
    """How long links last, as typed. BadAnswers names what was."""
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 3 and 1 <= int(plain) <= MOST_DAYS):
        raise BadAnswers(
            _("“%(text)s” is no number of days: a link lasts from 1 to %(most)d. Nothing was made.")
            % {"text": text[:40], "most": MOST_DAYS}
        )
    return int(plain)


def make_links(batch: Batch, names: Iterable[str], *, days: int = 14) -> list[Link]:
    """One link per person; who has one that is open keeps it. Ends after so many days. Returns these people's links."""
    Direct().check()
    if not 1 <= days <= MOST_DAYS:
        raise BadAnswers(
            _("A link lasts from 1 to %(most)d days, not %(days)d. Nothing was made.")
            % {"most": MOST_DAYS, "days": days}
        )
    names, now = list(names), clock.now()
    with transaction.atomic():
        posting = _posting(batch)
        workers = [_person(batch, name) for name in names]
        live = Submission.objects.filter(posting=posting, state__in=[State.STARTED], expires_at__gt=now)
        have = set(live.filter(worker__in=workers).values_list("worker_id", flat=True))
        Submission.objects.bulk_create(
            Submission(
                posting=posting, worker=worker, market_id=new_key(), started_at=now, expires_at=now + timedelta(days)
            )
            for worker in workers
            if worker.pk not in have
        )
    worker_ids = {worker.pk for worker in workers}
    return [link for link in links_of(batch, workers=worker_ids) if link.state == "open"]


def links_of(batch: Batch, workers: Iterable[int] | None = None) -> list[Link]:
    """Every link of a batch, by name, the newest of a person first: one query."""
    submissions = Submission.objects.filter(posting__batch=batch, expires_at__isnull=False)
    if workers is not None:
        submissions = submissions.filter(worker__in=workers)
    n_done = Count(
        "worker__assignments",
        filter=Q(worker__assignments__task__batch=batch, worker__assignments__state__in=DONE),
    )
    rows = submissions.select_related("posting__batch__study", "worker").annotate(done=n_done)
    return [_link(row, row.done) for row in rows.order_by("worker__external_id", "-pk")]


def _link(row: Submission, n_done: int) -> Link:
    state = "open"
    if row.state == State.RETURNED:
        state = "withdrawn"
    elif row.expires_at is None or row.expires_at <= clock.now():
        state = "expired"
    path = reverse("crowd-link", args=[make_token(row, until=row.expires_at)])
    return Link(
        id=row.pk,
        name=row.worker.known_as,
        pseudonym=row.worker.pseudonym,
        url=settings.SITE_URL + path if state == "open" else "",
        state=state,
        expires_at=row.expires_at,
        done=n_done,
    )


def link_named(text: str) -> int:
    """The id that a form names. Refused for what can be none."""
    if not (key := parse_int(text)):
        raise Refused(_("There is no link “%(text)s”. Nothing was changed.") % {"text": text[:40]})
    return key


def withdraw_link(batch: Batch, link_id: int) -> None:
    """The link opens nothing any more. What was done through it counts, and the person can get a new one."""
    links = Submission.objects.filter(posting__batch=batch, expires_at__isnull=False, state=State.STARTED)
    if not links.filter(pk=link_id).update(state=State.RETURNED, decided_at=clock.now()):
        raise Refused(_("There is no such link, or it was withdrawn before. Nothing was changed."))


def links_csv(links: Iterable[Link]) -> str:
    """For a mail merge: name, link, until when."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["name", "link", "until"])
    for link in links:
        expires_at = link.expires_at.isoformat() if link.expires_at else ""
        writer.writerow([_harmless(link.name), link.url, expires_at])
    return out.getvalue()


def _harmless(text: str) -> str:
    """A name that a spreadsheet doesn't take for a formula."""
    return "'" + text if text[:1] in "=+-@" else text


def _posting(batch: Batch) -> Posting:
    posting = batch.postings.filter(task=None).order_by("part").first()
    if posting is None:
        posting = Posting.objects.create(
            batch=batch,
            token=posting_token(batch, None, 0),
            places=max(1, batch.tasks.count()),
            reward_cents=0,
            state=Posting.State.OPEN,
            market_id=f"links-{batch.pk}",
        )
    return posting


def _person(batch: Batch, name: str) -> Worker:
    external_id = Worker.PERSON + name
    worker, _made = Worker.objects.get_or_create(
        study=batch.study,
        crowd=Worker.DIRECT,
        external_id=external_id,
        defaults={"pseudonym": batch.study.pseudonym(Worker.DIRECT, external_id)},
    )
    return worker
