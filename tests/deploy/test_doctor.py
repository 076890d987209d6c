"""`manage.py doctor` finds what is wrong with a deployment, names it and says what to do; a sound one passes."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Entry, User
from deploy.doctor import NAMES, examine
from deploy.doctor.markets import market_signs_whom_it_sends
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db
STRONG = "kJ8s-3hd_92hKzqpLw71nXbV0aTyRe5uGfDc4iMo6QSxZPtWYh"


class Clock(BaseHTTPRequestHandler):
    """A market that answers, with a clock of its own."""

    off = timedelta(0)
    moved_to = ""

    def do_HEAD(self) -> None:
        self.send_response_only(301 if self.moved_to else 200)
        if self.moved_to:
            self.send_header("Location", self.moved_to)
        self.send_header("Date", format_datetime(datetime.now(UTC) + self.off, usegmt=True))
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def market():
    server = HTTPServer(("127.0.0.1", 0), Clock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    Clock.off, Clock.moved_to = timedelta(0), ""


@pytest.fixture(autouse=True)
def sound(settings, market, tmp_path, monkeypatch):
    """A deployment with nothing wrong."""
    static, backups = tmp_path / "static", tmp_path / "backups"
    static.mkdir()
    (static / "staticfiles.json").write_text("{}")
    backups.mkdir()
    (backups / "today.tar").write_text("x")
    settings.DEMO, settings.DEBUG, settings.HTTPS = False, False, True
    settings.SECRET_KEY, settings.ALLOWED_HOSTS = STRONG, ["pyramidion.lab.edu"]
    settings.SITE_URL, settings.SECURE_PROXY_SSL_HEADER = (
        "https://pyramidion.lab.edu",
        ("HTTP_X_FORWARDED_PROTO", "https"),
    )
    settings.BACKGROUND, settings.STATIC_ROOT, settings.BACKUP_DIR = "worker", str(static), str(backups)
    settings.METRICS_TOKEN, settings.MTURK_ENDPOINT_URL, settings.DOCTOR_FREE_MB = "m" * 40, market, 1
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = "AKIA", "secret"
    settings.MTURK_SIGNED_ENTRY = True
    settings.PROLIFIC_TOKEN, settings.EXPORT_ROOT = "", str(tmp_path / "exports")
    env = tmp_path / "env"
    env.write_text("")
    env.chmod(0o600)
    monkeypatch.setenv("ENV_FILE", str(env))
    monkeypatch.delenv("MARKETPLACE_SECRET_KEY", raising=False)
    os.chmod(connection.settings_dict["NAME"], 0o600)
    User.objects.create_superuser("root", password="correct-horse-battery")


def found_problems() -> dict[str, str]:
    return {name: problem for name, problem in examine().items() if problem}


def test_a_sound_deployment_has_nothing_to_fix():
    assert found_problems() == {}


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def plant_trigger_loss(settings) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER assignment_moves")
        cursor.execute("DROP TRIGGER assignment_takes_place")
        cursor.execute("DROP TRIGGER assignment_frees_place")


def plant_stuck_job(settings) -> None:
    from django_tasks_db.models import DBTaskResult, get_date_max

    DBTaskResult.objects.create(
        args_kwargs={}, task_path="annotation.jobs.run_job", backend_name="default", run_after=get_date_max()
    )
    DBTaskResult.objects.update(enqueued_at=timezone.now() - timedelta(minutes=10))


def plant_doubt(settings) -> None:
    study = make_study()
    batch = make_batch(study)
    Entry.objects.create(study=study, batch=batch, kind="post", token="t", reward_cents=1, state="doubtful")


def plant_old_backup(settings) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=9)).timestamp()
    os.utime(f"{settings.BACKUP_DIR}/today.tar", (long_ago, long_ago))


def plant_open_file(settings) -> None:
    os.chmod(os.environ["ENV_FILE"], 0o644)


def plant_waiting_migration(settings) -> None:
    settings.MIGRATION_MODULES = {}  # the tests' tables were made without migrations: now all of them wait


def plant_same_key(settings) -> None:
    with open(os.environ["ENV_FILE"], "a") as file:
        file.write(f'MARKETPLACE_SECRET_KEY="{STRONG}"\n')


def plant_many_writers(settings) -> None:
    os.environ["WEB_PROCESSES"] = "8"


MISTAKES = {
    "demo": ("demo", lambda s: setattr(s, "DEMO", True), "DEMO is on"),
    "debug": ("debug", lambda s: setattr(s, "DEBUG", True), "DEBUG is on"),
    "short key": ("secret key", lambda s: setattr(s, "SECRET_KEY", "secret"), "short or simple"),
    "any host": ("hosts", lambda s: setattr(s, "ALLOWED_HOSTS", ["*"]), r"ALLOWED_HOSTS is \*"),
    "example host": ("hosts", lambda s: setattr(s, "ALLOWED_HOSTS", ["pyramidion.example.org"]), "an example"),
    "no address": ("site address", lambda s: setattr(s, "SITE_URL", ""), "SITE_URL is not set"),
    "other address": ("site address", lambda s: setattr(s, "SITE_URL", "https://other.org"), "names other.org"),
    "plain http": ("https", lambda s: setattr(s, "HTTPS", False), "HTTPS is off"),
    "redirect loop": ("https", lambda s: setattr(s, "SECURE_PROXY_SSL_HEADER", None), "redirect to itself"),
    "migration": ("migrations", plant_waiting_migration, "migrations? wait"),
    "no rules": ("rules", plant_trigger_loss, "annotation_assignment"),
    "many writers": ("engine", plant_many_writers, "SQLite with 8"),
    "demo account": ("accounts", lambda s: User.objects.create_user("demo", is_demo=True), "1 demo accounts"),
    "known password": (
        "accounts",
        lambda s: User.objects.create_superuser("boss", password="admin"),
        "password of boss",
    ),
    "nobody in charge": ("accounts", lambda s: User.objects.all().delete(), "no superuser"),
    "missing worker": ("background", plant_stuck_job, "no worker runs"),
    "no worker set": ("background", lambda s: setattr(s, "BACKGROUND", "immediate"), "BACKGROUND is immediate"),
    "no static files": ("static files", lambda s: setattr(s, "STATIC_ROOT", "/nonexistent"), "collectstatic"),
    "full disk": ("disk", lambda s: setattr(s, "DOCTOR_FREE_MB", 10**12), "MB free"),
    "open file": ("files", plant_open_file, "chmod 600"),
    "no backup": ("backup", lambda s: setattr(s, "BACKUP_DIR", ""), "BACKUP_DIR is not set"),
    "old backup": ("backup", plant_old_backup, "no backup of the last two days"),
    "closed market": (
        "endpoints",
        lambda s: setattr(s, "MTURK_ENDPOINT_URL", f"http://127.0.0.1:{closed_port()}"),
        "nobody answers",
    ),
    "clear market": (
        "endpoints",
        lambda s: setattr(s, "MTURK_ENDPOINT_URL", "http://192.0.2.1:1"),
        "keys would travel in the clear",
    ),
    "moved market": (
        "endpoints",
        lambda s: setattr(Clock, "moved_to", "https://market.lab.edu/"),
        "redirects to https://market.lab.edu/",
    ),
    "unsigned": ("signed entry", lambda s: setattr(s, "MTURK_SIGNED_ENTRY", False), "set MTURK_SIGNED_ENTRY=yes"),
    "no market key": ("market key", lambda s: setattr(s, "MTURK_SECRET_ACCESS_KEY", ""), "nobody whom the market"),
    "no exports": ("exports", lambda s: setattr(s, "EXPORT_ROOT", "/proc/exports"), "nothing can be written"),
    "same key": ("secret key", plant_same_key, "are the same"),
    "clock": ("clock", lambda s: setattr(Clock, "off", timedelta(minutes=7)), "differ by 4[12]"),
    "doubtful payment": ("ledger", plant_doubt, "wait for a person"),
    "open metrics": ("measuring", lambda s: setattr(s, "METRICS_TOKEN", ""), "METRICS_TOKEN is not set"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_finds_a_planted_mistake(mistake, settings, monkeypatch):
    name, plant, sentence = MISTAKES[mistake]
    monkeypatch.setenv("WEB_PROCESSES", "2")
    plant(settings)
    problems = found_problems()
    assert name in problems
    assert re.search(sentence, problems[name]), problems[name]


def test_the_command_lists_all_and_exits_1(settings):
    settings.DEBUG = True
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", json=True, stdout=out)
    rows = json.loads(out.getvalue())
    assert [row["check"] for row in rows] == NAMES
    assert [row["check"] for row in rows if not row["ok"]] == ["debug"]


def test_djangos_own_check_command_asks_neither_the_database_nor_the_market():
    env = {**os.environ, "DEMO": "1", "ENV_FILE": os.devnull}
    command = [sys.executable, "manage.py", "check", "--deploy", "--list-tags"]
    process = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "security" in process.stdout
    assert "doctor" not in process.stdout


def test_a_database_that_does_not_answer_is_said_in_a_sentence(tmp_path):
    env = {**os.environ, "DATABASE_URL": f"postgres://nobody@127.0.0.1:{closed_port()}/none", "DEMO": "1"}
    command = [sys.executable, "manage.py", "doctor"]
    process = subprocess.run(command, env={**env, "ENV_FILE": os.devnull}, capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert "FIX  database           The database does not answer" in process.stdout
    assert "Traceback" not in process.stderr + process.stdout


def test_a_market_that_moves_callers_within_itself_is_fine():
    Clock.moved_to = "/sign-in/"
    assert "endpoints" not in found_problems()


@pytest.mark.parametrize(
    ("endpoint", "signs"),
    [
        ("https://mturk-requester.us-east-1.amazonaws.com", False),
        ("https://amazonaws.com.market.lab.edu", True),
        ("http://127.0.0.1:8001", True),
    ],
)
def test_only_amazons_market_need_not_sign(settings, endpoint, signs):
    settings.MTURK_ENDPOINT_URL, settings.MTURK_SIGNED_ENTRY = endpoint, signs
    assert list(market_signs_whom_it_sends()) == []
    settings.MTURK_SIGNED_ENTRY = not signs
    assert ("all its workers" in next(market_signs_whom_it_sends()).msg) is not signs


def test_the_marketplace_is_examined_by_what_applies_to_it(tmp_path):
    key = "k7" * 20 + STRONG
    env = {
        "PATH": os.environ["PATH"],
        "ENV_FILE": os.devnull,
        "SECRET_KEY": key,
        "MARKETPLACE_SECRET_KEY": key,
        "MARKETPLACE_ALLOWED_HOSTS": "market.example.org",
        "MARKETPLACE_URL": "http://market.lab.edu",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{tmp_path}/market.sqlite3",
        "MARKETPLACE_STATIC_ROOT": str(tmp_path / "static"),
    }
    command = [sys.executable, "-m", "django", "doctor", "--json", "--settings", "deploy.marketplace_settings"]
    process = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert process.returncode == 1, process.stderr
    problems = {row["check"]: row["problem"] for row in json.loads(process.stdout)}
    assert "are the same" in problems["secret key"]
    assert problems["hosts"].startswith("MARKETPLACE_ALLOWED_HOSTS is market.example.org")
    assert problems["site address"].startswith("MARKETPLACE_URL is http://market.lab.edu")
    assert "python -m django migrate --settings deploy.marketplace_settings" in problems["migrations"]
    assert problems["database"] is None
    assert not {"background", "rules", "ledger", "exports", "measuring"} & set(problems)
