"""Every page of the site, by every role and by nobody: read, with hostile queries and headers, and its forms sent."""

from .attacker import Attacker
from .conftest import SECONDS
from .deployment import SITE

QUIET = ("sign-out", "api")
"""Not attacked here: the one would end the attackers' sessions, the other has a module of its own."""


def test_no_page_breaks_leaks_or_changes_what_is_hidden(deployment, seed):
    facts = deployment.facts["site"]
    attacker = Attacker(deployment, SITE, "sessionid", seed)
    routes = [route for route in facts["routes"] if not route.startswith(QUIET) and not route.startswith("w/")]

    def attack(route, session):
        address = attacker.address(route, facts["known"])
        page = attacker.ask("GET", address, session)
        attacker.ask("GET", f"{address}?{attacker.query()}", session, **attacker.bad_header())
        attacker.send_forms(page, address, session)
        attacker.ask("POST", address, session, attacker.json_body(), Content_Type="application/json")

    attacks = [
        lambda route=route, session=session: attack(route, session)
        for route in routes
        for session in facts["sessions"].values()
    ]
    attacker.until(SECONDS, attacks)
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert {200, 302, 403, 404, 405} <= attacker.statuses.keys()
