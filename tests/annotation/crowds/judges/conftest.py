"""A fault server that the operator allows, and judges that ask it."""

from collections.abc import Iterator
from typing import Any

import pytest

from annotation.crowds.judges.launch import launch_judge
from annotation.crowds.markets.models.versions import keep_judge
from annotation.models import Batch, Judge, JudgeRun, Study
from tests.annotation.crowds.judges.fault_server import FaultServer


@pytest.fixture
def server(settings: Any) -> Iterator[FaultServer]:
    server = FaultServer()
    settings.MODEL_ENDPOINTS, settings.MODEL_API_KEYS = [server.url], []
    settings.MODEL_TIMEOUT_SECONDS, settings.MODEL_PATIENCE_SECONDS = 5, 20
    yield server
    server.stop()


def make_judge(study: Study, server: FaultServer, **values: Any) -> Judge:
    facts = {"name": "tiny", "endpoint": server.url, "model": server.model, "parallel": 3}
    return keep_judge(study, {**facts, **values}, None)


def make_run(batch: Batch, server: FaultServer, cap_cents: int = 100, **values: Any) -> JudgeRun:
    return launch_judge(make_judge(batch.study, server, **values), batch, cap_cents, None)
