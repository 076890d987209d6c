"""A hundred workers at once on SQLite, as `make run` serves the marketplace: nobody is told that it is locked."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import requests

from benchmarks.site._ports import free_port, wait_for

ROOT = Path(__file__).resolve().parents[3]
WORKERS = 100
CSRF = "c" * 32

PREPARE = f"""
import json, django; django.setup()
from django.conf import settings
from django.core.management import call_command
from django.test import Client
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
from annotation.marketplace import people
from annotation.marketplace.books import books
from annotation.marketplace.models import Account
from tests.marketplace.fixtures import HTML, make_hit
requester = people.make_requester("Lab")
books.top_up(requester, 1_000_00)
hit = make_hit(requester, places={WORKERS}, question=HTML)
sessions = []
for number in range({WORKERS}):
    account = Account.objects.create(username=f"worker-{{number}}")
    people.make_worker(account, country="US")
    client = Client()
    client.force_login(account)
    sessions.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
print(json.dumps({{"hit": hit.hit_id, "sessions": sessions, "cookie": settings.SESSION_COOKIE_NAME}}))
"""
COUNT = """
import django; django.setup()
from annotation.marketplace.models import Assignment
print(Assignment.objects.filter(state="Submitted").count())
"""


@contextmanager
def served(environment: dict[str, str], log: Path):
    command = [sys.executable, "-m", "gunicorn", "--config", "deploy/marketplace_gunicorn.py"]
    with log.open("wb") as file:
        server = subprocess.Popen([*command, "deploy.marketplace_wsgi"], cwd=ROOT, env=environment, stderr=file)
    try:
        wait_for(int(environment["MARKETPLACE_BIND"].rpartition(":")[2]), seconds=60)
        yield
    finally:
        server.terminate()
        server.wait(30)


def test_a_hundred_workers_take_and_hand_in_at_once_on_sqlite(tmp_path):
    port = free_port()
    environment = {
        **os.environ,
        "DEMO": "yes",
        "ENV_FILE": os.devnull,
        "DJANGO_SETTINGS_MODULE": "deploy.marketplace_settings",
        "MARKETPLACE_SECRET_KEY": "of-a-hundred-workers",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path}/market.sqlite3",
        "MARKETPLACE_BIND": f"127.0.0.1:{port}",
        "MARKETPLACE_STATIC_ROOT": str(tmp_path / "static"),
        "MARKETPLACE_TICK_SECONDS": "1",
    }

    def python(script: str) -> str:
        command = [sys.executable, "-c", script]
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout.splitlines()[-1]

    facts = json.loads(python(PREPARE))
    site = f"http://127.0.0.1:{port}"

    def work(session: str) -> list[int]:
        """Take the task, look at it, hand in."""
        cookies = {facts["cookie"]: session, "marketplace_csrf": CSRF}
        headers = {"X-CSRFToken": CSRF, "Referer": site}
        options = {"cookies": cookies, "headers": headers, "allow_redirects": False, "timeout": 120}
        taken = requests.post(f"{site}/hits/{facts['hit']}/accept/", **options)
        place = taken.headers.get("Location", "/")
        looked = requests.get(f"{site}{place}", **options)
        answer = {"assignmentId": place.strip("/").rpartition("/")[2], "answer": "yes"}
        handed_in = requests.post(f"{site}/mturk/externalSubmit", answer, **options)
        return [taken.status_code, looked.status_code, handed_in.status_code]

    log = tmp_path / "market.log"
    with served(environment, log), ThreadPoolExecutor(WORKERS) as pool:
        statuses = list(pool.map(work, facts["sessions"]))
    assert statuses == [[302, 200, 303]] * WORKERS
    assert "locked" not in log.read_text()
    assert python(COUNT) == str(WORKERS)
