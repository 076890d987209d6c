"""Who may do what: every address of the site × every role × every method, against the table in who_may.txt.

A route that the table doesn't name fails, and so does one that lets more or fewer people in than the table says. The
letters: n nobody (not signed in), s a stranger with an account, w an annotator, y an analyst, a an admin of the study.
There is no command that writes the table: change it by hand, and think.
"""

import json
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import get_resolver

from annotation.accounts.api_tokens import issue_token
from annotation.accounts.audit_log import ACTION_LABELS, READ_ONLY_ROUTES, TASK_ROUTES
from annotation.accounts.invitations import invite
from annotation.crowds.markets.direct import make_links
from annotation.crowds.seats.places import hold_place
from annotation.crowds.seats.tokens import read_token
from annotation.judging.leases import lease_task
from annotation.models import (
    FilterDecision,
    Job,
    Judge,
    JudgeRun,
    Posting,
    PracticeItem,
    Reference,
    Role,
    Study,
    User,
    Worker,
)
from annotation.transfer.exporting.jobs import start_export
from annotation.transfer.exporting.options import ExportOptions
from tests.factories import make_batch, make_member, make_study, make_user

pytestmark = pytest.mark.django_db
TABLE = Path(__file__).with_name("who_may.txt")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
LETTERS = "nswya"


# What the API is sent: it looks at the form of a body before it asks who sends it.
BODIES = {
    **{name: {} for name in ("draft", "submit", "ahead", "crowd-draft", "crowd-submit")},
    "api:list_batches": {"name": "n", "protocol": "litepyramid", "quota": 1},
    "api:post_batch": {"name": "n", "protocol": "litepyramid", "quota": 1},
    "api:get_batch": {"state": "paused"},
    "api:patch_batch": {"state": "paused"},
    "api:post_metric_run": {"metrics": ["length"]},
    "api:list_filters": {"rules": ["majority-dissent"]},
    "api:post_filter": {"rules": ["majority-dissent"]},
    "api:preview_filter": {"rules": ["majority-dissent"]},
    "api:list_exports": {"tables": ["scus"]},
    "api:post_export": {"tables": ["scus"]},
    "api:quote_launch": {"crowd": "mturk", "terms": {"reward_cents": 1}},
    "api:launch_batch": {"crowd": "mturk", "terms": {"reward_cents": 1}, "most_cents": 0},
    "api:post_verdicts": {"verdict": "approve", "submissions": [1], "most_cents": 0},
    "api:post_bonuses": {"submissions": [1], "cents": 1, "reason": "x", "most_cents": 0},
}


QUERIES = {
    "crowd-mturk": "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=mturk",
    "crowd-entry": "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=mturk",
    "crowd-prolific": "?PROLIFIC_PID=p&STUDY_ID=prolific&SESSION_ID=s",
}


class Undo(Exception):
    """Takes back what a request changed."""


def routes(patterns: list, prefix: str = "", space: str = "") -> Iterator[tuple[str, str, list[str]]]:
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            inner = space + (f"{pattern.namespace}:" if pattern.namespace else "")
            yield from routes(pattern.url_patterns, prefix + str(pattern.pattern), inner)
        else:
            yield space + pattern.name, prefix + str(pattern.pattern), list(pattern.pattern.converters)


@pytest.fixture
def study(settings, tmp_path) -> Study:
    settings.EXPORT_ROOT = str(tmp_path)
    study = make_study(documents=2, systems=2)
    make_batch(study, quota=2)
    return study


@pytest.fixture
def people(study) -> dict[str, User]:
    roles = {"w": Role.ANNOTATOR, "y": Role.ANALYST, "a": Role.ADMIN}
    return {"s": make_user(), **{letter: make_member(study, role) for letter, role in roles.items()}}


