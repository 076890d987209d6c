"""200 annotators for 5 minutes while web processes are killed at random and PostgreSQL is restarted once.

Two web hosts and two workers share one PostgreSQL. Everybody judges in two batches over the same summaries. Every few
seconds a web process is killed with -9, now and then a whole host; the paymaster and the workers are killed too; half-
way the database is restarted, and before that a backup is taken. Twice the operator stops the hosts, the workers and
the paymaster, backs up, and restores over the live database, the first time killed half-way; annotators wait and try
again. Meanwhile studies are uploaded, backups are restored into a database beside (some killed), half archives are
given to the live one, one paid batch is topped up and another one closed, and somebody hands in nothing. Afterwards:
every acknowledged answer and upload is there as it was given, no task has more answers than its quota, every retry
worked, the backup restores and compares, no restore left anything in between, nobody was paid twice, missed, or paid
for nothing, nothing stands on the market, and the ledger equals the market's books. Any of these missing is an error,
and at full length also whatever of the storm did not happen. The figure is broken promises against none allowed: 1
stands for none.

`STORM_SECONDS`, `STORM_PEOPLE` and `STORM_TASKS` make it shorter.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import Measurement
from benchmarks.site._ports import free_port, wait_for
from benchmarks.site._storm import Host, Postgres, annotate, running
from benchmarks.site._storm_actions import DOCUMENTS, Restores, Uploads, restore_over_live
from benchmarks.site.load import ROOT, SUMMARY, UNITS, _json, environment, site

FULL_SECONDS, FULL_PEOPLE = 300, 200
SECONDS = float(os.environ.get("STORM_SECONDS", FULL_SECONDS))
PEOPLE = int(os.environ.get("STORM_PEOPLE", FULL_PEOPLE))
TASKS = int(os.environ.get("STORM_TASKS", "10000"))
SEED = 7


def run() -> Measurement:
    with tempfile.TemporaryDirectory(prefix="storm-", dir="/tmp") as name:
        folder = Path(name)
        postgres = Postgres(folder)
        postgres.start()
        try:
            facts = _weather(folder, postgres)
        finally:
            postgres.control("stop")
    note = ", ".join(f"{value} {name}" for name, value in facts.items())
    return Measurement(1, 1, claim=1.0, unit="", note=note)


def _weather(folder: Path, postgres: Postgres) -> dict[str, Any]:
    url, ended = postgres.database("storm"), []
    threading.excepthook = lambda end: ended.append(f"{end.thread and end.thread.name}: {end.exc_value!r}")
    task = {"name": "Storm", "tasks": TASKS, "people": PEOPLE, "units": UNITS, "summary": SUMMARY, "quota": 3}
    batch = site(url, "prepare", {**task, "second": True})
    market = _market(folder)
    money = {**environment(url), **market["for_site"], "BACKGROUND": "worker"}
    hosts = [Host(url, **market["for_site"]) for _ in range(2)]
    try:
        with running(market["command"], market["environment"]):
            wait_for(market["port"], *(host.port for host in hosts), seconds=90)
            paymaster = [sys.executable, "-m", "benchmarks.site._paymaster"]
            _json([*paymaster, "launch"], None, ROOT, money)
            with running([*paymaster, "empty"], money):
                storm = Storm(hosts, postgres, [*paymaster, "pay"], money, folder)
                uploads = Uploads([host.port for host in hosts], batch["admin"])
                restores = Restores(environment(url), postgres.database("drill"), folder)
                for thread in (storm, uploads, restores):
                    thread.start()
                batches = [batch["batch"], batch["second"]]
                work = annotate([host.port for host in hosts], batch["cookies"], batches, len(UNITS), SECONDS)
                tally, troubles = asyncio.run(work)
                for thread in (storm, uploads, restores):
                    thread.end()
            closed = _json([*paymaster, "close"], None, ROOT, money)
    finally:
        for host in hosts:
            host.stop()
    order = {**{name: batch[name] for name in ("batch", "second")}, "acknowledged": tally.acknowledged}
    problems = site(url, "check", {**order, "uploads": uploads.acknowledged, "documents": DOCUMENTS})
    problems += [f"{len(tally.errors)} retries failed: {tally.errors[:2]}"] * bool(tally.errors)
    problems += _money_is_right(closed) + restores.faults + storm.faults + ended + _restores(postgres, folder, storm)
    if problems:
        raise RuntimeError(f"Promises broken: {problems[:5]}")
    facts = {
        "annotators": PEOPLE,
        "seconds": round(tally.seconds),
        "answers acknowledged and kept": len(tally.acknowledged),
        "kills of web processes": sum(host.kills for host in hosts),
        "kills of the paymaster and workers": storm.kills,
        "restarts of PostgreSQL": storm.restarts,
        "requests that had to be tried again": troubles,
        "payments": closed["approved"] + closed["bonuses"],
        "empty hand-ins rejected": closed["empty"],
        "top-ups": closed["topped up"],
        "batches closed meanwhile": closed["closed before"],
        "crowd workers in both paid batches": closed["in both batches"],
        "studies uploaded": len(uploads.acknowledged),
        "restores over the live database": storm.live_restores,
        "of those begun, killed and begun again": storm.killed_live_restores,
        "restores beside it": restores.restored,
        "restores killed": restores.killed,
        "half archives refused by the live database": restores.refused,
        "rows in the backup": storm.rows,
    }
    missing = [name for name, value in facts.items() if not value]
    if missing and SECONDS >= FULL_SECONDS and PEOPLE >= FULL_PEOPLE:
        raise RuntimeError(f"It was no storm, for want of: {', '.join(missing)}")
    return facts


def _money_is_right(closed: dict[str, Any]) -> list[str]:
    problems = [
        f"ledger {books['ledger']}, market {books['market']}, expected {books['expected']}"
        for books in closed["books"]
        if books["ledger"] != books["market"] or books["ledger"][:2] != books["expected"] or books["ledger"][3]
    ]
    if closed["differences"] or closed["unsettled"] or closed["approved"] != closed["bonuses"]:
        problems.append(f"books: {closed}")
    if closed["paid for nothing"] or not closed["empty"]:
        problems.append(f"{closed['paid for nothing']} paid for nothing, {closed['empty']} rejected")
    if closed["standing"] or set(closed["states"]) != {"closed"}:
        problems.append(f"{closed['standing']} postings stand for closed batches; batches: {closed['states']}")
    return problems + ["nobody was paid"] * (closed["approved"] == 0)


def _restores(postgres: Postgres, folder: Path, storm: Storm) -> list[str]:
    env = environment(postgres.database("restored"))
    command = [sys.executable, "manage.py", "restore", str(folder / "storm.tar")]
    process = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    storm.rows = int(process.stdout.split(" rows")[0].split()[-1].replace(",", "")) if process.returncode == 0 else 0
    return [] if process.returncode == 0 else [f"the backup did not restore: {process.stderr[-200:]}"]


class Storm(threading.Thread):
    """Kills things until it is told to end."""

    def __init__(
        self, hosts: list[Host], postgres: Postgres, paymaster: list[str], env: dict[str, str], folder: Path
    ) -> None:
        super().__init__(daemon=True)
        self.hosts, self.postgres, self.env, self.folder = hosts, postgres, env, folder
        worker = [sys.executable, "manage.py", "worker", "--interval", "0.5"]
        crowd = [sys.executable, "manage.py", "simulate", "Storm", "--crowd", "careful=8", "--batch"]
        self.commands = [paymaster, worker, worker, [*crowd, "Paid forms"], [*crowd, "Paid pilot"]]
        self.helpers = [self._begin(command) for command in self.commands]
        self.kills = self.restarts = self.rows = self.live_restores = self.killed_live_restores = 0
        self.faults: list[str] = []
        self._over, self._draw = threading.Event(), random.Random(SEED)

    def _begin(self, command: list[str]) -> subprocess.Popen[bytes]:
        null = subprocess.DEVNULL
        return subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=null, stderr=null)

    def run(self) -> None:
        began = time.monotonic()
        plan = [(SECONDS / 4, self._maintain), (SECONDS / 2, self._restart), (SECONDS * 3 / 4, self._maintain)]
        while not self._over.wait(self._draw.uniform(2, 5)):
            if plan and time.monotonic() - began > plan[0][0]:
                plan.pop(0)[1]()
            host = self._draw.choice(self.hosts)
            if self._draw.random() < 0.1:
                host.kill_all()
                host.start()
            else:
                host.kill_one(self._draw)
            self._kill_another()

    def _kill_another(self) -> None:
        n = self._draw.randrange(3)  # the crowd comes from elsewhere
        if self._draw.random() < 0.5 or self.helpers[n].poll() is not None:
            self.helpers[n].kill()
            self.helpers[n].wait()
            self.helpers[n] = self._begin(self.commands[n])
            self.kills += 1

    def _maintain(self) -> None:
        """As an operator does it: whatever writes is stopped, the database restored from its backup, all started."""
        for host in self.hosts:
            host.stop()
        self._kill_helpers()
        file = self.folder / f"maintenance-{self.live_restores}.tar"
        try:
            self.killed_live_restores += restore_over_live(self.env, file, self._draw.uniform(1, 4))
            self.live_restores += 1
        except RuntimeError as error:
            self.faults.append(str(error))
        for host in self.hosts:
            host.start()
        self.helpers = [self._begin(command) for command in self.commands]

    def _restart(self) -> None:
        self._backup()
        self.postgres.control("restart")
        self.restarts += 1

    def _backup(self) -> None:
        command = [sys.executable, "manage.py", "backup", str(self.folder / "storm.tar")]
        subprocess.run(command, cwd=ROOT, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def end(self) -> None:
        self._over.set()
        self.join()
        self._kill_helpers()

    def _kill_helpers(self) -> None:
        for process in self.helpers:
            process.kill()
            process.wait()


def _market(folder: Path) -> dict[str, Any]:
    """The marketplace on a database of its own, with the demo's requester; nobody kills it."""
    port = free_port()
    env = {
        **os.environ,
        "DEMO": "yes",
        "ENV_FILE": os.devnull,
        "DJANGO_SETTINGS_MODULE": "deploy.marketplace_settings",
        "MARKETPLACE_SECRET_KEY": "storm",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder}/market.sqlite3",
        "MARKETPLACE_BIND": f"127.0.0.1:{port}",
        "MARKETPLACE_STATIC_ROOT": str(folder / "market-static"),
        "LOG_LEVEL": "WARNING",
    }
    for words in (["migrate", "--verbosity", "0"], ["collectstatic", "--noinput", "--verbosity", "0"]):
        subprocess.run([sys.executable, "-m", "django", *words], cwd=ROOT, env=env, check=True)
    demo = [sys.executable, "-m", "django", "market_demo"]
    output = subprocess.run(demo, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout
    keys = dict(line.split("=", 1) for line in output.splitlines() if line.startswith("AWS_"))
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--config",
        "deploy/marketplace_gunicorn.py",
        "deploy.marketplace_wsgi",
    ]
    for_site = {
        **keys,
        "MTURK_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "MTURK_ALLOWED_ENDPOINTS": f"http://127.0.0.1:{port}",
    }
    return {"port": port, "command": command, "environment": env, "for_site": for_site}
