"""Crowd work in the background: publish, collect, settle, approve, close, with progress and patience.

A market that falls silent is tried again a little later; each of these goes on where it stopped. What a job can't
finish is said in its sentence, and nothing is done twice by asking again.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.errors import Refused
from annotation.jobs import Progress, kind
from annotation.models import Batch, Job, Submission

from .base import MarketUnreachable
from .closing import close
from .collecting import collect
from .ledger import money
from .outcomes import Outcome
from .paying import approve, reject
from .publishing import publish
from .settling import settle

T = TypeVar("T")
PAUSES = (2.0, 8.0)
"""Seconds before the second and the third try; the calls themselves have been retried before."""


def patiently(work: Callable[[], T]) -> T:
    """Do it, and again after a pause while the market is silent."""
    for pause in PAUSES:
        try:
            return work()
        except MarketUnreachable:
            time.sleep(pause)
    return work()


def _batch(job: Job) -> Batch:
    found = Batch.objects.select_related("study").filter(study=job.study, pk=job.options.get("batch")).first()
    if found is None:
        raise Refused(_("There is no such batch in this study. Nothing was done."))
    return found


@kind("publish")
def publish_job(job: Job, progress: Progress) -> str:
    done = patiently(lambda: publish(_batch(job), progress, job.asked_by))
    return _("%(n)d postings were put up, %(already)d stood there before; %(sum)s were promised.") % {
        "n": done.postings,
        "already": done.already,
        "sum": f"{money(done.cents)} {job.study.currency}",
    }


@kind("collect")
def collect_job(job: Job, progress: Progress) -> str:
    done = patiently(lambda: collect(_batch(job), progress))
    return _("The market has %(n)d submissions, %(new)d of them new; %(unmatched)d have no answers with us.") % {
        "n": done.submissions,
        "new": done.new,
        "unmatched": done.unmatched,
    }


@kind("settle")
def settle_job(job: Job, progress: Progress) -> str:
    done = patiently(lambda: settle(job.study, progress))
    words = _("%(checked)d open lines: %(finished)d settled, %(failed)d refused, %(doubtful)d wait for a person.") % {
        "checked": done.checked,
        "finished": done.finished,
        "failed": done.failed,
        "doubtful": len(done.doubtful),
    }
    return " ".join([words, *done.differences[:5]])


@kind("approve")
def approve_job(job: Job, progress: Progress) -> str:
    return _told(approve(_submissions(job), job.asked_by, progress), _("approved"))


@kind("reject")
def reject_job(job: Job, progress: Progress) -> str:
    return _told(reject(_submissions(job), str(job.options.get("reason", "")), job.asked_by), _("rejected"))


@kind("close")
def close_job(job: Job, progress: Progress) -> str:
    done = patiently(lambda: close(_batch(job)))
    return ngettext("%(n)d posting was taken down.", "%(n)d postings were taken down.", done) % {"n": done}


def _submissions(job: Job) -> list[Submission]:
    """Those that the job names, as far as they are of its study."""
    asked = job.options.get("submissions", [])
    return list(Submission.objects.filter(pk__in=asked, posting__batch__study=job.study).order_by("pk"))


def _told(outcome: Outcome, what: str) -> str:
    sentence = _("%(n)d %(what)s, %(refused)d refused.") % {
        "n": outcome.done,
        "what": what,
        "refused": len(outcome.refused),
    }
    return " ".join([sentence, *dict.fromkeys(reason for _one, reason in outcome.refused[:3])])
