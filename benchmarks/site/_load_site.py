"""The site's side of the load benchmark, in a process of its own: prepare a batch, or check what was kept.

`prepare` reads the task from standard input and prints the batch and everybody's session; `check` reads the answers
that the site acknowledged and prints what is wrong with what it holds.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db.models import F  # noqa: E402
from django.test import Client  # noqa: E402

from annotation.models import (  # noqa: E402
    Batch,
    ContentUnit,
    Document,
    Judgment,
    Membership,
    Role,
    Study,
    Summary,
    System,
    Task,
    User,
)
from annotation.protocols.base import opaque  # noqa: E402
from annotation.studies.batches import create_batch  # noqa: E402

SYSTEMS = 10


def prepare(given: dict[str, Any]) -> dict[str, Any]:
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    study = Study.objects.create(name=given["name"])
    systems = System.objects.bulk_create(System(study=study, name=f"system-{n}") for n in range(SYSTEMS))
    count = given["tasks"] // SYSTEMS
    documents = Document.objects.bulk_create(Document(study=study, doc_id=f"{n}", source="") for n in range(count))
    Summary.objects.bulk_create(
        Summary(document=document, system=system, text=given["summary"]) for document in documents for system in systems
    )
    ContentUnit.objects.bulk_create(
        ContentUnit(document=document, scu_id=unit, text=text)
        for document in documents
        for unit, text in given["units"].items()
    )
    batch = create_batch(study, "Load", "litepyramid", given.get("quota", 1), state=Batch.State.OPEN)
    cookies = []
    for number in range(given["people"]):
        user, _ = User.objects.get_or_create(username=f"annotator-{number}")
        Membership.objects.create(study=study, user=user, role=Role.ANNOTATOR)
        client = Client()
        client.force_login(user)
        cookies.append(f"sessionid={client.cookies['sessionid'].value}")
    return {"batch": batch.pk, "cookies": cookies}


def check(given: dict[str, Any]) -> list[str]:
    """What is wrong: answers lost or altered, quotas broken."""
    kept: dict[str, dict[str, str]] = {}
    rows = Judgment.objects.filter(assignment__task__batch=given["batch"], is_current=True)
    for row in rows.select_related("assignment__task__batch__study").iterator():
        name = opaque(row.assignment, row.summary_id, row.unit)
        kept.setdefault(row.assignment.key, {})[name] = f"{row.value:g}"
    wrong = [f"{key} lost" for key in given["acknowledged"] if key not in kept]
    wrong += [f"{key} altered" for key, answers in given["acknowledged"].items() if kept.get(key, answers) != answers]
    over = Task.objects.filter(batch=given["batch"], live__gt=F("quota")).count()
    return wrong + [f"{over} tasks over quota"] * bool(over)


if __name__ == "__main__":
    print(json.dumps({"prepare": prepare, "check": check}[sys.argv[1]](json.load(sys.stdin))))  # type: ignore[operator]
