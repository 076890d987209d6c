"""Who may work where, without a cookie: a signed token in the address.

Browsers keep cookies out of a market's frame, so a worker's pages carry one token per submission, bound to the study,
the batch, the posting, the submission and the worker, with an end. It opens these pages and nothing else.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.utils.translation import gettext_lazy as _

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import Batch, Posting, Study, Submission, Worker

SALT = "annotation.crowds.tokens"  # as in the addresses that were handed out before
SLACK = timedelta(hours=1)  # after the market's own time is up: for a slow hand-in
USUAL = timedelta(hours=24)
LONGEST = timedelta(days=31)


class BadToken(Refused):
    status = 404
    sentence = _("This address is not complete, or was not made here. Open the task again from where you found it.")


class TokenExpired(Refused):
    status = 410
    sentence = _(
        "The time of this address is over. What you saved is kept. Open the task again from where you found it, or ask "
        "for a new link."
    )


class TokenRevoked(Refused):
    status = 410
    sentence = _("This link was withdrawn. What you saved is kept; ask the people who invited you for a new one.")


class AnotherWorkersToken(Refused):
    status = 403
    sentence = _(
        "This address belongs to another worker. Nothing was changed; open the task from your own account there."
    )


class AnotherStudysToken(Refused):
    status = 403
    sentence = _("This address belongs to another study. Nothing was changed; open the task again where you found it.")


@dataclass(frozen=True)
class Visit:
    """A worker who came with a token: everything it is bound to."""

    token: str
    submission: Submission
    origin: str
    """Where the finished work is handed in by the browser; empty where no market frames the page."""

    @property
    def posting(self) -> Posting:
        return self.submission.posting

    @property
    def batch(self) -> Batch:
        return self.submission.posting.batch

    @property
    def study(self) -> Study:
        return self.submission.posting.batch.study

    @property
    def worker(self) -> Worker:
        return self.submission.worker


def make_token(submission: Submission, *, origin: str = "", until: datetime | None = None) -> str:
    """The token for one submission. The same facts give the same token."""
    posting = submission.posting
    until = until or _end(posting)
    facts = [
        posting.batch.study_id,
        posting.batch_id,
        posting.pk,
        submission.pk,
        submission.worker_id,
        int(until.timestamp()),
        origin,
    ]
    return signing.Signer(salt=SALT).sign_object(facts)


def _end(posting: Posting) -> datetime:
    seconds = posting.batch.terms.get("duration_seconds")
    time = timedelta(seconds=int(seconds)) + SLACK if seconds else USUAL
    return clock.now() + min(time, LONGEST)


def read_token(token: str) -> Visit:
    """The visit that a token stands for. Raises a Refused for each way in which it can be wrong."""
    try:
        study, batch, posting, submission, worker, until, origin = signing.Signer(salt=SALT).unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError):
        raise BadToken from None
    if clock.now().timestamp() > until:
        raise TokenExpired
    row = Submission.objects.select_related("posting__batch__study", "worker").filter(pk=submission).first()
    if row is None or row.posting_id != posting:
        raise BadToken
    if row.posting.batch.study_id != study or row.posting.batch_id != batch:
        raise AnotherStudysToken
    if row.worker_id != worker:  # the market gave the assignment to somebody else meanwhile
        raise AnotherWorkersToken
    return Visit(token, row, origin)
