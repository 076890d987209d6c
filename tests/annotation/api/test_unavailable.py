"""While the database is locked, programs get 503 with a document, as people get a page."""

import sqlite3
import threading

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import Client

from annotation.accounts.api_tokens import issue_token
from annotation.models import Batch, Role
from tests.factories import make_member, make_study


@pytest.mark.django_db(transaction=True)
def test_a_locked_database_is_503_with_a_document(monkeypatch):
    if connection.vendor != "sqlite":
        pytest.skip("SQLite has one lock for all")
    study = make_study()
    token = issue_token(make_member(study, Role.ADMIN), "test", ("read", "write", "admin"), 30).token
    monkeypatch.setitem(settings.DATABASES["default"]["OPTIONS"], "timeout", 0.1)
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = []

    def call():
        body = {"name": "pilot", "protocol": "litepyramid", "quota": 1}
        address, headers = f"/api/v1/studies/{study.slug}/batches", {"Authorization": f"Bearer {token}"}
        answers.append(Client().post(address, body, content_type="application/json", headers=headers))
        connections.close_all()

    thread = threading.Thread(target=call)  # a connection of its own, with the short patience
    thread.start()
    thread.join()
    other.rollback()
    other.close()
    assert (answers[0].status_code, answers[0]["Retry-After"]) == (503, "10")
    assert answers[0].json()["type"] == "urn:pyramidion:problem:unavailable"
    assert not Batch.objects.exists()
