"""What a worker sees of the own work: receipts and the list of tasks done."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q

from annotation import protocols
from annotation.common.prepared_queries import PreparedQuery
from annotation.common.text import glimpse
from annotation.models import Assignment, Batch, User

from .leases import DONE

PER_PAGE = 25
GLIMPSE = 90  # characters of a text, enough to know it again


@dataclass(frozen=True)
class ReceiptFacts:
    """What the receipt page says."""

    assignment: Assignment
    batch: Batch
    answers: int
    tasks_done: int  # tasks this worker has submitted in the batch

    @property
    def surplus(self) -> bool:
        return self.assignment.state == Assignment.State.SURPLUS

    @property
    def revised(self) -> bool:
        return bool(self.assignment.revision_keys)

    @property
    def can_revise(self) -> bool:
        return self.batch.state == Batch.State.OPEN


def receipt_facts(assignment: Assignment) -> ReceiptFacts:
    batch = assignment.task.batch
    tasks_done = sum(n for (n,) in _DONE(worker=assignment.worker_id, batch=batch.pk))
    return ReceiptFacts(assignment, batch, protocols.of(batch).count_answers(assignment), tasks_done)


_DONE = PreparedQuery(
    lambda worker, batch: (
        Assignment.objects.filter(worker=worker, task__batch=batch, state__in=DONE)
        .values("worker")
        .annotate(n=Count("pk"))
        .values_list("n")
    ),
    "worker",
    "batch",
)


@dataclass(frozen=True)
class DoneTask:
    """A submitted task in the list: enough to know it again, nothing about systems or others."""

    assignment: Assignment
    glimpse: str
    answers: int
    revised: bool


@dataclass(frozen=True)
class DoneTasks:
    rows: list[DoneTask]
    page: Page[Any]
    can_revise: bool


def done_tasks(batch: Batch, user: User, page: str) -> DoneTasks:
    """The person's submitted tasks of a batch, the newest first: two queries, whatever their number."""
    assignments = (
        Assignment.objects.filter(worker__user=user, task__batch=batch, state__in=DONE)
        .select_related("task__summary", "task__document")
        .annotate(
            judged=Count("judgments", filter=Q(judgments__is_current=True), distinct=True),
            extracts=Count("extracted", filter=Q(extracted__is_current=True), distinct=True),
        )
        .order_by("-submitted_at", "-pk")
    )
    page_of_tasks = Paginator(assignments, PER_PAGE).get_page(page)
    rows = [
        DoneTask(assignment, _glimpse(assignment), _answers(assignment), bool(assignment.revision_keys))
        for assignment in page_of_tasks.object_list
    ]
    return DoneTasks(rows, page_of_tasks, batch.state == Batch.State.OPEN)


def _answers(assignment: Any) -> int:
    """What the query counted: judgments, or extracted SCUs."""
    return int(assignment.judged + assignment.extracts)


def _glimpse(assignment: Assignment) -> str:
    task = assignment.task
    return glimpse(task.summary.text_shown if task.summary else task.document.source, GLIMPSE)
