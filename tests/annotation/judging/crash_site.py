"""A site of its own for the crash tests: gunicorn on a free port, with a database file that outlives it.

`python -m tests.annotation.judging.crash_site tables|make|dump` works on that database from outside and prints JSON.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORKERS, TASKS, QUOTA, UNITS = 20, 30, 2, 3


class Site:
    """A server that can be killed with -9 and started again on the same port and the same database."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{folder}/crash.sqlite3",
            "SECRET_KEY": "only-for-this-test",
            "BIND": f"127.0.0.1:{self.port}",
            "WEB_PROCESSES": "2",
            "WEB_THREADS": "4",
        }
        self.server: subprocess.Popen | None = None

    def ask(self, command_name: str, *arguments: str) -> dict:
        command = [sys.executable, "-m", "tests.annotation.judging.crash_site", command_name, *arguments]
        process = subprocess.run(command, cwd=ROOT, env=self.env, check=True, capture_output=True, text=True)
        return json.loads(process.stdout)

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.py", "--log-level", "critical"]
        # A group of its own: killing it takes the web processes along, and nothing else.
        self.server = subprocess.Popen([*command, "deploy.wsgi"], cwd=ROOT, env=self.env, start_new_session=True)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.address}/sign-in/").close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("The server did not start.")

    def kill(self) -> None:
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()


def tables() -> dict:
    from tests.tables import make_tables

    make_tables()
    return {}


def make(protocol: str = "litepyramid", systems: str = "1") -> dict:
    """A study with an open batch, and a signed-in session for each worker."""
    from django.test import Client

    from annotation.models import Worker
    from annotation.studies.batches import create_batch
    from tests.factories import make_member, make_study

    study = make_study(documents=TASKS, systems=int(systems), units=UNITS)
    batch = create_batch(study, "batch", protocol, QUOTA, state="open")
    sessions = []
    for _ in range(WORKERS):
        user, client = make_member(study), Client()
        Worker.for_user(study, user)
        client.force_login(user)
        sessions.append(client.cookies["sessionid"].value)
    return {"batch": batch.pk, "sessions": sessions}


def dump() -> dict:
    """All assignments with their drafts and judgments, and each task's count."""
    from annotation.models import Assignment, Judgment, Task
    from annotation.protocols import of as protocol_of

    assignments = {}
    for assignment in Assignment.objects.select_related("task__batch__study"):
        fields = {item.unit: item.field for item in protocol_of(assignment.task.batch).items(assignment)}
        rows = Judgment.objects.filter(assignment=assignment).values_list("unit", "value", "is_current")
        assignments[assignment.key] = {
            "state": assignment.state,
            "task": assignment.task_id,
            "worker": assignment.worker_id,
            "draft": {name: item["value"] for name, item in assignment.draft.get("items", {}).items()},
            "judgments": [[fields[unit], f"{value:g}", current] for unit, value, current in rows],
        }
    return {"assignments": assignments, "live": list(Task.objects.values_list("live", flat=True))}


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps({"tables": tables, "make": make, "dump": dump}[sys.argv[1]](*sys.argv[2:])))
