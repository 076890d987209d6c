"""schemathesis on the API's own OpenAPI document, with all checks, as each role, as a stranger and as nobody.

No fault of ours, no answer that the document doesn't promise, no word of another study, no raw worker id. The suite
takes a few examples per operation; `API_EXAMPLES=50 pytest tests/contract/test_api_schema.py` takes many, with the
coverage and the stateful phase as well.
"""

import copy
import os
from collections import Counter

import pytest

if os.environ.get("DJANGO_SETTINGS_MODULE") == "tests.marketplace_settings":
    pytest.skip("runs in the site's pass", allow_module_level=True)

import schemathesis
from schemathesis.engine import events, from_schema

from annotation.accounts.api_tokens import issue_token
from annotation.api.urls import document
from annotation.jobs.page_cache import study_mark
from annotation.judging.leases import lease_task
from annotation.judging.submit import submit_judgments
from annotation.models import (
    Batch,
    ContentUnit,
    FilterDecision,
    Job,
    Role,
    Score,
    StoredResult,
    Study,
    Summary,
    Worker,
)
from annotation.protocols import of as protocol_of
from tests.factories import make_batch, make_member, make_study, make_user

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = int(os.environ.get("API_EXAMPLES", "0"))
HIDDEN, RAW = "HIDDENSTUDY", "RAWWORKERID"
# What an identity gets to see at least once, so that the run is known to have reached the data.
EXPECTED = {
    "admin": {200, 201, 404, 422},
    "analyst": {200, 403},
    "annotator": {200, 403},
    "stranger": {200, 404},
    "nobody": {401},
}


@schemathesis.check
def no_word_of_another_study(ctx, response, case):
    assert HIDDEN.encode() not in response.content


@schemathesis.check
def no_raw_worker_id(ctx, response, case):
    if not case.path.endswith("/workers/raw"):
        assert RAW.encode() not in response.content


@schemathesis.check
def errors_are_problem_documents(ctx, response, case):
    if response.status_code >= 400:
        assert response.headers["content-type"][0] == "application/problem+json"
        assert {"type", "title", "status", "detail"} <= set(response.json())


def fill(study: Study, mark: str) -> None:
    """Somebody has judged, metrics have scored, decisions were taken; every name and text carries the mark."""
    Summary.objects.filter(document__study=study).update(text=f"Text{mark}")
    ContentUnit.objects.filter(document__study=study).update(text=f"Fact{mark}")
    batch = make_batch(study, quota=2)
    for n in range(2):
        name = f"{RAW}-{mark}-{n}"
        worker = Worker.objects.create(
            study=study, crowd="mturk", external_id=name, pseudonym=study.pseudonym("mturk", name)
        )
        mine = lease_task(batch, worker)
        submit_judgments(worker, mine.key, {item.field: "1" for item in protocol_of(batch).items(mine)}, "k")
    system = study.systems.first()
    Score.objects.bulk_create(
        Score(study=study, system=system, document=one, metric=f"rouge{mark}", value=0.5)
        for one in study.documents.all()
    )
    FilterDecision.objects.create(study=study, rules=[f"checks{mark}"])
    Job.objects.create(study=study, kind="score", state="done", message=f"Done{mark}.")
    Batch.objects.filter(study=study).update(name=f"batch{mark}")
    study.documents.update(source=f"Source{mark}")
    study.systems.update(group=f"abs{mark}")
    for page, content in (("report", {"title": f"t{mark}"}), ("quality", {"protocols": []})):
        StoredResult.objects.create(study=study, name=page, mark=study_mark(study), content=content)


def reaching(own: Study, other: Study) -> dict:
    """The document with the slugs and ids that exist put in, so that requests reach data, ours and another's."""
    found = copy.deepcopy(document())
    for methods in found["paths"].values():
        for operation in methods.values():
            for one in operation["parameters"]:
                if (one["in"], one["name"]) == ("path", "study"):
                    one["schema"] = {"type": "string", "enum": [own.slug, own.slug, other.slug]}
                elif one["name"] in ("id", "document", "batch") and not EXAMPLES:  # the long run tries every bound
                    one["schema"] = {"type": "integer", "minimum": 1, "maximum": 5}
    return found


@pytest.mark.parametrize("who", EXPECTED)
def test_the_api_keeps_its_promises(who, settings, live_server):
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    settings.API_PER_MINUTE = 10**6
    own, other = make_study(documents=2, systems=2), make_study(documents=2, systems=2, name=f"{HIDDEN} of others")
    fill(own, "-own")
    fill(other, f"-{HIDDEN}")
    config = {
        "generation": {
            "max-examples": EXAMPLES or (3 if who == "admin" else 1),
            "database": "none",
            "deterministic": True,
        },
        "continue-on-failure": True,
        "base-url": live_server.url,
        "headers": {},
    }
    if not EXAMPLES:
        config["phases"] = {name: {"enabled": False} for name in ("examples", "coverage", "stateful")}
    if who != "nobody":
        user = make_user() if who == "stranger" else make_member(own, Role(who))
        scopes = ["read", "write", "admin"] if who == "admin" else ["read", "write"]
        config["headers"] = {"Authorization": f"Bearer {issue_token(user, 'x', scopes, 7).token}"}
    schema = schemathesis.openapi.from_dict(reaching(own, other), config=schemathesis.Config.from_dict(config))
    statuses: Counter[int] = Counter()
    faults = []
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            faults.append(str(event))
        if isinstance(event, events.ScenarioFinished):
            for key, one in event.recorder.interactions.items():
                statuses[one.response.status_code if one.response else 0] += 1
                for check in event.recorder.checks.get(key, []):
                    if check.failure_info:
                        faults.append((event.recorder.label, str(check.failure_info.failure), one.request.uri))
    print(who, dict(statuses))  # with -s: what the run reached
    assert faults == []
    assert set(statuses) >= EXPECTED[who]
    assert sum(statuses.values()) >= sum(map(len, document()["paths"].values()))
    assert not [status for status in statuses if status >= 500]
