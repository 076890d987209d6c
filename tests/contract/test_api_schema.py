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
        task = lease_task(batch, worker)
        submit_judgments(worker, task.key, {item.field: "1" for item in protocol_of(batch).items(task)}, "k")
    system = study.systems.first()
    Score.objects.bulk_create(
        Score(study=study, system=system, document=document, metric=f"rouge{mark}", value=0.5)
        for document in study.documents.all()
    )
    FilterDecision.objects.create(study=study, rules=[f"checks{mark}"])
    Job.objects.create(study=study, kind="score", state="done", message=f"Done{mark}.")
    Batch.objects.filter(study=study).update(name=f"batch{mark}")
    study.documents.update(source=f"Source{mark}")
    study.systems.update(group=f"abs{mark}")
    for page, content in (("report", {"title": f"t{mark}"}), ("quality", {"protocols": []})):
        StoredResult.objects.create(study=study, name=page, mark=study_mark(study), content=content)


def reaching(study: Study, foreign: Study) -> dict:
    """The document with the slugs and ids that exist put in, so that requests reach data, ours and another's."""
    schema = copy.deepcopy(document())
    for methods in schema["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                if (parameter["in"], parameter["name"]) == ("path", "study"):
                    parameter["schema"] = {"type": "string", "enum": [study.slug, study.slug, foreign.slug]}
                elif parameter["name"] in ("id", "document", "batch") and not EXAMPLES:  # the long run tries all bounds
                    parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": 5}
    return schema


@pytest.mark.parametrize("role", EXPECTED)
def test_the_api_keeps_its_promises(role, settings, live_server):
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    settings.API_PER_MINUTE = 10**6
    study, foreign = make_study(documents=2, systems=2), make_study(documents=2, systems=2, name=f"{HIDDEN} of others")
    fill(study, "-own")
    fill(foreign, f"-{HIDDEN}")
    config = {
        "generation": {
            "max-examples": EXAMPLES or (3 if role == "admin" else 1),
            "database": "none",
            "deterministic": True,
        },
        "continue-on-failure": True,
        "base-url": live_server.url,
        "headers": {},
    }
    if not EXAMPLES:
        config["phases"] = {name: {"enabled": False} for name in ("examples", "coverage", "stateful")}
    if role != "nobody":
        user = make_user() if role == "stranger" else make_member(study, Role(role))
        scopes = ["read", "write", "admin", "pay"] if role == "admin" else ["read", "write", "pay"]
        config["headers"] = {"Authorization": f"Bearer {issue_token(user, 'x', scopes, 7).token}"}
    schema = schemathesis.openapi.from_dict(reaching(study, foreign), config=schemathesis.Config.from_dict(config))
    statuses: Counter[int] = Counter()
    faults = []
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            faults.append(str(event))
        if isinstance(event, events.ScenarioFinished):
            for key, interaction in event.recorder.interactions.items():
                statuses[interaction.response.status_code if interaction.response else 0] += 1
                for check in event.recorder.checks.get(key, []):
                    if check.failure_info:
                        faults.append((event.recorder.label, str(check.failure_info.failure), interaction.request.uri))
    print(role, dict(statuses))  # with -s: what the run reached
    assert faults == []
    assert set(statuses) >= EXPECTED[role]
    assert sum(statuses.values()) >= sum(map(len, document()["paths"].values()))
    assert not [status for status in statuses if status >= 500]
