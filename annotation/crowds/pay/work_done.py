"""What of a submission's work is with us: only that is paid unasked, whatever was handed in on the market."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, F
from django.utils.translation import gettext as _

from annotation.crowds.seats.places import tasks_of
from annotation.judging.leases import DONE
from annotation.models import Assignment, Submission


@dataclass(frozen=True)
class WorkDone:
    """The tasks of one submission."""

    tasks: int
    """Whose answers are with us."""
    promised: int

    @property
    def is_whole(self) -> bool:
        return self.tasks >= self.promised

    @property
    def sentence(self) -> str:
        """Why it is not paid; for work that is not whole."""
        if not self.tasks:
            return _("There are no answers of it with us. Nothing was spent: look at it, or reject it.")
        return _("Only %(n)d of %(of)d tasks are done. Nothing was spent: pay the share, or reject it.") % {
            "n": self.tasks,
            "of": self.promised,
        }


def work_done(submissions: Iterable[Submission]) -> dict[int, WorkDone]:
    """By submission. Each needs its posting and batch."""
    submissions = list(submissions)
    assignments = Assignment.objects.filter(
        submission__in=submissions, worker=F("submission__worker"), state__in=DONE
    ).order_by()
    counts = dict(assignments.values_list("submission").annotate(n=Count("pk")))
    return {row.pk: WorkDone(counts.get(row.pk, 0), promised_tasks(row)) for row in submissions}


def promised_tasks(submission: Submission) -> int:
    """How many tasks a worker does for the reward."""
    return 1 if submission.posting.task_id else tasks_of(submission.posting.batch)


def whole_and_other(submissions: Sequence[Submission]) -> tuple[list[Submission], list[Submission]]:
    """Those whose promised tasks are all with us, and the others."""
    work = work_done(submissions)
    whole = [submission for submission in submissions if work[submission.pk].is_whole]
    return whole, [submission for submission in submissions if not work[submission.pk].is_whole]
