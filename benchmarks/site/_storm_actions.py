"""What else goes on in the storm: studies are uploaded, and backups are restored into a database beside, some of them
cut short and some restores killed half-way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import requests

from benchmarks.site._annotators import CSRF
from benchmarks.site.load import ROOT

DOCUMENTS = 20
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

    Now and then the archive is cut in half, or the restore is killed: then the tables must be as before, or as in the
    backup, and nothing in between.
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
            if self._manage(self.live, "backup", str(file)).returncode:
                continue  # the database was away just then
            [self._whole, self._killed, self._cut][number % 3 if self.restored else 0](file)
            file.unlink(missing_ok=True)

    def _whole(self, file: Path) -> None:
        process = self._manage(self.env, "restore", str(file), "--replace")
        if process.returncode == 0:
            self.restored += 1
        elif "Nothing was changed" not in process.stderr:
            self.faults.append(process.stderr[-200:])

    def _cut(self, file: Path) -> None:
        before = self._facts()
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        process = self._manage(self.env, "restore", str(file), "--replace")
        self.refused += 1
        if process.returncode == 0 or (before and self._facts() not in ("", before)):
            self.faults.append("half an archive was restored")

    def _killed(self, file: Path) -> None:
        before = self._facts()
        process = subprocess.Popen(
            self._command("restore", str(file), "--replace"), cwd=ROOT, env=self.env, process_group=0,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            is_through = process.wait(self.draw.uniform(1, 4)) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            is_through = False
            self.killed += 1
        after = self._facts()
        if before and after and after != before and not is_through and not self._is_whole(file):
            self.faults.append("a killed restore left something in between")

    def _is_whole(self, file: Path) -> bool:
        """Whether the restore had come through after all, just before it was killed: a second one changes nothing."""
        reached = self._facts()
        self._manage(self.env, "restore", str(file), "--replace")
        return reached == self._facts()

    def _facts(self) -> str:
        """Empty where the database was away."""
        process = subprocess.run(
            [sys.executable, "-c", FACTS], cwd=ROOT, env=self.env, capture_output=True, text=True, check=False
        )
        return process.stdout

    def _manage(self, env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._command(*words), cwd=ROOT, env=env, capture_output=True, text=True, check=False)

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "manage.py", *words]

    def end(self) -> None:
        self.over.set()
        self.join()
