"""Pages whose numbers take long: worked out in the background, kept, and shown at once until the data changes."""

import hashlib
import math
from collections.abc import Callable
from typing import Any

from django.db.models import Count, Max

from analysis.sentence import Sentence
from annotation.common.translation import with_sentences
from annotation.models import Assignment, Job, Judgment, StoredResult, Study, User

from . import Progress, kind, start_job

VERSION = 3  # of all contents: raise it, and they are made anew
Maker = Callable[[Study], dict[str, Any]]
MAKERS: dict[str, Maker] = {}


def cached_page(name: str) -> Callable[[Maker], Maker]:
    """Register the function that makes a page's content."""

    def register(function: Maker) -> Maker:
        MAKERS[name] = function
        return function

    return register


def current_content(name: str, study: Study, asked_by: User) -> tuple[dict[str, Any] | None, Job | None]:
    """The content as the study stands now, or None with the job that is making it."""
    mark = study_mark(study)
    content = _stored_content(study, name, mark)
    if content is not None:
        return content, None
    job = study.jobs.filter(kind="page", options={"name": name, "mark": mark}).first()
    if job is None or job.state == Job.State.DONE:  # one that failed says why; people may ask for it again
        job = start_job(study, "page", {"name": name, "mark": mark}, asked_by)
        job.refresh_from_db()
    return _stored_content(study, name, mark), job


def _stored_content(study: Study, name: str, mark: str) -> dict[str, Any] | None:
    rows = StoredResult.objects.filter(study=study, name=name, mark=mark)
    content: dict[str, Any] | None = with_sentences(rows.values_list("content", flat=True).first())
    return content


def study_mark(study: Study) -> str:
    """What the numbers depend on, in five queries: judgments and scores are only added, a decision changes whole."""
    judgments = Judgment.objects.filter(assignment__task__batch__study=study).aggregate(n=Count("pk"), last=Max("pk"))
    work = Assignment.objects.counted().filter(task__batch__study=study).count()
    scores = study.scores.aggregate(n=Count("pk"), last=Max("pk"))
    decision = study.filter_in_force()
    chosen = list(study.batches.filter(is_chosen=True).order_by("pk").values_list("pk", flat=True))
    marks = (VERSION, judgments, work, scores, decision and decision.pk, study.batch_rule, chosen)
    return hashlib.sha256(repr(marks).encode()).hexdigest()


@kind("page")
def make_page(job: Job, progress: Progress) -> str:
    _make(job.study, job.options["name"], job.options["mark"])
    return "The page is ready."


def _make(study: Study, name: str, mark: str) -> None:
    content = plain(MAKERS[name](study))
    StoredResult.objects.update_or_create(study=study, name=name, defaults={"mark": mark, "content": content})


def make_pages(study: Study) -> None:
    """Make every page beforehand; one whose libraries are still on their way is left to the worker."""
    mark = study_mark(study)
    for name in MAKERS:
        try:
            _make(study, name, mark)
        except ModuleNotFoundError:
            start_job(study, "page", {"name": name, "mark": mark}, None)


def plain(value: Any) -> Any:
    """As JSON keeps it: undefined numbers become null, sentences their template and values."""
    if isinstance(value, Sentence):
        return value.as_json()
    if isinstance(value, dict):
        return {str(name): plain(cell) for name, cell in value.items()}
    if isinstance(value, list | tuple):
        return [plain(cell) for cell in value]
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
