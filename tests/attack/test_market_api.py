"""All operations of the marketplace's API, by MTurk's service model: hostile members, bent signatures, other hosts."""

import json
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.loaders import Loader
from botocore.model import ServiceModel

from .attacker import TEXTS, Attacker
from .conftest import SECONDS
from .deployment import MARKET

MODEL = ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")
NUMBERS = [0, -1, 1, 30, 2**31, 2**63, 10**40, 1.5, "1", "٣", None]


class Caller:
    """A requester with a key, whose every call may be bent."""

    def __init__(self, attacker: Attacker, facts: dict[str, Any]) -> None:
        self.attacker, self.random = attacker, attacker.random
        key = facts["key"]
        self.signer = SigV4Auth(Credentials(key["key_id"], key["secret"]), "mturk-requester", "us-east-1")
        self.ids = [str(value) for values in facts["known"].values() for value in values]

    def call(self, operation: str) -> None:
        shape = MODEL.operation_model(operation).input_shape
        body = json.dumps(self._value(shape, 0)).encode()
        host = self.attacker.deployment.origin(MARKET)
        headers = {"X-Amz-Target": f"MTurkRequesterServiceV20170117.{operation}"}
        request = AWSRequest("POST", f"{host}/", headers=headers, data=body)
        self.signer.add_auth(request)
        sent = dict(request.headers.items())
        if self.random.random() < 0.2:
            name = self.random.choice(list(sent))
            sent[name] = self._bent(sent[name])
        answer = self.attacker.ask("POST", "/", "", body, **sent)
        if answer is not None and "amz-json" in answer.headers.get("Content-Type", ""):
            try:
                json.loads(answer.body)
            except ValueError:
                self.attacker.problems.append(f"{operation}: no JSON: {answer.status} {answer.body[:300]!r} {sent}")

    def _bent(self, value: str) -> str:
        at = self.random.randrange(len(value))
        return self.random.choice([value[:at], value[:at] + "é" + value[at:], value + "=", value * 3, ""])

    def _value(self, shape: Any, depth: int) -> Any:
        if self.random.random() < 0.1:
            return self.random.choice([*TEXTS, *NUMBERS, [], {}, [[]]])
        match shape.type_name:
            case "structure":
                required = set(shape.required_members)
                members = dict(shape.members)
                wanted = [name for name in members if name in required or self.random.random() < 0.4]
                return {name: self._value(members[name], depth + 1) for name in wanted} if depth < 5 else {}
            case "list":
                return [self._value(shape.member, depth + 1) for _ in range(self.random.choice([0, 1, 2, 30]))]
            case "integer" | "long":
                return self.random.choice(NUMBERS)
            case "boolean":
                return self.random.choice([True, False, "maybe"])
            case "timestamp":
                return self.random.choice([0, -(10**20), 10**12, "yesterday", "2026-02-30"])
        enum = getattr(shape, "enum", None) or []
        return self.random.choice([*enum, *self.random.sample(self.ids, 4), *self.random.sample(TEXTS, 4)])


def test_no_operation_breaks_leaks_or_changes_what_is_hidden(deployment, seed):
    attacker = Attacker(deployment, MARKET, "marketplace_session", seed)
    attacker.may_see_hidden = True  # names of qualification types are for all
    caller = Caller(attacker, deployment.facts["market"])
    operations = [lambda name=name: caller.call(name) for name in MODEL.operation_names for _ in range(5)]
    attacker.until(SECONDS, operations)
    assert "\n".join(attacker.problems[:5]) == "", f"ATTACK_SEED={seed}"
    assert {200, 400, 403} <= attacker.statuses.keys()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost", "site.localhost"])
def test_a_call_under_another_name_is_not_answered(deployment, host):
    """Straight to the process, past the proxy, as from inside a network."""
    import urllib3

    address = f"http://127.0.0.1:{deployment.ports['market']}/"
    headers = {"Host": host, "X-Forwarded-Proto": "https", "X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"}
    answer = urllib3.PoolManager().request("POST", address, headers=headers, body=b"{}", redirect=False)
    assert answer.status == 400


@pytest.mark.parametrize("size", [2, 50_000, 300_000])
def test_an_answer_given_before_the_body_was_read_arrives(deployment, size):
    """Not 502 from the proxy, nor an answer without its body, because the process had closed the connection."""
    attacker = Attacker(deployment, MARKET, "marketplace_session", 0)
    for _ in range(40):
        answer = attacker.ask("POST", "/", "", b"x" * size, X_Amz_Target="Nothing.AtAll")
        assert answer is not None
        assert json.loads(answer.body)["__type"] == "UnknownOperationException"
    assert attacker.problems == []
