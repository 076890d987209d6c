"""`python -m benchmarks.site._attackers FACTS SECONDS RATE`: hostile requests at that rate; prints what came back."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.attack.attacker import TEXTS, Attacker
from tests.attack.deployment import MARKET, SITE

THREADS = 24
FORM = "application/x-www-form-urlencoded"
TOKENS = f"csrftoken={'c' * 32}; marketplace_csrf={'c' * 32}"  # a guess of a password is looked at with them only


def attack(facts: dict[str, Any], seconds: float, rate: int) -> dict[str, Any]:
    ports = facts["ports"]
    target = SimpleNamespace(
        ports=ports,
        host=lambda name: f"{name}:{ports['https']}",
        origin=lambda name: f"https://{name}:{ports['https']}",
    )
    statuses: Counter[int] = Counter()
    began = time.monotonic()
    threads = [
        threading.Thread(target=_strike, args=(target, facts, number, began + seconds, THREADS * 60 / rate, statuses))
        for number in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    return {"sent": sum(statuses.values()), "seconds": seconds, "statuses": dict(sorted(statuses.items()))}


def _strike(target: Any, facts: dict[str, Any], seed: int, end: float, pause: float, statuses: Counter[int]) -> None:
    """One attacker: at fixed times, whatever the answers take."""
    product, host, cookie = ("site", SITE, "sessionid") if seed % 2 else ("market", MARKET, "marketplace_session")
    attacker = Attacker(target, host, cookie, seed, f"127.0.1.{seed + 1}")
    routes = [route for route in facts[product]["routes"] if "sign-out" not in route and not route.startswith("api")]
    sessions = ["", facts[product]["sessions"].get("annotator" if seed % 2 else "worker", "")]
    due = time.monotonic() + pause * seed / THREADS
    while due < end:
        time.sleep(max(0.0, due - time.monotonic()))
        due += pause
        _one(attacker, routes, sessions, facts[product]["known"])
    statuses.update(attacker.statuses)


def _one(attacker: Attacker, routes: list[str], sessions: list[str], known: dict[str, Any]) -> None:
    pick = attacker.random
    address, session = attacker.address(pick.choice(routes), known), pick.choice(sessions)
    match pick.randrange(5):
        case 0:
            attacker.ask("GET", f"{address}?{attacker.query()}", session)
        case 1:
            attacker.ask("POST", address, session, attacker.json_body(), Content_Type="application/json")
        case 2:
            attacker.ask("POST", "/", "", attacker.json_body(), X_Amz_Target=pick.choice(TEXTS[:5]))
        case 3:
            body = attacker.body(["username", "password", "assignmentId"])
            where = pick.choice(["/sign-in/", "/mturk/externalSubmit"])
            attacker.ask("POST", where, "", body, Content_Type=FORM, Cookie=TOKENS, X_CSRFToken="c" * 32)
        case _:
            attacker.ask("GET", address, session, **attacker.bad_header())


if __name__ == "__main__":
    print(json.dumps(attack(json.loads(Path(sys.argv[1]).read_text()), float(sys.argv[2]), int(sys.argv[3]))))
