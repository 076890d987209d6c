"""What the calls that pay have in common: their outcome, the rows they need, the line of an earlier try."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.crowds.ledger import State, revive
from annotation.models import Entry, Submission

LONGEST_REASON = 1000


@dataclass
class Outcome:
    """How many were done, and for the others why not."""

    paid: list[Submission] = field(default_factory=list)
    """Or rejected, where that was asked for."""
    refused: list[tuple[Submission, str]] = field(default_factory=list)
    unanswered: list[tuple[Submission, str]] = field(default_factory=list)
    """Those of whom nobody knows yet, because the market fell silent."""

    @property
    def done(self) -> int:
        return len(self.paid)

    def refuse(self, submission: Submission, sentence: object) -> None:
        self.refused.append((submission, str(sentence)))

    def wait(self, submission: Submission, sentence: object) -> None:
        self.unanswered.append((submission, str(sentence)))


def with_rows(submissions: Iterable[Submission]) -> list[Submission]:
    """The submissions as they are now, with all that calls in threads need."""
    keys = [submission.pk for submission in submissions]
    rows = Submission.objects.select_related("posting__batch__study", "worker").in_bulk(keys)
    return [rows[key] for key in dict.fromkeys(keys)]


def planned_line(entry: Entry) -> Entry:
    """The line in the ledger: new, or the one of an earlier try, planned again if the market had refused it."""
    line, is_new = Entry.objects.get_or_create(
        token=entry.token,
        defaults={
            name.attname: getattr(entry, name.attname) for name in Entry._meta.concrete_fields if not name.primary_key
        },
    )
    if not is_new and line.state == State.FAILED:
        revive([line])
    if line.submission_id == entry.submission_id:
        line.submission = entry.submission
    line.posting = entry.posting
    return line


def waits() -> str:
    return _("It is written down, and “settle” will carry it out.")


def checked_reason(reason: str) -> str:
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST_REASON:
        raise Refused(
            _("A reason is needed, of at most %(most)d characters: the worker reads it. Nothing was done.")
            % {"most": LONGEST_REASON}
        )
    return reason
