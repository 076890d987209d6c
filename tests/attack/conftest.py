"""One deployment for the whole attack. It needs PostgreSQL and Caddy; without them it is skipped, in CI it fails."""

import os
from collections.abc import Iterator

import pytest

from .deployment import Deployment, find_server, random_seed

SECONDS = float(os.environ.get("ATTACK_SECONDS", "8"))
"""For each module."""


if "PYTEST_XDIST_WORKER" in os.environ:
    collect_ignore_glob = ["test_*.py"]  # one deployment, one attack: its own step of `make test`


@pytest.fixture(scope="session")
def deployment() -> Iterator[Deployment]:
    server = find_server()
    if server is None:
        reason = "needs caddy, and PostgreSQL on 127.0.0.1:5432 (POSTGRES_URL names another)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    deployment = Deployment(server)
    try:
        deployment.start()
        yield deployment
    finally:
        deployment.stop()


@pytest.fixture(scope="session")
def seed() -> int:
    return random_seed()


@pytest.fixture(scope="session", autouse=True)
def untouched(deployment: Deployment) -> Iterator[None]:
    """What is hidden from the attackers is the same after all of it."""
    before = {name: deployment.ask(name, "digest") for name in ("site", "market")}
    assert all(before.values())
    yield
    assert {name: deployment.ask(name, "digest") for name in before} == before


@pytest.fixture(autouse=True)
def alive(deployment: Deployment) -> Iterator[None]:
    """Every process lives, and none has logged a fault."""
    yield
    assert deployment.problems() == []
