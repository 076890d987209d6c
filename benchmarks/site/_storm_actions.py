"""What else goes on in the storm: studies are uploaded, backups are restored into a database beside (some restores are
killed half-way), half archives are given to the live one, and in a pause the live one is restored from its backup."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path
from typing import IO, cast

import requests

from benchmarks.site._annotators import CSRF
from benchmarks.site.load import ROOT

DOCUMENTS = 20
MANAGE = [sys.executable, "manage.py"]
FACTS = "import django, json; django.setup(); from deploy.backup import table_facts; print(json.dumps(table_facts()))"


class Uploads(threading.Thread):
    """An admin who uploads a new study every few seconds, through whichever host answers."""

    def __init__(self, ports: list[int], cookie: str) -> None:
        super().__init__(daemon=True)
        self.ports, self.over = ports, threading.Event()
        self.headers = {"Cookie": f"{cookie}; csrftoken={CSRF}", "X-CSRFToken": CSRF}
        self.acknowledged: list[str] = []
        self.tried = 0

    def run(self) -> None:
        while not self.over.wait(4):
            self.tried += 1
            name = f"Uploaded {self.tried}"
            try:
                answer = requests.post(
                    f"http://127.0.0.1:{self.ports[self.tried % len(self.ports)]}/new-study/",
                    data={"name": name},
                    files=[("files", file) for file in _files()],
                    headers=self.headers,
                    allow_redirects=False,
                    timeout=60,
                )
            except requests.RequestException:
                continue
            if answer.status_code == 302 and "/studies/" in answer.headers["Location"]:
                self.acknowledged.append(name)

    def end(self) -> None:
        self.over.set()
        self.join()


def _files() -> list[tuple[str, str]]:
    documents = "".join(
        f'{{"doc_id": "{n}", "source": "Text {n}.", "references": ["R {n}."]}}\n' for n in range(DOCUMENTS)
    )
    rows = "".join(f'{{"doc_id": "{n}", "system": "a", "summary": "Summary {n}."}}\n' for n in range(DOCUMENTS))
    return [("documents.jsonl", documents), ("summaries.jsonl", rows)]


class Restores(threading.Thread):
    """Takes a backup, restores it into a database of its own, and looks at every table there; again and again.

    Now and then a restore is killed: then the tables must be as before, or as in the backup, and nothing in between.
    And now and then half an archive is given to the live database, where people work: it must be refused.
    """

    def __init__(self, env: dict[str, str], drill: str, folder: Path) -> None:
        super().__init__(daemon=True)
        self.live, self.env, self.folder = env, {**env, "DATABASE_URL": drill}, folder
        self.over, self.draw = threading.Event(), random.Random(11)
        self.restored = self.killed = self.refused = 0
        self.faults: list[str] = []

    def run(self) -> None:
        number = 0
        while not self.over.wait(2):
            number += 1
            file = self.folder / f"drill-{number}.tar"
            if manage(self.live, "backup", str(file)).returncode:
                continue  # the database was away just then
            [self._whole, self._killed, self._cut][number % 3 if self.restored else 0](file)
            file.unlink(missing_ok=True)

    def _whole(self, file: Path) -> None:
        process = manage(self.env, "restore", str(file), "--replace")
        if process.returncode == 0:
            self.restored += 1
        elif "Nothing was changed" not in process.stderr:
            self.faults.append(process.stderr[-200:])

    def _cut(self, file: Path) -> None:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        process = manage(self.live, "restore", str(file), "--replace")
        self.refused += 1
        if process.returncode == 0 or "Nothing was changed" not in process.stderr:
            self.faults.append(f"half an archive over the live database: {process.stderr[-200:]}")

    def _killed(self, file: Path) -> None:
        before = facts(self.env)
        is_killed = killed_restore(self.env, file, self.draw.uniform(1, 4))
        self.killed += is_killed
        after = facts(self.env)
        if before and after and after != before:  # then it had come through, also where it was killed just after
            different = [name for name, table in backed_up(file).items() if json.loads(after).get(name) != table]
            self.faults += [f"a killed restore left something in between, in {different}"] * bool(different)

    def end(self) -> None:
        self.over.set()
        self.join()


def restore_over_live(env: dict[str, str], file: Path, seconds: float) -> bool:
    """A backup of the live database, put back over it: first killed after some seconds, then whole. Was it killed?

    Nobody may write meanwhile: what is answered between a backup and its restore is in neither.
    """
    if (process := manage(env, "backup", str(file))).returncode:
        raise RuntimeError(f"no backup: {process.stderr[-200:]}")
    before = facts(env)
    is_killed = killed_restore(env, file, seconds)
    if different := _differences(before, facts(env)):
        raise RuntimeError(f"a killed restore over the live database left something in between, in {different}")
    process = manage(env, "restore", str(file), "--replace")
    if process.returncode:
        raise RuntimeError(f"the live database was not restored: {process.stderr[-200:]}")
    if different := _differences(before, facts(env)):
        raise RuntimeError(f"the live database is not as in its backup, in {different}")
    return is_killed


def _differences(before: str, after: str) -> list[str]:
    tables, now = json.loads(before), json.loads(after)
    return [name for name in {**tables, **now} if tables.get(name) != now.get(name)]


def killed_restore(env: dict[str, str], file: Path, seconds: float) -> bool:
    """Begin a restore and kill it; False where it was through before."""
    process = subprocess.Popen(
        [*MANAGE, "restore", str(file), "--replace"], cwd=ROOT, env=env, process_group=0,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def facts(env: dict[str, str]) -> str:
    """Every table with its rows and digest; empty where the database was away."""
    command = [sys.executable, "-c", FACTS]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout


def backed_up(file: Path) -> dict[str, list[str]]:
    """The same as the backup tells it."""
    with tarfile.open(file) as tar, cast(IO[bytes], tar.extractfile("manifest.json")) as manifest:
        return dict(json.load(manifest)["tables"])


def manage(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*MANAGE, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
