"""Whatever is sent, the answer is the operation's or a refusal, never a fault; and what goes out fits the model."""

import json

import pytest
from botocore.parsers import create_parser
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotation.marketplace import people
from annotation.marketplace.api import contract, middleware
from annotation.marketplace.api.operations import HANDLERS
from annotation.marketplace.errors import Refused
from tests.marketplace.fixtures import EXTERNAL, make_hit, submit_work

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**63, 1e308, 1.5, "", "\x00", "\ud800", "9" * 30, "1e5", [], {}, [None], [[]]]),
    st.text(max_size=20),
    st.floats(),
)


def values_of(shape, ids: dict[str, str]):
    """Mostly well-formed values for a shape, so that the deeper checks are reached as well."""
    match shape.type_name:
        case "structure":
            members = {name: values_of(member, ids) for name, member in shape.members.items()}
            required = {name: members[name] for name in shape.required_members}
            values = st.fixed_dictionaries(required, optional={n: m for n, m in members.items() if n not in required})
        case "list":
            values = st.lists(values_of(shape.member, ids), max_size=3)
        case "integer" | "long":
            values = st.sampled_from([0, 1, 10, 60, 100, 600, 3600, 10**6])
        case "boolean":
            values = st.booleans()
        case "timestamp":
            values = st.sampled_from([0, 1e9, 1.9e9, 4e9, "2026-01-01T00:00:00Z"])
        case _ if "enum" in shape.metadata:
            values = st.sampled_from(shape.metadata["enum"])
        case _:
            values = st.sampled_from([*ids.values(), "0.05", "text", EXTERNAL])
    # One in ten is odd.
    return st.integers(0, 9).flatmap(lambda n: ODD if n == 0 else values)


@pytest.mark.parametrize("name", sorted(HANDLERS))
def test_no_call_is_a_fault(requester, anna, name):
    hit = make_hit(requester, places=3)
    assignment = submit_work(anna, hit.hit_id)
    ids = {
        "hit": hit.hit_id,
        "type": hit.hit_type.hit_type_id,
        "assignment": assignment.assignment_id,
        "worker": anna.worker_id,
        "nobody": people.make_worker().worker_id,
    }
    model = contract.service_model().operation_model(name)
    parser = create_parser("json")
    sentences: list[str] = []

    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(values_of(model.input_shape, ids))
    @example({})
    @example([])
    def check(data):
        params = json.loads(json.dumps(data))
        mark = transaction.savepoint()
        try:
            answer = HANDLERS[name](requester, contract.check_parameters(name, params)) or {}
            response = middleware._respond(200, answer)
            raw = {"body": response.content, "headers": dict(response.headers), "status_code": 200}
            parser.parse(raw, model.output_shape)
        except Refused as refusal:
            sentences.append(str(refusal))
        finally:
            transaction.savepoint_rollback(mark)

    check()
    assert all(len(sentence) > 10 for sentence in sentences)
