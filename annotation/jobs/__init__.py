"""Background work with progress: ask for a job, and a worker (or this process, at once) does it.

A kind of job is a function that takes the job and a progress callback and returns the sentence for its asker.
"""

import errno
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django_tasks import task

from analysis.lazy import how_to_bring
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import Job, Study, User

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
Kind = Callable[[Job, Progress], str]
KINDS: dict[str, Kind] = {}
"""Every kind of job; `AnnotationConfig.ready` imports the modules that register them."""
MONEY_KINDS: set[str] = set()
"""Kinds whose sentences speak of money and people, so that only admins read them."""
BEAT, LOST, TRIES = 10, timedelta(seconds=60), 3
OUR_ERROR = "It stopped with an error on our side; the log has it. Nothing half done was kept."
STOPPED = gettext_noop("It was stopped, as somebody asked. Nothing half done was kept.")
PAUSE = 0.5  # seconds between two notes of progress: enough for the eye, little for the database


def kind(name: str, *, money: bool = False) -> Callable[[Kind], Kind]:
    """Register a function as a kind of job; `money`: only admins may read what it says."""

    def register(function: Kind) -> Kind:
        KINDS[name] = function
        if money:
            MONEY_KINDS.add(name)
        return function

    return register


def job_for(job: Job | None, *, is_admin: bool) -> Job | None:
    """A job as a page shows it: without the sentence, where it is for admins alone."""
    if job is None or is_admin or job.kind not in MONEY_KINDS:
        return job
    visible_job = copy(job)
    visible_job.message = (
        _("An admin of the study sees why.") if job.state == Job.State.FAILED else _("The last run is done.")
    )
    return visible_job


def start_job(study: Study | None, name: str, options: dict[str, Any], asked_by: User | None) -> Job:
    """Write the job down and hand it to the queue once that is committed."""
    if name not in KINDS:
        raise ValueError(f"There is no kind of job {name!r}. Known: {', '.join(sorted(KINDS))}.")
    job = Job.objects.create(study=study, kind=name, options=options, asked_by=asked_by)
    transaction.on_commit(lambda: run_job.enqueue(job.pk))
    return job


def start_once(study: Study, key: str, name: str, options: dict[str, Any], asked_by: User | None) -> Job:
    """The same, once for a key of the asker's: asked again with it, the job that there is."""
    with transaction.atomic():
        values = {"kind": name, "options": options, "asked_by": asked_by}
        job, is_new = Job.objects.get_or_create(study=study, request_key=key, defaults=values)
        if is_new:
            transaction.on_commit(lambda: run_job.enqueue(job.pk))
    return job


@task()
def run_job(job_id: int) -> None:
    """Do a job that waits. One that runs or is over is left alone, so that a second call changes nothing."""
    waiting_jobs = Job.objects.filter(pk=job_id, state=Job.State.WAITING)
    if not waiting_jobs.update(state=Job.State.RUNNING, tries=F("tries") + 1, seen_at=clock.now()):
        return
    job = Job.objects.select_related("study").get(pk=job_id)
    try:
        with _signs_of_life(job_id):
            message, state = KINDS[job.kind](job, _progress(job_id)), Job.State.DONE
    except (Refused, ValueError) as refusal:  # the person's to mend: the sentence says how
        message, state = str(refusal), Job.State.FAILED
    except ModuleNotFoundError as error:
        message = f"It needs {error.name}, which is not installed here yet; {how_to_bring('site')} brings it."
        state = Job.State.FAILED
    except Exception as error:
        logger.exception("job %s failed", job_id)
        message = no_room(error) or OUR_ERROR
        state = Job.State.FAILED
    Job.objects.filter(pk=job_id).update(state=state, message=message, ended_at=clock.now())


def no_room(error: Exception) -> str:
    """The sentence for an error that a full disk caused; empty for any other."""
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    is_full = is_full or (isinstance(error, DatabaseError) and "disk is full" in str(error))
    return (
        _("There is no room left on the disk. Nothing half done was kept: make room, then ask again.")
        if is_full
        else ""
    )


def stop_job(job: Job) -> bool:
    """Have a job end before it is done; False where it is over already. What it began is not kept."""
    waiting_jobs = Job.objects.filter(pk=job.pk, state=Job.State.WAITING)
    if waiting_jobs.update(state=Job.State.FAILED, message=_(STOPPED), ended_at=clock.now()):
        return True
    return bool(Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(stop_asked=True))


@contextmanager
def _signs_of_life(job_id: int) -> Iterator[None]:
    """While a worker does a job, it says so every few seconds: a job without signs of life was lost with its worker."""
    if settings.BACKGROUND != "worker":
        yield
        return
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT):
            try:
                Job.objects.filter(pk=job_id).update(seen_at=clock.now())
            except DatabaseError:
                logger.warning("job %s could not be marked alive", job_id)
            connection.close_if_unusable_or_obsolete()
        connection.close()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def revive_lost_jobs() -> int:
    """Hand out again what was lost with a worker or on its way to the queue; what is lost time and again has failed.

    Every kind of job goes on where it stopped, or begins anew; a second run changes nothing that the first has done.
    """
    now, revived = clock.now(), 0
    lost_jobs = Job.objects.filter(state=Job.State.RUNNING, seen_at__lt=now - LOST)
    sentence = "Its worker was lost three times; the log may say why. What it had done is kept; ask for it again."
    lost_jobs.filter(tries__gte=TRIES).update(state=Job.State.FAILED, message=sentence, ended_at=now)
    lost_jobs.update(state=Job.State.WAITING)
    overdue_jobs = Job.objects.filter(state=Job.State.WAITING, asked_at__lt=now - LOST).exclude(seen_at__gt=now - LOST)
    for job_id in overdue_jobs.values_list("pk", flat=True):
        if overdue_jobs.filter(pk=job_id).update(seen_at=now):  # one process hands it out, however many look
            run_job.enqueue(job_id)
            revived += 1
    return revived


def _progress(job_id: int) -> Progress:
    last = 0.0

    def note(steps: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE or steps >= total:
            last = time.monotonic()
            if Job.objects.filter(pk=job_id, stop_asked=True).exists():
                raise Refused(_(STOPPED))
            Job.objects.filter(pk=job_id).update(done=min(steps, total), total=total)

    return note
