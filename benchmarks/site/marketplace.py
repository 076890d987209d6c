"""The marketplace creates 2,500 HITs in under 90 s and lists 10,000 assignments in under 20 s.

boto3 against a gunicorn of its own, on SQLite in a temporary folder. The peers are the promised limits; whichever of
the two is closer to its limit is reported, the other stands in the note.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Measurement
from benchmarks.site._ports import free_port, wait_for

HITS, CREATE_LIMIT = 2_500, 90.0
ASSIGNMENTS, LIST_LIMIT = 10_000, 20.0
ROOT = Path(__file__).resolve().parents[2]
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>https://example.org/?n={n}</ExternalURL><FrameHeight>600</FrameHeight>'
    "</ExternalQuestion>"
)
ANSWER = (
    '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/'
    'QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>a</QuestionIdentifier><FreeText>b</FreeText></Answer>'
    "</QuestionFormAnswers>"
)


def run() -> Measurement:
    # In a process of its own: Django can be set up once, and other benchmarks set up the site.
    command = [sys.executable, "-m", "benchmarks.site.marketplace"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"The benchmark of the marketplace failed: {process.stderr[-500:]}")
    create, listing = json.loads(process.stdout.splitlines()[-1])
    note = f"{HITS:,} CreateHITWithHITType {create:.1f} s of {CREATE_LIMIT:g}, "
    note += f"{ASSIGNMENTS:,} assignments listed {listing:.1f} s of {LIST_LIMIT:g}"
    if create / CREATE_LIMIT >= listing / LIST_LIMIT:
        return Measurement(create, CREATE_LIMIT, claim=1.0, note=note)
    return Measurement(listing, LIST_LIMIT, claim=1.0, note=note)


def measure() -> tuple[float, float]:
    """Seconds to create the HITs, and to list the assignments."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        os.environ.update(
            DEMO="1",
            ENV_FILE=os.devnull,
            MARKETPLACE_SECRET_KEY="benchmark",
            MARKETPLACE_DATABASE_URL=f"sqlite:///{folder}/market.sqlite3",
            MARKETPLACE_BIND=f"127.0.0.1:{port}",
            DJANGO_SETTINGS_MODULE="deploy.marketplace_settings",
            LOG_LEVEL="WARNING",
        )
        client, requester = _prepare(port)
        command = [sys.executable, "-m", "gunicorn", "--config", "deploy/marketplace_gunicorn.py"]
        server = subprocess.Popen([*command, "deploy.marketplace_wsgi"], cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            return _create(client), _list(client, _full_hit(requester))
        finally:
            server.terminate()
            server.wait()


def _prepare(port: int) -> tuple[Any, Any]:
    import boto3
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
    client = boto3.client(
        "mturk",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
    )
    return client, requester


def _create(client: Any) -> float:
    kind = client.create_hit_type(Title="t", Description="d", Reward="0.10", AssignmentDurationInSeconds=600)
    start = time.perf_counter()
    for n in range(HITS):
        client.create_hit_with_hit_type(
            HITTypeId=kind["HITTypeId"],
            Question=QUESTION.format(n=n),
            LifetimeInSeconds=86400,
            MaxAssignments=3,
            RequesterAnnotation=f"task {n}",
            UniqueRequestToken=f"token-{n}",
        )
    return time.perf_counter() - start


def _full_hit(requester: Any) -> str:
    """A HIT with 10,000 submitted assignments, written straight into the database."""
    from datetime import timedelta

    from annotation.common import clock
    from annotation.marketplace.hits.hits import TypeValues, create_hit, register_hit_type
    from annotation.marketplace.models import HIT, Assignment, Worker

    kind = register_hit_type(requester, TypeValues("Many", "d", 10, 600))
    hit = create_hit(requester, kind, QUESTION.format(n=0), lifetime_seconds=86400, max_assignments=ASSIGNMENTS)
    now = clock.now()
    workers = Worker.objects.bulk_create([Worker() for _ in range(ASSIGNMENTS)])
    facts = {"hit": hit, "reward_cents": 10, "fee_cents": 4, "state": "Submitted", "accepted_at": now, "answer": ANSWER}
    times = {"deadline": now + timedelta(minutes=10), "submitted_at": now, "auto_approve_at": now + timedelta(days=30)}
    Assignment.objects.bulk_create([Assignment(worker=worker, **facts, **times) for worker in workers], batch_size=500)
    HIT.objects.filter(pk=hit.pk).update(submitted=ASSIGNMENTS, taken_cents=14 * ASSIGNMENTS)
    return hit.hit_id


def _list(client: Any, hit_id: str) -> float:
    start = time.perf_counter()
    pages = client.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id, PaginationConfig={"PageSize": 100})
    assignment_ids = {assignment["AssignmentId"] for page in pages for assignment in page["Assignments"]}
    took = time.perf_counter() - start
    if len(assignment_ids) != ASSIGNMENTS:
        raise RuntimeError(f"{len(assignment_ids):,} assignments were listed instead of {ASSIGNMENTS:,}.")
    return took


if __name__ == "__main__":
    print(json.dumps(measure()))
