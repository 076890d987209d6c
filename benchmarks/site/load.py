"""50 annotators without thinking time. The goal: 8 times the tasks a second of Turkle 3.1, and p95 under 600 ms.

Both run beside each other on this machine in turns: the same PostgreSQL server, gunicorn with the same number of
processes and threads, persistent connections, the same task text and questions, batches of 200 and of 2,000 tasks, at
least three runs each. A task is taken, looked at and submitted, and the page that a browser is then sent to is loaded;
latency is that of single requests. Both servers are warm: a batch of 100 tasks is done before the clock starts. After
each run of ours every acknowledged answer is looked up in the database. Turkle comes into `var/turkle` (pip, its own
environment).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import Measurement
from benchmarks.site._annotators import Tally, crowd, our_task, turkle_task
from benchmarks.site._ports import free_port, wait_for

ROOT = Path(__file__).resolve().parents[2]
TURKLE, TURKLE_FILES = ROOT / "var" / "turkle", ROOT / "benchmarks" / "peers" / "turkle"
PEOPLE, RUNS, LIMIT, CLAIM, P95 = 50, 3, 40.0, 8.0, 0.6
UNITS = {f"scu{n:02d}": f"The harbour of the old town was closed on day {n} of the storm." for n in range(10)}
SUMMARY = " ".join(["The storm closed the harbour, and the ferries stayed on the mainland until Sunday."] * 5)


def run() -> Measurement:
    tallies: dict[tuple[str, int], list[Tally]] = {}
    for size in (200, 2000):
        for _ in range(RUNS):
            for name in ("turkle", "ours"):
                tally = _once(name, size)
                tallies.setdefault((name, size), []).append(tally)
                print(_line(name, size, tally), flush=True)
    ratios, notes, p95 = [], [], 0.0
    for size in (200, 2000):
        our_rate, turkle_rate = (
            statistics.median(tally.per_second for tally in tallies[name, size]) for name in ("ours", "turkle")
        )
        ratios.append((our_rate / turkle_rate, our_rate, turkle_rate))
        p95 = max(p95, statistics.median(tally.p95() for tally in tallies["ours", size]))
        notes.append(f"{size} tasks: {our_rate:.0f} against {turkle_rate:.1f} a second")
    _, our_rate, turkle_rate = min(ratios)
    if p95 >= P95:
        raise RuntimeError(f"p95 is {p95 * 1000:.0f} ms, and {P95 * 1000:.0f} was promised ({'; '.join(notes)}).")
    note = f"seconds per task; {'; '.join(notes)}; our p95 {p95 * 1000:.0f} ms; {PEOPLE} annotators"
    return Measurement(1 / our_rate, 1 / turkle_rate, CLAIM, note=note)


def _line(name: str, size: int, tally: Tally) -> str:
    text = f"  {name} {size} tasks: {tally.per_second:.1f} a second, p95 {tally.p95() * 1000:.0f} ms, "
    return text + f"{len(tally.tasks)} done in {tally.seconds:.1f} s, {len(tally.errors)} errors"


def _once(name: str, size: int) -> Tally:
    task = {"name": uuid.uuid4().hex[:8], "tasks": size, "people": PEOPLE, "units": UNITS, "summary": SUMMARY}
    turns = {"ours": our_task, "turkle": turkle_task}
    with scratch_database() as url, served(name, url) as port:
        warm = prepare(name, url, {**task, "name": "warm", "tasks": 100})
        crowd(port, warm["cookies"], turns[name](warm["batch"], list(UNITS)), LIMIT)
        batch = prepare(name, url, task)
        tally = crowd(port, batch["cookies"], turns[name](batch["batch"], list(UNITS)), LIMIT)
        if name == "ours":
            problems = site(url, "check", {"batch": batch["batch"], "acknowledged": tally.acknowledged})
            if problems or tally.errors:
                raise RuntimeError(f"The site broke its promise: {(problems + tally.errors)[:3]}")
    return tally


@contextmanager
def scratch_database() -> Iterator[str]:
    """An empty database on the server of the tests, gone afterwards."""
    import psycopg

    from tests import postgres

    server = postgres.find()
    if server is None:
        raise RuntimeError("The load benchmark needs PostgreSQL on 127.0.0.1:5432.")
    name = f"load_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server.replace("postgres:", "postgresql:", 1), autocommit=True) as server_connection:
        server_connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            server_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def environment(url: str, port: int = 0) -> dict[str, str]:
    return {
        **os.environ,
        "DATABASE_URL": url,
        "DEMO": "yes",
        "ENV_FILE": os.devnull,
        "SECRET_KEY": "only-for-the-benchmark",
        "STATIC_ROOT": str(ROOT / "var" / "load-static"),
        "DJANGO_SETTINGS_MODULE": "deploy.settings",
        "BIND": f"127.0.0.1:{port}",
        "LOG_LEVEL": "WARNING",
        "WEB_PROCESSES": os.environ.get("WEB_PROCESSES", "2"),
    }


def prepare(name: str, url: str, task: dict[str, Any]) -> Any:
    return site(url, "prepare", task) if name == "ours" else _turkle(url, task)


def site(url: str, action: str, order: object) -> Any:
    command = [sys.executable, "-m", "benchmarks.site._load_site", action]
    return _json(command, order, ROOT, environment(url))


def _turkle(url: str, order: object) -> Any:
    command = [str(TURKLE / "bin" / "python"), "load_prepare.py"]
    return _json(command, order, TURKLE_FILES, {**environment(url), "DJANGO_SETTINGS_MODULE": "load_settings"})


def _json(command: list[str], order: object, folder: Path, env: dict[str, str]) -> Any:
    process = subprocess.run(
        command, cwd=folder, env=env, input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {process.stderr[-800:]}")
    return json.loads(process.stdout.splitlines()[-1])


@contextmanager
def served(name: str, url: str) -> Iterator[int]:
    """gunicorn with the site or Turkle behind it; the same configuration for both."""
    if name == "turkle" and not (TURKLE / "bin" / "gunicorn").exists():
        subprocess.run([sys.executable, "-m", "venv", str(TURKLE)], check=True)
        packages = ["turkle==3.1", "gunicorn==27.0.0", "psycopg[binary]==3.3.8"]
        subprocess.run([str(TURKLE / "bin" / "pip"), "install", "--quiet", *packages], check=True)
    port = free_port()
    # The tables must be there before the first request.
    prepared = {"name": "none", "tasks": 10, "people": 0, "units": UNITS, "summary": SUMMARY}
    prepare(name, url, prepared)  # and the static files
    folder = ROOT if name == "ours" else TURKLE_FILES
    python = sys.executable if name == "ours" else str(TURKLE / "bin" / "python")
    env = environment(url, port)
    if name == "turkle":
        env["DJANGO_SETTINGS_MODULE"] = "load_settings"
    application = "deploy.wsgi" if name == "ours" else "load_wsgi"
    command = [python, "-m", "gunicorn", "--config", str(ROOT / "deploy" / "gunicorn.py"), application]
    server = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait()
