"""`python -m benchmarks.site._attackers FACTS SECONDS RATE`: hostile requests at that rate.

Prints a line when it begins, and at the end what came back.
"""

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


def attack(facts: dict[str, Any], seconds: float, rate: float) -> dict[str, Any]:
    ports = facts["ports"]
    target = SimpleNamespace(
        ports=ports,
        host=lambda name: f"{name}:{ports['https']}",
        origin=lambda name: f"https://{name}:{ports['https']}",
    )
    attackers = [_attacker(target, number) for number in range(THREADS)]
    began = time.monotonic()
    threads = [
        threading.Thread(target=_strike, args=(attacker, facts, number, began + seconds, THREADS * 60 / rate))
        for number, attacker in enumerate(attackers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    statuses: Counter[int] = sum((attacker.statuses for attacker in attackers), Counter())
    by_product = Counter({SITE: 0, MARKET: 0})
    for attacker in attackers:
        by_product[attacker.host] += attacker.statuses.total()
    return {
        "sent": statuses.total(),
        "seconds": seconds,
        "by product": dict(by_product),
        "statuses": dict(sorted(statuses.items())),
        "problems": [problem for attacker in attackers for problem in attacker.problems],
    }


def _attacker(target: Any, number: int) -> Attacker:
    host, cookie = (SITE, "sessionid") if number % 2 else (MARKET, "marketplace_session")
    attacker = Attacker(target, host, cookie, number, f"127.0.1.{number + 1}")
    attacker.may_see_hidden = True  # workers see every requester's HITs, and a worker's token shows that worker's study
    return attacker


def _strike(attacker: Attacker, facts: dict[str, Any], number: int, end: float, pause: float) -> None:
    """One attacker: at fixed times, whatever the answers take."""
    product, role = ("site", "annotator") if attacker.host == SITE else ("market", "worker")
    routes = [route for route in facts[product]["routes"] if "sign-out" not in route and not route.startswith("api")]
    sessions = ["", facts[product]["sessions"][role]]
    due = time.monotonic() + pause * number / THREADS
    while due < end:
        time.sleep(max(0.0, due - time.monotonic()))
        due += pause
        _one(attacker, routes, sessions, facts[product]["known"])


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
    print("Here we come.", flush=True)
    print(json.dumps(attack(json.loads(Path(sys.argv[1]).read_text()), float(sys.argv[2]), float(sys.argv[3]))))
