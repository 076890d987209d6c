"""Crowd work in the background, with progress and patience: publishing, collecting, paying, blocking, writing.

A market that falls silent is tried again a little later; each of these goes on where it stopped. What a job can't
finish is said in its sentence, and nothing is done twice by asking again.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common import clock
from annotation.common.errors import Refused
from annotation.common.money import money
from annotation.crowds.base import MarketUnreachable
from annotation.crowds.collect import collect
from annotation.crowds.collect.reports import begin_reports, end_reports
from annotation.crowds.launch.close import ClosesLater, close, expire, pause, resume
from annotation.crowds.launch.publish import publish
from annotation.crowds.launch.top_up import ask_for_more
from annotation.crowds.lookup import market_for
from annotation.crowds.pay.approve import approve, reject, undo_rejections
from annotation.crowds.pay.bonus import Bonus, pay_bonuses
from annotation.crowds.pay.outcome import Outcome
from annotation.crowds.pay.shares import REASON, as_bonuses, unpaid_shares
from annotation.crowds.settle import settle
from annotation.jobs import Progress, kind
from annotation.models import Batch, Job, Submission, Worker

T = TypeVar("T")
NAMES_AT_MOST = 20
PAUSES = (2.0, 8.0)
"""Seconds before the second and the third try; the calls themselves have been retried before."""


def patiently(work: Callable[[], T]) -> T:
    """Do it, and again after a pause while the market is silent."""
    for seconds in PAUSES:
        try:
            return work()
        except MarketUnreachable:
            time.sleep(seconds)
    return work()


def _batch(job: Job) -> Batch:
    batch = Batch.objects.select_related("study").filter(study=job.study, pk=job.options.get("batch")).first()
    if batch is None:
        raise Refused(_("There is no such batch in this study. Nothing was done."))
    return batch


def _submissions(job: Job) -> list[Submission]:
    """Those that the job names, as far as they are of its study."""
    submission_ids = job.options.get("submissions", [])
    return list(Submission.objects.filter(pk__in=submission_ids, posting__batch__study=job.study).order_by("pk"))


def _workers(job: Job) -> list[Worker]:
    return list(Worker.objects.filter(study=job.study, pk__in=job.options.get("workers", [])).order_by("pk"))


def outcome_sentence(outcome: Outcome, action: str) -> str:
    """How many it was done for, how many were refused or left unanswered and why, and for whom it was done."""
    counts = {"n": outcome.done, "what": action, "refused": len(outcome.refused)}
    sentences = [_("%(n)d %(what)s, %(refused)d refused.") % counts, *_reasons(outcome.refused)]
    if n_unanswered := len(outcome.unanswered):
        sentence = ngettext("%(n)d is still open.", "%(n)d are still open.", n_unanswered)
        sentences += [sentence % {"n": n_unanswered}, *_reasons(outcome.unanswered)]
    return " ".join([*sentences, _named(outcome.paid)]).strip()


def _reasons(rows: Sequence[tuple[Submission, str]]) -> list[str]:
    """Each once, and three at most."""
    return list(dict.fromkeys(reason for _submission, reason in rows))[:3]


def _named(submissions: Sequence[Submission]) -> str:
    """Whom it was done for: the first of them by name, with how often."""
    counts = Counter(submission.worker.known_as for submission in submissions)
    names = [f"{name} ({n})" if n > 1 else name for name, n in counts.items()]
    if not names:
        return ""
    if len(names) > NAMES_AT_MOST:
        more = _("and %(n)d more") % {"n": len(names) - NAMES_AT_MOST}
        names = [*names[:NAMES_AT_MOST], more]
    return f"{', '.join(names)}."


@kind("publish", money=True)
def publish_job(job: Job, progress: Progress) -> str:
    published = patiently(lambda: publish(_batch(job), progress, job.asked_by))
    begin_reports(_batch(job))
    return _("%(n)d postings were put up, %(already)d stood there before; %(sum)s were promised.") % {
        "n": published.postings,
        "already": published.already,
        "sum": f"{money(published.cents)} {job.study.currency}",
    }


@kind("collect", money=True)
def collect_job(job: Job, progress: Progress) -> str:
    collected = patiently(lambda: collect(_batch(job), progress))
    return _("The market has %(n)d submissions, %(new)d of them new; %(unmatched)d have no answers with us.") % {
        "n": collected.submissions,
        "new": collected.new,
        "unmatched": collected.unmatched,
    }


@kind("settle", money=True)
def settle_job(job: Job, progress: Progress) -> str:
    report = settle(job.study, progress)
    counts = _("%(checked)d open lines: %(finished)d settled, %(failed)d refused, %(doubtful)d wait for a person.") % {
        "checked": report.checked,
        "finished": report.finished,
        "failed": report.failed,
        "doubtful": len(report.doubtful),
    }
    sentence = " ".join([counts, *report.unreachable, *report.differences[:5]])
    if report.unreachable:
        raise Refused(sentence)
    return sentence


@kind("approve", money=True)
def approve_job(job: Job, progress: Progress) -> str:
    without_answers = bool(job.options.get("without_answers"))
    outcome = approve(_submissions(job), job.asked_by, progress, without_answers=without_answers)
    return outcome_sentence(outcome, _("approved"))


@kind("reject", money=True)
def reject_job(job: Job, progress: Progress) -> str:
    return outcome_sentence(reject(_submissions(job), str(job.options.get("reason", "")), job.asked_by), _("rejected"))


@kind("close", money=True)
def close_job(job: Job, progress: Progress) -> str:
    try:
        closed = patiently(lambda: close(_batch(job)))
    except ClosesLater as later:  # the background tries again
        return str(later)
    end_reports(_batch(job))
    return ngettext("%(n)d posting was taken down.", "%(n)d postings were taken down.", closed) % {"n": closed}


@kind("bonus", money=True)
def bonus_job(job: Job, progress: Progress) -> str:
    cents, reason = int(job.options["cents"]), str(job.options["reason"])
    amounts = [Bonus(submission, cents) for submission in _submissions(job)]
    return outcome_sentence(pay_bonuses(amounts, reason, job.asked_by, progress), _("paid"))


@kind("shares", money=True)
def shares_job(job: Job, progress: Progress) -> str:
    submissions = {submission.pk for submission in _submissions(job)}
    shares = [share for share in unpaid_shares(_batch(job)) if share.submission.pk in submissions]
    return outcome_sentence(pay_bonuses(as_bonuses(shares), REASON, job.asked_by, progress), _("paid"))


@kind("undo", money=True)
def undo_job(job: Job, progress: Progress) -> str:
    return outcome_sentence(undo_rejections(_submissions(job), job.asked_by), _("approved"))


@kind("block", money=True)
def block_job(job: Job, progress: Progress) -> str:
    batch, reason = _batch(job), str(job.options["reason"])
    workers, market = _workers(job), market_for(batch.crowd, batch.study)
    for number, worker in enumerate(workers, start=1):
        if worker.crowd == batch.crowd:
            market.block(worker, reason)
        worker.blocked_at, worker.block_reason = clock.now(), reason
        worker.save(update_fields=["blocked_at", "block_reason"])
        progress(number, len(workers))
    return ngettext("%(n)d worker is blocked.", "%(n)d workers are blocked.", len(workers)) % {"n": len(workers)}


@kind("unblock", money=True)
def unblock_job(job: Job, progress: Progress) -> str:
    batch = _batch(job)
    workers, market = _workers(job), market_for(batch.crowd, batch.study)
    for number, worker in enumerate(workers, start=1):
        if worker.crowd == batch.crowd:
            market.unblock(worker)
        worker.blocked_at, worker.block_reason = None, ""
        worker.save(update_fields=["blocked_at", "block_reason"])
        progress(number, len(workers))
    return ngettext("%(n)d worker may work again.", "%(n)d workers may work again.", len(workers)) % {"n": len(workers)}


@kind("message", money=True)
def message_job(job: Job, progress: Progress) -> str:
    workers = _workers(job)
    subject, text = str(job.options["subject"]), str(job.options["reason"])
    missed = list(market_for(_batch(job).crowd, job.study).message(workers, subject, text))
    return _("The message went to %(n)d workers; %(missed)d could not be reached.") % {
        "n": len(workers) - len(missed),
        "missed": len(missed),
    }


@kind("pause", money=True)
def pause_job(job: Job, progress: Progress) -> str:
    return _("%(n)d postings are paused: nobody new can take one.") % {"n": patiently(lambda: pause(_batch(job)))}


@kind("resume", money=True)
def resume_job(job: Job, progress: Progress) -> str:
    return _("%(n)d postings are open again.") % {"n": patiently(lambda: resume(_batch(job)))}


@kind("expire", money=True)
def expire_job(job: Job, progress: Progress) -> str:
    expired = patiently(lambda: expire(_batch(job)))
    return _("%(n)d postings have ended; the money of empty places is free again.") % {"n": expired}


@kind("top-up", money=True)
def top_up_job(job: Job, progress: Progress) -> str:
    topped_up = ask_for_more(_batch(job), job.asked_by, job.options.get("cents"))
    return _("%(places)d more answers to %(tasks)d tasks are asked for; %(sum)s were promised.") % {
        "places": topped_up.places,
        "tasks": topped_up.tasks,
        "sum": f"{money(topped_up.cents)} {job.study.currency}",
    }
