"""Threats of docs/threats.md that no other test shows; and that every threat there names tests that exist."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.common import libraries
from annotation.models import Role, Study, Summary
from tests.architecture.audit import tell
from tests.factories import make_batch, make_member, make_study

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "</script><script>alert(1)</script>{{ 7|add:7 }}{% debug %}<img src=x onerror=alert(1)>"
PAGES = (
    "study",
    "collect",
    "scus",
    "quality",
    "metrics",
    "report",
    "exports",
    "explorer",
    "guidance",
    "record",
    "ledger",
)


@pytest.fixture
def study() -> Study:
    study = make_study(documents=2, systems=2, name=f"Hostile {HOSTILE}")
    Summary.objects.update(text=HOSTILE)
    study.documents.update(source=HOSTILE)
    make_batch(study, quota=2)
    return study


@pytest.fixture
def admin(study) -> Client:
    client = Client()
    client.force_login(make_member(study, Role.ADMIN))
    return client


def rows() -> list[list[str]]:
    text = (ROOT / "docs" / "threats.md").read_text().split("## Threats")[1].split("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ") and "`tests/" in line]


def test_every_threat_names_a_test_that_exists():
    assert len(rows()) >= 25
    for threat, _, tests in rows():
        for path, *names in (test.split("::") for test in re.findall(r"`([^`]+)`", tests)):
            file = ROOT / path
            assert file.is_file(), threat
            for name in names:
                assert re.search(rf"(def|class) {name}\b", file.read_text()), f"{threat}: {name}"


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_is_shown_as_text(page, study, admin):
    body = admin.get(reverse(page, args=[study.slug])).content.decode()
    assert "<script>alert" not in body
    assert "onerror=alert(1)>" not in body.replace("&gt;", "")
    assert "Hostile 14" not in body


def test_the_work_page_shows_it_as_text_too(study):
    client = Client()
    client.force_login(make_member(study, Role.ANNOTATOR))
    page = client.post(reverse("take", args=[study.batches.get().pk]), follow=True).content.decode()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_inline_script_and_the_policy_forbids_it(page, study, admin):
    answer = admin.get(reverse(page, args=[study.slug]))
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src" not in policy or "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    body = answer.content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", body) == []
    assert re.findall(r"<[^>]+\son[a-z]+=", re.sub('"[^"]*"', '""', body)) == []  # a value may hold what it likes


SQL = "x' OR '1'='1'; DROP TABLE annotation_judgment; --"


def test_sql_in_any_parameter_changes_nothing(study, admin):
    before = Summary.objects.count(), Study.objects.count()
    for page in PAGES:
        for name in ("q", "page", "sort", "metric", "system", "order", "by", "doc"):
            assert admin.get(reverse(page, args=[study.slug]), {name: SQL}).status_code < 500
    for page in ("collect", "members", "quality-decide", "metrics", "exports", "guidance-text"):
        fields = ("name", "protocol", "quota", "role", "rule", "metrics", "kind", "body")
        assert admin.post(reverse(page, args=[study.slug]), dict.fromkeys(fields, SQL)).status_code < 500
    assert (Summary.objects.count(), Study.objects.count()) == before


def test_a_form_from_elsewhere_is_refused(study):
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_member(study, Role.ADMIN))
    answer = client.post(reverse("collect", args=[study.slug]), {"name": "x", "protocol": "litepyramid", "quota": "1"})
    assert answer.status_code == 403
    assert study.batches.count() == 1
    signed_in = client.post(reverse("sign-in"), {"username": "x", "password": "y"})
    assert signed_in.status_code == 403


def test_nobody_frames_the_site_but_markets_frame_worker_pages(study, admin, settings):
    for page in PAGES:
        answer = admin.get(reverse(page, args=[study.slug]))
        assert answer["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_signed_in_people_are_kept_nowhere(page, study, admin):
    assert "no-store" in admin.get(reverse(page, args=[study.slug]))["Cache-Control"]


def test_files_and_links_of_admins_are_kept_nowhere(study, admin):
    batch = study.batches.get()
    invited = admin.post(reverse("invite", args=[study.slug]), {"role": "analyst"})
    answers = [invited, admin.get(reverse("crowd-links", args=[study.slug, batch.pk]), {"format": "csv"})]
    for answer in [*answers, admin.get(reverse("ledger-csv", args=[study.slug]))]:
        assert answer.status_code < 300
        assert answer["Cache-Control"] == "private, no-store"
    assert "no-store" not in admin.get("/static/annotation/common/mark.svg").get("Cache-Control", "")


def test_a_visitor_without_a_session_costs_no_query(study, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = Client().get(reverse("study", args=[study.slug]))
    assert "Cache-Control" not in answer.headers


def test_cookies_and_headers_in_production(settings):
    from deploy import base_settings

    text = Path(base_settings.__file__).read_text()
    for line in ("SESSION_COOKIE_SECURE = HTTPS", "CSRF_COOKIE_SECURE = HTTPS", "SECURE_SSL_REDIRECT = HTTPS"):
        assert line in text
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31536000
    answer = Client().get(reverse("sign-in"), secure=True)
    assert "max-age=31536000" in answer["Strict-Transport-Security"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == "Lax"


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 50_000, b"x" * (6 * 1024 * 1024)], ids=["list", "dict", "size"]
)
def test_a_huge_or_deep_body_is_refused_with_a_sentence(body, study):
    client = Client(raise_request_exception=False)
    client.force_login(make_member(study, Role.ANNOTATOR))
    place = client.post(reverse("take", args=[study.batches.get().pk])).url
    for address in (f"{place}submit/", "/api/v1/studies"):
        answer = client.post(address, body, content_type="application/json")
        assert 400 <= answer.status_code < 500, address
        assert len(answer.content) < 20_000


def test_every_dependency_is_pinned():
    files = [f"requirements-{part}.txt" for part in libraries.PARTS]
    for name in ("requirements.txt", *files):
        for line in (ROOT / name).read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                assert re.fullmatch(r"[A-Za-z0-9_.\[\]-]+==[^=\s]+(  # .+)?", line), f"{name}: {line}"


def test_a_known_hole_fails_the_audit(capsys):
    hole = {"name": "django", "version": "5.2.0", "vulns": [{"id": "CVE-2099-1"}]}
    assert tell([hole, {"name": "x", "version": "1", "vulns": []}]) == 1
    assert "CVE-2099-1" in capsys.readouterr().out
    assert tell([{"name": "x", "skip_reason": "not found"}]) == 0
    assert "1 could not be" in capsys.readouterr().out


def test_the_log_of_a_refusal_holds_no_password(study, caplog):
    Client().post(reverse("sign-in"), {"username": "x", "password": "hunter2"})
    assert "hunter2" not in caplog.text
