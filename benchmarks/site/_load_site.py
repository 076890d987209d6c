"""The site's side of the load benchmark, in a process of its own: prepare a batch, or check what was kept.

`prepare` reads the task from standard input and prints the batch and everybody's session; `post` puts a batch on the
market and prints its first HIT; `check` reads the answers that the site acknowledged and prints what is wrong with what
it holds.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db.models import Count, F, Q  # noqa: E402
from django.test import Client  # noqa: E402

from annotation.crowds.launch.publish import publish  # noqa: E402
from annotation.crowds.terms import Terms, set_terms  # noqa: E402
from annotation.models import (  # noqa: E402
    Assignment,
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


def prepare(order: dict[str, Any]) -> dict[str, Any]:
    study = _make_study(order)
    batch = create_batch(study, "Load", "litepyramid", order.get("quota", 1), state=Batch.State.OPEN)
    cookies = []
    for number in range(order["people"]):
        user, _ = User.objects.get_or_create(username=f"annotator-{number}")
        Membership.objects.create(study=study, user=user, role=Role.ANNOTATOR)
        client = Client()
        client.force_login(user)
        cookies.append(f"sessionid={client.cookies['sessionid'].value}")
    answer: dict[str, Any] = {"batch": batch.pk, "cookies": cookies}
    if order.get("second"):  # the same people judge the same summaries once more
        answer["second"] = create_batch(study, "Second", "litepyramid", order["quota"], state=Batch.State.OPEN).pk
        answer["admin"] = _admin(study)
    return answer


def post(order: dict[str, Any]) -> dict[str, Any]:
    batch = create_batch(_make_study(order), "Market", "litepyramid", 1, state=Batch.State.DRAFT)
    set_terms(batch, Terms.parse(order["terms"]), crowd="mturk")
    publish(batch)
    return {"hit": batch.postings.order_by("pk")[0].market_id}


def _make_study(order: dict[str, Any]) -> Study:
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    study = Study.objects.create(name=order["name"])
    systems = System.objects.bulk_create(System(study=study, name=f"system-{n}") for n in range(SYSTEMS))
    count = order["tasks"] // SYSTEMS
    documents = Document.objects.bulk_create(Document(study=study, doc_id=f"{n}", source="") for n in range(count))
    Summary.objects.bulk_create(
        Summary(document=document, system=system, text=order["summary"]) for document in documents for system in systems
    )
    ContentUnit.objects.bulk_create(
        ContentUnit(document=document, scu_id=unit, text=text)
        for document in documents
        for unit, text in order["units"].items()
    )
    return study


def _admin(study: Study) -> str:
    """The session of somebody who may upload studies."""
    user = User.objects.create(username="admin")
    Membership.objects.create(study=study, user=user, role=Role.ADMIN)
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}"


def check(order: dict[str, Any]) -> list[str]:
    """What is wrong: answers lost or altered, quotas broken."""
    saved: dict[str, dict[str, str]] = {}
    batches = [order[name] for name in ("batch", "second") if name in order]
    rows = Judgment.objects.filter(assignment__task__batch__in=batches, is_current=True)
    for row in rows.select_related("assignment__task__batch__study").iterator():
        name = opaque(row.assignment, row.summary_id, row.unit)
        saved.setdefault(row.assignment.key, {})[name] = f"{row.value:g}"
    faults = [f"{key} lost" for key in order["acknowledged"] if key not in saved]
    faults += [f"{key} altered" for key, answers in order["acknowledged"].items() if saved.get(key, answers) != answers]
    answered = Count("assignments", filter=Q(assignments__state=Assignment.State.SUBMITTED))
    tasks = Task.objects.filter(batch__in=batches).annotate(answered=answered)
    over = tasks.filter(Q(live__gt=F("quota")) | Q(answered__gt=F("quota"))).count()
    faults += [f"{over} tasks over quota"] * bool(over)
    if "second" in order:
        faults += _upload_faults(order) + _two_batch_faults(batches)
    return faults


def _upload_faults(order: dict[str, Any]) -> list[str]:
    """An upload that was acknowledged is there; one that was not is there as a whole, or not at all."""
    sizes = dict(Study.objects.filter(name__startswith="Uploaded ").values_list("name").annotate(n=Count("documents")))
    faults = [f"{name} lost" for name in order["uploads"] if name not in sizes]
    return faults + [f"{name} is half there" for name, n in sizes.items() if n != order["documents"]]


def _two_batch_faults(batches: list[int]) -> list[str]:
    """Somebody must have judged in both, or the storm did not show it."""
    people = [
        set(Judgment.objects.filter(assignment__task__batch=batch).values_list("assignment__worker", flat=True))
        for batch in batches
    ]
    return [] if people[0] & people[1] else ["nobody judged in both batches"]


if __name__ == "__main__":
    print(json.dumps({"prepare": prepare, "post": post, "check": check}[sys.argv[1]](json.load(sys.stdin))))  # type: ignore[operator]
