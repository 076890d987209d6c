"""Every operation of the site's API, with the token of every role, a made-up one and none."""

from .attacker import Attacker
from .conftest import SECONDS
from .deployment import SITE


def test_no_operation_breaks_leaks_or_changes_what_is_hidden(deployment, seed):
    facts = deployment.facts["site"]
    attacker = Attacker(deployment, SITE, "sessionid", seed)
    operations = [(path, method.upper()) for path, methods in facts["api"]["paths"].items() for method in methods]
    tokens = [*facts["tokens"].values(), "made-up", "\u00e9" * 10]

    def attack(path, method, token):
        route = path.lstrip("/").replace("{", "<str:").replace("}", ">") + " -"
        headers = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
        body = attacker.json_body() if method != "GET" else None
        address = attacker.address(route, facts["known"])
        attacker.ask(method, f"{address}?{attacker.query()}", "", body, **headers)
        attacker.ask(method, address, "", body, **headers)

    attacks = [
        lambda path=path, method=method, token=token: attack(path, method, token)
        for path, method in operations
        for token in tokens
    ]
    attacker.until(SECONDS, attacks)
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert {200, 401, 404, 422} <= attacker.statuses.keys()