def addresses(study: Study, people: dict[str, User], callbacks: Any) -> dict[str, str]:
    """A real address for every route, where there is something to see."""
    batch = study.batches.get()
    assignment = lease_task(batch, Worker.for_user(study, people["w"]))
    with callbacks(execute=True):
        export = start_export(study, people["a"], ExportOptions.checked(["scus"], (), "csv"))
    task = batch.tasks.first()
    postings = {}
    for crowd in ("direct", "mturk", "prolific"):
        posted_batch = study.batches.create(name=crowd, protocol="litepyramid", state="open", crowd=crowd)
        posted_batch.tasks.create(document=task.document, summary=task.summary, quota=5)
        postings[crowd] = posted_batch
    token = make_links(postings["direct"], ["Ada"])[0].url.rstrip("/").split("/")[-1]
    visit = read_token(token)
    place = hold_place(visit.submission, postings["direct"].tasks.get())
    for crowd in ("mturk", "prolific"):
        Posting.objects.create(
            batch=postings[crowd],
            task=postings[crowd].tasks.get() if crowd == "mturk" else None,
            token=f"scan-{crowd}",
            places=5,
            reward_cents=1,
            state="open",
            market_id=crowd,
        )
    FilterDecision.objects.create(study=study, rules=["majority-dissent"])
    judge = Judge.objects.create(study=study, name="scan", version=1, kind="chat", model="m", digest="0" * 64)
    judged_batch = study.batches.create(name="judged", protocol="litepyramid", role="model", crowd="models")
    JudgeRun.objects.create(batch=judged_batch, judge=judge, quoted_micros=0, quoted_in=0, quoted_out=0, cap_micros=0)
    values = {
        "judge_id": judge.pk,
        "batch_id": batch.pk,
        "key": assignment.key,
        "slug": study.slug,
        "study": study.slug,
        "reference_id": Reference.objects.filter(document__study=study).values_list("pk", flat=True).first(),
        "item_id": PracticeItem.objects.values_list("pk", flat=True).first() or 1,
        "document_id": study.documents.first().pk,
        "job_id": Job.objects.filter(study=study).values_list("pk", flat=True).first(),
        "token_id": issue_token(people["w"], "mine", ["read"], 7).row.pk,
        "pseudonym": study.workers.first().pseudonym,
        "worker_id": study.workers.first().pk,
        "secret": invite(study, "annotator", "", people["a"]),
        "token": token,
        "protocol": "litepyramid",
        "name": "x",
        "id": 1,
        "rest": "x",
    }
    values_by_route: dict[str, dict[str, object]] = {
        "crowd-mturk": {"token": "scan-mturk"},
        "crowd-entry": {"crowd": "mturk", "token": "scan-mturk"},
        "crowd-about": {"token": "scan-mturk"},
        "crowd-report": {"crowd": "prolific", "address": "x"},
        "crowd-prolific": {"token": "scan-prolific"},
        **{
            f"crowd-{page}": {"key": place.key}
            for page in ("task", "draft", "submit", "ahead", "undo", "advice", "done")
        },
        "judge-run": {"batch_id": judged_batch.pk},
        "judge-calls": {"batch_id": judged_batch.pk},
        "export-file": {"key": export.key, "name": "scus.csv"},
        "api:get_export": {"key": export.key},
        "api:get_export_file": {"key": export.key, "name": "scus.csv"},
        "api:get_batch": {"id": batch.pk},
        "api:patch_batch": {"id": batch.pk},
        "api:get_progress": {"id": batch.pk},
        **{
            f"api:{name}": {"id": postings["mturk"].pk}
            for name in ("quote_launch", "launch_batch", "collect_batch", "post_verdicts", "post_bonuses")
        },
        "api:get_import": {"id": _upload_of(people["a"])},
        "api:read_import": {"id": _upload_of(people["a"])},
        "api:get_job": {"id": values["job_id"]},
        "new-study-reading": {"job_id": _upload_of(people["a"])},
        "new-study-again": {"job_id": _upload_of(people["a"])},
        "new-study-template": {"name": "documents.csv"},
        "new-study-stop": {"job_id": _upload_of(people["a"])},
        "api:get_document": {"id": study.documents.first().pk},
        "api:get_summary": {"id": batch.tasks.first().summary_id},
        "datasheet-file": {"name": "datasheet.md"},
        "quality-download": {"name": "workers.csv"},
    }
    address_by_route = {}
    for name, route, _parts in routes(get_resolver().url_patterns):
        address = route.replace("^(?P<rest>.*)$", "x")
        for parameter, value in {**values, **values_by_route.get(name, {})}.items():
            for kind in ("", "int:", "str:", "slug:", "path:"):
                address = address.replace(f"<{kind}{parameter}>", str(value))
        address_by_route[name] = f"/{address}{QUERIES.get(name, '')}"
    return address_by_route


