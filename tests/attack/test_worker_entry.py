"""The ways in without an account: postings, tokens, frames; with signatures that are missing, made up or another's."""

from urllib.parse import urlencode

from .attacker import TEXTS, Attacker
from .conftest import SECONDS
from .deployment import MARKET, SITE


def test_nobody_comes_in_unsigned_and_nothing_breaks(deployment, seed):
    facts = deployment.facts["site"]
    attacker = Attacker(deployment, SITE, "sessionid", seed)
    attacker.may_see_hidden = True  # a worker's token shows that worker's study, as it must
    routes = [route for route in facts["routes"] if route.startswith("w/")]

    def query() -> str:
        pick = attacker.random.choice
        values = {
            "assignmentId": pick(["A1", "MADE-UP", "ASSIGNMENT_ID_NOT_AVAILABLE", *TEXTS]),
            "hitId": pick(["HIT1", "HIT2", *TEXTS]),
            "workerId": pick(["HIDDENWORDW1", "HIDDENWORDW2", *TEXTS]),
            "turkSubmitTo": pick([deployment.origin(MARKET), "https://evil.example", *TEXTS]),
            "signature": pick(["", "0" * 64, *TEXTS]),
            "PROLIFIC_PID": pick(TEXTS),
        }
        return urlencode(values, errors="replace")

    def attack(route):
        address = attacker.address(route, facts["known"])
        attacker.ask("GET", f"{address}?{query()}")
        page = attacker.ask("GET", address, **attacker.bad_header())
        attacker.send_forms(page, address)
        method = attacker.random.choice(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
        attacker.ask(method, address, "", attacker.json_body(), Content_Type="application/json")

    attacker.until(SECONDS, [lambda route=route: attack(route) for route in routes for _ in range(4)])
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert {200, 403, 404} <= attacker.statuses.keys()


def test_a_made_up_signature_opens_nothing(deployment):
    attacker = Attacker(deployment, SITE, "sessionid", 0)
    posting = deployment.facts["site"]["known"]["token"][0]
    values = {"assignmentId": "NEW", "hitId": "HIT1", "workerId": "ME", "turkSubmitTo": deployment.origin(MARKET)}
    for signature in ({}, {"signature": "0" * 64}, {"signature": "\u00e9" * 64}):
        answer = attacker.ask("GET", f"/w/mturk/{posting}/?{urlencode({**values, **signature})}")
        assert answer is not None
        assert answer.status in (403, 409, 410, 422)
    assert attacker.problems == []
