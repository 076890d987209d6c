"""Every page of the marketplace, by worker, requester, operator and nobody; frames and hand-ins too."""

from urllib.parse import urlencode

from .attacker import TEXTS, Attacker
from .conftest import SECONDS
from .deployment import MARKET


def test_no_page_breaks_leaks_or_changes_what_is_hidden(deployment, seed):
    facts = deployment.facts["market"]
    attacker = Attacker(deployment, MARKET, "marketplace_session", seed)
    attacker.may_see_hidden = True  # workers see every requester's HITs, and the operator sees all
    routes = [route for route in facts["routes"] if "sign-out" not in route]
    own = {name: values[: len(values) // 2] for name, values in facts["known"].items()}

    def attack(route, role, session):
        # The operator may change anybody; what must not change is then not named to them.
        known = own if role == "operator" else facts["known"]
        address = attacker.address(route, known)
        page = attacker.ask("GET", address, session)
        attacker.ask("GET", f"{address}?{attacker.query()}", session, **attacker.bad_header())
        if role != "operator":
            attacker.send_forms(page, address, session)
        attacker.ask("POST", address, session, attacker.json_body(), Content_Type="application/json")

    attacks = [
        lambda route=route, role=role, session=session: attack(route, role, session)
        for route in routes
        for role, session in facts["sessions"].items()
    ]
    attacker.until(SECONDS, attacks)
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert {200, 302, 403, 404, 405} <= attacker.statuses.keys()


def test_requesters_see_nothing_of_others(deployment, seed):
    """Their own pages, with the ids of the other one."""
    facts = deployment.facts["market"]
    attacker = Attacker(deployment, MARKET, "marketplace_session", seed)
    others = {name: values[len(values) // 2 :] for name, values in facts["known"].items()}
    for route in facts["routes"]:
        if route.startswith(("requester/", "work/", "operator/")):
            for role in ("requester", "nobody"):
                attacker.ask("GET", attacker.address(route, others), facts["sessions"][role])
    assert attacker.problems == []


def test_hand_ins_that_are_none(deployment, seed):
    attacker = Attacker(deployment, MARKET, "marketplace_session", seed)
    for text in TEXTS:
        for accept in ("text/html", "application/json"):
            body = urlencode({"assignmentId": text, "answer": text}, errors="replace").encode()
            kind = "application/x-www-form-urlencoded"
            attacker.ask("POST", "/mturk/externalSubmit", "", body, Content_Type=kind, Accept=accept)
    assert attacker.problems == []
    assert attacker.statuses.keys() <= {400, 404, 413, 422}
