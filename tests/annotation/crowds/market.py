"""A live marketplace for the site's tests: a process of its own, with its own settings and database, on a free port.

Tests talk to it over the socket as anybody does, and tell it over a pipe what people and time do there:
`market.ask("work", hit_id=…)`. `python -m tests.annotation.crowds.market` is that process.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


class LiveMarket:
    """Started once per test session (conftest.py); each test makes a requester of its own."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.marketplace_settings",
            "MARKETPLACE_DATABASE_URL": f"sqlite:///{self.folder.name}/market.sqlite3",
            "MARKETPLACE_SECRET_KEY": "only-for-tests",
        }
        command = [sys.executable, "-m", "tests.annotation.crowds.market"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=ROOT, env=env, text=True, **pipes)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def ask(self, question: str, **values: Any) -> Any:
        """What `answer_<what>` below returns, in the market's process."""
        self.process.stdin.write(json.dumps({"what": question, **values}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        assert "error" not in reply, reply["error"]
        return reply["value"]

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        self.folder.cleanup()


def answer_requester(cents: int = 100_000_00) -> dict[str, str]:
    """A new requester with so much money."""
    from annotation.marketplace import people
    from annotation.marketplace.books import books
    from annotation.marketplace.people import access_keys

    lab = people.make_requester(f"Lab {os.urandom(4).hex()}")
    if cents:
        books.top_up(lab, cents, "play money")
    key = access_keys.issue_key(lab)
    return {"id": lab.requester_id, "key": key.key_id, "secret": key.secret}


def answer_key(requester: str) -> dict[str, str]:
    """Another key of this requester."""
    from annotation.marketplace.models import Requester
    from annotation.marketplace.people import access_keys

    access_key = access_keys.issue_key(Requester.objects.get(requester_id=requester))
    return {"key": access_key.key_id, "secret": access_key.secret}


def answer_revoke(requester: str, key: str) -> None:
    from annotation.marketplace.models import Requester
    from annotation.marketplace.people import access_keys

    access_keys.revoke_key(Requester.objects.get(requester_id=requester), key)


def answer_workers(count: int) -> list[str]:
    """New workers from the US with a long and good record."""
    from annotation.marketplace import people
    from annotation.marketplace.models import Worker

    workers = [people.make_worker(country="US") for _ in range(count)]
    Worker.objects.filter(pk__in=[worker.pk for worker in workers]).update(approved_count=20_000)
    return [worker.worker_id for worker in workers]


def answer_account(name: str, password: str) -> str:
    """A new worker who can sign in with a browser."""
    from annotation.marketplace import people

    return people.make_worker(people.make_account(name, password), country="US").worker_id


def answer_accept(hit_id: str, worker_id: str) -> str:
    from annotation.marketplace.hits import work
    from annotation.marketplace.models import Worker

    return work.accept_hit(Worker.objects.get(worker_id=worker_id), hit_id).assignment_id


def answer_submit(assignment_id: str, answers: dict[str, str]) -> None:
    from annotation.marketplace.hits import work
    from annotation.marketplace.questions.answers import Answer, build_answers

    work.submit_assignment(assignment_id, build_answers([Answer(name, text=text) for name, text in answers.items()]))


def answer_work(hit_id: str, worker_id: str, answers: dict[str, str]) -> str:
    """Accept and hand in."""
    assignment_id = answer_accept(hit_id, worker_id)
    answer_submit(assignment_id, answers)
    return assignment_id


def answer_forget_tokens() -> int:
    """A day passes for all request tokens."""
    from datetime import timedelta

    from django.db.models import F

    from annotation.marketplace.models import RequestToken

    return RequestToken.objects.update(used_at=F("used_at") - timedelta(hours=25))


def answer_books(requester: str) -> dict[str, Any]:
    """The requester's money, HITs, assignments and bonuses as the market has them."""
    from annotation.marketplace.models import HIT, Assignment, BonusPayment, Requester

    lab = Requester.objects.get(requester_id=requester)
    return {
        "available": lab.available_cents,
        "held": lab.held_cents,
        "paid": lab.paid_cents,
        "fees": lab.fees_cents,
        "hits": [
            [hit.annotation.rpartition(":")[2], hit.hit_id, hit.max_assignments, hit.status]
            for hit in HIT.objects.filter(requester=lab).order_by("pk")
        ],
        "assignments": dict(
            Assignment.objects.filter(hit__requester=lab).order_by("pk").values_list("assignment_id", "state")
        ),
        "bonuses": [
            [bonus.assignment.assignment_id, bonus.cents, bonus.reason]
            for bonus in BonusPayment.objects.filter(requester=lab).select_related("assignment").order_by("pk")
        ],
    }


def answer_qualified(requester: str) -> list[list[str]]:
    """(qualification, worker) of this requester's own types."""
    from annotation.marketplace.models import Qualification

    granted = Qualification.objects.filter(qualification_type__requester__requester_id=requester, status="Granted")
    return [list(row) for row in granted.values_list("qualification_type__name", "worker__worker_id")]


def answer_requirements(hit_id: str) -> list[dict[str, Any]]:
    from annotation.marketplace.models import HIT

    return HIT.objects.get(hit_id=hit_id).hit_type.requirements


def answer_question(hit_id: str) -> str:
    from annotation.marketplace.models import HIT

    return HIT.objects.get(hit_id=hit_id).question


def serve() -> None:
    import django
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application

    django.setup()
    from tests.tables import make_tables

    make_tables()

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet)
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            value = globals()[f"answer_{command.pop('what')}"](**command)
            print(json.dumps({"value": value}), flush=True)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


if __name__ == "__main__":
    serve()
