"""Background work that admins ask for on the crowd pages, beside jobs.py: bonuses, blocks, messages, top-ups."""

from collections.abc import Callable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common import clock
from annotation.errors import Refused
from annotation.jobs import Progress, kind
from annotation.models import Batch, Job, Submission, Worker

from . import market_for
from .closing import expire, pause, resume
from .jobs import patiently
from .ledger import money
from .paying import bonus, undo_rejection
from .topup import ask_for_more


def _batch(job: Job) -> Batch:
    found = Batch.objects.select_related("study").filter(study=job.study, pk=job.options.get("batch")).first()
    if found is None:
        raise Refused(_("There is no such batch in this study. Nothing was done."))
    return found


def _turns(job: Job) -> list[Submission]:
    asked = job.options.get("submissions", [])
    return list(Submission.objects.filter(pk__in=asked, posting__batch__study=job.study).order_by("pk"))


def _workers(job: Job) -> list[Worker]:
    return list(Worker.objects.filter(study=job.study, pk__in=job.options.get("workers", [])).order_by("pk"))


def _one_by_one(turns: list[Submission], call: Callable[[Submission], int], progress: Progress, what: str) -> str:
    """Call for each; a refusal stops that one only. The sentence says how many, and why not."""
    done, reasons = 0, list[str]()
    for number, turn in enumerate(turns, start=1):
        try:
            done += call(turn)
        except Refused as refusal:
            reasons.append(str(refusal))
        progress(number, len(turns))
    refused = len(turns) - done
    sentence = _("%(n)d %(what)s, %(refused)d refused.") % {"n": done, "what": what, "refused": refused}
    return " ".join([sentence, *dict.fromkeys(reasons[:3])])


@kind("bonus")
def bonus_job(job: Job, progress: Progress) -> str:
    cents, reason = int(job.options["cents"]), str(job.options["reason"])
    return _one_by_one(_turns(job), lambda turn: bonus(turn, cents, reason, job.asked_by).done, progress, _("paid"))


@kind("undo")
def undo_job(job: Job, progress: Progress) -> str:
    return _one_by_one(_turns(job), lambda turn: undo_rejection(turn, job.asked_by).done, progress, _("approved"))


@kind("block")
def block_job(job: Job, progress: Progress) -> str:
    batch, reason = _batch(job), str(job.options["reason"])
    workers, market = _workers(job), market_for(batch.crowd)
    for number, worker in enumerate(workers, start=1):
        if worker.crowd == batch.crowd:
            market.block(worker, reason)
        worker.blocked_at, worker.block_reason = clock.now(), reason
        worker.save(update_fields=["blocked_at", "block_reason"])
        progress(number, len(workers))
    return ngettext("%(n)d worker is blocked.", "%(n)d workers are blocked.", len(workers)) % {"n": len(workers)}


@kind("unblock")
def unblock_job(job: Job, progress: Progress) -> str:
    batch = _batch(job)
    workers, market = _workers(job), market_for(batch.crowd)
    for number, worker in enumerate(workers, start=1):
        if worker.crowd == batch.crowd:
            market.unblock(worker)
        worker.blocked_at, worker.block_reason = None, ""
        worker.save(update_fields=["blocked_at", "block_reason"])
        progress(number, len(workers))
    return ngettext("%(n)d worker may work again.", "%(n)d workers may work again.", len(workers)) % {"n": len(workers)}


@kind("message")
def message_job(job: Job, progress: Progress) -> str:
    workers = _workers(job)
    subject, text = str(job.options["subject"]), str(job.options["reason"])
    missed = list(market_for(_batch(job).crowd).message(workers, subject, text))
    return _("The message went to %(n)d workers; %(missed)d could not be reached.") % {
        "n": len(workers) - len(missed),
        "missed": len(missed),
    }


@kind("pause")
def pause_job(job: Job, progress: Progress) -> str:
    return _("%(n)d postings are paused: nobody new can take one.") % {"n": patiently(lambda: pause(_batch(job)))}


@kind("resume")
def resume_job(job: Job, progress: Progress) -> str:
    return _("%(n)d postings are open again.") % {"n": patiently(lambda: resume(_batch(job)))}


@kind("expire")
def expire_job(job: Job, progress: Progress) -> str:
    done = patiently(lambda: expire(_batch(job)))
    return _("%(n)d postings have ended; the money of empty places is free again.") % {"n": done}


@kind("top-up")
def top_up_job(job: Job, progress: Progress) -> str:
    done = ask_for_more(_batch(job), job.asked_by, job.options.get("cents"))
    return _("%(places)d more answers to %(tasks)d tasks are asked for; %(sum)s were promised.") % {
        "places": done.places,
        "tasks": done.tasks,
        "sum": f"{money(done.cents)} {job.study.currency}",
    }