def _upload_of(user: User) -> int:
    """Files that this person sent and that wait to be read."""
    options = {"key": "x", "name": "x", "shape": "", "scale": [1, 5], "check": True, "truecase": False}
    return Job.objects.create(kind="import", options=options, asked_by=user).pk


def ask(client: Client, method: str, name: str, address: str, headers: dict[str, str]) -> HttpResponseBase:
    """One request whose effects are undone, also on the client's own cookies."""
    answers: list[HttpResponseBase] = []
    cookies = client.cookies.output()
    spoken = "/api/" in address or name in BODIES
    body = json.dumps(BODIES.get(name, {})) if spoken else ""
    kind = "application/json" if spoken else "application/x-www-form-urlencoded"
    content: str | bytes = body
    if name == "api:post_import":
        content, kind = encode_multipart(BOUNDARY, {"name": "n"}), MULTIPART_CONTENT
    try:
        with transaction.atomic():
            answers.append(client.generic(method, address, content, content_type=kind, headers=headers))
            raise Undo
    except Undo:
        client.cookies = (
            SimpleCookie(cookies.replace("Set-Cookie: ", "").replace("\r\n", "; ")) if cookies else client.cookies
        )
    return answers[0]


def let_in(answer: HttpResponseBase) -> bool:
    """Anything but "who are you", "not for you" and "there is no such thing for you"; a wrong form is let in."""
    if answer.status_code in (301, 302):
        return not answer.headers.get("Location", "").startswith("/sign-in/?next=")
    return answer.status_code not in (401, 403, 404, 405)


def scan(study: Study, people: dict[str, User], callbacks: Any) -> dict[str, dict[str, str]]:
    places = addresses(study, people, callbacks)
    clients = {letter: Client(raise_request_exception=False) for letter in LETTERS}
    tokens = {}
    for letter, user in people.items():
        clients[letter].force_login(user)
        tokens[letter] = issue_token(user, "scan", ["read", "write", "admin", "pay"], 7).token
    letters_by_route: dict[str, dict[str, str]] = {}
    for name, address in places.items():
        letters_by_route[name] = {}
        for method in METHODS:
            letters = ""
            for letter in LETTERS if method in ("GET", "POST") else "nwa":
                headers = (
                    {"Authorization": f"Bearer {tokens[letter]}", "Idempotency-Key": "k"}
                    if "/api/" in address and letter in tokens
                    else {}
                )
                answer = ask(clients[letter], method, name, address, headers)
                assert answer.status_code < 500 or answer.status_code == 503, f"{letter} {method} {address}"
                letters += letter if let_in(answer) else ""
            if letters:
                letters_by_route[name][method] = letters
    return letters_by_route


def table() -> dict[str, dict[str, str]]:
    rows = [line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return {name: dict(cell.split("=") for cell in cells) for name, *cells in rows}


def test_everybody_may_do_what_the_table_says_and_no_more(study, people, django_capture_on_commit_callbacks):
    actual, expected = scan(study, people, django_capture_on_commit_callbacks), table()
    assert sorted(set(actual) - set(expected)) == [], "routes that the table does not name"
    assert sorted(set(expected) - set(actual)) == [], "the table names routes that are gone"
    assert {name: cells for name, cells in actual.items() if cells != expected[name]} == {
        name: expected[name] for name, cells in actual.items() if cells != expected[name]
    }


def test_somebody_may_do_something_everywhere():
    by_signature = {"crowd-report"}  # a market's own; tests/annotation/crowds/collect/test_reports.py
    assert {name for name, cells in table().items() if not cells} <= {"api:nothing"} | by_signature


def test_every_change_in_a_study_has_words_in_its_record():
    addresses_once: dict[str, str] = {}  # where operations of the API share an address, the first one's name counts
    for name, route, _parts in routes(get_resolver().url_patterns):
        if re.search(r"<(\w+:)?(slug|study)>", route):
            addresses_once.setdefault(route, name)
    changes = {
        f"{method} {name}"
        for name in addresses_once.values()
        for method in table()[name]
        if method != "GET" and name.removeprefix("api:") not in TASK_ROUTES | READ_ONLY_ROUTES
    }
    assert changes | {"POST new-study"} == set(ACTION_LABELS)
