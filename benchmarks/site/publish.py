"""A batch of 2,500 HITs × 4 assignments is published in under 3 minutes and collected in under 2, in flat memory.

The site on SQLite against a marketplace of its own (gunicorn, SQLite), through boto3 over a socket. The answers are
saved with the site before, as workers on external questions do; collecting confirms them. The peers are the promised
limits; whichever is closer to its limit is reported, the other stands in the note.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Measurement
from benchmarks.site._ports import free_port, wait_for
from benchmarks.site.marketplace import ANSWER

HITS, PLACES = int(os.environ.get("PUBLISH_HITS", "2500")), 4
PUBLISH_LIMIT, COLLECT_LIMIT = 180.0, 120.0
ROOT = Path(__file__).resolve().parents[2]
UNITS = 10


def run() -> Measurement:
    result = json.loads(_step("site").splitlines()[-1])
    publish, collect = result["publish"], result["collect"]
    note = f"{HITS:,} HITs published {publish:.1f} s of {PUBLISH_LIMIT:g} ({result['publish_cpu']:.1f} s CPU), "
    note += f"{HITS * PLACES:,} submissions collected {collect:.1f} s of {COLLECT_LIMIT:g} "
    note += f"({result['collect_cpu']:.1f} s CPU), memory +{result['grown_mb']:.0f} MB"
    if publish / PUBLISH_LIMIT >= collect / COLLECT_LIMIT:
        return Measurement(publish, PUBLISH_LIMIT, claim=1.0, note=note)
    return Measurement(collect, COLLECT_LIMIT, claim=1.0, note=note)


def _step(name: str, **env: str) -> str:
    """One part in a process of its own: Django can be set up once, for the site or for the marketplace."""
    command = [sys.executable, "-m", "benchmarks.site.publish", name]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    if process.returncode:
        raise RuntimeError(f"The benchmark of publishing failed in {name}: {process.stderr[-800:]}")
    return process.stdout


def site() -> None:
    """Publish and collect."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        market = {
            "DEMO": "1",
            "ENV_FILE": os.devnull,
            "LOG_LEVEL": "WARNING",
            "MARKETPLACE_SECRET_KEY": "benchmark",
            "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder}/market.sqlite3",
            "MARKETPLACE_BIND": f"127.0.0.1:{port}",
        }
        market_env = {**market, "DJANGO_SETTINGS_MODULE": "deploy.marketplace_settings"}
        key = json.loads(_step("prepare", **market_env).splitlines()[-1])
        os.environ.update(
            **market,
            DJANGO_SETTINGS_MODULE="deploy.settings",
            SECRET_KEY="benchmark",
            DATABASE_URL=f"sqlite:///{folder}/site.sqlite3",
            MTURK_ENDPOINT_URL=f"http://127.0.0.1:{port}",
            AWS_ACCESS_KEY_ID=key["id"],
            AWS_SECRET_ACCESS_KEY=key["secret"],
        )
        command = [sys.executable, "-m", "gunicorn", "--config", "deploy/marketplace_gunicorn.py"]
        server = subprocess.Popen(
            [*command, "deploy.marketplace_wsgi"], cwd=ROOT, env={**os.environ, **market_env}, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(port)
            print(json.dumps(_measure(market_env)))
        finally:
            server.terminate()
            server.wait()


def _measure(market_env: dict[str, str]) -> dict[str, float]:
    batch = _study()
    from django.urls import reverse

    from annotation.crowds.collect import collect
    from annotation.crowds.launch.publish import publish
    from annotation.crowds.lookup import market_for

    # Both load a lot, whatever the size of a batch: boto3 with its service model, and all pages of the site.
    market_for("mturk").check()
    reverse("crowd-mturk", args=["token"])
    before = _peak_mb()
    publish_wall, publish_cpu, published = _timed(lambda: publish(batch))
    if published.postings != HITS:
        raise RuntimeError(f"{published.postings:,} postings were put up instead of {HITS:,}.")
    turns = json.loads(_step("fill", **market_env).splitlines()[-1])
    _save_answers(batch, turns)
    collect_wall, collect_cpu, collected = _timed(lambda: collect(batch))
    if collected.confirmed != HITS * PLACES:
        raise RuntimeError(f"{collected.confirmed:,} submissions count instead of {HITS * PLACES:,}.")
    return {
        "publish": publish_wall,
        "publish_cpu": publish_cpu,
        "collect": collect_wall,
        "collect_cpu": collect_cpu,
        "grown_mb": _peak_mb() - before,
    }


def _timed(work: Any) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    value = work()
    return time.perf_counter() - wall, time.process_time() - cpu, value


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _study() -> Any:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from annotation.crowds.terms import Terms, set_terms
    from annotation.models import Batch, ContentUnit, Document, Study, Summary, System, Task

    study = Study.objects.create(name="Benchmark")
    system = System.objects.create(study=study, name="one", group="abs")
    documents = Document.objects.bulk_create(
        [Document(study=study, doc_id=f"d{n}", source="A source.") for n in range(HITS)], batch_size=500
    )
    text = "A summary of some length. " * 12
    summaries = Summary.objects.bulk_create(
        [Summary(document=document, system=system, text=text) for document in documents], batch_size=500
    )
    ContentUnit.objects.bulk_create(
        [ContentUnit(document=doc, scu_id=f"s{n}", text=f"Fact {n}.") for doc in documents for n in range(UNITS)],
        batch_size=500,
    )
    batch = Batch.objects.create(study=study, name="batch", protocol="litepyramid", crowd="mturk")
    rows = [Task(batch=batch, document=summary.document, summary=summary, quota=PLACES) for summary in summaries]
    Task.objects.bulk_create(rows, batch_size=500)
    set_terms(batch, Terms.parse({"preset": "realsumm"}), crowd="mturk")
    return batch


def _save_answers(batch: Any, turns: list[list[str]]) -> None:
    """What workers have saved on our pages; the market has not confirmed it yet."""
    from django.utils import timezone

    from annotation.models import Assignment, Submission, Worker

    now, study = timezone.now(), batch.study
    postings = {posting.market_id: posting for posting in batch.postings.all()}
    names = sorted({worker for _hit, _turn, worker in turns})
    workers = Worker.objects.bulk_create(
        [
            Worker(study=study, crowd="mturk", external_id=name, pseudonym=study.pseudonym("mturk", name))
            for name in names
        ]
    )
    worker_of = {worker.external_id: worker for worker in workers}
    submissions = Submission.objects.bulk_create(
        [
            Submission(posting=postings[hit], market_id=turn, worker=worker_of[worker], started_at=now, saved_at=now)
            for hit, turn, worker in turns
        ],
        batch_size=500,
    )
    Assignment.objects.bulk_create(
        [
            Assignment(
                task_id=submission.posting.task_id,
                worker=submission.worker,
                submission=submission,
                state="submitted",
                submitted_at=now,
            )
            for submission in submissions
        ],
        batch_size=500,
    )


def prepare() -> None:
    """A requester with a key, on the marketplace's database."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from annotation.marketplace import people
    from annotation.marketplace.books import books
    from annotation.marketplace.people import access_keys

    requester = people.make_requester("Benchmark")
    books.top_up(requester, 10**8)
    key = access_keys.issue_key(requester)
    print(json.dumps({"id": key.key_id, "secret": key.secret}))


def fill() -> None:
    """Four submitted assignments on every HIT, written straight into the marketplace's database."""
    from datetime import timedelta

    import django

    django.setup()
    from django.db.models import F

    from annotation.common import clock
    from annotation.marketplace.models import HIT, Assignment, Worker

    now = clock.now()
    workers = Worker.objects.bulk_create([Worker() for _ in range(PLACES)])
    times = {"deadline": now + timedelta(minutes=10), "submitted_at": now, "auto_approve_at": now + timedelta(days=30)}
    facts = {"reward_cents": 20, "fee_cents": 4, "state": "Submitted", "accepted_at": now, "answer": ANSWER, **times}
    hits = list(HIT.objects.order_by("pk"))
    rows = [Assignment(hit=hit, worker=worker, **facts) for hit in hits for worker in workers]
    Assignment.objects.bulk_create(rows, batch_size=500)
    HIT.objects.update(
        submitted=PLACES, taken_cents=F("held_cents"), status="Reviewable", due_at=times["auto_approve_at"]
    )
    print(json.dumps([[row.hit.hit_id, row.assignment_id, row.worker.worker_id] for row in rows]))


if __name__ == "__main__":
    {"site": site, "prepare": prepare, "fill": fill}[sys.argv[1]]()
