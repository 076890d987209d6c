"""A job that was lost with its worker is handed out again, once, and not for ever."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from annotation import jobs
from annotation.models import Job
from tests.factories import make_study

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(minutes=5)


@pytest.fixture
def done_jobs(monkeypatch) -> list[int]:
    """A kind of job that notes each run."""
    job_ids: list[int] = []

    def work(job: Job, progress: jobs.Progress) -> str:
        job_ids.append(job.pk)
        progress(1, 1)
        return "Done."

    monkeypatch.setitem(jobs.KINDS, "noted", work)
    return job_ids


def lost_job(**fields) -> Job:
    job = Job.objects.create(study=make_study(), kind="noted", **{"state": "running", "seen_at": LONG_AGO, **fields})
    Job.objects.update(asked_at=LONG_AGO)
    return job


def test_a_job_lost_with_its_worker_is_done_after_all(done_jobs):
    job = lost_job(tries=1)
    assert jobs.revive_lost_jobs() == 1
    job.refresh_from_db()
    assert (job.state, job.tries, done_jobs) == ("done", 2, [job.pk])
    assert jobs.revive_lost_jobs() == 0


def test_a_job_that_never_reached_the_queue_is_done_too(done_jobs):
    job = lost_job(state="waiting", seen_at=None)
    assert jobs.revive_lost_jobs() == 1
    assert done_jobs == [job.pk]


def test_a_job_with_signs_of_life_is_left_alone(done_jobs):
    lost_job(seen_at=timezone.now())
    assert jobs.revive_lost_jobs() == 0
    assert done_jobs == []


def test_a_job_that_is_lost_time_and_again_has_failed(done_jobs):
    job = lost_job(tries=3)
    assert jobs.revive_lost_jobs() == 0
    job.refresh_from_db()
    assert job.state == "failed"
    assert "three times" in job.message


def test_who_waits_is_not_told_of_a_worker_who_is_a_person_elsewhere():
    job = lost_job(state="waiting", seen_at=None)
    html = render_to_string("annotation/common/job.html", {"job": job, "study": job.study})
    assert "Waiting for a free background process." in html


def test_a_job_that_nobody_takes_says_so_after_a_minute():
    job = Job.objects.create(study=make_study(), kind="noted")
    page = {"study": job.study, "job": job}
    assert "more than a minute" not in render_to_string("annotation/common/job.html", page)
    job.asked_at = LONG_AGO
    assert "more than a minute" in render_to_string("annotation/common/job.html", page)
    job.state = Job.State.RUNNING
    assert "more than a minute" not in render_to_string("annotation/common/job.html", page)


def test_a_process_knows_every_kind_once_django_is_set_up():
    """A worker imports neither pages nor commands."""
    code = "import django; django.setup(); from annotation.jobs import KINDS; print(' '.join(KINDS))"
    kinds = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert {"score", "export", "explore", "page", "publish", "settle", "bonus"} <= set(kinds.stdout.split())


def test_what_work_with_a_crowd_says_is_for_admins():
    crowd = {name for name, work in jobs.KINDS.items() if work.__module__.startswith("annotation.crowds")}
    assert "publish" in crowd
    assert crowd == jobs.MONEY_KINDS
