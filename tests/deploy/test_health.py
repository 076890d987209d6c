"""A balancer learns whether to send people here, Prometheus how it goes, and the log says what happened to whom."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import RequestFactory

from deploy.monitoring.logs import JsonFormatter, RequestLog, clean
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
    (record,) = [record for record in caplog.records if record.name == "pyramidion.requests"]
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
        "GET /invited/hunter2/ 200",
        "Not Found: /join/hunter2/",
        "GET /operator/workers/hunter2/ 200",
        "GET /work/hunter2/state/ 200",
        "GET /requester/assignments/hunter2/judge/",
        "GET /frame/hunter2:1a:b/",
    ],
)
def test_secrets_and_worker_ids_are_left_out_of_the_log(text):
    record = logging.LogRecord("x", logging.INFO, "x", 1, text, (), None)
    assert "hunter2" in text
    assert "hunter2" not in JsonFormatter().format(record)
    assert "hunter2" not in clean(text)


@pytest.mark.parametrize(
    "text", ["GET /work/batch/3/ 200", "GET /join/ 200", 'File "/srv/annotation/work/api.py"', "/static/work/a.1f.js"]
)
def test_what_is_no_secret_stays(text):
    assert clean(text) == text


# In a process of its own: its database is down.
DOWN = """
import json, sys, django; django.setup()
from django.conf import settings
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
client = Client(raise_request_exception=False, headers={"Host": "localhost"})
client.cookies[settings.SESSION_COOKIE_NAME] = "s" * 32
for path, headers in json.loads(sys.argv[1]):
    answer = client.get(path, headers=headers)
    print(json.dumps([answer.status_code, dict(answer.headers), list(answer.cookies), answer.content.decode()]))
"""


def answers_without_database(settings: str, *requests: tuple[str, dict[str, str]]) -> tuple[list, list[str]]:
    down = "postgres://nobody@127.0.0.1:1/none"
    env = {**os.environ, "DEMO": "1", "ENV_FILE": os.devnull, "LOG_FORM": "json", "DJANGO_SETTINGS_MODULE": settings}
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DOWN, json.dumps(requests)],
        cwd=Path(__file__).resolve().parents[2],
        env={**env, "DATABASE_URL": down, "MARKETPLACE_DATABASE_URL": down},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in process.stdout.splitlines()], process.stderr.splitlines()


@pytest.mark.parametrize(
    ("settings", "page"), [("deploy.settings", "/studies/x/"), ("deploy.marketplace_settings", "/operator/")]
)
def test_with_the_database_down_people_get_a_sentence_and_the_log_one_record(settings, page):
    answers, log = answers_without_database(
        settings,
        (page, {}),
        ("/nowhere/", {}),
        (page, {"Accept": "application/json"}),
        (page, {"Accept-Language": "de"}),
    )
    for status, headers, cookies, content in answers:
        assert status == 503
        assert headers["X-Request-Id"] in content
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Frame-Options"] == "DENY"
        assert cookies == []  # nobody is signed out
    assert "What you had saved is kept" in answers[0][3]
    assert "<h1>Our mistake</h1>" in answers[0][3]
    assert json.loads(answers[2][3])["error"] == "unavailable"
    assert json.loads(answers[2][3])["sentence"].startswith("Something went wrong")
    lines = [json.loads(line) for line in log]
    for _, headers, *_ in answers:
        request_lines = [line for line in lines if line.get("request") == headers["X-Request-Id"]]
        (error,) = [line for line in request_lines if line["level"] == "ERROR"]
        assert "OperationalError" in error["error"]
        assert [line["status"] for line in request_lines if line["logger"] == "pyramidion.requests"] == [503]


def test_a_failure_outside_every_page_is_answered_and_logged(caplog):
    def fail(request):
        raise RuntimeError("planted")

    caplog.set_level(logging.ERROR, "pyramidion.failures")
    response = RequestLog(fail)(RequestFactory().get("/invited/hunter2/"))
    assert response.status_code == 500
    assert response["X-Request-Id"] in response.content.decode()
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    line = json.loads(JsonFormatter().format(record))
    assert "planted" in line["error"]
    assert "hunter2" not in line["message"]


def test_other_failures_show_the_sites_own_page(client, monkeypatch):
    monkeypatch.setattr("deploy.monitoring.health._problem", lambda: 1 / 0)
    client.raise_request_exception = False
    response = client.get("/readyz")
    assert response.status_code == 500
    assert b"Our mistake" in response.content
