"""Answers that came through the market alone: a form (HTMLQuestion) is filled in there, and never on our pages."""

from django.db import transaction

from annotation import protocols
from annotation.common import clock
from annotation.common.errors import BadAnswers
from annotation.judging.html_form import form_answers, form_seed
from annotation.models import Assignment, Submission, Task

State = Assignment.State


def keep_form(submission: Submission) -> bool:
    """Write the judgments of a handed-in form; False when it can't be read, or its worker has done the task before.

    Whatever came stays in `Submission.answer`. Call it inside a transaction; safe to repeat.
    """
    task = submission.posting.task
    if task is None or Assignment.objects.filter(task=task, worker=submission.worker).exists():
        return False
    now = submission.submitted_at or clock.now()
    row = Task.objects.select_for_update().get(pk=task.pk)
    assignment = Assignment(
        task=task,
        worker=submission.worker,
        submission=submission,
        state=State.SUBMITTED if row.live < row.quota else State.SURPLUS,
        leased_at=now,
        submitted_at=now,
        submit_key=submission.market_id[:64],
        seed=form_seed(task),
    )
    try:
        with transaction.atomic():
            assignment.save()
            protocols.of(task.batch).store(assignment, form_answers(assignment, submission.answer), now)
    except BadAnswers:
        return False
    return True
