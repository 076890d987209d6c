"""The researcher's way for programs: pilots with checks and own dimensions, opened, worked, filtered, closed, exported.

Bringing in files, launching on a market and paying are pages and commands; the API has no part in them yet.
"""

import csv
import io

import pytest

from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import Batch
from annotation.protocols import of as protocol_of
from tests.annotation.api.test_api import Caller, caller
from tests.factories import make_study, make_worker

pytestmark = pytest.mark.django_db(transaction=True)
FOCUS = {"name": "Focus", "title": "Focus", "definition": "Says one thing.", "low": "wanders", "high": "stays"}
PILOTS = {
    "Ratings": ("likert", {"dimensions": ["fluency", FOCUS], "group_size": 2}),
    "Pyramid": ("litepyramid", {"checks": {"blank": 1, "foreign": 1}, "order": "random"}),
}


@pytest.fixture
def program(settings, tmp_path) -> Caller:
    settings.EXPORT_ROOT = str(tmp_path)
    return caller(make_study(documents=3, systems=2))


def made(program: Caller, name: str) -> int:
    protocol, options = PILOTS[name]
    body = {"name": name, "protocol": protocol, "quota": 2, "options": options, "judged": {"pilot": 1, "seed": 3}}
    answer = program.call("post", "/batches", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def work(batch: Batch) -> None:
    for value in ("1", "0" if batch.protocol == "litepyramid" else "5"):
        worker = make_worker(batch.study)
        for _ in range(batch.tasks.count()):
            assignment = lease_task(batch, worker)
            answers = {item.field: value for item in protocol_of(batch).items(assignment)}
            submit_judgments(worker, assignment.key, answers, assignment.key)


def test_pilots_with_checks_and_own_dimensions_from_making_to_the_export(program):
    batches = {name: made(program, name) for name in PILOTS}
    refused = program.call(
        "post", "/batches", {"name": "x", "protocol": "litepyramid", "quota": 1, "options": {"chekcs": 1}}
    )
    assert refused.status_code == 409
    for words in ({"high": "0.5"}, {"low": True}, {"heigh": 0.5}):
        wrong = {"name": "x", "protocol": "litepyramid", "quota": 1, "judged": {"metric": "m", **words}}
        assert program.call("post", "/batches", wrong).status_code == 422
    for key in batches.values():
        assert program.call("patch", f"/batches/{key}", {"state": "open"}).status_code == 200
        work(Batch.objects.get(pk=key))
        progress = program.get(f"/batches/{key}/progress").json()
        assert progress["submitted"] == progress["places"] > 0
    decision = program.call("post", "/filters", {"rules": ["checks"]})
    assert decision.status_code == 201, decision.content
    for key in batches.values():
        assert program.call("patch", f"/batches/{key}", {"state": "closed"}).json()["state"] == "closed"
    ordered = program.call("post", "/exports", {"tables": ["judgments"], "form": "csv"})
    assert ordered.status_code == 202, ordered.content
    file = program.get(f"/exports/{ordered.json()['key']}/files/judgments.csv")
    content = b"".join(file.streaming_content) if file.streaming else file.content
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert {row["batch"] for row in rows} == set(PILOTS)
    assert "Focus" in {row["unit"] for row in rows}
    assert len({row["unit"] for row in rows if row["is_check"] in ("1", "true", "True")}) == 2
