"""`python -m tests.attack.prepare PRODUCT ACTION`, with that product's settings: the people and data to attack.

`prepare` prints what attackers may know: the addresses, a session for each role, ids of their own and of others.
`digest` prints what must not change: everything that belongs to the hidden study, or the hidden requester and worker.
"""

import hashlib
import json
import sys
from typing import Any

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from tests.attack.prepare_words import HIDDEN  # noqa: E402
from tests.promised.lists import routes  # noqa: E402

LOGS = ("AuditEntry", "AuditEvent", "Session")
PASSWORD = "a-long-phrase-of-nobody"


def session_of(user: Any) -> str:
    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def prepare_site() -> dict[str, Any]:
    from annotation.accounts.api_tokens import issue_token
    from annotation.api.urls import document
    from annotation.crowds.seats.tokens import make_token
    from annotation.judging.leases import lease_task
    from annotation.models import Batch, Posting, Role, Submission, Summary, System, Worker
    from tests.factories import make_batch, make_member, make_study

    known: dict[str, list[Any]] = {}
    sessions, tokens = {"nobody": ""}, {"nobody": ""}
    for name in ("Open study", f"{HIDDEN} study"):
        study = make_study(documents=3, systems=2, name=name)
        if HIDDEN in name:
            study.documents.update(source=f"{HIDDEN} source")
            Summary.objects.filter(document__study=study).update(text=f"{HIDDEN} summary")
            System.objects.filter(study=study, name="system0").update(name=f"{HIDDEN} system")
        batch = make_batch(study, quota=2)
        people = {role: make_member(study, role, f"{role}-{study.slug}") for role in Role.values}
        annotator = Worker.for_user(study, people[Role.ANNOTATOR])
        assignment = lease_task(batch, annotator)
        crowd_batch = make_batch(study, quota=2, state=Batch.State.OPEN)
        Batch.objects.filter(pk=crowd_batch.pk).update(crowd="mturk")
        crowd_batch.refresh_from_db()
        facts = {
            "market_id": f"HIT{study.pk}",
            "token": f"posting{study.pk}",
            "places": 5,
            "reward_cents": 10,
            "state": "open",
        }
        posting = Posting.objects.create(batch=crowd_batch, **facts)
        worker = Worker.objects.create(
            study=study, crowd="mturk", external_id=f"{HIDDEN}W{study.pk}", pseudonym=f"p{study.pk}"
        )
        submission = Submission.objects.create(posting=posting, worker=worker, market_id=f"A{study.pk}")
        values = {
            "slug": study.slug,
            "batch_id": batch.pk,
            "document_id": study.documents.first().pk,
            "key": assignment.key,
            "token": [posting.token, make_token(submission, origin=settings.MARKET_ORIGINS[0])],
            "crowd": "mturk",
        }
        for parameter, value in values.items():
            known.setdefault(parameter, []).extend(value if isinstance(value, list) else [value])
        if HIDDEN not in name:
            sessions |= {role: session_of(person) for role, person in people.items()}
            scopes = ("read", "write", "admin", "pay")
            tokens |= {role: issue_token(person, "attack", scopes, 30).token for role, person in people.items()}
    return {"routes": sorted(routes()), "sessions": sessions, "tokens": tokens, "known": known, "api": document()}


def prepare_market() -> dict[str, Any]:
    from annotation.marketplace import people
    from annotation.marketplace.books import books
    from annotation.marketplace.hits import layouts, work
    from annotation.marketplace.models import MarketSettings
    from annotation.marketplace.people import access_keys
    from annotation.marketplace.qualifications import qualifications
    from tests.marketplace.fixtures import ANSWER, EXTERNAL, FORM, HTML, KEY, make_hit

    MarketSettings.objects.create(pk=1, open_sign_up=True)
    known: dict[str, list[Any]] = {}
    sessions = {"nobody": "", "operator": session_of(people.make_account("operator", PASSWORD, is_operator=True))}
    keys = {}
    for prefix in ("", HIDDEN):
        account = people.make_account(f"{prefix}requester", PASSWORD, email=f"{prefix}r@example.org")
        requester = people.make_requester(f"{prefix or 'Open'} lab", account)
        books.top_up(requester, 1_000_00, f"{prefix} money")
        working = people.make_account(f"{prefix}worker", PASSWORD)
        worker = people.make_worker(working, country="US")
        hits = [make_hit(requester, places=3, question=question) for question in (EXTERNAL, HTML, FORM)]
        accepted, submitted = (work.accept_hit(worker, hit.hit_id) for hit in hits[:2])
        work.submit_assignment(submitted.assignment_id, ANSWER)
        test = {"test": FORM, "answer_key": KEY, "test_seconds": 600} if prefix else {"auto_granted": True}
        kind = qualifications.create_type(requester, name=f"{prefix or 'Open'} type", description="d", **test)
        key = access_keys.issue_key(requester)
        values = {
            "hit_id": [hit.hit_id for hit in hits],
            "hit_type_id": [hits[0].hit_type.hit_type_id],
            "assignment_id": [accepted.assignment_id, submitted.assignment_id],
            "qualification_type_id": [kind.qualification_type_id],
            "layout_id": [layouts.create_layout(requester, f"{prefix} layout", "<p>${x}</p>").layout_id],
            "worker_id": [worker.worker_id],
            "requester_id": [requester.requester_id],
            "key_id": [key.key_id],
        }
        for parameter, own in values.items():
            known.setdefault(parameter, []).extend(own)
        if not prefix:
            sessions |= {"requester": session_of(account), "worker": session_of(working)}
            keys = {"key_id": key.key_id, "secret": key.secret}
    return {"routes": sorted(routes()), "sessions": sessions, "known": known, "key": keys}


def digest() -> dict[str, str]:
    """Of every row that names the hidden word: all its values, but times."""
    digests = {}
    for model in apps.get_models():
        fields = [field.attname for field in model._meta.concrete_fields if "Date" not in field.get_internal_type()]
        rows = [str(row) for row in model._base_manager.order_by("pk").values_list(*fields) if HIDDEN in str(row)]
        if rows and model.__name__ not in LOGS:
            digests[model.__name__] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return digests


if __name__ == "__main__":
    product, action = sys.argv[1:]
    if action == "prepare":
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        print(json.dumps(prepare_site() if product == "site" else prepare_market(), default=str))
    else:
        print(json.dumps(digest()))
