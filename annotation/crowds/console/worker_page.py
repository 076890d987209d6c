"""One worker of a batch, for its admins: their answers beside the others', and a verdict for each hand-in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from annotation.common.errors import Refused
from annotation.common.parsing import parse_int
from annotation.crowds.lookup import MARKETS, market_for
from annotation.crowds.pay.work_done import WorkDone, work_done
from annotation.jobs import start_job
from annotation.jobs.page_cache import newest_content
from annotation.judging.answered_tasks import AnsweredTask, answered_tasks
from annotation.models import Assignment, Batch, Job, Submission, User, Worker

from .worker_actions import reason_given
from .worker_figures import handed_in
from .workers import WorkerRow, worker_rows

TASKS = 10
State = Submission.State


@dataclass(frozen=True)
class HandIn:
    """A task that somebody handed in, with its answers and what can be decided about it."""

    task: AnsweredTask
    submission: Submission | None
    work: WorkDone | None
    verdicts: tuple[str, ...]


@dataclass(frozen=True)
class WorkerPage:
    row: WorkerRow
    hand_ins: list[HandIn]
    page: Page[Any]
    least_reason: int


def worker_page(batch: Batch, worker_id: int, parameters: Mapping[str, Any]) -> WorkerPage:
    """The worker's tasks in this batch, the newest first, some at a time, in a fixed number of queries."""
    worker = get_object_or_404(Worker.objects.select_related("user"), pk=worker_id, study=batch.study)
    newest_content("workers", batch.study, None)
    work = Assignment.objects.filter(handed_in(), task__batch=batch, worker=worker)
    work = work.select_related("task__batch", "task__document", "submission__posting__batch").order_by("-pk")
    page = Paginator(work, TASKS).get_page(str(parameters.get("page", "1")))
    tasks = answered_tasks(list(page.object_list))
    done = work_done([task.assignment.submission for task in tasks if task.assignment.submission])
    return WorkerPage(
        worker_rows(batch, [worker])[0],
        [_hand_in(batch, task, done) for task in tasks],
        page,
        MARKETS[batch.crowd].least_reason if batch.crowd in MARKETS else 0,
    )


def _hand_in(batch: Batch, task: AnsweredTask, done: dict[int, WorkDone]) -> HandIn:
    submission = task.assignment.submission
    work = done.get(submission.pk) if submission else None
    return HandIn(task, submission, work, _verdicts(batch, submission, work))


def _verdicts(batch: Batch, submission: Submission | None, work: WorkDone | None) -> tuple[str, ...]:
    if submission is None or batch.crowd not in MARKETS or not MARKETS[batch.crowd].pays:
        return ()
    if submission.state == State.SUBMITTED:
        return ("approve", "reject") if work and work.is_whole else ("reject",)
    return (
        ("undo",)
        if submission.state == State.REJECTED and market_for(batch.crowd, batch.study).undoes_rejection
        else ()
    )


def start_verdict(batch: Batch, worker_id: int, form: Mapping[str, str], user: User) -> Job:
    """A verdict on one hand-in of this worker, as background work. Refused where it isn't to be had."""
    rows = Submission.objects.filter(posting__batch=batch, worker=worker_id).select_related("posting__batch")
    submission = rows.filter(pk=parse_int(form.get("submission", ""))).first()
    action = form.get("action", "")
    work = work_done([submission]).get(submission.pk) if submission else None
    if submission is None or action not in _verdicts(batch, submission, work):
        raise Refused(_("There is nothing to decide there, or not any more. Nothing was done."))
    options = {"batch": batch.pk, "submissions": [submission.pk], "workers": [worker_id]}
    if action == "reject":
        options["reason"] = reason_given(form.get("reason", ""), market_for(batch.crowd, batch.study).least_reason)
    return start_job(batch.study, action, options, user)
