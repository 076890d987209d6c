"""A balancer learns whether to send people here, Prometheus how it goes, and the log says what happened to whom."""

import json
import logging

import pytest

from deploy.logs import JsonFormatter, clean
from tests.factories import make_batch, make_study

pytestmark = pytest.mark.django_db


def test_alive_and_ready_answer_anybody(client):
    assert client.get("/healthz").json() == {"alive": True}
    assert client.get("/readyz").json() == {"ready": True, "problem": ""}


def test_not_ready_while_migrations_wait(client, settings):
    settings.MIGRATION_MODULES = {}  # the tests' tables were made without migrations: now all of them wait
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "migrations wait" in response.json()["problem"]


def test_a_balancer_is_not_sent_to_https(client, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz").status_code == 200
    assert client.get("/sign-in/").status_code == 301


def test_metrics_tell_of_jobs_leases_requests_and_money_to_who_shows_the_token(client, settings):
    from annotation.models import Entry

    study = make_study()
    batch = make_batch(study)
    Entry.objects.create(
        study=study, batch=batch, kind="post", token="t", reward_cents=10, fee_cents=2, promised_cents=12
    )
    settings.DEMO, settings.METRICS_TOKEN = False, "right"
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    response = client.get("/metrics", headers={"Authorization": "Bearer right"})
    lines = response.content.decode().splitlines()
    assert 'pyramidion_money_cents{kind="promised"} 12.0' in lines
    assert 'pyramidion_assignments{kind="expired"} 0.0' in lines
    assert 'pyramidion_job_wait_seconds{kind="oldest"} 0.0' in lines
    assert any(line.startswith('pyramidion_request_seconds_bucket{le="0.5",method="GET",route=') for line in lines)
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics").status_code == 404


def test_every_answer_names_its_request(client):
    first, second = client.get("/healthz")["X-Request-Id"], client.get("/healthz")["X-Request-Id"]
    assert first != second
    assert client.get("/healthz", headers={"X-Request-Id": "from-the-proxy-1"})["X-Request-Id"] == "from-the-proxy-1"
    assert client.get("/healthz", headers={"X-Request-Id": "a b\tc"})["X-Request-Id"] != "a b\tc"


def test_a_log_line_is_one_json_object_with_its_request(client, caplog):
    caplog.set_level(logging.INFO, "pyramidion.requests")
    name = client.get("/healthz")["X-Request-Id"]
    (record,) = [one for one in caplog.records if one.name == "pyramidion.requests"]
    line = json.loads(JsonFormatter().format(record))
    assert line["route"] == "alive"
    assert line["status"] == 200
    assert line["milliseconds"] >= 0
    assert len(name) == 32


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2 was wrong",
        'Authorization: Bearer hunter2"',
        "Authorization: Token hunter2",
        "postgres://lab:hunter2@db/x does not answer",
        "{'token': 'hunter2'}",
        "AWS_SECRET_ACCESS_KEY=hunter2",
        "GET /w/t/hunter2/draft/ 200",
        "GET /w/mturk/abc/?workerId=hunter2&hitId=1",
        "/w/prolific/x/?PROLIFIC_PID=hunter2",
    ],
)
def test_secrets_and_worker_ids_are_left_out_of_the_log(text):
    record = logging.LogRecord("x", logging.INFO, "x", 1, text, (), None)
    assert "hunter2" in text
    assert "hunter2" not in JsonFormatter().format(record)
    assert "hunter2" not in clean(text)
