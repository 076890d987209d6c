"""Who left a sitting early is paid for the tasks that are done: a share of the reward, as a bonus."""

from dataclasses import dataclass

from annotation.crowds.lookup import market_for
from annotation.models import Batch, Entry, Submission

from .bonus import Bonus
from .work_done import WorkDone, work_done

REASON = "For the tasks that you did before you left."
LEFT = (Submission.State.RETURNED, Submission.State.SUBMITTED)


@dataclass(frozen=True)
class Share:
    """What is due to one who left early."""

    submission: Submission
    work: WorkDone
    cents: int


def unpaid_shares(batch: Batch) -> list[Share]:
    """Of everybody who did some of the promised tasks and not all; none where a place is one task."""
    if not market_for(batch.crowd, batch.study).one_posting:
        return []
    rows = Submission.objects.filter(posting__batch=batch, posting__task=None, state__in=LEFT)
    paid = Entry.objects.filter(batch=batch, kind=Entry.Kind.BONUS, reason=REASON).exclude(state=Entry.State.FAILED)
    rows = rows.exclude(pk__in=paid.values("submission")).select_related("posting__batch__study", "worker")
    submissions = list(rows.order_by("pk"))
    work = work_done(submissions)
    shares = [Share(row, work[row.pk], _cents(row, work[row.pk])) for row in submissions]
    return [share for share in shares if share.cents and not share.work.is_whole]


def _cents(submission: Submission, work: WorkDone) -> int:
    """In proportion to the tasks, half a cent rounded up."""
    return (2 * submission.posting.reward_cents * work.tasks + work.promised) // (2 * work.promised)


def as_bonuses(shares: list[Share]) -> list[Bonus]:
    return [Bonus(share.submission, share.cents) for share in shares]
