"""Pages whose numbers take long: worked out in the background, kept, and shown at once until the data changes."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from analysis.sentence import Sentence
from annotation.common.translation import with_sentences
from annotation.models import Assignment, Job, Judgment, StoredResult, Study, User

from . import Progress, kind, start_job

VERSION = 4  # of all contents: raise it, and they are made anew
AT_ONCE = 5000  # judgments up to which a page is made while one waits for it
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


@dataclass(frozen=True)
class Newest:
    """The newest content of a page, which may be older than the study's newest answer."""

    content: dict[str, Any]
    """Empty before it was made for the first time."""
    made_at: datetime | None
    job: Job | None
    """That makes it anew, or has failed to; None where it is as the study stands now."""


def newest_content(name: str, study: Study, asked_by: User | None) -> Newest:
    """The content at once, however old. Where the study has changed it is made anew: a small one's now, a large one's
    in the background."""
    mark, stored = study_mark(study), StoredResult.objects.filter(study=study, name=name).first()
    if stored is not None and stored.mark == mark:
        return _newest(stored, None)
    if Judgment.objects.filter(assignment__task__batch__study=study)[AT_ONCE:].exists():
        return _newest(stored, _refreshing(name, study, mark, asked_by))
    return _newest(_make(study, name, mark), None)


def make_now(name: str, study: Study) -> None:
    """For background work that needs the content as the study stands now."""
    mark = study_mark(study)
    if not StoredResult.objects.filter(study=study, name=name, mark=mark).exists():
        _make(study, name, mark)


def _newest(stored: StoredResult | None, job: Job | None) -> Newest:
    return Newest(with_sentences(stored.content), stored.made_at, job) if stored else Newest({}, None, job)


def _refreshing(name: str, study: Study, mark: str, asked_by: User | None) -> Job:
    """One at a time, whatever changes meanwhile."""
    newest_job: Job | None = study.jobs.filter(kind="page", options__name=name).first()
    is_tried = newest_job and newest_job.state == Job.State.FAILED and newest_job.options.get("mark") == mark
    if newest_job and (is_tried or not newest_job.is_over):
        return newest_job
    return start_job(study, "page", {"name": name, "mark": mark}, asked_by)


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


def _make(study: Study, name: str, mark: str) -> StoredResult:
    content = plain(MAKERS[name](study))
    defaults = {"mark": mark, "content": content}
    return StoredResult.objects.update_or_create(study=study, name=name, defaults=defaults)[0]


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
