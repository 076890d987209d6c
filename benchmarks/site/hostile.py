"""10,000 hostile requests a minute to the site and the marketplace, for two minutes, beside 50 annotators at work.

The goal: the annotators' p95 at most doubles, no process dies, and nothing that was acknowledged is lost. A deployment
as documented (tests/attack): PostgreSQL, gunicorn, Caddy with TLS. The annotators think five seconds a task, all behind
one address. The peer is twice their p95 without the attack, measured just before. The attackers are a process of their
own with 24 addresses, half of them at each product: strangers and an account without rights, pages, APIs, forms,
guesses of passwords. It runs at the lowest priority: attackers' own processors would be elsewhere. What it sends must
still be answered at the full rate while the annotators work, and nothing of it with a status of 500 or more.
`HOSTILE_SECONDS` makes it shorter.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import Measurement

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, THINK, RATE = 50, 5.0, 10_000
STORM = float(os.environ.get("HOSTILE_SECONDS", "120"))
QUIET = STORM / 2
UNITS = {f"scu{n:02d}": f"The harbour of the old town was closed on day {n} of the storm." for n in range(10)}
SUMMARY = " ".join(["The storm closed the harbour, and the ferries stayed on the mainland until Sunday."] * 5)
CSRF = "c" * 32


@dataclass
class Seen:
    """What the annotators saw in one phase."""

    latencies: list[float] = field(default_factory=list)
    acknowledged: dict[str, dict[str, str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def p95(self) -> float:
        ordered = sorted(self.latencies)
        return ordered[int(0.95 * (len(ordered) - 1))] if ordered else float("inf")


def run() -> Measurement:
    from tests.attack.deployment import Deployment, find_server

    server = find_server()
    if server is None:
        raise RuntimeError("The hostile benchmark needs caddy, and PostgreSQL on 127.0.0.1:5432.")
    deployment = Deployment(server)
    try:
        deployment.start()
        return _measure(deployment)
    finally:
        deployment.stop()


def _measure(deployment: Any) -> Measurement:
    order = {"name": "work", "tasks": 4000, "people": PEOPLE, "units": UNITS, "summary": SUMMARY}
    batch = _site(deployment, "prepare", order)
    quiet = _work(deployment, batch, QUIET)
    attack = _attackers(deployment)
    storm = _work(deployment, batch, STORM)
    hostile = json.loads(attack.communicate(timeout=120)[0].splitlines()[-1])
    problems = [*deployment.problems(), *quiet.errors, *storm.errors, *hostile["problems"]]
    acknowledged = {**quiet.acknowledged, **storm.acknowledged}
    problems += _site(deployment, "check", {"batch": batch["batch"], "acknowledged": acknowledged})
    per_minute = hostile["sent"] / hostile["seconds"] * 60
    if per_minute < RATE:
        problems.append(f"only {per_minute:,.0f} hostile requests a minute were answered")
    if problems:
        raise RuntimeError(f"The promise is broken: {problems[:5]}")
    note = f"p95 of {PEOPLE} annotators; {quiet.p95() * 1000:.0f} ms alone, {len(acknowledged):,} tasks kept; "
    note += f"{per_minute:,.0f} hostile requests a minute ({hostile['by product']}): {hostile['statuses']}"
    return Measurement(storm.p95() * 1000, 2 * quiet.p95() * 1000, claim=1.0, unit="ms", note=note)


def _site(deployment: Any, action: str, order: object) -> Any:
    command = [sys.executable, "-m", "benchmarks.site._load_site", action]
    environment = {**deployment.environment, "DJANGO_SETTINGS_MODULE": "deploy.settings"}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"{action} failed: {run.stderr[-800:]}")
    return json.loads(run.stdout.splitlines()[-1])


def _work(deployment: Any, batch: dict[str, Any], seconds: float) -> Seen:
    """Everybody takes, looks, thinks and submits until the time is over."""
    seen, end = Seen(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=_annotate, args=(deployment, batch["batch"], cookie, number, seen, end))
        for number, cookie in enumerate(batch["cookies"])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def _annotate(deployment: Any, batch: int, cookie: str, number: int, seen: Seen, end: float) -> None:
    from tests.attack.deployment import SITE, pool_of

    pool = pool_of(deployment, SITE, "127.0.2.1")  # a lab behind one address
    headers = {"Host": deployment.host(SITE), "Referer": deployment.origin(SITE) + "/", "X-CSRFToken": CSRF}
    headers["Cookie"] = f"{cookie}; csrftoken={CSRF}"

    def ask(method: str, path: str, body: bytes | None = None, **more: str) -> Any:
        began = time.perf_counter()
        answer = pool.request(method, path, body=body, headers={**headers, **more}, redirect=False)
        seen.latencies.append(time.perf_counter() - began)
        return answer

    time.sleep(THINK * number / PEOPLE)  # not all at once
    while time.monotonic() < end:
        try:
            _task(ask, batch, number, seen)
        except Exception as error:
            seen.errors.append(f"{type(error).__name__}: {error}"[:200])


def _task(ask: Any, batch: int, number: int, seen: Seen) -> None:
    place = ask("POST", f"/work/batch/{batch}/").headers.get("Location", "")
    page = ask("GET", place)
    if page.status != 200:
        raise RuntimeError(f"{place or 'take'}: {page.status}")
    fields = dict.fromkeys(re.findall(rb'name="answer:([^"]+)"', page.data))
    answers = {name.decode(): str((number + position) % 2) for position, name in enumerate(fields)}
    time.sleep(THINK)
    key = place.split("/")[2]
    body = json.dumps({"answers": answers, "submit_key": key}).encode()
    submitted = ask("POST", f"/work/{key}/submit/", body, **{"Content-Type": "application/json"})
    if submitted.status != 200:
        raise RuntimeError(f"submit: {submitted.status} {submitted.data[:100]!r}")
    seen.acknowledged[key] = answers


def _attackers(deployment: Any) -> subprocess.Popen[str]:
    """Their process, once it strikes. It aims a little above the rate that must be answered."""
    facts = {"ports": deployment.ports, "site": deployment.facts["site"], "market": deployment.facts["market"]}
    facts["site"] = {name: value for name, value in facts["site"].items() if name != "api"}
    file = deployment.folder / "attack.json"
    file.write_text(json.dumps(facts))
    words = [str(file), str(STORM + THINK), str(RATE * 1.05)]  # the last tasks end some seconds after the time
    command = ["nice", "-n", "19", sys.executable, "-m", "benchmarks.site._attackers", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process
