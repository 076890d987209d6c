"""A task to look at: nothing is held, every input is off."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from annotation.common.errors import NoTaskLeft
from annotation.models import Assignment, Batch, Task, Worker

from .leases import draw_seed
from .views import task_page


def preview_page(
    request: HttpRequest, batch: Batch, task: Task | None, instructions: str, extra: dict[str, Any]
) -> HttpResponse:
    """A task of the batch, the first one unless another is asked for, as an annotator sees it."""
    task = task or batch.tasks.select_related("document", "summary").order_by("pk").first()
    if task is None:
        raise NoTaskLeft
    task.batch = batch
    nobody = Worker(study=batch.study, crowd=batch.crowd, pseudonym="preview")
    assignment = Assignment(task=task, worker=nobody, key="preview", seed=draw_seed(task, batch, nobody))
    return task_page(request, assignment, {}, mode="preview", urls={"instructions": instructions}, extra=extra)
